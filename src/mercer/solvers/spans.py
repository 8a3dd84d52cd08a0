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


class Factored(ABC):
    """The matrix shift + C K for a diagonal C, once it has a factor."""

    @abstractmethod
    def solve(self, right: Reals) -> Reals:
        """What gives these columns, multiplied by the matrix."""

    @abstractmethod
    def explained(self) -> Reals:
        """The diagonal of K (shift + C K)^-1: how far a unit of slope moves each value."""


class Span(ABC):
    """A Gram matrix in some form."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __matmul__(self, coefficients: Reals) -> Reals:
        """The matrix times columns of coefficients."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many rows a factor has at most."""

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
    def factored(self, curvature: Reals, shift: float) -> Factored:
        """The matrix shift + C K for C of these curvatures, in a form that solves.

        Raises:
            NotPositiveDefinite: A factor does not exist.
        """

    def influence(self, curvature: Reals, shift: float, *, has_offset: bool) -> Reals:
        """How far a unit of slope on a row moves the value there, the offset following."""
        factored = self.factored(curvature, shift)
        found = factored.explained()
        if not has_offset:
            return found
        apart = 1 - self @ factored.solve(curvature[:, None])[:, 0]
        total = float(curvature @ apart)
        if not total > 0:  # no row holds the offset
            return found
        moved: Reals = found + apart**2 / total
        return moved

    def step(self, curvature: Reals, shift: float, *, has_offset: bool) -> Step:
        """What solves (shift + C K) a + C b = r for a and b, with a orthogonal to the
        constant; without an offset b is zero.
        """
        solve = self.factored(curvature, shift).solve
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

    @property
    def width(self) -> int:
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

    def factored(self, curvature: Reals, shift: float) -> Factored:
        active = np.flatnonzero(curvature * np.diagonal(self.matrix) > SOFT * shift)
        roots = np.sqrt(curvature[active])
        if len(active) == len(self.matrix):
            inner = self.matrix * roots
        else:
            inner = self.matrix[np.ix_(active, active)]
            inner *= roots
        inner *= roots[:, None]
        return _OfRows(self.matrix, curvature, shift, active, roots, _factor(inner, shift))


@dataclass(frozen=True, eq=False)
class _OfRows(Factored):
    """The factor of the rows whose curvature counts, divided by the roots of it: so the
    equations are symmetric, and nothing cancels.
    """

    matrix: Reals
    curvature: Reals
    shift: float
    active: NDArray[np.int64]
    roots: Reals
    factor: tuple[Reals, bool]

    def solve(self, right: Reals) -> Reals:
        found = self._once(right)
        if (self.curvature > 0).sum() > len(self.active):  # what a little curvature changes
            image = self.matrix @ found
            rest = right - self.shift * found - self.curvature[:, None] * image
            found += self._once(rest)
        return found

    def _once(self, right: Reals) -> Reals:
        found: Reals = right / self.shift
        found[self.active] = 0
        roots = self.roots[:, None]
        pulled = right[self.active] / roots
        if len(self.active) < len(found):
            pulled -= roots * (self.matrix @ found)[self.active]
        found[self.active] = roots * cho_solve(self.factor, pulled, check_finite=False)
        return found

    def explained(self) -> Reals:
        own = np.diagonal(self.matrix)
        found = np.empty(len(own))
        rest = np.setdiff1d(np.arange(len(own)), self.active, assume_unique=True)
        if len(rest):
            cross = self.matrix[np.ix_(self.active, rest)] * self.roots[:, None]
            pulled = solve_triangular(self.factor[0], cross, lower=True, check_finite=False)
            found[rest] = (own[rest] - (pulled**2).sum(axis=0)) / self.shift
        if len(self.active):
            inverse = np.tril(lapack.dtrtri(self.factor[0], lower=1)[0])
            squares = np.einsum("ki,ki->i", inverse, inverse)
            found[self.active] = (1 - self.shift * squares) / self.curvature[self.active]
        return np.maximum(found, 0.0)


@dataclass(frozen=True, eq=False)
class Features(Span):
    """The Gram matrix of features, a row a point: it is never formed."""

    rows: Reals

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def trace(self) -> float:
        return float((self.rows**2).sum())

    @property
    def features(self) -> Reals:
        return self.rows

    def __matmul__(self, coefficients: Reals) -> Reals:
        product: Reals = self.rows @ (self.rows.T @ coefficients)
        return product

    def factored(self, curvature: Reals, shift: float) -> Factored:
        scaled = np.sqrt(curvature)[:, None] * self.rows
        return _OfFeatures(self.rows, curvature, shift, _factor(scaled.T @ scaled, shift))


@dataclass(frozen=True, eq=False)
class _OfFeatures(Factored):
    """The factor of what the features make of the curvatures."""

    rows: Reals
    curvature: Reals
    shift: float
    factor: tuple[Reals, bool]

    def solve(self, right: Reals) -> Reals:
        pulled = cho_solve(self.factor, self.rows.T @ right, check_finite=False)
        bent = self.curvature[:, None] * (self.rows @ pulled)
        found: Reals = (right - bent) / self.shift
        return found

    def explained(self) -> Reals:
        pulled = solve_triangular(self.factor[0], self.rows.T, lower=True, check_finite=False)
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
