"""A look at kernels that nobody has proved to be one."""

from __future__ import annotations

import numpy as np

from mercer.domains import Batch
from mercer.errors import NotPositiveDefinite
from mercer.kernels import Kernel
from mercer.machines.precomputed import GIVEN, Precomputed

LOOK = 300
"""Rows whose eigenvalues are looked at."""

BOTH = 16
"""Rows for which a function is asked in both orders; of a matrix, all that are looked at."""

_REPAIR = (
    "mercer.testing.check_kernel(k, X) shows the points; mercer.repair(K) mends a matrix for "
    'kernel="precomputed".'
)


def check_assumed(kernel: Kernel, points: Batch) -> None:
    """Look at some rows, if nobody has proved that the kernel is one.

    Raises:
        NotPositiveDefinite: Their matrix has a negative eigenvalue, or is not symmetric.
    """
    if not kernel.is_assumed:
        return
    given = isinstance(kernel, Precomputed)
    rows = np.unique(np.linspace(0, len(points) - 1, min(len(points), LOOK)).astype(np.int64))
    matrix = kernel.square(points[rows]).astype(np.float64)
    # No kernel's eigenvalue is below zero, and rounding moves it by units of the trace.
    allowed = (GIVEN if given else 2.0**-38) * max(float(np.trace(matrix)), 0.0)
    some = points[rows if given else rows[:BOTH]]
    both = kernel.block(some, some).astype(np.float64)
    apart = float(np.abs(both - both.T).max())
    if apart > allowed:
        raise NotPositiveDefinite(
            f"{kernel} is not positive definite: it is not even symmetric, k(x, y) and k(y, x) "
            f"differ by up to {apart:.3g}.\n{_REPAIR}"
        )
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -allowed:
        raise NotPositiveDefinite(
            f"{kernel} is not positive definite: the matrix of {len(rows)} of the points has "
            f"the eigenvalue {least:.3g}, where rounding explains {-allowed:.1g}.\n{_REPAIR}"
        )
