r"""The functions that a solver searches: those that a Gram matrix spans, or features.

Each can multiply by the Gram matrix K, and solve $(\rho + C K)\, a + C b = r$ for a diagonal
matrix C of curvatures: the step of every Newton method here. Only rows with a curvature worth
the name enter a factor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack, solve_triangular

from mercer.errors import NotPositiveDefinite

Reals = NDArray[np.float64]
Step = Callable[[Reals], tuple[Reals, Reals]]

SOFT = 1e-10
"""Rows whose curvature is below this part of the shift do not enter a factor."""

_ASK = (
    "Ask mercer.testing.check_kernel(k, X); mercer.repair(K) mends a matrix, for "
    'kernel="precomputed".'
)


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

    @property
    @abstractmethod
    def features(self) -> Reals:
        """Rows whose inner products are the matrix."""

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
                f"explains: the kernel is not positive definite.\n{_ASK}"
            )

    @abstractmethod
    def solver(self, curvature: Reals, shift: float) -> Callable[[Reals], Reals]:
        """What solves (shift + C K) a = r for columns r, and C of these curvatures.

        Raises:
            NotPositiveDefinite: A factor does not exist.
        """

    @abstractmethod
    def explained(self, curvature: Reals, shift: float) -> Reals:
        """The diagonal of K (shift + C K)^-1: how far a unit of slope moves each value."""

    def influence(self, curvature: Reals, shift: float, *, has_offset: bool) -> Reals:
        """How far a unit of slope on a row moves the value there, the offset following."""
        found = self.explained(curvature, shift)
        if not has_offset:
            return found
        apart = 1 - self @ self.solver(curvature, shift)(curvature[:, None])[:, 0]
        total = float(curvature @ apart)
        if not total > 0:  # no row holds the offset
            return found
        moved: Reals = found + apart**2 / total
        return moved

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

    @cached_property
    def features(self) -> Reals:
        """By a Cholesky factor with pivots, which ends where rounding begins."""
        factor, pivots, rank, _ = lapack.dpstrf(self.matrix, lower=1)
        lower = np.tril(factor)[:, :rank]
        rows: Reals = np.empty_like(lower)
        rows[pivots - 1] = lower
        # What is left is rounding, for a positive semidefinite matrix: asked of one vector.
        probe = np.random.default_rng(0).choice([-1.0, 1.0], len(rows))
        rest = self.matrix @ probe - rows @ (rows.T @ probe)
        unit = len(rows) * np.finfo(np.float64).eps
        if float(np.linalg.norm(rest)) > 100 * unit * self.trace:
            raise NotPositiveDefinite(
                f"the matrix of {len(rows)} points is not that of features: the kernel is not "
                f"positive definite.\n{_ASK}"
            )
        return rows

    def solver(self, curvature: Reals, shift: float) -> Callable[[Reals], Reals]:
        active = np.flatnonzero(curvature * np.diagonal(self.matrix) > SOFT * shift)
        soft = bool((curvature > 0).sum() > len(active))
        roots = np.sqrt(curvature[active])
        factor = _factor(self._weighted(active, roots), shift)

        def once(right: Reals) -> Reals:
            found: Reals = right / shift
            found[active] = 0
            # Divided by the roots the equations are symmetric, and nothing cancels.
            pulled = right[active] / roots[:, None]
            if len(active) < len(found):
                pulled -= roots[:, None] * (self.matrix @ found)[active]
            found[active] = roots[:, None] * cho_solve(factor, pulled, check_finite=False)
            return found

        def solve(right: Reals) -> Reals:
            found = once(right)
            if soft:  # what their little curvature changes
                image = self.matrix @ found
                found += once(right - shift * found - curvature[:, None] * image)
            return found

        return solve

    def explained(self, curvature: Reals, shift: float) -> Reals:
        own = np.diagonal(self.matrix)
        active = np.flatnonzero(curvature * own > SOFT * shift)
        rest = np.flatnonzero(curvature * own <= SOFT * shift)
        roots = np.sqrt(curvature[active])
        factor, _ = _factor(self._weighted(active, roots), shift)
        found = np.empty(len(own))
        if len(rest):
            cross = self.matrix[np.ix_(active, rest)] * roots[:, None]
            pulled = solve_triangular(factor, cross, lower=True, check_finite=False)
            found[rest] = (own[rest] - (pulled**2).sum(axis=0)) / shift
        if len(active):
            inverse, _ = lapack.dtrtri(factor, lower=1, overwrite_c=1)
            squares = np.einsum("ki,ki->i", np.tril(inverse), np.tril(inverse))
            found[active] = (1 - shift * squares) / curvature[active]
        return np.maximum(found, 0.0)

    def _weighted(self, active: NDArray[np.int64], roots: Reals) -> Reals:
        """The rows and columns of the matrix that are active, times their roots."""
        if len(active) == len(self.matrix):
            inner = self.matrix * roots
        else:
            inner = self.matrix[np.ix_(active, active)]
            inner *= roots
        inner *= roots[:, None]
        return inner


@dataclass(frozen=True, eq=False)
class Features(Span):
    """The Gram matrix of features, a row a point: it is never formed."""

    rows: Reals

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def trace(self) -> float:
        return float((self.rows**2).sum())

    @property
    def features(self) -> Reals:
        return self.rows

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

    def explained(self, curvature: Reals, shift: float) -> Reals:
        factor, _ = _factor(self.rows.T @ (curvature[:, None] * self.rows), shift)
        pulled = solve_triangular(factor, self.rows.T, lower=True, check_finite=False)
        found: Reals = (pulled**2).sum(axis=0)
        return found


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
            f"Raise the penalty. {_ASK}"
        ) from None
    return factor
