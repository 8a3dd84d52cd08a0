r"""The leading eigenpairs of a centred Gram matrix, with the evidence that they are such.

With $S = \operatorname{diag}(\sqrt{w})$ and the projection P that takes the constant out, the
matrix is $P S K S P$. It is never formed but for the method that needs it: products with K are
enough, and a few of them, for many columns at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import NotPositiveDefinite
from mercer.gram import Operator

Reals = NDArray[np.float64]

SMALL = 2_000
"""Rows below which a second thread waits longer for the first than it works."""


@dataclass(frozen=True, eq=False, repr=False)
class Eigenpairs:
    """Eigenvalues and eigenvectors, the largest first.

    Attributes:
        method: What found them.
        values: The eigenvalues, above rounding.
        vectors: The eigenvectors, orthonormal columns; the largest entry of each is positive.
        residuals: The norms |A v - lambda v|. An eigenvalue is as close as that to its value.
        total: The sum of all eigenvalues, known from the diagonal.
        mean: For each row the mean of its kernel values, by the weights.
        steps: Products with a block of columns.
        converged: Whether the residuals are as small as was asked.
        seconds: How long it took.
    """

    method: str
    values: Reals
    vectors: Reals
    residuals: Reals
    total: float
    mean: Reals
    steps: int
    converged: bool
    seconds: float

    def __repr__(self) -> str:
        end = "" if self.converged else ", not converged"
        return (
            f"Eigenpairs({self.method}, {len(self.values)} values, "
            f"residual={self.residual:.1e}, steps={self.steps}{end})"
        )

    @property
    def residual(self) -> float:
        """The largest residual, relative to the largest eigenvalue."""
        if not self.values.size:
            return 0.0
        return float(self.residuals.max() / self.values[0])

    def first(self, count: int) -> Eigenpairs:
        """The leading ones among them."""
        return replace(
            self,
            values=self.values[:count],
            vectors=self.vectors[:, :count],
            residuals=self.residuals[:count],
        )


class Centred:
    """The matrix P S K S P of a Gram operator K and weights: something to multiply by.

    Args:
        operator: The Gram matrix.
        weights: The weights.
        promise: How exact its values are, relative to the diagonal; by default as exact as
            values that are computed here.

    Attributes:
        roots: The roots of the weights.
        total: The sum of the weights.
    """

    def __init__(
        self, operator: Operator, weights: Reals, promise: float | None = None
    ) -> None:
        self.operator = operator
        # What kernel values promise, relative to the diagonal, and some for the centring.
        exact = 2.0**-38 if operator.dtype == np.float64 else 2.0**-13
        self._promise = exact if promise is None else promise
        self.roots: Reals = np.sqrt(weights)
        self.total = float(weights.sum())
        diagonal = operator.diagonal().astype(np.float64, copy=False)
        self._weights = weights
        self._own = float(weights @ diagonal)
        self._mean: Reals | None = None

    def __len__(self) -> int:
        return len(self.roots)

    def __matmul__(self, V: Reals) -> Reals:
        right = self.roots[:, None] * self.project(V)
        if self._mean is None:  # one column more of the first product
            right = np.column_stack([right, self._weights])
        product: Reals = self.operator @ right
        if self._mean is None:
            self._mean = product[:, -1] / self.total
            product = product[:, :-1]
        return self.project(self.roots[:, None] * product)

    def project(self, V: Reals) -> Reals:
        """What is left of columns without the constant, which is here the roots."""
        across = self.roots @ V / self.total
        left: Reals = V - np.multiply.outer(self.roots, across)
        return left

    @property
    def mean(self) -> Reals:
        """For each row the mean of its kernel values, by the weights."""
        if self._mean is None:
            self._mean = self.operator @ self._weights / self.total
        return self._mean

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues."""
        return self._own - self._constant

    @property
    def _constant(self) -> float:
        """The part of the sum that was taken out."""
        return float(self._weights @ self.mean)

    def noise(self, largest: float) -> float:
        """What rounding leaves in a product with a vector of norm one.

        A row of K times a vector is off by a few units of the norm of the row (the errors of a
        sum are as often up as down), and the squares of those norms sum to |K|_F^2, which is
        at most the largest eigenvalue times the trace.
        """
        unit = float(np.finfo(self.operator.dtype).eps)
        size = max(largest, 0.0) + abs(self._constant)
        return 4 * unit * float(np.sqrt(size * max(self._own, size)))

    def dense(self) -> Reals:
        """The matrix itself."""
        out: Reals = self.operator.to_dense().astype(np.float64, copy=False)
        self._mean = out @ self._weights / self.total
        out -= self._mean
        out -= (self._mean - self._constant / self.total)[:, None]
        out *= self.roots
        out *= self.roots[:, None]
        return out

    def require_positive(self, least: float) -> None:
        """Raise if an eigenvalue is more negative than rounding explains.

        Raises:
            NotPositiveDefinite: It is.
        """
        allowed = max(self._promise * self._own, self.noise(self._own))
        if least < -allowed:
            raise NotPositiveDefinite(
                f"the centred Gram matrix has an eigenvalue of {least:.3g} or less, more "
                f"negative than rounding explains ({allowed:.1g}): the kernel is not positive "
                "definite, and what it measures are no variances.\nAsk "
                "mercer.testing.check_kernel(k, X); mercer.repair(K) mends a matrix for "
                'kernel="precomputed".'
            )


def spectral(matrix: Centred, *, threads: int | None = None) -> Eigenpairs:
    """All eigenpairs above rounding, by LAPACK.

    Raises:
        NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
    """
    began = time.perf_counter()
    stored = matrix.dense()
    norm = float(np.linalg.norm(stored))
    # The constant gets an eigenvalue beyond all others, or it would mix with those near zero.
    beyond = 2 * (norm or 1.0) / matrix.total
    stored += np.multiply.outer(beyond * matrix.roots, matrix.roots)
    with threadpool_limits(crew(len(matrix), threads), "blas"):
        # Transposed it is the same matrix in LAPACK's layout, which is not copied.
        values, vectors = scipy.linalg.eigh(
            stored.T, driver="evd", overwrite_a=True, check_finite=False
        )
    values, vectors = values[:-1], vectors[:, :-1]
    # The promise of the decomposition (LAPACK Users' Guide, 4.7): a few units of the norm.
    unit = float(np.finfo(np.float64).eps)
    residuals = np.full(len(values), unit * max(norm, np.finfo(np.float64).tiny))
    return finished(
        "spectral", matrix, (values[::-1], vectors[:, ::-1]), residuals, 1,
        float(values[0]), converged=True, began=began,
    )  # fmt: skip


def of_features(features: Reals, weights: Reals, *, threads: int | None = None) -> Eigenpairs:
    """All eigenpairs above rounding of features @ features', centred, from their singular
    values: X X' and X' X have one spectrum, and the smaller side is the cheaper one.
    """
    began = time.perf_counter()
    roots, total = np.sqrt(weights), float(weights.sum())
    center = weights @ features / total
    rows = roots[:, None] * (features - center)
    with threadpool_limits(crew(len(rows), threads), "blas"):
        vectors, lengths, _ = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    unit = float(np.finfo(np.float64).eps)
    size = float(np.linalg.norm(center)) * np.sqrt(total) + float(lengths.max(initial=0.0))
    kept = lengths > max(features.shape) * unit * size
    values = lengths[kept] ** 2
    vectors = _signed(vectors[:, kept])
    # Each singular value is off by a few units of the largest.
    residuals = 4 * unit * size * lengths[kept]
    return Eigenpairs(
        "primal", values, vectors, residuals, float((lengths**2).sum()), features @ center,
        1, converged=True, seconds=time.perf_counter() - began,
    )  # fmt: skip


def enough(pairs: Eigenpairs, share: float) -> Eigenpairs:
    """The leading ones of all eigenpairs that hold a share of their sum."""
    held = np.cumsum(pairs.values) >= share * pairs.total
    return pairs.first(int(held.argmax()) + 1) if held.any() else pairs


def finished(
    method: str,
    matrix: Centred,
    pairs: tuple[Reals, Reals],
    residuals: Reals,
    steps: int,
    least: float,
    *,
    converged: bool,
    began: float,
) -> Eigenpairs:
    """The pairs above rounding, if the matrix has no negative eigenvalue."""
    matrix.require_positive(least)
    values, vectors = pairs
    largest = float(values[0]) if values.size else 0.0
    unit = float(np.finfo(matrix.operator.dtype).eps)
    floor = max(matrix.noise(largest), len(matrix) * unit * largest, -least)
    kept = values > floor
    return Eigenpairs(
        method, values[kept], _signed(vectors[:, kept]), residuals[kept],
        matrix.trace, matrix.mean, steps, converged, time.perf_counter() - began,
    )  # fmt: skip


def _signed(vectors: Reals) -> Reals:
    """Columns whose largest entry is positive, for they are known up to their signs; of
    entries that are as large, up to rounding, the last.
    """
    if not vectors.size:
        return vectors
    sizes = np.abs(vectors)
    large = sizes >= (1 - 2.0**-20) * sizes.max(axis=0)
    largest = len(vectors) - 1 - large[::-1].argmax(axis=0)
    signed: Reals = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return signed


def crew(rows: int, threads: int | None) -> int | None:
    """How many threads of BLAS, None for as many as are allowed."""
    return 1 if rows < SMALL else threads
