"""The rules that take a function of the points: weights, maps, and parts of a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import (
    Anything,
    Batch,
    DenseBatch,
    Domain,
    RecordBatch,
    Records,
    SparseBatch,
    Vectors,
)
from mercer.errors import InvalidInput, InvalidParameter, NotSmooth
from mercer.kernels.algebra import named
from mercer.kernels.base import Kernel
from mercer.kernels.lifts import Lift
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
        _require_function("weighted", self.function)

    def _weights(self, A: Batch) -> Array:
        given = [self.function(point) for point in A.raw()]
        try:
            weights = np.array(given, dtype=float)
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
        a = self._weights(A)
        b = a if A is B else self._weights(B)

        def weigh(tile: Array, rows: slice, columns: slice) -> None:
            tile *= a[rows, None] * b[None, columns]

        return Applied(self.kernel.tiles(A, B), weigh)

    def diag(self, A: Batch) -> Array:
        own: Array = self.kernel.diag(A) * self._weights(A) ** 2
        return own

    def feature_map(self, A: Batch) -> Array:
        inner: Array = self.kernel.feature_map(A) * self._weights(A)[:, None]
        return inner


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
        _require_function("map", self.function)

    @property
    def domain(self) -> Domain:
        return Anything()

    def _image(self, A: Batch) -> Batch:
        return self.kernel.domain.encode([self.function(point) for point in A.raw()])

    def _images(self, A: Batch, B: Batch) -> tuple[Batch, Batch]:
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
    r"""A kernel of a part of the point: named columns of a record, or places of a vector.

    Why it is a kernel (pullback): it is $k(\pi(x), \pi(y))$ where $\pi$ keeps the part.
    Sums of such kernels on different parts are direct sums, products are tensor products.

    Args:
        columns: Names of columns of a table, or positions in a vector.
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
        columns = (
            (self.columns,) if isinstance(self.columns, (str, int)) else tuple(self.columns)
        )
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

    @property
    def domain(self) -> Domain:
        if isinstance(self.columns[0], str):
            return Records(self.columns)
        return Vectors()

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
        if isinstance(A, SparseBatch):
            return self.kernel.domain.encode(SparseBatch(A.matrix[:, places]))
        return self.kernel.domain.encode(DenseBatch(np.ascontiguousarray(A.values[:, places])))

    def _parts(self, A: Batch, B: Batch) -> tuple[Batch, Batch]:
        part = self._part(A)
        return part, (part if A is B else self._part(B))

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


def _require_function(owner: str, function: Any) -> None:
    if not callable(function):
        raise InvalidParameter(f"{owner} needs a function of one point, got {function!r}.")
