"""Machines: estimators in the manner of scikit-learn, for points of any domain."""

from mercer.machines.ridge import KernelRidge

__all__ = ["KernelRidge"]
