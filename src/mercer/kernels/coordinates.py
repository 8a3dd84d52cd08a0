r"""Kernels that go coordinate by coordinate: a sum over the features, or a function of one."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.domains import Batch, DenseBatch
from mercer.errors import InvalidInput, NotAKernel, NotSmooth
from mercer.kernels import parameters
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Lengths, stretched
from mercer.kernels.points import (
    FLOAT32_LENGTHS,
    TOLERANCE,
    Coordinatewise,
    check_vectors,
    largest,
    length_at,
    masses,
    moved_and_divided,
    one_by_one,
    paired,
    squares,
    wide_of,
    with_diagonal,
)
from mercer.kernels.radial import Exponential, Gaussian
from mercer.loops import (
    DOT,
    MANHATTAN,
    SQUARED,
    Applied,
    Blocks,
    Pairwise,
    Profile,
    Tiles,
    product_is_safe,
    profiles,
)
from mercer.types import Array


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
            with np.errstate(over="ignore", invalid="ignore"):  # the raw points are at hand
                U, V = moved_and_divided(X, Y, lengths)
            # Rounding each coordinate changes the distance by at most the sum of the errors.
            total, scale = max(float(masses(np.abs(Z)).max(initial=0)) for Z in (U, V)), 1.0
        else:
            # The differences of the points themselves have no error to speak of.
            U, V, total, scale = X, Y, 0.0, float(lengths)
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            error = 2 * float(np.finfo(kind).eps) * total
            if (
                math.isfinite(error)
                and max(error, error**self.steepness) <= TOLERANCE[kind.name]
            ):
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

    scale: Lengths = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameters.lengths("Laplacian", "scale", self.scale))

    def rooted(self, exponent: float) -> Kernel:
        return Laplacian(stretched(self.scale, 1 / exponent))

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

    def rooted(self, exponent: float) -> Kernel:
        return replace(self, scale=stretched(self.scale, exponent ** (-1 / self.power)))

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

    period: Lengths = 1.0
    scale: Lengths = 1.0

    def __post_init__(self) -> None:
        for name in ("period", "scale"):
            value = parameters.lengths("Periodic", name, getattr(self, name))
            object.__setattr__(self, name, value)

    def rooted(self, exponent: float) -> Kernel:
        return replace(self, scale=stretched(self.scale, exponent**-0.5))

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

        # Less whole periods, no difference overflows and none is far beyond the period.
        V = self._remainder(Y)
        U = V if X is Y else self._remainder(X)
        return one_by_one(U, V, dtype, term, lambda sums: np.exp(-sums))

    def diag(self, A: Batch) -> Array:
        self.check_period(check_vectors(self, A, A))
        return super().diag(A)

    def _waves(self, A: Batch, B: Batch) -> tuple[Array, Array, Array, Array]:
        """The angles pi (x - y) / p, whole and less half turns, the terms 2 sin^2 / s^2, and
        the values.
        """
        gaps = self.gaps(A, B)
        self.check_period(gaps.shape[-1])
        angle = np.pi * gaps / np.asarray(self.period)
        # Differences of the remainders have digits that those of far points have lost.
        near, others = self._remainder(wide_of(A)), self._remainder(wide_of(B))
        within = self._remainder(near[:, None, :] - others[None, :, :])
        turn = np.pi * within / np.asarray(self.period)
        terms = 2 * (np.sin(turn) / np.asarray(self.scale)) ** 2
        return angle, turn, terms, np.exp(-terms.sum(axis=-1))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        _, turn, _, values = self._waves(A, B)
        # The derivative of 2 sin^2(t) is 2 sin(2 t).
        rate = 2 * np.pi / (np.asarray(self.period) * np.asarray(self.scale) ** 2)
        gradient: Array = -values[..., None] * rate * np.sin(2 * turn)
        return gradient

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        angle, turn, terms, values = self._waves(A, B)
        by_scale = 2 * values[..., None] * terms
        by_period = 2 * angle * np.sin(2 * turn) / np.asarray(self.scale) ** 2
        by_period = values[..., None] * by_period
        return {
            name: slope if isinstance(getattr(self, name), tuple) else slope.sum(axis=-1)
            for name, slope in (("period", by_period), ("scale", by_scale))
        }
