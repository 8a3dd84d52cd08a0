r"""The functions that a solver searches: those that a Gram matrix spans, or features.

Each can multiply by the Gram matrix K, and solve $(\rho + C K)\, a + C b = r$ for a diagonal
matrix C of curvatures: the step of every Newton method here. Only rows with a positive
curvature enter a factor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer.errors import NotPositiveDefinite

Reals = NDArray[np.float64]
Step = Callable[[Reals], tuple[Reals, Reals]]


class Span(ABC):
    """A Gram matrix in some form."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __matmul__(self, coefficients: Reals) -> Reals:
        """The matrix times columns of coefficients."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """The sum of the eigenvalues."""

    def check_norm(self, coefficients: Reals, image: Reals) -> None:
        """Raise if a squared norm a'Ka is more negative than rounding explains.

        A product K a is off by at most n units of |K| |a|, and no eigenvalue of a kernel's
        matrix is above the trace.

        Raises:
            NotPositiveDefinite: It is.
        """
        squared = float((coefficients * image).sum())
        unit = len(self) * np.finfo(np.float64).eps
        allowed = max(unit * self.trace, 0.0) * float((coefficients**2).sum())
        if squared < -allowed:
            raise NotPositiveDefinite(
                f"a function has the squared norm {squared:.3g}, more negative than rounding "
                "explains: the kernel is not positive definite.\nAsk "
                "mercer.testing.check_kernel(k, X); mercer.repair(K) mends a matrix, for "
                'kernel="precomputed".'
            )

    @abstractmethod
    def solver(self, curvature: Reals, shift: float) -> Callable[[Reals], Reals]:
        """What solves (shift + C K) a = r for columns r, and C of these curvatures.

        Raises:
            NotPositiveDefinite: A factor does not exist.
        """

    def step(self, curvature: Reals, shift: float, *, has_offset: bool) -> Step:
        """What solves (shift + C K) a + C b = r for a and b, with a orthogonal to the
        constant; without an offset b is zero.
        """
        solve = self.solver(curvature, shift)
        ones = solve(curvature[:, None])[:, 0] if has_offset else np.zeros(1)

        def both(right: Reals) -> tuple[Reals, Reals]:
            found = solve(right)
            if not has_offset:
                return found, np.zeros(right.shape[1])
            offset = found.sum(axis=0) / ones.sum()
            return found - np.multiply.outer(ones, offset), offset

        return both


@dataclass(frozen=True, eq=False)
class Stored(Span):
    """A Gram matrix, stored."""

    matrix: Reals

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def trace(self) -> float:
        return float(np.trace(self.matrix))

    def __matmul__(self, coefficients: Reals) -> Reals:
        product: Reals = self.matrix @ coefficients
        return product

    def solver(self, curvature: Reals, shift: float) -> Callable[[Reals], Reals]:
        active = np.flatnonzero(curvature)
        roots = np.sqrt(curvature[active])
        every = len(active) == len(self.matrix)
        rows = self.matrix if every else self.matrix[active]
        inner = (rows if every else rows[:, active]) * roots
        inner *= roots[:, None]
        factor = _factor(inner, shift)

        def solve(right: Reals) -> Reals:
            pulled = cho_solve(factor, roots[:, None] * (rows @ right), check_finite=False)
            found: Reals = right / shift
            found[active] -= roots[:, None] * pulled / shift
            return found

        return solve


@dataclass(frozen=True, eq=False)
class Features(Span):
    """The Gram matrix of features, a row a point: it is never formed."""

    rows: Reals

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def trace(self) -> float:
        return float((self.rows**2).sum())

    def __matmul__(self, coefficients: Reals) -> Reals:
        product: Reals = self.rows @ (self.rows.T @ coefficients)
        return product

    def solver(self, curvature: Reals, shift: float) -> Callable[[Reals], Reals]:
        factor = _factor(self.rows.T @ (curvature[:, None] * self.rows), shift)

        def solve(right: Reals) -> Reals:
            pulled = cho_solve(factor, self.rows.T @ right, check_finite=False)
            found: Reals = (right - curvature[:, None] * (self.rows @ pulled)) / shift
            return found

        return solve


def _factor(matrix: Reals, shift: float) -> tuple[Reals, bool]:
    """The Cholesky factor of a matrix with its diagonal raised, in its place."""
    matrix[np.diag_indices_from(matrix)] += shift
    try:
        factor: tuple[Reals, bool] = cho_factor(
            matrix.T, lower=True, overwrite_a=True, check_finite=False
        )
    except LinAlgError as error:
        raise NotPositiveDefinite(
            f"the weighted Gram matrix has no Cholesky factor ({error}): the penalty is too "
            "small for the rounding of the kernel, or the kernel is not positive definite.\n"
            "Raise the penalty, or ask mercer.testing.check_kernel(k, X)."
        ) from None
    return factor
