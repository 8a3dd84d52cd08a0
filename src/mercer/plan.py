"""How the user wants something computed. What is learned is never said here."""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from mercer.errors import InvalidParameter

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_CHOICES = {
    "method": (
        "auto",
        "dense",
        "blocked",
        "spectral",
        "band",
        "cholesky",
        "mixed",
        "conjugate",
        "primal",
        "landmarks",
        "smo",
        "lanczos",
        "randomized",
    ),
    "device": ("auto", "cpu"),
    "precision": ("auto", "float32", "float64"),
}


@dataclass(frozen=True)
class Plan:
    """How to compute: every field is "auto" until you say otherwise.

    Args:
        method: "dense" stores the Gram matrix, "blocked" recomputes it a tile at a time. For
            machines also how the equations are solved: "spectral", "band" (for some
            given penalties, without eigenvalues), "cholesky", "mixed" (a factor in float32
            and steps in float64), "primal" (with the features of the kernel) or "landmarks";
            how support vectors are found: "smo" (exactly, by rows of the Gram matrix), "primal"
            or "landmarks"; and how eigenvectors are found: "spectral" (all of them),
            "lanczos", "randomized" or "primal".
        anchors: How many landmarks the function is a sum over, where not all points are taken.
        memory: The budget: bytes, or a text such as "4 GB"; by default half of what is free.
        device: "cpu".
        precision: "float32" or "float64"; by default that of the points.
        tolerance: The relative residual of iterative solvers; by default 1e-8, and 1e-6 over
            landmarks.
        threads: How many threads; by default the limit of threadpoolctl, and one inside a
            joblib worker.

    Example:
        >>> Plan(memory="2 GB").budget()
        2000000000
    """

    method: str = "auto"
    anchors: int | str = "auto"
    memory: int | str = "auto"
    device: str = "auto"
    precision: str = "auto"
    tolerance: float | str = "auto"
    threads: int | str = "auto"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise InvalidParameter(
                    f"Plan needs {name} to be one of {known}, got {getattr(self, name)!r}."
                )
        if self.memory != "auto":
            object.__setattr__(self, "memory", _bytes(self.memory))
        if self.anchors != "auto":
            if not _whole(self.anchors, 1):
                raise InvalidParameter(
                    f'Plan needs anchors "auto" or >= 1, got {self.anchors!r}.'
                )
            object.__setattr__(self, "anchors", int(self.anchors))
        if self.threads != "auto":
            if not _whole(self.threads, 1):
                raise InvalidParameter(
                    f'Plan needs threads "auto" or >= 1, got {self.threads!r}.'
                )
            object.__setattr__(self, "threads", int(self.threads))
        if self.tolerance != "auto":
            if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 1):
                raise InvalidParameter(
                    f"Plan needs a tolerance between 0 and 1, got {self.tolerance!r}."
                )
            object.__setattr__(self, "tolerance", float(self.tolerance))

    def budget(self) -> int:
        """The bytes that may be taken."""
        return free_memory() // 2 if self.memory == "auto" else int(self.memory)

    def crew(self) -> int | None:
        """The number of threads, None for as many as are available."""
        return None if self.threads == "auto" else int(self.threads)

    def __str__(self) -> str:
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        said = ", ".join(
            f"{name}={value!r}" for name, value in chosen.items() if value != "auto"
        )
        return f"Plan({said})"


def as_plan(plan: Plan | str) -> Plan:
    """A plan as it is; a text is the name of a method."""
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, str):
        return Plan(method=plan)
    raise InvalidParameter(f"A plan is a mercer.Plan or the name of a method, got {plan!r}.")


def free_memory() -> int:
    """The bytes that can be taken without swapping, by the system's own estimate."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    if found:
        return min(int(found[1]) * 1024, _room())
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _room() -> int:
    """What the limit of a container (a cgroup) leaves: its machine may have far more."""
    try:
        limit, used, parts = (
            Path(f"/sys/fs/cgroup/memory.{name}").read_text()
            for name in ("max", "current", "stat")
        )
        cached = re.search(r"^file (\d+)", parts, re.MULTILINE)
        held = int(used) - int(cached[1] if cached else 0)  # cached files make room
        return max(int(limit) - held, 0)
    except (OSError, ValueError):  # no such file, or the limit is the word "max"
        return sys.maxsize


def readable(size: float) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _bytes(value: Any) -> int:
    if _whole(value, 1):
        return int(value)
    found = re.fullmatch(r"(\d+(?:\.\d*)?(?:e\+?\d+)?)\s*([A-Za-z]*)", str(value).strip())
    unit = found[2].upper().removesuffix("S") if found else "?"
    unit = "" if unit in ("B", "BYTE") else unit
    if found is None or unit not in _UNITS:
        raise InvalidParameter(f'Plan needs memory in bytes or as "4 GB", got {value!r}.')
    size = float(found[1]) * _UNITS[unit]
    if not 1 <= size < math.inf:
        raise InvalidParameter(f"Plan needs memory of at least one byte, got {value!r}.")
    return int(size)
