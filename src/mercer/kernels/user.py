"""The doors for user code: a feature map, which is a proof, and a function, which is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.domains import Anything, Batch, DenseBatch, Domain, SparseBatch, same_columns
from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import reals
from mercer.kernels.terms import Term
from mercer.loops import DOT, Blocks, Pairwise, Profile, Tiles
from mercer.types import Array

ANYTHING = Anything()


@dataclass(frozen=True)
class FeatureKernel(Kernel):
    r"""The kernel of a feature map of your own, $k(x, y) = \langle \Phi(x), \Phi(y) \rangle$.

    Why it is a kernel (feature map): for any points and weights,
    $\sum_{ij} a_i a_j \langle \Phi(x_i), \Phi(x_j) \rangle = |\sum_i a_i \Phi(x_i)|^2 \ge 0$.

    Args:
        function: The map $\Phi$: one point to a vector, always of the same width; or, if
            vectorized, a list of points to a matrix. A sparse row comes as an array, all of
            them at once as the sparse matrix.
        vectorized: Whether the function maps all points at once.
        points: The domain of the points; by default anything, handed to the function as it is.

    Example:
        >>> import mercer as mc
        >>> k = mc.FeatureKernel(lambda word: [len(word), word.count("a")])
        >>> k.pair("data", "gala")
        20.0
    """

    word = "feature_kernel"

    function: Callable[[Any], Any]
    vectorized: bool = False
    points: Domain = ANYTHING

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidParameter(f"FeatureKernel needs a function, got {self.function!r}.")

    @property
    def domain(self) -> Domain:
        return self.points

    def term(self) -> Term:
        return Term(self.word, (("function", self.function),))

    def feature_map(self, A: Batch) -> Array:
        rows = (
            self.function(_together(A))
            if self.vectorized
            else [self.function(point) for point in A.raw()]
        )
        try:
            features = reals(_spread(rows))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The feature map of {self} must give each point a vector of numbers, always "
                f"of the same width ({error})."
            ) from error
        if features.ndim == 1:
            features = features[:, None]
        if features.ndim != 2 or len(features) != len(A):
            raise InvalidInput(
                f"The feature map of {self} gave shape {features.shape} for {len(A)} points. "
                "Return one vector a point."
            )
        if not np.isfinite(features).all():
            row = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
            raise InvalidInput(f"The feature map of {self} is not finite at row {row}.")
        return np.ascontiguousarray(features)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        same_columns(A, B)
        left = self.feature_map(A)
        right = left if A is B else self.feature_map(B)
        if left.shape[1] != right.shape[1]:
            raise InvalidInput(
                f"The feature map of {self} gave vectors of width {left.shape[1]} and "
                f"{right.shape[1]}. It must always give the same width."
            )
        own = _squares(left) if A is B else None
        return Pairwise(left, right, DOT, Profile(), own=own)

    def diag(self, A: Batch) -> Array:
        return _squares(self.feature_map(A))


def _together(batch: Batch) -> Any:
    """All points in one: a matrix where they are rows, sparse if they are, else a list."""
    if isinstance(batch, DenseBatch):
        return batch.values
    if isinstance(batch, SparseBatch):
        return batch.matrix
    points = batch.raw()
    rows = all(isinstance(point, np.ndarray) for point in points)
    return np.array(points) if rows else list(points)


def _spread(values: Any) -> Any:
    """What a function gave, as an array if it is a sparse matrix."""
    return values.toarray() if sp.issparse(values) else values


def _squares(features: Array) -> Array:
    squares: Array = np.einsum("ij,ij->i", features, features)
    return squares


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    r"""A function of two points that you know to be a kernel.

    Why it is a kernel (assumed): nobody proved it here; the proof says so, and so does that of
    every kernel built with it. `mercer.testing.check_kernel` looks for counter-examples.

    Args:
        function: k(x, y) for two points; or, if vectorized, the whole block for two lists.
        vectorized: Whether the function takes all points at once.
        points: The domain of the points; by default anything, handed to the function as it is.

    Example:
        >>> import mercer as mc
        >>> k = mc.from_function(lambda x, y: float(x[0] == y[0]))
        >>> k(["apple", "avocado", "banana"])
        array([[1., 1., 0.],
               [1., 1., 0.],
               [0., 0., 1.]])
        >>> k.is_assumed
        True
    """

    word = "from_function"

    function: Callable[..., Any]
    vectorized: bool = False
    points: Domain = ANYTHING

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidParameter(f"from_function needs a function, got {self.function!r}.")

    @property
    def domain(self) -> Domain:
        return self.points

    def term(self) -> Term:
        return Term(self.word, (("function", self.function),))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        same_columns(A, B)

        def block(rows: slice, columns: slice) -> Array:
            return self._block(A[rows], B[columns], rows.start, columns.start)

        return Blocks((len(A), len(B)), np.dtype(np.float64), block, serial=True)

    def diag(self, A: Batch) -> Array:
        if not self.vectorized:
            return self._one_each(self._numbers([self.function(x, x) for x in A.raw()]), A)
        single = (_together(A[i : i + 1]) for i in range(len(A)))
        own = self._numbers([_spread(self.function(x, x)) for x in single]).reshape(-1)
        return self._one_each(own, A)

    def _one_each(self, values: Array, A: Batch) -> Array:
        if values.shape != (len(A),):
            raise InvalidInput(
                f"The function of {self} must return one number for two points, and its values "
                f"have the shape {values.shape} for {len(A)} pairs."
            )
        return values

    def _numbers(self, values: Any) -> Array:
        try:
            return reals(_spread(values))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The function of {self} must return numbers ({error}).\nLook at what it "
                "returns for two of the points."
            ) from error

    def _block(self, A: Batch, B: Batch, row: int, column: int) -> Array:
        if self.vectorized:
            values = self._numbers(self.function(_together(A), _together(B)))
        else:
            right = B.raw()
            values = self._numbers([[self.function(x, y) for y in right] for x in A.raw()])
        if values.shape != (len(A), len(B)):
            raise InvalidInput(
                f"{self} gave shape {values.shape} for {len(A)} and {len(B)} points."
                + ("" if self.vectorized else " Its function must return one number.")
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise InvalidInput(
                f"{self} is {values[i, j]} for points {row + i} and {column + j}. A kernel has "
                "finite values: mend the function, or drop those points."
            )
        return values


def from_function(
    function: Callable[..., Any], vectorized: bool = False, domain: Domain | None = None
) -> FunctionKernel:
    """A kernel from a function that you know to be one: nothing is proved.

    Args:
        function: k(x, y) for two points; or, if vectorized, the block for two lists of points.
        vectorized: Whether the function takes all points at once.
        domain: The points; by default anything, handed to the function as it is.
    """
    return FunctionKernel(function, vectorized, domain or ANYTHING)
