"""The rules that lift a kernel: through a function of it, or of its points."""

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
from mercer.kernels import parameters
from mercer.kernels.algebra import named, times
from mercer.kernels.base import Kernel
from mercer.kernels.proof import Proof
from mercer.kernels.terms import Term
from mercer.loops import Applied, Tiles
from mercer.types import Array


class Lift(Kernel):
    """A kernel made from one other kernel."""

    kernel: Kernel

    @property
    def domain(self) -> Domain:
        return self.kernel.domain


@dataclass(frozen=True)
class Exp(Lift):
    r"""Exponential of a kernel, $\exp(k(x, y))$.

    Why it is a kernel (power series): it is the limit of the sums
    $\sum_{n \le N} k(x, y)^n / n!$; each is a kernel, being made of products and positive
    multiples, and pointwise limits of kernels are kernels.

    Args:
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> mc.Linear().exp().pair([1.0], [0.0])
        1.0
    """

    word = "exp"

    kernel: Kernel

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return Applied(self.kernel.tiles(A, B), _exponential)

    def diag(self, A: Batch) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(self.kernel.diag(A))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        # exp(k - (k(x, x) + k(y, y)) / 2) cannot overflow if k does not.
        self.kernel.check_finite(A)
        self.kernel.check_finite(B)
        a, b = self.kernel.diag(A) / 2, self.kernel.diag(B) / 2

        def shift(tile: Array, rows: slice, columns: slice) -> None:
            with np.errstate(over="ignore", under="ignore"):
                tile -= a[rows, None] + b[None, columns]
                np.exp(np.minimum(tile, 0, out=tile), out=tile)

        return Applied(self.kernel.tiles(A, B), shift)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        slope: Array = self.block(A, B)[..., None] * self.kernel.gradient_block(A, B)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        inner = self.kernel.parameter_block(A, B)
        values = self.block(A, B)
        return named("kernel", {name: times(values, s) for name, s in inner.items()})


def _exponential(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
    np.exp(tile, out=tile)


@dataclass(frozen=True)
class Series(Lift):
    r"""Polynomial or truncated power series of a kernel, $\sum_n c_n\, k(x, y)^n$ with
    $c_n \ge 0$.

    Why it is a kernel (power series): powers of a kernel are kernels (Schur), and so are
    their sums with weights $c_n \ge 0$; a constant is the kernel of the constant feature.

    Args:
        coefficients: The numbers $c_0, c_1, \dots, c_N \ge 0$.
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> mc.Series((1.0, 2.0, 1.0), mc.Linear()).pair([2.0], [3.0])  # (1 + xy)^2
        49.0
    """

    word = "series"

    coefficients: tuple[float, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        given = tuple(self.coefficients)
        if not given:
            raise InvalidParameter("A series needs at least one coefficient.")
        checked = tuple(
            parameters.nonnegative(f"A series of {self.kernel}", f"coefficient {n}", c)
            for n, c in enumerate(given)
        )
        object.__setattr__(self, "coefficients", checked)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        def sum_up(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            tile[...] = self._value(tile)

        return Applied(self.kernel.tiles(A, B), sum_up)

    def diag(self, A: Batch) -> Array:
        return self._value(self.kernel.diag(A))

    def _value(self, inner: Array) -> Array:
        total = np.full_like(inner, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:
            total *= inner
            total += inner.dtype.type(coefficient)
        return total

    def feature_map(self, A: Batch) -> Array:
        once = self.kernel.feature_map(A)
        power = np.ones((len(A), 1), once.dtype)
        parts = []
        for coefficient in self.coefficients:
            parts.append(np.sqrt(coefficient) * power)
            power = (power[:, :, None] * once[:, None, :]).reshape(len(A), -1)
        return np.hstack(parts)

    def _slope(self, A: Batch, B: Batch) -> Array:
        inner = self.kernel.block(A, B)
        total = np.zeros_like(inner)
        for n in range(len(self.coefficients) - 1, 0, -1):
            total = total * inner + n * self.coefficients[n]
        return total

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        slope: Array = self._slope(A, B)[..., None] * self.kernel.gradient_block(A, B)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        slope, inner = self._slope(A, B), self.kernel.block(A, B)
        powers = [c * inner**n for n, c in enumerate(self.coefficients)]
        own = {"coefficients": np.stack(powers, axis=-1)}
        parts = self.kernel.parameter_block(A, B)
        return own | named("kernel", {name: times(slope, s) for name, s in parts.items()})


@dataclass(frozen=True)
class Normalized(Lift):
    r"""Cosine in feature space, $k(x, y) / \sqrt{k(x, x)\, k(y, y)}$.

    Why it is a kernel (weighting): it is $f(x)\,k(x, y)\,f(y)$ with $f(x) = k(x, x)^{-1/2}$,
    whose feature map is $f(x)\,\Phi(x)$. A point with $k(x, x) = 0$, whose feature is the zero
    vector, counts as like itself and unlike all others.

    Args:
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> round(mc.Linear().normalized().pair([1.0, 0.0], [1.0, 1.0]), 6)
        0.707107
    """

    word = "normalized"

    kernel: Kernel

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        a, b = self.kernel.diag(A), self.kernel.diag(B)
        empty = np.flatnonzero(a == 0), np.flatnonzero(b == 0)
        safe = self.kernel.normalized_tiles(A, B)
        with np.errstate(divide="ignore"):
            left, right = 1 / np.sqrt(a), 1 / np.sqrt(b)
        left[empty[0]] = right[empty[1]] = 0
        same = A is B
        # Zero features are equal to each other where their points are.
        names = None
        if len(empty[0]) and len(empty[1]):
            names = A.identify() * 2 if same else A.identify(B)

        def divide(tile: Array, rows: slice, columns: slice) -> None:
            if safe is None:
                tile *= left[rows, None]  # one by one: their product may overflow
                tile *= right[None, columns]
                np.clip(tile, -1, 1, out=tile)
            if names is not None:
                zero = (a[rows, None] == 0) & (b[None, columns] == 0)
                tile[zero & (names[0][rows, None] == names[1][None, columns])] = 1
            if same:
                _set_diagonal(tile, rows, columns, 1.0)

        return Applied(self.kernel.tiles(A, B) if safe is None else safe, divide)

    def check_finite(self, A: Batch) -> None:
        if self.kernel.normalized_tiles(A, A) is None:
            self.kernel.check_finite(A)

    def diag(self, A: Batch) -> Array:
        return np.ones_like(self.kernel.diag(A))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.tiles(A, B)

    def feature_map(self, A: Batch) -> Array:
        own = self.kernel.diag(A)
        if (own == 0).any():
            return super().feature_map(A)
        inner: Array = self.kernel.feature_map(A) / np.sqrt(own)[:, None]
        return inner

    def _finite_diagonals(self, A: Batch, B: Batch) -> tuple[Array, Array]:
        # The values have a form that cannot overflow; their slopes have none.
        self.kernel.check_finite(A)
        self.kernel.check_finite(B)
        return self.kernel.diag(A), self.kernel.diag(B)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        a, b = self._finite_diagonals(A, B)
        if (a == 0).any() or (b == 0).any():
            raise NotSmooth(f"{self} has no gradient at a point with k(x, x) = 0.")
        scale = 1 / np.sqrt(a)[:, None] / np.sqrt(b)[None, :]
        own = _own_gradient(self.kernel, A) / 2
        slope: Array = self.kernel.gradient_block(A, B) * scale[..., None]
        slope -= (self.kernel.block(A, B) * scale / a[:, None])[..., None] * own[:, None, :]
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        a, b = self._finite_diagonals(A, B)
        if (a == 0).any() or (b == 0).any():
            raise NotSmooth(f"{self} has no gradient at a point with k(x, x) = 0.")
        scale = 1 / np.sqrt(a)[:, None] / np.sqrt(b)[None, :]
        share = self.kernel.block(A, B) * scale / 2
        left, right = _own_slopes(self.kernel, A), _own_slopes(self.kernel, B)
        slopes: dict[str, Array] = {}
        for name, slope in self.kernel.parameter_block(A, B).items():
            across = times(share / a[:, None], np.expand_dims(left[name], 1))
            down = times(share / b[None, :], np.expand_dims(right[name], 0))
            slopes[name] = times(scale, slope) - across - down
        return named("kernel", slopes)


def _set_diagonal(tile: Array, rows: slice, columns: slice, value: float) -> None:
    """Set those entries of a tile that lie on the diagonal of the matrix."""
    overlap = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    tile[overlap - rows.start, overlap - columns.start] = value


def _own_gradient(kernel: Kernel, A: Batch) -> Array:
    """The derivatives of k(x, x) in x: twice those in the first argument, by symmetry."""
    points = (A[i : i + 1] for i in range(len(A)))
    return 2 * np.stack([kernel.gradient_block(point, point)[0, 0] for point in points])


def _own_slopes(kernel: Kernel, A: Batch) -> dict[str, Array]:
    """The derivatives of k(x, x) in the logarithm of each parameter."""
    points = (A[i : i + 1] for i in range(len(A)))
    slopes = [kernel.parameter_block(point, point) for point in points]
    return {name: np.stack([slope[name][0, 0] for slope in slopes]) for name in slopes[0]}


@dataclass(frozen=True)
class Schoenberg(Lift):
    r"""Gaussian of the distance in feature space,
    $\exp(-t\, d_k(x, y)^2)$ with $d_k(x, y)^2 = k(x, x) + k(y, y) - 2 k(x, y)$.

    Why it is a kernel (Schoenberg): $d_k^2$ is conditionally negative definite, because for
    weights that sum to zero its quadratic form is $-2 |\sum_i c_i \Phi(x_i)|^2 \le 0$; and
    $\exp(-t\psi)$ is p.d. for all $t > 0$ exactly for such $\psi$.

    Args:
        rate: The factor $t > 0$.
        kernel: The kernel $k$.

    Example:
        >>> import mercer as mc
        >>> k = mc.Schoenberg(0.5, mc.Linear())  # the Gaussian kernel
        >>> round(k.pair([0.0], [2.0]), 6)
        0.135335
    """

    word = "schoenberg"

    rate: float
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", parameters.positive("Schoenberg", "rate", self.rate))

    def proof(self) -> Proof:
        inner = Term("squared_distance", (), (self.kernel.term(),))
        premise = Proof.of(inner, self.kernel.proof())
        return Proof.of(self.term(), premise)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        # Quarters of squares: the sum of two finite numbers may overflow.
        a, b = self.kernel.diag(A) / 4, self.kernel.diag(B) / 4

        def bend(tile: Array, rows: slice, columns: slice) -> None:
            rate = min(4 * self.rate, float(np.finfo(tile.dtype).max))
            with np.errstate(over="ignore", under="ignore"):
                tile *= -0.5
                tile += a[rows, None] + b[None, columns]
                np.maximum(tile, 0, out=tile)
                if A is B:
                    _set_diagonal(tile, rows, columns, 0.0)
                tile *= tile.dtype.type(-rate)
                np.exp(tile, out=tile)

        return Applied(self.kernel.tiles(A, B), bend)

    def check_finite(self, A: Batch) -> None:
        self.kernel.check_finite(A)

    def diag(self, A: Batch) -> Array:
        return np.ones_like(self.kernel.diag(A))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        slope: Array = 2 * self.kernel.gradient_block(A, B)
        slope -= _own_gradient(self.kernel, A)[:, None, :]
        slope *= self.rate * self.block(A, B)[..., None]
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        values = self.block(A, B)
        left, right = _own_slopes(self.kernel, A), _own_slopes(self.kernel, B)
        slopes: dict[str, Array] = {}
        for name, slope in self.kernel.parameter_block(A, B).items():
            bent = 2 * slope - np.expand_dims(left[name], 1) - np.expand_dims(right[name], 0)
            slopes[name] = times(self.rate * values, bent)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(values > 0, values * np.log(values), 0.0)
        return {"rate": own} | named("kernel", slopes)


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
