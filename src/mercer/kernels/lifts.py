"""The rules that take a function of a kernel: exponential, series, cosine, Gaussian."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mercer.domains import Batch, Domain, of_one_kind
from mercer.errors import InvalidInput, InvalidParameter, MercerError, NotAKernel, NotSmooth
from mercer.kernels import parameters
from mercer.kernels.algebra import Power, Scaled, named, times
from mercer.kernels.base import Kernel, check_map, check_parts
from mercer.kernels.proof import Proof
from mercer.kernels.terms import Term
from mercer.loops import Applied, Tiles
from mercer.types import Array


class Lift(Kernel):
    """A kernel made from one other kernel."""

    kernel: Kernel

    def __post_init__(self) -> None:
        check_parts(type(self).__name__, self.kernel)

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

    def rooted(self, exponent: float) -> Kernel:
        return Exp(Scaled(exponent, self.kernel))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return Applied(self.kernel.tiles(A, B), _exponential)

    def diag(self, A: Batch) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(self.kernel.diag(A))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        # exp(k - (k(x, x) + k(y, y)) / 2) cannot overflow if k does not.
        self.kernel.check_finite(A)
        self.kernel.check_finite(B)
        bell = bell_of(self.kernel, 0.5)
        if bell is not None:
            return bell.tiles(A, B)
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


def bell_of(kernel: Kernel, rate: float) -> Kernel | None:
    """The bell of a kernel, if there is one whose parameters stay in range."""
    try:
        return kernel.bell(rate)
    except MercerError:
        return None


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
        super().__post_init__()
        if not isinstance(self.coefficients, Iterable):
            raise InvalidParameter(
                f"A series needs its coefficients c_0, c_1, ..., got {self.coefficients!r}. "
                "Pass a tuple of numbers."
            )
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
        check_map(self, sum(once.shape[1] ** n for n in range(len(self.coefficients))))
        power = np.ones((len(A), 1), once.dtype)
        parts = []
        for n, coefficient in enumerate(self.coefficients):
            if n > 0:
                power = (power[:, :, None] * once[:, None, :]).reshape(len(A), -1)
            parts.append(np.sqrt(coefficient) * power)
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

    def rooted(self, exponent: float) -> Kernel:
        return Normalized(Power(exponent, self.kernel))

    def _squared_norms(self, A: Batch, *, divided: bool) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            own = self.kernel.diag(A)
        wrong = np.flatnonzero(own < 0)
        if wrong.size:
            raise NotAKernel(
                f"{self.kernel} is no kernel: k(x, x) = {own[wrong[0]]} < 0 at row {wrong[0]}."
                "\nLook at the function that it was made from."
            )
        tiny = np.flatnonzero((own > 0) & (own < np.finfo(own.dtype).tiny))
        if divided and tiny.size:
            raise InvalidInput(
                f"{self.kernel} underflows: k(x, x) has lost digits at row {tiny[0]}.\nRescale "
                "the data or the parameters."
            )
        return own

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        safe = self.kernel.normalized_tiles(A, B)
        a, b = (self._squared_norms(batch, divided=safe is None) for batch in (A, B))
        empty = np.flatnonzero(a == 0), np.flatnonzero(b == 0)
        with np.errstate(divide="ignore"):
            left, right = 1 / np.sqrt(a), 1 / np.sqrt(b)
        left[empty[0]] = right[empty[1]] = 0
        same = A is B
        # Zero features are equal to each other where their points are.
        names = None
        if len(empty[0]) and len(empty[1]):
            first, second = of_one_kind((A, B))
            names = A.identify() * 2 if same else first.identify(second)

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
        with np.errstate(over="ignore", under="ignore"):
            return np.ones_like(self.kernel.diag(A))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.tiles(A, B)

    def feature_map(self, A: Batch) -> Array:
        self.kernel.check_finite(A)  # the features have no form that cannot overflow
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
        super().__post_init__()
        object.__setattr__(self, "rate", parameters.positive("Schoenberg", "rate", self.rate))

    def proof(self) -> Proof:
        inner = Term("squared_distance", (), (self.kernel.term(),))
        premise = Proof.of(inner, self.kernel.proof())
        return Proof.of(self.term(), premise)

    def rooted(self, exponent: float) -> Kernel:
        return Schoenberg(self.rate * exponent, self.kernel)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        bell = bell_of(self.kernel, self.rate)
        if bell is not None:
            return bell.tiles(A, B)
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
