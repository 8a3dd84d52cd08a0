"""A kernel on some points, and how far its values may be off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.kernels import Kernel
from mercer.testing.report import BrokenLaw
from mercer.types import Array, Indices

FEW, SOME, MANY = 4, 12, 400
"""Points for a law that costs a call a pair, a product of features, an eigenvalue problem."""

WIDEST = 100_000
"""Features that are written out for a check."""


@dataclass(frozen=True)
class Case:
    """A kernel on some points, and what its values may be off by.

    Attributes:
        kernel: The kernel.
        points: The points, encoded.
        matrix: Its Gram matrix, as it came.
        error: The relative error that is allowed.
        size: The norms sqrt(k(x, x)) of the features.
    """

    kernel: Kernel
    points: Batch
    matrix: Array
    error: float
    size: NDArray[np.float64]

    @classmethod
    def of(
        cls, kernel: Kernel, points: Any, error: Callable[[Batch, np.dtype[Any]], float]
    ) -> Case:
        A = kernel.domain.encode(points)
        matrix = kernel(A)
        own = np.diag(matrix).astype(np.float64)
        size = np.sqrt(np.where(own > 0, own, 0.0))
        return cls(kernel, A, matrix, error(A, matrix.dtype), size)

    def some(self, count: int) -> Indices:
        """Places of at most so many points, spread over all."""
        last = len(self.points) - 1
        return np.unique(np.linspace(0, last, min(count, last + 1)).astype(np.int64))

    def allowed(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """What each value in these rows and columns may be off by."""
        # Numbers below the smallest normal one have lost digits, whatever the method.
        floor = float(np.finfo(self.matrix.dtype).tiny)
        # So a norm below its root is known to be below it, and no more than that is known.
        short = np.where(self.size > floor**0.5, 0.0, floor**0.5)
        left, right = self.size[rows], self.size[columns]
        unknown = np.outer(short[rows], right) + np.outer(left + short[rows], short[columns])
        allowed: NDArray[np.float64] = self.error * np.outer(left, right) + unknown + floor
        return allowed

    def compare(
        self, found: Any, rows: Indices, columns: Indices, wanted: Any, meaning: str,
        factor: float = 2.0,
    ) -> None:  # fmt: skip
        """Values found for rows and columns must be those wanted, both being a little off."""
        agree(found, wanted, factor * self.allowed(rows, columns), meaning, rows, columns)


def agree(
    found: Any, wanted: Any, allowed: Any, meaning: str, rows: Indices, columns: Indices
) -> None:
    """Raise `BrokenLaw` where two matrices differ by more than allowed, or one has NaN."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    if found.shape != wanted.shape:
        raise BrokenLaw(f"{meaning}\nThe shape is {found.shape}, not {wanted.shape}.")
    off = np.abs(found - wanted)
    wrong = ~((off <= allowed) | (found == wanted))
    if wrong.any():
        excess = np.where(np.isnan(off), np.inf, off) / (np.asarray(allowed) + 1e-300)
        at = np.unravel_index(int(np.argmax(np.where(wrong, excess, -1.0))), off.shape)
        limit = float(np.broadcast_to(allowed, off.shape)[at])
        raise BrokenLaw(
            f"{meaning}\nRow {rows[at[0]]} and row {columns[at[1]]} of the points: found "
            f"{found[at]:.17g}, not {wanted[at]:.17g}; they differ by {off[at]:.3g}, and "
            f"rounding explains {limit:.3g}. {int(wrong.sum())} of {wrong.size} are wrong."
        )
