"""Kernels on histograms: vectors that are nowhere negative, such as counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.domains import Batch, Domain, Vectors
from mercer.kernels import parameters
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import Lengths, stretched
from mercer.kernels.points import (
    TOLERANCE,
    Coordinatewise,
    largest,
    length_at,
    masses,
    one_by_one,
    paired,
    points_of,
    wide_of,
    with_diagonal,
)
from mercer.loops import CHI2, MINIMUM, Applied, Profile, Tiles, profiles, roundings
from mercer.types import Array


class Histogram(Coordinatewise):
    """A kernel on vectors that are nowhere negative, such as counts."""

    @property
    def domain(self) -> Domain:
        return Vectors(nonnegative=True)


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

        All terms are non-negative. In $\chi^2$ each goes through four roundings more than in a
        dot product, `roundings(d) + 4` in all, in the masses through `roundings(d)` at most.
        The type of the masses and the two sums add three; and half of all that is at most
        $(\mathrm{roundings}(d) + 4) u (|x|_1 + |y|_1)$. It has to be small beside
        $\sqrt{k(x, x) k(y, y)}$, the root of $|x|_1 |y|_1$. Squares outside of the range of
        floating point must not matter either.
        """
        limits = np.finfo(dtype)
        a, b = (mass[mass > 0] for mass in sums)
        if not (len(a) and len(b)):
            return True
        low, high = (a.min(), b.min()), (a.max(), b.max())
        unit = float(limits.eps) / 2
        with np.errstate(over="ignore"):
            uneven = max(high[0] / low[1], high[1] / low[0])
            lost = 4 * width * float(limits.tiny) ** 0.5 / min(low)
        error = (roundings(width) + 4) * unit * (uneven**0.5 + uneven**-0.5) + lost
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

    scale: Lengths = 1.0

    steepest: ClassVar[float] = 0.61

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameters.lengths("Chi2", "scale", self.scale))

    def rooted(self, exponent: float) -> Kernel:
        return Chi2(stretched(self.scale, exponent**-0.5))

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
        gaps = self.gaps(A, B)
        both = wide_of(A)[:, None, :] + wide_of(B)[None, :, :]
        terms = gaps**2 / np.where(both > 0, both, 1.0)
        terms = terms / (2 * np.asarray(self.scale) ** 2)
        values = np.exp(-terms.sum(axis=-1))
        # The exponent goes as s^-2, so its derivative in log s is twice itself.
        slope = 2 * values[..., None] * terms
        return {"scale": slope if isinstance(self.scale, tuple) else slope.sum(axis=-1)}
