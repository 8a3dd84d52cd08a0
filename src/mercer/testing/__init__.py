"""Checks that a kernel, also one of your own, keeps what every kernel promises."""

from mercer.testing.check import check_kernel
from mercer.testing.report import BrokenLaw, Outcome, Report

__all__ = ["BrokenLaw", "Outcome", "Report", "check_kernel"]
