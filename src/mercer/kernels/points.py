"""Encoded vectors as kernels see them, and what the kernels on vectors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.domains import Batch, DenseBatch, Domain, SparseBatch, Vectors, same_width
from mercer.errors import InvalidInput
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Lengths
from mercer.loops import Applied, Blocks, Pairwise, Profile, Tiles, dense
from mercer.types import Array

Points: TypeAlias = Any
"""Points as the rows of an array or of a `scipy.sparse.csr_array`."""


TOLERANCE = {"float32": 2.0**-15, "float64": 2.0**-40}
"""How far a value may be off, in units of the largest one: beyond, a slower way is taken."""


FLOAT32_LENGTHS = 1e-15, 1e15
"""Between these the square of a length, and its reciprocal, fit in float32."""


WIDE = 1 << 14
"""Columns from which on those that meet nothing are worth dropping."""


def points_of(batch: Batch) -> Points:
    """The coordinates of vectors, as they are stored."""
    if isinstance(batch, SparseBatch):
        return batch.matrix
    assert isinstance(batch, DenseBatch)  # noqa: S101 - the domain encodes nothing else here
    return batch.values


def dense_of(batch: Batch) -> Array:
    """The coordinates of vectors as an array."""
    points = points_of(batch)
    values: Array = points.toarray() if sparse.issparse(points) else points
    return values


def wide_of(batch: Batch) -> NDArray[np.float64]:
    """The coordinates of vectors as an array in double precision."""
    return dense_of(batch).astype(np.float64, copy=False)


def common_type(A: Batch, B: Batch) -> np.dtype[Any]:
    """float32 if both batches are, else float64."""
    return np.result_type(points_of(A).dtype, points_of(B).dtype)


def float_type(batch: Batch) -> np.dtype[Any]:
    """float32 for vectors in float32, float64 for all other points."""
    vectors = isinstance(batch, DenseBatch | SparseBatch)
    single = vectors and points_of(batch).dtype == np.float32
    return np.dtype(np.float32 if single else np.float64)


def both_of(A: Batch, B: Batch) -> tuple[Points, Points]:
    """The coordinates of two batches in their common type, before anything is rounded."""
    dtype = common_type(A, B)
    X = points_of(A).astype(dtype, copy=False)
    return X, (X if A is B else points_of(B).astype(dtype, copy=False))


def check_vectors(kernel: Kernel, A: Batch, B: Batch) -> int:
    """The common width of two batches of vectors, which must suit the kernel."""
    assert isinstance(A, DenseBatch | SparseBatch)  # noqa: S101 - as above
    assert isinstance(B, DenseBatch | SparseBatch)  # noqa: S101 - as above
    same_width(A, B)
    check_widths(kernel, A.width)
    return A.width


def check_widths(kernel: Any, width: int) -> None:
    """Raise unless the points have as many features as the kernel has lengths."""
    scale = getattr(kernel, "scale", 1.0)
    if isinstance(scale, tuple) and len(scale) != width:
        raise InvalidInput(
            f"{kernel} has {len(scale)} scales, one a feature, but the points have {width} "
            "features. Pass one scale, or one for each feature."
        )
    metric = getattr(kernel, "metric", None)
    if metric is not None and len(metric) != width:
        raise InvalidInput(
            f"{kernel} has a metric for {len(metric)} features, but the points have {width}."
        )


def squares(points: Points) -> Array:
    """The squared norms of the rows, in float64."""
    with np.errstate(over="ignore", under="ignore"):
        if sparse.issparse(points):
            return row_sums(points, points.data.astype(np.float64) ** 2)
        sums: Array = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        return sums


def masses(points: Any) -> Array:
    """The sums of the coordinates, in float64."""
    with np.errstate(over="ignore"):
        return np.asarray(points.sum(axis=1, dtype=np.float64)).ravel()


def largest(points: Array) -> float:
    """The largest absolute coordinate."""
    return float(np.abs(points).max(initial=0))


def rows_of(matrix: Any) -> Any:
    """The row of each stored number."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def row_sums(matrix: Any, data: Array) -> Array:
    """The sums of numbers stored like those of a sparse matrix, row by row."""
    sums: Array = np.bincount(rows_of(matrix), data, minlength=matrix.shape[0]).astype(
        np.float64
    )
    return sums


def length_at(lengths: Lengths, feature: int) -> float:
    """The length of one feature."""
    return lengths[feature] if isinstance(lengths, tuple) else lengths


def moved_and_divided(X: Array, Y: Array, lengths: Array | None) -> tuple[Array, Array]:
    """Centred points in float64, divided by the length of each feature if there are any."""
    # Centring first keeps the digits of a cluster far from 0. The centre comes from Y, the
    # anchors, so that a row of the result does not depend on the other rows.
    with np.errstate(over="ignore"):
        centre = Y.mean(axis=0, dtype=np.float64)
    centre = np.where(np.isfinite(centre), centre, 0.0)

    def move(points: Array) -> Array:
        moved: Array = points - centre
        if lengths is not None:
            moved /= lengths
        return moved

    Z = move(Y)
    return (Z if X is Y else move(X)), Z


def meeting(X: Any, Y: Any) -> tuple[Any, Any]:
    """The columns that are not zero on either side: the loop spreads the others out in vain."""
    if X.shape[1] < WIDE:
        return X, Y
    left, right = np.zeros((2, X.shape[1]), dtype=bool)
    left[X.indices], right[Y.indices] = True, True
    both = np.flatnonzero(left & right)
    return (X[:, both], Y[:, both]) if len(both) < X.shape[1] // 2 else (X, Y)


def paired(
    X: Array, Y: Array, dtype: np.dtype[Any], operation: int, profile: Profile
) -> Pairwise:
    """The compiled loop on points of one type; the same points stay the same."""
    Z = Y.astype(dtype, copy=False)
    return Pairwise(Z if X is Y else X.astype(dtype, copy=False), Z, operation, profile)


def with_diagonal(pairs: Tiles, own: Array) -> Tiles:
    """Tiles of a symmetric matrix whose diagonal is known."""

    def correct(tile: Array, rows: slice, columns: slice) -> None:
        first, stop = max(rows.start, columns.start), min(rows.stop, columns.stop)
        both = np.arange(first, stop)
        tile[both - rows.start, both - columns.start] = own[both]

    return Applied(pairs, correct)


def one_by_one(
    X: Array,
    Y: Array,
    dtype: np.dtype[Any],
    term: Callable[[Array, Array, int], Array],
    finish: Callable[[Array], Array] = lambda sums: sums,
) -> Tiles:
    """`finish(sum_c term(x_c, y_c, c))` in float64, a coordinate at a time: always exact
    enough, and slow.
    """

    def block(rows: slice, columns: slice) -> Array:
        left, right = X[rows].astype(np.float64), Y[columns].astype(np.float64)
        sums = np.zeros((len(left), len(right)))
        with np.errstate(over="ignore", under="ignore"):
            for c in range(X.shape[1]):
                sums += term(left[:, c, None], right[:, c], c)
            return finish(sums)

    return Blocks((len(X), len(Y)), dtype, block)


class Coordinatewise(Kernel):
    """A kernel on vectors whose fast loops want dense rows."""

    @property
    def domain(self) -> Domain:
        return Vectors()

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        if not (isinstance(A, SparseBatch) or isinstance(B, SparseBatch)):
            X, Y = points_of(A), points_of(B)
            single = common_type(A, B) == np.float32
            return self.dense_tiles(X, Y, np.dtype(np.float32 if single else np.float64))

        def block(rows: slice, columns: slice) -> Array:
            left, right = DenseBatch(dense_of(A[rows])), DenseBatch(dense_of(B[columns]))
            return dense(self.tiles(left, right), threads=1)

        pairs: Tiles = Blocks((len(A), len(B)), common_type(A, B), block)
        return with_diagonal(pairs, self.diag(A)) if A is B else pairs

    @abstractmethod
    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        """The tiles for rows of coordinates. `Y is X` says that the matrix is symmetric."""

    def diag(self, A: Batch) -> Array:
        check_vectors(self, A, A)
        return np.ones(len(A), points_of(A).dtype)

    def gaps(self, A: Batch, B: Batch) -> Array:
        """All differences x_c - y_c, of shape (rows, columns, features), in float64."""
        check_vectors(self, A, B)
        differences: Array = wide_of(A)[:, None, :] - wide_of(B)[None, :, :]
        return differences
