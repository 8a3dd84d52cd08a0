r"""The leading eigenpairs of a centred Gram matrix, with the evidence that they are such.

With $S = \operatorname{diag}(\sqrt{w})$ and the projection P that takes the constant out, the
matrix is $P S K S P$. It is never formed but for the method that needs it: products with K are
enough, and a few of them, for many columns at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import NotConverged, NotPositiveDefinite
from mercer.gram import Operator

Reals = NDArray[np.float64]

PASSES = 300
"""Products with a block after which a method gives up."""

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
    with threadpool_limits(_crew(len(matrix), threads), "blas"):
        # Transposed it is the same matrix in LAPACK's layout, which is not copied.
        values, vectors = scipy.linalg.eigh(
            stored.T, driver="evd", overwrite_a=True, check_finite=False
        )
    values, vectors = values[:-1], vectors[:, :-1]
    # The promise of the decomposition (LAPACK Users' Guide, 4.7): a few units of the norm.
    unit = float(np.finfo(np.float64).eps)
    residuals = np.full(len(values), unit * max(norm, np.finfo(np.float64).tiny))
    return _finished(
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
    with threadpool_limits(_crew(len(rows), threads), "blas"):
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


def krylov(
    matrix: Centred,
    count: int,
    *,
    tolerance: float,
    chance: np.random.RandomState,
    start: Reals | None = None,
    passes: int = PASSES,
    block: int | None = None,
    room: int | None = None,
    threads: int | None = None,
) -> Eigenpairs:
    r"""The leading eigenpairs by the block Lanczos method with thick restarts.

    From a random block X the space of X, AX, A^2 X, ... is made orthonormal, block by block
    and each against all before, and A is diagonalised on it. A block bears eigenvalues that
    are equal or close together, and a product with it costs little more than one with a
    vector, because the matrix is read once. When the basis is full, the best vectors of it
    and the last block start the next one (Wu and Simon 2000). What a pair misses is known
    without another product: it is in the next block.

    Args:
        matrix: The matrix.
        count: How many pairs.
        tolerance: The residual to reach, relative to each eigenvalue; not below rounding.
        chance: Draws the first block.
        start: Vectors to start from, besides.
        passes: Products with a block, at most.
        block: Columns of a block; by default half as many again as pairs, from 16 to 64.
        room: Columns of the basis, at most.
        threads: Threads of BLAS; by default as many as are allowed.

    Raises:
        NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
    """
    began = time.perf_counter()
    wide = block or _wide(count)
    # Beyond the dimension there is no orthonormal block.
    room = min(room or _room(count, wide), len(matrix) - wide)
    with threadpool_limits(_crew(len(matrix), threads), "blas"):
        pairs, residuals, steps, least, done = _lanczos(
            matrix, count, tolerance, chance, start, passes, wide, room
        )
    return _finished(
        "lanczos", matrix, pairs, residuals, steps, least, converged=done, began=began
    )


def _lanczos(
    matrix: Centred,
    count: int,
    tolerance: float,
    chance: np.random.RandomState,
    start: Reals | None,
    passes: int,
    wide: int,
    room: int,
) -> tuple[tuple[Reals, Reals], Reals, int, float, bool]:
    """The pairs, their residuals, the steps, the least eigenvalue seen, and whether all is
    as exact as was asked.
    """
    rows = len(matrix)
    basis = np.empty((rows, room), order="F")
    reduced = np.zeros((room, room))
    fresh = chance.standard_normal((rows, wide))
    if start is not None:
        fresh = np.column_stack([start, fresh[:, : max(wide - start.shape[1], 1)]])
        wide = fresh.shape[1]
    fresh, _ = _orthonormal(matrix.project(fresh))
    filled, steps = 0, 0
    while True:
        last = slice(filled, filled + wide)
        basis[:, last] = fresh
        filled += wide
        known = basis[:, :filled]
        fresh, inside, outside = _expand(matrix @ fresh, known)
        steps += 1
        reduced[:filled, last] = inside
        reduced[last, :filled] = inside.T
        if steps < min(3, passes) and filled + wide <= room:
            continue  # nothing has converged so soon
        square = reduced[:filled, :filled]
        values, turns = scipy.linalg.eigh((square + square.T) / 2, check_finite=False)
        values, turns = values[::-1], turns[:, ::-1]
        residuals = np.linalg.norm(outside @ turns[last], axis=0)
        goal = np.maximum(tolerance * values, matrix.noise(float(values[0])))
        done = filled >= count and bool((residuals <= goal)[:count].all())
        if done or steps >= passes:
            break
        if filled + wide > room:  # the best vectors of the basis are the next one
            kept = min(count + wide, room - wide)
            basis[:, :kept] = known @ turns[:, :kept]
            reduced[:] = 0
            reduced[range(kept), range(kept)] = values[:kept]
            filled = kept
    pairs = values[:count], known @ turns[:, :count]
    return pairs, residuals[:count], steps, float(values[-1]), done


def _crew(rows: int, threads: int | None) -> int | None:
    """How many threads of BLAS, None for as many as are allowed."""
    return 1 if rows < SMALL else threads


def until_share(
    find: Callable[[int, Reals | None], Eigenpairs], share: float, most: int
) -> Eigenpairs | None:
    """As many eigenpairs as hold a share of the sum of all; None if these are too many.

    Args:
        find: So many pairs, from vectors to start with.
        share: The share.
        most: How many pairs at most.
    """
    count, start = min(16, most), None
    while True:
        found = find(count, start)
        held = np.cumsum(found.values) >= share * found.total
        if held.any():
            return found.first(int(held.argmax()) + 1)
        if len(found.values) < count:  # these are all
            return found
        if count >= most:
            return None
        count, start = min(2 * count, most), found.vectors


def enough(pairs: Eigenpairs, share: float) -> Eigenpairs:
    """The leading ones of all eigenpairs that hold a share of their sum."""
    held = np.cumsum(pairs.values) >= share * pairs.total
    return pairs.first(int(held.argmax()) + 1) if held.any() else pairs


def require_converged(pairs: Eigenpairs, tolerance: float) -> None:
    """Raise unless the residuals are as small as was asked.

    Raises:
        NotConverged: They are not.
    """
    if not pairs.converged:
        raise NotConverged(
            f"after {pairs.steps} products the eigenpairs are known to {pairs.residual:.1e} of "
            f"the largest eigenvalue, and {tolerance:g} was asked: too many eigenvalues are "
            "nearly equal.\nAsk for fewer components, allow the memory for "
            'plan="spectral", or a larger mercer.Plan(tolerance=...).'
        )


def suits(rows: int, count: int) -> bool:
    """Whether the block Lanczos method has a basis much smaller than the matrix."""
    return rows >= 2 * _room(count, _wide(count))


def largest(rows: int) -> int:
    """The largest number of pairs for which that is so; one at least."""
    return max((count for count in range(1, rows // 4 + 1) if suits(rows, count)), default=1)


def basis_bytes(rows: int, count: int) -> int:
    """The bytes that the block Lanczos method takes, besides the matrix."""
    wide = _wide(count)
    room = _room(count, wide)
    return 8 * (rows * (room + count + 6 * wide) + 3 * room**2)


def _wide(count: int) -> int:
    """Columns of a block: half as many again as pairs, a multiple of eight."""
    return min(max(8 * -(-3 * count // 16) + 8, 16), 64)


def _room(count: int, wide: int) -> int:
    """Columns of a basis: enough for ten blocks, or for the pairs twice and some blocks."""
    return max(10 * wide, 2 * count + 4 * wide)


def _expand(image: Reals, known: Reals) -> tuple[Reals, Reals, Reals]:
    """The part of a block inside a basis, and an orthonormal block with what is outside.

    Twice, because what is left after the first time may be small, and then holds rounding.
    """
    inside = known.T @ image
    fresh, outside = _orthonormal(image - known @ inside)
    again = known.T @ fresh
    fresh, turn = _orthonormal(fresh - known @ again)
    return fresh, inside + again @ outside, turn @ outside


def _orthonormal(block: Reals) -> tuple[Reals, Reals]:
    """Q and R of a tall block; by a Cholesky factor of its products, where that is exact."""
    try:
        right = scipy.linalg.cholesky(block.T @ block, check_finite=False)
    except scipy.linalg.LinAlgError:
        return np.linalg.qr(block)
    pivots = np.abs(right.diagonal())
    if pivots.min() < 1e-5 * pivots.max():  # its square would lose most digits
        return np.linalg.qr(block)
    inverse = scipy.linalg.solve_triangular(right, np.eye(len(right)), check_finite=False)
    return block @ inverse, right


def _finished(
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
