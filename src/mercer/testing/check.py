"""`check_kernel`: every law that a kernel has to keep, on points of your choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from mercer.domains import Batch
from mercer.kernels import Kernel
from mercer.testing.case import Case
from mercer.testing.laws import LAWS
from mercer.testing.objects import OBJECTS
from mercer.testing.report import Report, held_to
from mercer.testing.rounding import rounding
from mercer.testing.slopes import SLOPES

ALL: Mapping[str, Callable[[Case], None]] = MappingProxyType({**LAWS, **OBJECTS, **SLOPES})
"""Every law in words, and its check."""


def check_kernel(kernel: Kernel, points: Any, error: float | None = None) -> Report:
    """Check that a kernel keeps the laws that every kernel keeps.

    A finite sample proves nothing, but it refutes: choose points that hurt (duplicates, tight
    clusters, zeros, extremes). Laws that user code cannot keep, such as a text form for a
    lambda, are skipped, and the report says why.

    Args:
        kernel: The kernel.
        points: Points of its domain.
        error: The relative error that a value may have, as a part of
            sqrt(k(x, x) k(y, y)); by default 2^-40 (float32: 2^-15), more where the rules of
            the kernel amplify rounding.

    Returns:
        The laws that were checked, and those that were skipped with the reason. Print it.

    Raises:
        BrokenLaw: An `AssertionError` that says which law is broken, where, and by how much.

    Example:
        >>> import mercer as mc
        >>> report = check_kernel(mc.Gaussian() + mc.Linear(), [[0.0], [1.0], [3.0]])
        >>> len(report.checked), list(report.skipped)[0]
        (20, 'k(x, x) = 1 exactly, where proved')
        >>> saddle = mc.from_function(lambda x, y: float(x[0] + y[0]))
        >>> check_kernel(saddle, [[0.0], [1.0]])
        Traceback (most recent call last):
        mercer.testing.report.BrokenLaw: from_function(<lambda>) breaks a law: ...
    """

    def allowed(A: Batch, dtype: np.dtype[Any]) -> float:
        return rounding(kernel, A, dtype) if error is None else error

    case = Case.of(kernel, points, allowed)
    return Report(str(kernel), len(case.points), case.error, held_to(ALL, case, kernel))
