"""Kernels that know only whether two points are equal, or not even that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.domains import (
    Anything,
    Batch,
    DenseBatch,
    Domain,
    ObjectBatch,
    SparseBatch,
    Vectors,
    of_one_kind,
)
from mercer.errors import InvalidInput, NotSmooth
from mercer.kernels.base import Kernel
from mercer.kernels.points import float_type
from mercer.loops import Blocks, Tiles
from mercer.types import Array


@dataclass(frozen=True)
class Delta(Kernel):
    r"""Equality, $k(x, y) = 1$ if $x = y$, else 0, for points of any kind.

    Why it is a kernel (feature map): each point has a direction of its own, and two different
    directions are orthogonal. It is strictly p.d.: the matrix of distinct points is the
    identity.

    Example:
        >>> import mercer as mc
        >>> mc.Delta()(["red", "blue", "red"])
        array([[1., 0., 1.],
               [0., 1., 0.],
               [1., 0., 1.]])
    """

    word = "delta"

    @property
    def domain(self) -> Domain:
        return Anything()

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        if A is B:
            (left,) = A.identify()
            right = left
        else:
            _check_alike(A, B)
            first, second = of_one_kind((A, B))
            left, right = first.identify(second)
        dtype = np.result_type(float_type(A), float_type(B))

        def block(rows: slice, columns: slice) -> Array:
            same: Array = (left[rows, None] == right[None, columns]).astype(dtype)
            return same

        return Blocks((len(A), len(B)), dtype, block)

    def diag(self, A: Batch) -> Array:
        return np.ones(len(A), float_type(A))


def _check_alike(A: Batch, B: Batch) -> None:
    """Raise if the points come in two forms, of which none would ever be equal."""
    left, right = _form(A), _form(B)
    if left and right and left != right:
        raise InvalidInput(
            f"the points on one side are of type {left}, and those on the other of type "
            f"{right}, so no two of them can be equal.\nPass both in the same form, for "
            "example both as arrays or both as DataFrames."
        )
    # A column of numbers is stored as vectors of one coordinate, and is compared with labels.
    numbers = any(isinstance(points, DenseBatch) and points.width == 1 for points in (A, B))
    one, other = (isinstance(points, DenseBatch | SparseBatch) for points in (A, B))
    if one != other and not numbers:
        raise InvalidInput(
            "the points on one side are vectors, and those on the other are not, so no two of "
            "them can be equal.\nPass both in the same form, for example both as arrays or "
            "both as sparse matrices."
        )


def _form(A: Batch) -> str:
    """The one type of container that all points are, if they are: it decides equality."""
    if not isinstance(A, ObjectBatch):
        return ""
    kinds = {type(point) for point in A.items}
    return kinds.pop().__name__ if len(kinds) == 1 and kinds <= _CONTAINERS else ""


_CONTAINERS = {list, tuple, dict, np.ndarray}


@dataclass(frozen=True)
class White(Delta):
    r"""White noise, $k(x, y) = 1$ if $x = y$, else 0, on vectors.

    Why it is a kernel (feature map): each point has a direction of its own, and two different
    directions are orthogonal. Added to another kernel with a weight, it is the variance of
    noise that is independent from point to point.

    Example:
        >>> import mercer as mc
        >>> (mc.Gaussian() + 0.1 * mc.White()).pair([1.0], [1.0])
        1.1
    """

    word = "white"

    @property
    def domain(self) -> Domain:
        return Vectors()


@dataclass(frozen=True)
class Bias(Kernel):
    r"""The constant kernel, $k(x, y) = 1$, for points of any kind.

    Why it is a kernel (feature map): the feature of every point is the number 1. Added to
    another kernel it lets functions shift by a constant.

    Example:
        >>> import mercer as mc
        >>> (mc.Linear() + 3 * mc.Bias()).pair([2.0], [5.0])
        13.0
    """

    word = "bias"

    @property
    def domain(self) -> Domain:
        return Anything()

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        dtype = np.result_type(float_type(A), float_type(B))

        def block(rows: slice, columns: slice) -> Array:
            shape = rows.stop - rows.start, columns.stop - columns.start
            return np.broadcast_to(dtype.type(1), shape)

        return Blocks((len(A), len(B)), dtype, block)

    def diag(self, A: Batch) -> Array:
        return np.ones(len(A), float_type(A))

    def feature_map(self, A: Batch) -> Array:
        return np.ones((len(A), 1), float_type(A))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        if not isinstance(A, DenseBatch | SparseBatch):
            raise NotSmooth(f"{self} has a gradient on vectors only.")
        return np.zeros((len(A), len(B), A.width))
