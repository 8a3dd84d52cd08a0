"""The rules that take a function of the points: weights, maps, and parts of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer.domains import (
    Anything,
    Batch,
    DenseBatch,
    Domain,
    Positions,
    RecordBatch,
    Records,
    SparseBatch,
    recoded,
    same_columns,
    same_names,
)
from mercer.errors import InvalidInput, InvalidParameter, NotSmooth
from mercer.kernels.algebra import Power, named
from mercer.kernels.base import Kernel
from mercer.kernels.lifts import Lift
from mercer.kernels.parameters import reals
from mercer.loops import Applied, Tiles
from mercer.types import Array


@dataclass(frozen=True)
class Weighted(Lift):
    r"""A kernel weighted by a function, $f(x)\, k(x, y)\, f(y)$.

    Why it is a kernel (weighting): its feature map is $f(x)\,\Phi(x)$, for any function $f$.

    Args:
        function: A function of one point that returns a number.
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> k = mc.Bias().weighted(lambda x: 2.0 ** x[0])  # 2^(x + y)
        >>> k.pair([3.0], [2.0])
        32.0
    """

    word = "weighted"

    function: Callable[[Any], Any]
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_function("weighted", self.function)

    def _weights(self, A: Batch) -> Array:
        given = [self.function(point) for point in A.raw()]
        try:
            weights = reals(given)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"{self} needs one number a point from its function ({error})."
            ) from error
        if weights.shape != (len(A),):
            raise InvalidInput(
                f"{self} needs one number a point from its function, got shape {weights.shape}."
            )
        if not np.isfinite(weights).all():
            row = int(np.flatnonzero(~np.isfinite(weights))[0])
            raise InvalidInput(f"The function of {self} is {weights[row]} at row {row}.")
        return weights

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        same_columns(A, B)
        a = self._weights(A)
        b = a if A is B else self._weights(B)

        def weigh(tile: Array, rows: slice, columns: slice) -> None:
            tile *= a[rows, None] * b[None, columns]

        return Applied(self.kernel.tiles(A, B), weigh)

    def diag(self, A: Batch) -> Array:
        own, weights = self.kernel.diag(A), self._weights(A)
        with np.errstate(over="ignore"):  # in the type of the tiles, it may
            return (own * (weights * weights)).astype(own.dtype)

    def feature_map(self, A: Batch) -> Array:
        inner = self.kernel.feature_map(A)
        return (inner * self._weights(A)[:, None]).astype(inner.dtype)


@dataclass(frozen=True)
class Pullback(Lift):
    r"""A kernel of mapped points, $k(\varphi(x), \varphi(y))$.

    Why it is a kernel (pullback): its feature map is $\Phi(\varphi(x))$, for any function
    $\varphi$.

    Args:
        function: A function of one point that returns a point of the kernel's domain.
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> k = mc.Linear().map(lambda word: [word.count(letter) for letter in "ab"])
        >>> k.pair("abba", "aab")
        6.0
    """

    word = "map"

    function: Callable[[Any], Any]
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_function("map", self.function)

    @property
    def domain(self) -> Domain:
        return Anything()

    def rooted(self, exponent: float) -> Kernel:
        return Pullback(self.function, Power(exponent, self.kernel))

    def _image(self, A: Batch) -> Batch:
        return self.kernel.domain.encode([self.function(point) for point in A.raw()])

    def _images(self, A: Batch, B: Batch) -> tuple[Batch, Batch]:
        same_columns(A, B)
        image = self._image(A)
        return image, (image if A is B else self._image(B))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.kernel.tiles(*self._images(A, B))

    def diag(self, A: Batch) -> Array:
        return self.kernel.diag(self._image(A))

    def check_finite(self, A: Batch) -> None:
        self.kernel.check_finite(self._image(A))

    def feature_map(self, A: Batch) -> Array:
        return self.kernel.feature_map(self._image(A))

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        return named("kernel", self.kernel.parameter_block(*self._images(A, B)))


@dataclass(frozen=True)
class Column(Lift):
    r"""A kernel of a part of the point: columns of a record, by name or by position, or places
    of a vector.

    Why it is a kernel (pullback): it is $k(\pi(x), \pi(y))$ where $\pi$ keeps the part.
    Sums of such kernels on different parts are direct sums, products are tensor products.

    Args:
        columns: Names of columns of a table, or positions in a vector or a table, from 0.
        kernel: The kernel that reads them.

    Example:
        >>> import mercer as mc
        >>> k = mc.Gaussian().on("age") + mc.Delta().on("city")
        >>> k({"age": [30.0, 30.0], "city": ["Oslo", "Rome"]})
        array([[2., 1.],
               [1., 2.]])
    """

    word = "on"

    columns: tuple[str | int, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        one = isinstance(self.columns, str) or not isinstance(self.columns, Iterable)
        given = (self.columns,) if one else self.columns
        columns = tuple(map(_place, given))
        if not columns:
            raise InvalidParameter(f'{self.kernel}.on() needs a column: .on("age").')
        kinds = {isinstance(column, str) for column in columns}
        good = all(isinstance(c, (str, int)) and not isinstance(c, bool) for c in columns)
        if len(kinds) > 1 or not good:
            raise InvalidParameter(
                f"Columns are names of a table or positions of a vector, not both: {columns}."
            )
        if len(set(columns)) < len(columns):
            raise InvalidParameter(f"A column is named twice: {columns}.")
        if any(isinstance(column, int) and column < 0 for column in columns):
            raise InvalidParameter(f"Positions count from 0: {columns}.")
        object.__setattr__(self, "columns", columns)

    def rooted(self, exponent: float) -> Kernel:
        return Column(self.columns, Power(exponent, self.kernel))

    def bell(self, rate: float) -> Kernel | None:
        inner = self.kernel.bell(rate)
        return None if inner is None else Column(self.columns, inner)

    @property
    def domain(self) -> Domain:
        if isinstance(self.columns[0], str):
            return Records(self.columns)
        return Positions()

    def _part(self, A: Batch) -> Batch:
        if isinstance(A, RecordBatch):
            return A.select(self.columns, self.kernel.domain)
        places = [int(column) for column in self.columns]
        assert isinstance(A, (DenseBatch, SparseBatch))  # noqa: S101 - the domain encodes no other
        if max(places) >= A.width:
            raise InvalidInput(
                f"{self} reads column {max(places)}, but the points have {A.width} columns, "
                "counted from 0."
            )
        part: Batch
        if isinstance(A, SparseBatch):
            part = SparseBatch(A.matrix[:, places], self._names(A))
        else:
            part = DenseBatch(np.ascontiguousarray(A.values[:, places]), self._names(A))
        return recoded(part, self.kernel.domain)

    def _parts(self, A: Batch, B: Batch) -> tuple[Batch, Batch]:
        part = self._part(A)
        if A is B:
            return part, part
        other = self._part(B)
        same_names(self._names(A), self._names(B))
        return part, other

    def _names(self, A: Batch) -> tuple[str, ...] | None:
        """What the columns that are read are called, if they have names."""
        if isinstance(A, RecordBatch):
            found = tuple(map(A.resolve, self.columns))
            return tuple(map(str, found)) if all(isinstance(n, str) for n in found) else None
        assert isinstance(A, (DenseBatch, SparseBatch))  # noqa: S101 - as above
        return A.columns and tuple(A.columns[int(column)] for column in self.columns)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.kernel.tiles(*self._parts(A, B))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        return self.kernel.normalized_tiles(*self._parts(A, B))

    def diag(self, A: Batch) -> Array:
        return self.kernel.diag(self._part(A))

    def check_finite(self, A: Batch) -> None:
        self.kernel.check_finite(self._part(A))

    def feature_map(self, A: Batch) -> Array:
        return self.kernel.feature_map(self._part(A))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        if not isinstance(A, (DenseBatch, SparseBatch)):
            raise NotSmooth(f"{self} reads a table, which has no gradient. Pass an array.")
        inner = self.kernel.gradient_block(*self._parts(A, B))
        whole = np.zeros((*inner.shape[:2], A.width))
        whole[:, :, [int(column) for column in self.columns]] = inner
        return whole

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        return named("kernel", self.kernel.parameter_block(*self._parts(A, B)))


def _place(column: Any) -> Any:
    """A name or a position as a plain value, whose repr can be pasted."""
    if isinstance(column, str):
        return str(column)
    whole = isinstance(column, Integral) and not isinstance(column, bool)
    return int(column) if whole else column


def _require_function(owner: str, function: Any) -> None:
    if not callable(function):
        raise InvalidParameter(f"{owner} needs a function of one point, got {function!r}.")
