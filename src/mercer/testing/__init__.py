"""Checks that a kernel or a machine, also one of your own, keeps what all of them promise."""

from mercer.testing.check import check_kernel
from mercer.testing.machine import check_machine
from mercer.testing.report import BrokenLaw, Outcome, Report

__all__ = ["BrokenLaw", "Outcome", "Report", "check_kernel", "check_machine"]
