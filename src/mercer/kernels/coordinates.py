r"""Kernels that go coordinate by coordinate: a sum over the features, or a function of one."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.domains import Batch, DenseBatch, Domain, SparseBatch, Vectors
from mercer.errors import InvalidInput, NotAKernel, NotSmooth
from mercer.kernels import parameters
from mercer.kernels.base import Kernel
from mercer.kernels.dot import check_vectors, common_type, dense_of, points_of, squares
from mercer.kernels.parameters import Lengths
from mercer.kernels.radial import FLOAT32_LENGTHS, Exponential, Gaussian
from mercer.loops import (
    CHI2,
    DOT,
    MANHATTAN,
    MINIMUM,
    SQUARED,
    Applied,
    Blocks,
    Pairwise,
    Profile,
    Tiles,
    dense,
    product_is_safe,
    profiles,
)
from mercer.types import Array

TOLERANCE = {"float32": 2.0**-15, "float64": 2.0**-40}
"""How far a value may be off, in units of the largest one: beyond, a slower way is taken."""


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
        """All differences x_c - y_c, of shape (rows, columns, features)."""
        check_vectors(self, A, B)
        differences: Array = dense_of(A)[:, None, :] - dense_of(B)[None, :, :]
        return differences


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


def length_at(lengths: Lengths, feature: int) -> float:
    """The length of one feature."""
    return lengths[feature] if isinstance(lengths, tuple) else lengths


def paired(
    X: Array, Y: Array, dtype: np.dtype[Any], operation: int, profile: Profile
) -> Pairwise:
    """The compiled loop on points of one type; the same points stay the same."""
    Z = Y.astype(dtype, copy=False)
    return Pairwise(Z if X is Y else X.astype(dtype, copy=False), Z, operation, profile)


def moved_and_divided(X: Array, Y: Array, lengths: Array) -> tuple[Array, Array]:
    """Centred points, divided by the length of each feature, in float64."""
    # Centring first keeps the digits of a cluster far from 0. The centre comes from Y, the
    # anchors, so that a row of the result does not depend on the other rows.
    with np.errstate(over="ignore"):
        centre = Y.mean(axis=0, dtype=np.float64)
    centre = np.where(np.isfinite(centre), centre, 0.0)
    Z = (Y - centre) / lengths
    return (Z if X is Y else (X - centre) / lengths), Z


def largest(points: Array) -> float:
    """The largest absolute coordinate."""
    return float(np.abs(points).max(initial=0))


class Distance(Coordinatewise):
    """A kernel of the distance |x - y|_p, with one length or one a feature."""

    scale: Lengths

    @property
    def steepness(self) -> float:
        """The power q: an error e of the distance, in units of the scale, changes the value by
        at most max(e, e^q).
        """
        return 1.0

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        lengths = np.asarray(self.scale)
        tiny, huge = FLOAT32_LENGTHS
        extreme = not ((lengths > tiny) & (lengths < huge)).all()
        extreme |= max(largest(X), largest(Y)) >= huge
        if dtype == np.float32 and extreme:
            dtype = np.dtype(np.float64)
        if lengths.ndim:
            U, V = moved_and_divided(X, Y, lengths)
            # Rounding each coordinate changes the distance by at most the sum of the errors.
            total, scale = max(float(masses(np.abs(Z)).max(initial=0)) for Z in (U, V)), 1.0
        else:
            # The differences of the points themselves have no error to speak of.
            U, V, total, scale = X, Y, 0.0, float(lengths)
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            error = 2 * float(np.finfo(kind).eps) * total
            if max(error, error**self.steepness) <= TOLERANCE[kind.name]:
                fast = self.compiled(U, V, kind, scale)
                if fast is not None:
                    return fast
        return self.slow(X, Y, dtype)

    @abstractmethod
    def compiled(self, X: Array, Y: Array, dtype: np.dtype[Any], scale: float) -> Tiles | None:
        """Tiles by a compiled loop, for points with one scale, if it is exact enough."""

    @abstractmethod
    def slow(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        """Tiles from the raw points, a coordinate at a time."""

    def differences(self, A: Batch, B: Batch) -> Array:
        """All (x_c - y_c) / s_c."""
        divided: Array = self.gaps(A, B) / np.asarray(self.scale)
        return divided


@dataclass(frozen=True)
class Laplacian(Distance):
    r"""Laplacian kernel, $k(x, y) = \exp(-\|x - y\|_1 / s)$.

    Why it is a kernel (Bochner): it is a product over the coordinates of
    $e^{-|x_c - y_c| / s}$, the Fourier transform of a Cauchy density, which is positive; and
    products of kernels are kernels. It is strictly p.d.

    Args:
        scale: The length $s$; one, or one a feature.

    Example:
        >>> import mercer as mc
        >>> round(mc.Laplacian().pair([0.0, 0.0], [1.0, 2.0]), 6)
        0.049787
    """

    word = "laplacian"
    rule = "bochner"

    scale: Lengths = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameters.lengths("Laplacian", "scale", self.scale))

    def compiled(self, X: Array, Y: Array, dtype: np.dtype[Any], scale: float) -> Tiles:
        return paired(X, Y, dtype, MANHATTAN, Profile(profiles.GAUSSIAN, 1 / scale))

    def slow(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        def term(x: Array, y: Array, feature: int) -> Array:
            return np.abs(x - y) / length_at(self.scale, feature)

        return one_by_one(X, Y, dtype, term, lambda sums: np.exp(-sums))

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        # The cusp is in the points; in log s_c the derivative is k |x_c - y_c| / s_c.
        terms = np.abs(self.differences(A, B))
        sums = terms.sum(axis=-1)
        values = np.exp(-sums)
        one = not isinstance(self.scale, tuple)
        return {"scale": values * sums if one else values[..., None] * terms}


@dataclass(frozen=True)
class GeneralizedGaussian(Distance):
    r"""Generalised Gaussian, $k(x, y) = \exp(-(\|x - y\|_p / s)^q)$ with $0 < q \le p \le 2$.

    Why it is a kernel (Schoenberg): $|t|^p$ is conditionally negative definite for
    $0 < p \le 2$, and so is its sum over the coordinates, $\|x - y\|_p^p$. A power
    $q / p \le 1$ of such a function is one too, and $\exp(-\psi)$ is p.d. for each of them. For
    $p > 2$ or $q > p$ this fails. It is strictly p.d.

    Args:
        scale: The length $s$; one, or one a feature.
        p: Which norm measures the distance; 2 is Euclidean, 1 sums absolute values.
        power: The power $q$ of the distance; 2 makes it smooth.

    Example:
        >>> import mercer as mc
        >>> round(mc.GeneralizedGaussian(p=1, power=0.5).pair([0.0], [4.0]), 6)
        0.135335
    """

    word = "generalized_gaussian"
    rule = "schoenberg"

    scale: Lengths = 1.0
    p: float = 2.0
    power: float = 2.0

    def __post_init__(self) -> None:
        owner = "GeneralizedGaussian"
        object.__setattr__(self, "scale", parameters.lengths(owner, "scale", self.scale))
        for name in ("p", "power"):
            value = parameters.positive(owner, name, getattr(self, name))
            object.__setattr__(self, name, value)
        if not self.power <= self.p <= 2:
            raise NotAKernel(
                f"{owner} needs power <= p <= 2, got power = {self.power} and p = {self.p}: "
                "otherwise some choice of points gives a negative eigenvalue.\nRaise p, up to "
                "2, or lower the power."
            )

    @property
    def steepness(self) -> float:
        # The slope of exp(-r^q) is at most 1 for q >= 1; below, |a^q - b^q| <= |a - b|^q.
        return min(self.power, 1.0)

    @property
    def _twin(self) -> Kernel | None:
        """The same kernel under its own name, where it has one."""
        match self.p, self.power:
            case 2.0, 2.0:
                root = 2**0.5
                one = not isinstance(self.scale, tuple)
                return Gaussian(
                    self.scale / root  # type: ignore[operator]
                    if one
                    else tuple(s / root for s in self.scale)  # type: ignore[union-attr]
                )
            case 2.0, 1.0:
                return Exponential(self.scale)
            case 1.0, 1.0:
                return Laplacian(self.scale)
        return None

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        if self._twin is None:
            return super().tiles(A, B)
        pairs, exact = self._twin.tiles(A, B), A is not B or isinstance(A, DenseBatch)
        return pairs if exact else with_diagonal(pairs, self.diag(A))

    def compiled(self, X: Array, Y: Array, dtype: np.dtype[Any], scale: float) -> Tiles | None:
        if self.p not in {1.0, 2.0}:
            return None
        operation = MANHATTAN if self.p == 1 else SQUARED
        limits = np.finfo(dtype)
        # Squares below the smallest number vanish, those above the largest are infinite: both
        # are as good as the value of the kernel there, or this is not the way.
        exponent, factor = self.power / self.p, scale**-self.p
        lost = exponent * (math.log(limits.tiny) + math.log(X.shape[1] * factor))
        capped = exponent * (math.log(limits.max / 4) + math.log(factor))
        if lost > math.log(TOLERANCE[dtype.name]) or capped < math.log(50):
            return None

        def finish(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            with np.errstate(under="ignore", over="ignore"):
                np.multiply(tile, tile.dtype.type(factor), out=tile)
                np.power(tile, tile.dtype.type(exponent), out=tile)
                np.exp(np.negative(tile, out=tile), out=tile)

        return Applied(paired(X, Y, dtype, operation, Profile()), finish)

    def slow(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        def block(rows: slice, columns: slice) -> Array:
            left, right = X[rows].astype(np.float64), Y[columns].astype(np.float64)
            top, sums = np.zeros((2, len(left), len(right)))

            def gap(c: int) -> Array:
                return np.abs(left[:, c, None] - right[:, c]) / length_at(self.scale, c)

            with np.errstate(over="ignore", under="ignore"):
                for c in range(X.shape[1]):
                    np.maximum(top, gap(c), out=top)
                # In units of the largest gap no power overflows, and none that counts vanishes.
                unit = np.where((top > 0) & np.isfinite(top), top, 1.0)
                for c in range(X.shape[1]):
                    sums += np.power(gap(c) / unit, self.p)
                return np.exp(-((np.power(sums, 1 / self.p) * unit) ** self.power))

        return Blocks((len(X), len(Y)), dtype, block)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        if self.power <= 1:
            raise NotSmooth(
                f"{self} has no gradient: it has a cusp where two points meet. It has one for "
                "power > 1."
            )
        z = self.differences(A, B)
        # d|x - y|_p^q / dx_c = q D^(q-p) |z_c|^(p-1) sign(z_c) / s_c, and 0 where D = 0.
        powers = np.sign(z) * np.abs(z) ** (self.p - 1) / np.asarray(self.scale)
        gradient: Array = -self._share(z)[..., None] * powers
        return gradient

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        # Between p and power there is a closed triangle and no open scale: they are chosen,
        # not learned by gradients.
        z = self.differences(A, B)
        slope = self._share(z)[..., None] * np.abs(z) ** self.p
        one = not isinstance(self.scale, tuple)
        return {"scale": slope.sum(axis=-1) if one else slope}

    def _share(self, z: Array) -> Array:
        """The numbers q k D^(q-p), where D is the distance; q k where it is 0."""
        distance = (np.abs(z) ** self.p).sum(axis=-1) ** (1 / self.p)
        safe = np.where(distance > 0, distance, 1.0)
        share: Array = (
            self.power * np.exp(-(distance**self.power)) * safe ** (self.power - self.p)
        )
        return share


@dataclass(frozen=True)
class Periodic(Coordinatewise):
    r"""Periodic kernel, $k(x, y) = \prod_c \exp(-2 \sin^2(\pi (x_c - y_c) / p) / s^2)$.

    Why it is a kernel (Schoenberg): put each coordinate on the unit circle, at the angle
    $2 \pi x_c / p$. The squared distance of two points there is
    $4 \sin^2(\pi (x_c - y_c) / p)$, so this is the Gaussian kernel of the points on the
    circles. A sine of the norm $|x - y|$ in two or more dimensions would not do: that is not
    p.d.

    Args:
        period: The length $p$ after which a coordinate repeats; one, or one a feature.
        scale: The length $s$ within a period, where the circle has radius 1; one, or one a
            feature.

    Example:
        >>> import mercer as mc
        >>> k = mc.Periodic(period=7.0)
        >>> k.pair([0.0], [70.0])
        1.0
        >>> round(k.pair([0.0], [3.5]), 6)
        0.135335
    """

    word = "periodic"
    rule = "schoenberg"

    period: Lengths = 1.0
    scale: Lengths = 1.0

    def __post_init__(self) -> None:
        for name in ("period", "scale"):
            value = parameters.lengths("Periodic", name, getattr(self, name))
            object.__setattr__(self, name, value)

    def check_period(self, width: int) -> None:
        """Raise unless the points have as many features as there are periods."""
        if isinstance(self.period, tuple) and len(self.period) != width:
            raise InvalidInput(
                f"{self} has {len(self.period)} periods, one a feature, but the points have "
                f"{width} features. Pass one period, or one for each feature."
            )

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        self.check_period(X.shape[1])
        lengths = np.broadcast_to(np.asarray(self.scale), X.shape[1])
        # A coordinate on the circle is off by at most 11 roundings (the angle is at most pi,
        # after three of them), or by one in float32; the slope of exp(-r^2/2) is at most 0.61.
        radius = float(np.sqrt((lengths**-2.0).sum()))
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            units = 2.0 if kind == np.float32 else 11.0
            if 0.61 * float(np.finfo(kind).eps) * units * radius <= TOLERANCE[kind.name]:
                return self._on_circles(X, Y, kind, lengths)
        return self._by_differences(X, Y, dtype)

    def _on_circles(self, X: Array, Y: Array, dtype: np.dtype[Any], lengths: Array) -> Tiles:
        def embed(points: Array) -> Array:
            # The remainder has no error, however many periods a point is away from zero.
            angle = 2 * np.pi / np.asarray(self.period) * self._remainder(points)
            return np.hstack([np.cos(angle) / lengths, np.sin(angle) / lengths]).astype(dtype)

        V = embed(Y)
        U = V if X is Y else embed(X)
        profile, norms = Profile(profiles.GAUSSIAN, 0.5), (squares(U), squares(V))
        if product_is_safe(norms, V.shape[1], 0.5, dtype):
            own = np.zeros(len(U)) if X is Y else None
            return Pairwise(U, V, DOT, profile, norms=norms, product=True, own=own)
        return Pairwise(U, V, SQUARED, profile)

    def _remainder(self, points: Array) -> Array:
        """The points, less whole periods: at most half a period from zero, exactly."""
        period = np.broadcast_to(np.asarray(self.period), points.shape[-1])
        rest: Array = np.fmod(points.astype(np.float64), period)
        return rest - np.where(np.abs(rest) > period / 2, np.copysign(period, rest), 0.0)

    def _by_differences(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        def term(x: Array, y: Array, feature: int) -> Array:
            # The difference and its rounding error, so that close points keep all digits.
            gap = x - y
            back = gap - x
            lost = (x - (gap - back)) - (y + back)
            period = length_at(self.period, feature)
            rest = np.fmod(gap, period)
            rest -= np.where(np.abs(rest) > period / 2, np.copysign(period, rest), 0.0)
            wave = np.sin(np.pi * ((rest + lost) / period)) / length_at(self.scale, feature)
            return 2 * wave * wave

        return one_by_one(X, Y, dtype, term, lambda sums: np.exp(-sums))

    def diag(self, A: Batch) -> Array:
        self.check_period(check_vectors(self, A, A))
        return super().diag(A)

    def _waves(self, A: Batch, B: Batch) -> tuple[Array, Array, Array]:
        """The angles pi (x - y) / p, the terms 2 sin^2 / s^2, and the values."""
        gaps = self.gaps(A, B)
        self.check_period(gaps.shape[-1])
        angle = np.pi * gaps / np.asarray(self.period)
        terms = 2 * (np.sin(angle) / np.asarray(self.scale)) ** 2
        return angle, terms, np.exp(-terms.sum(axis=-1))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        angle, _, values = self._waves(A, B)
        # The derivative of 2 sin^2(t) is 2 sin(2 t).
        rate = 2 * np.pi / (np.asarray(self.period) * np.asarray(self.scale) ** 2)
        gradient: Array = -values[..., None] * rate * np.sin(2 * angle)
        return gradient

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        angle, terms, values = self._waves(A, B)
        by_scale = 2 * values[..., None] * terms
        by_period = 2 * angle * np.sin(2 * angle) / np.asarray(self.scale) ** 2
        by_period = values[..., None] * by_period
        return {
            name: slope if isinstance(getattr(self, name), tuple) else slope.sum(axis=-1)
            for name, slope in (("period", by_period), ("scale", by_scale))
        }


class Histogram(Coordinatewise):
    """A kernel on vectors that are nowhere negative, such as counts."""

    @property
    def domain(self) -> Domain:
        return Vectors(nonnegative=True)


def masses(points: Any) -> Array:
    """The sums of the coordinates, in float64."""
    with np.errstate(over="ignore"):
        return np.asarray(points.sum(axis=1, dtype=np.float64)).ravel()


class Overlap(Histogram):
    """A kernel with k(x, x) = |x|_1."""

    def diag(self, A: Batch) -> Array:
        with np.errstate(over="ignore"):
            return masses(points_of(A)).astype(points_of(A).dtype)


@dataclass(frozen=True)
class Intersection(Overlap):
    r"""Histogram intersection, $k(x, y) = \sum_c \min(x_c, y_c)$ for vectors $\ge 0$.

    Why it is a kernel (feature map): $\min(x_c, y_c)$ is the length of the part that the
    intervals $[0, x_c]$ and $[0, y_c]$ have in common,
    $\int 1_{[0, x_c]}(t)\, 1_{[0, y_c]}(t)\, dt$: an inner product of indicator functions.
    Sums of kernels are kernels.

    Example:
        >>> import mercer as mc
        >>> mc.Intersection().pair([1.0, 5.0], [4.0, 2.0])
        3.0
    """

    word = "intersection"
    rule = "feature map"

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        pairs = paired(X, Y, dtype, MINIMUM, Profile())
        with np.errstate(over="ignore"):
            return with_diagonal(pairs, masses(X).astype(dtype)) if X is Y else pairs


@dataclass(frozen=True)
class AdditiveChi2(Overlap):
    r"""Additive chi-squared kernel, $k(x, y) = \sum_c 2 x_c y_c / (x_c + y_c)$ for vectors
    $\ge 0$, where $0 / 0$ counts as 0.

    Why it is a kernel (Laplace transform): for $x_c + y_c > 0$,
    $1 / (x_c + y_c) = \int_0^\infty e^{-t x_c} e^{-t y_c} dt$ is an inner product of the
    functions $t \mapsto e^{-t x_c}$. Times $f(x) f(y)$ with $f(x) = x_c$ it stays one, and
    sums of kernels are kernels.

    Example:
        >>> import mercer as mc
        >>> mc.AdditiveChi2().pair([1.0, 2.0], [1.0, 0.0])
        1.0
    """

    word = "additive_chi2"
    rule = "laplace transform"

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        a = masses(X)
        b = a if X is Y else masses(Y)
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            if self._subtracts_safely(X.shape[1], (a, b), kind):
                return self._from_chi2(X, Y, (a, b), kind)

        def harmonic(x: Array, y: Array, feature: int) -> Array:  # noqa: ARG001
            low, high, mean = np.minimum(x, y), np.maximum(x, y), x / 2 + y / 2
            return low * (high / np.where(mean > 0, mean, 1.0))

        pairs = one_by_one(X, Y, dtype, harmonic)
        with np.errstate(over="ignore"):
            return with_diagonal(pairs, a.astype(dtype)) if X is Y else pairs

    @staticmethod
    def _subtracts_safely(width: int, sums: tuple[Array, Array], dtype: np.dtype[Any]) -> bool:
        r"""Whether $(|x|_1 + |y|_1 - \chi^2(x, y)) / 2$ is exact enough.

        All terms are non-negative, so with d of them it is off by at most
        $(\min(d, 6 \sqrt d) + 3) u (|x|_1 + |y|_1)$ (see `product_is_safe`), which has to be
        small beside $\sqrt{k(x, x) k(y, y)}$, the root of $|x|_1 |y|_1$. Squares outside of the
        range of floating point must not matter either.
        """
        limits = np.finfo(dtype)
        a, b = (mass[mass > 0] for mass in sums)
        if not (len(a) and len(b)):
            return True
        low, high = (a.min(), b.min()), (a.max(), b.max())
        unit = float(limits.eps) / 2
        uneven = max(high[0] / low[1], high[1] / low[0])
        lost = 4 * width * float(limits.tiny) ** 0.5 / min(low)
        error = (min(width, 6 * width**0.5) + 3) * unit * (uneven**0.5 + uneven**-0.5) + lost
        small = max(high) < float(limits.max) ** 0.5 / 2
        return bool(small and error <= TOLERANCE[dtype.name])

    @staticmethod
    def _from_chi2(
        X: Array, Y: Array, sums: tuple[Array, Array], dtype: np.dtype[Any]
    ) -> Tiles:
        a, b = (mass.astype(dtype) for mass in sums)

        def finish(tile: Array, rows: slice, columns: slice) -> None:
            left, right = a[rows, None], b[None, columns]
            np.subtract(left + right, tile, out=tile)
            tile /= 2
            # A harmonic mean is between 0 and twice the smaller number.
            np.clip(tile, 0, 2 * np.minimum(left, right), out=tile)

        pairs = Applied(paired(X, Y, dtype, CHI2, Profile()), finish)
        return with_diagonal(pairs, a) if X is Y else pairs


@dataclass(frozen=True)
class Chi2(Histogram):
    r"""Chi-squared kernel, $k(x, y) = \exp(-\sum_c (x_c - y_c)^2 / 2 s^2 (x_c + y_c))$ for
    vectors $\ge 0$, where $0 / 0$ counts as 0.

    Why it is a kernel (Schoenberg): with the additive chi-squared kernel
    $k = 2 x_c y_c / (x_c + y_c)$, where $k(x_c, x_c) = x_c$, it holds that
    $(x_c - y_c)^2 / (x_c + y_c) = x_c + y_c - 2 k$. So this is a squared distance of features,
    and $\exp(-t \psi)$ is p.d. for such a $\psi$. It is strictly p.d.

    Args:
        scale: The length $s$; one, or one a feature. scikit-learn's gamma is $1 / 2 s^2$.

    Example:
        >>> import mercer as mc
        >>> round(mc.Chi2().pair([1.0, 2.0], [1.0, 0.0]), 6)
        0.367879
    """

    word = "chi2"
    rule = "schoenberg"

    scale: Lengths = 1.0

    steepest: ClassVar[float] = 0.61

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameters.lengths("Chi2", "scale", self.scale))

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        lengths = np.asarray(self.scale)
        rate, U, V = 0.5, X, Y
        if lengths.ndim:
            with np.errstate(over="ignore", under="ignore"):
                V = Y / lengths**2
                U = V if X is Y else X / lengths**2
        else:
            rate = 0.5 / float(lengths) ** 2
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            if self._is_safe(U, V, kind, rate):
                return paired(U, V, kind, CHI2, Profile(profiles.GAUSSIAN, rate))

        def term(x: Array, y: Array, feature: int) -> Array:
            both, scale = x + y, length_at(self.scale, feature)
            gap = (x - y) / scale
            return 0.5 * gap * ((x - y) / np.where(both > 0, both, 1.0) / scale)

        return one_by_one(X, Y, dtype, term, lambda sums: np.exp(-sums))

    def _is_safe(self, U: Array, V: Array, dtype: np.dtype[Any], rate: float) -> bool:
        r"""Whether the compiled loop is exact enough.

        Squares must stay in the range. Rounded coordinates (divided by $s_c^2$, or as float32)
        change $\chi^2$ by at most
        $2 u \sum_c |x_c - y_c| \le 2 u \chi \sqrt{|x|_1 + |y|_1}$, and
        $\chi e^{-\chi^2 / 2} \le 0.61$.
        """
        limits = np.finfo(dtype)
        top = max(largest(U), largest(V))
        if not top < float(limits.max) ** 0.5 / 2 or not 1e-30 < rate < 1e30:
            return False
        lost = 4 * U.shape[1] * float(limits.tiny) ** 0.5 * rate
        rounded = isinstance(self.scale, tuple) or U.dtype != dtype
        error = 0.0
        if rounded:
            total = float(masses(U).max(initial=0)) + float(masses(V).max(initial=0))
            error = self.steepest * float(limits.eps) * (rate * total) ** 0.5
        return bool(lost + error <= TOLERANCE[dtype.name])

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        both = dense_of(A)[:, None, :] + dense_of(B)[None, :, :]
        terms = self.gaps(A, B) ** 2 / np.where(both > 0, both, 1.0)
        terms = terms / (2 * np.asarray(self.scale) ** 2)
        values = np.exp(-terms.sum(axis=-1))
        # The exponent goes as s^-2, so its derivative in log s is twice itself.
        slope = 2 * values[..., None] * terms
        return {"scale": slope if isinstance(self.scale, tuple) else slope.sum(axis=-1)}
