r"""Kernels of a distance, $p(|x - y|^2)$, with one length, one a feature, or a metric."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer.domains import Batch, Domain, SparseBatch, Vectors
from mercer.errors import InvalidInput, InvalidParameter, NotAKernel, NotSmooth
from mercer.kernels import parameters
from mercer.kernels.base import Kernel
from mercer.kernels.bessel import matern
from mercer.kernels.parameters import Lengths, Matrix, stretched
from mercer.kernels.points import (
    FLOAT32_LENGTHS,
    TOLERANCE,
    Coordinatewise,
    check_vectors,
    largest,
    meeting,
    moved_and_divided,
    paired,
    points_of,
    squares,
)
from mercer.loops import (
    DOT,
    SQUARED,
    Applied,
    Blocks,
    Pairwise,
    Profile,
    SparsePairwise,
    Tiles,
    product_is_safe,
    profiles,
)
from mercer.types import Array

LARGEST_SHAPE = 2.0**500
"""The alpha from which on a rational quadratic is the Gaussian to the last digit, wherever that
is not 0: alpha log(1 + u / alpha) = u - u^2 / 2 alpha + ...
"""


class Radial(Coordinatewise):
    r"""A kernel $p(r^2)$ of the squared distance $r^2 = |x - y|^2 / s^2$.

    A subclass writes its profile $p$, and bounds on its slope, which say how exact the
    distances have to be.
    """

    scale: Lengths
    metric: Matrix | None

    steepest: ClassVar[float] = 0.5
    """The largest slope of p in the squared distance."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "scale", parameters.lengths(owner, "scale", self.scale))
        if self.metric is None:
            return
        matrix = parameters.psd_matrix(owner, "metric", self.metric)
        object.__setattr__(self, "metric", matrix)
        if isinstance(self.scale, tuple):
            raise InvalidParameter(
                f"{owner} takes one scale with a metric. Put the scales on its diagonal."
            )

    @abstractmethod
    def profile(self, squared: Array) -> Array:
        """The values p(r^2); may overwrite its argument."""

    def slope(self, squared: Array) -> Array:
        """The derivatives p'(r^2)."""
        raise NotSmooth(f"{self} has no gradient: it has a cusp where two points meet.")

    def compiled(self, scale: float) -> Profile | None:
        """The profile as a compiled loop on |x - y|^2, if there is one."""
        return None

    def change(self, error: float) -> float:
        """How much the value can change when the distance r changes by `error`."""
        # A profile with a cusp is convex, so it is steepest at 0; the others have a slope in r
        # of at most 1.
        at_zero = 1 - float(self.profile(np.array([error * error]))[0])
        return max(error, at_zero)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        sparse_rows = isinstance(A, SparseBatch) or isinstance(B, SparseBatch)
        fast = self._sparse_products(A, B) if sparse_rows else None
        return fast or super().tiles(A, B)

    def dense_tiles(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        lengths = np.asarray(self.scale)
        tiny, huge = FLOAT32_LENGTHS
        extreme = not ((lengths > tiny) & (lengths < huge)).all()
        if dtype == np.float32 and (extreme or max(largest(X), largest(Y)) >= huge):
            dtype = np.dtype(np.float64)
        # Centring keeps the digits of a cluster far from 0, but rounds those of one near 0 when
        # another is far away: with one length the raw points are there for that case.
        plain = not lengths.ndim and self.metric is None
        with np.errstate(over="ignore", invalid="ignore"):
            U, V = moved_and_divided(X, Y, lengths if lengths.ndim else None)
            if self.metric is not None:
                root = parameters.root(self.metric)
                V = V @ root
                U = V if X is Y else U @ root
        scale = 1.0 if lengths.ndim else float(lengths)
        norms = (squares(U),) * 2 if X is Y else (squares(U), squares(V))
        reach = max(float(n.max(initial=0)) for n in norms) ** 0.5 / scale
        for kind in dict.fromkeys((dtype, np.dtype(np.float64))):
            if product_is_safe(norms, V.shape[1], self.steepest / scale**2, kind):
                Z = V.astype(kind, copy=False)
                W = Z if X is Y else U.astype(kind, copy=False)
                own = np.zeros(len(Z)) if X is Y else None
                fast = partial(Pairwise, W, Z, DOT, norms=norms, product=True, own=own)
                return self._finished(scale, fast)
            if plain:
                return self._finished(scale, partial(paired, X, Y, dtype, SQUARED))
            # Rounding a point moves it by at most u |z|, and a distance by twice that.
            if self.change(float(np.finfo(kind).eps) * reach) <= TOLERANCE[kind.name]:
                return self._finished(scale, partial(paired, U, V, kind, SQUARED))
        return self._by_differences(X, Y, dtype)

    def _finished(self, scale: float, pairs: Callable[[Profile], Tiles]) -> Tiles:
        """The profile of squared distances: as a compiled loop, or on each tile after it."""
        profile = self.compiled(scale)
        if profile is not None:
            return pairs(profile)

        def apply(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            # Beyond the range is far away all the same: the profile says what that means.
            with np.errstate(over="ignore", under="ignore"):
                tile *= tile.dtype.type(scale**-2)
                tile[...] = self.profile(tile)

        return Applied(pairs(Profile()), apply)

    def _by_differences(self, X: Array, Y: Array, dtype: np.dtype[Any]) -> Tiles:
        """From the differences of raw points, a row at a time: always exact, and slow."""

        def block(rows: slice, columns: slice) -> Array:
            right = Y[columns].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = (self._reduced(x - right) for x in X[rows].astype(np.float64))
                values = self.profile(np.stack([squares(z) for z in moved]))
            if np.isnan(values).any():
                raise InvalidInput(
                    f"{self} overflows: differences of the points are not finite.\nRescale "
                    "the data."
                )
            return values

        return Blocks((len(X), len(Y)), dtype, block)

    def _reduced(self, differences: Array) -> Array:
        """Differences in units of the lengths, or of the metric."""
        moved: Array = differences / np.asarray(self.scale)
        return moved if self.metric is None else moved @ parameters.root(self.metric)

    def _sparse_products(self, A: Batch, B: Batch) -> Tiles | None:
        """Tiles of sparse rows by their stored numbers alone, if that is exact enough."""
        X, Y = sparse.csr_array(points_of(A)), sparse.csr_array(points_of(B))
        if isinstance(self.scale, tuple) or self.metric is not None or X.dtype != Y.dtype:
            return None
        norms, scale = (squares(X), squares(Y)), self.scale
        tiny, huge = FLOAT32_LENGTHS
        if X.dtype == np.float32 and not tiny < scale < huge:
            return None
        if not product_is_safe(norms, X.shape[1], self.steepest / scale**2, X.dtype):
            return None
        U, V = meeting(X, Y)
        own = np.zeros(len(A)) if A is B else None
        fast = partial(SparsePairwise, U, V, norms=norms, product=True, own=own)
        return self._finished(scale, fast)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        raw = self.gaps(A, B)
        moved = self._reduced(raw)
        slope = self.slope(np.einsum("ijc,ijc->ij", moved, moved))
        pull = raw / np.asarray(self.scale) ** 2
        if self.metric is not None:
            pull = pull @ np.asarray(self.metric)
        result: Array = 2 * slope[..., None] * pull
        return result

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        moved = self._reduced(self.gaps(A, B))
        squared = np.einsum("ijc,ijc->ij", moved, moved)
        slope = self.slope(squared)
        # r_c^2 = (x_c - y_c)^2 / s_c^2, so its derivative in log s_c is -2 r_c^2.
        if isinstance(self.scale, tuple):
            return {"scale": -2 * slope[..., None] * moved**2}
        return {"scale": -2 * slope * squared}


@dataclass(frozen=True)
class Gaussian(Radial):
    r"""Gaussian kernel, $k(x, y) = \exp(-|x - y|^2 / 2 s^2)$.

    Why it is a kernel (Bochner): it is the Fourier transform of a Gaussian density, which is
    nowhere negative. By Bishop's chain of rules: $\exp(x^\top y / s^2)$ is a limit of
    polynomials with positive coefficients, and multiplying by
    $f(x) f(y)$ with $f(x) = \exp(-|x|^2 / 2 s^2)$ keeps it a kernel. It is strictly p.d.

    Args:
        scale: The length $s$ at which two points stop looking alike; one, or one a feature.
        metric: A p.s.d. matrix $A$; the distance is then $(x - y)^\top A (x - y)$.

    Example:
        >>> import mercer as mc
        >>> round(mc.Gaussian(scale=2.0).pair([0.0], [2.0]), 6)
        0.606531
    """

    word = "gaussian"

    scale: Lengths = 1.0
    metric: Matrix | None = None

    def rooted(self, exponent: float) -> Kernel:
        return replace(self, scale=stretched(self.scale, exponent**-0.5))

    def compiled(self, scale: float) -> Profile:
        return Profile(profiles.GAUSSIAN, 0.5 / scale**2)

    def profile(self, squared: Array) -> Array:
        value: Array = np.exp(-0.5 * squared)
        return value

    def slope(self, squared: Array) -> Array:
        value: Array = -0.5 * np.exp(-0.5 * squared)
        return value


@dataclass(frozen=True)
class Exponential(Radial):
    r"""Exponential kernel, $k(x, y) = \exp(-|x - y| / s)$, also known as Matern 1/2.

    Why it is a kernel (completely monotone): $\exp(-\sqrt u)$ is a mixture of the functions
    $\exp(-t u)$ with positive weights (the stable law of index 1/2), so the kernel is a
    mixture of Gaussians of all lengths. It is strictly p.d.; its functions are continuous and
    need not be smooth.

    Args:
        scale: The length $s$; one, or one a feature.
        metric: A p.s.d. matrix $A$ for the distance.

    Example:
        >>> import mercer as mc
        >>> round(mc.Exponential().pair([0.0, 0.0], [3.0, 4.0]), 6)
        0.006738
    """

    word = "exponential"
    steepest = np.inf

    scale: Lengths = 1.0
    metric: Matrix | None = None

    def rooted(self, exponent: float) -> Kernel:
        return replace(self, scale=stretched(self.scale, 1 / exponent))

    def compiled(self, scale: float) -> Profile:
        return Profile(profiles.EXPONENTIAL, 1 / scale)

    def profile(self, squared: Array) -> Array:
        value: Array = np.exp(-np.sqrt(squared))
        return value

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        # The cusp is in the points; in log s the derivative is r exp(-r) (per feature z_c^2/r).
        moved = self._reduced(self.gaps(A, B))
        r = np.sqrt(np.einsum("ijc,ijc->ij", moved, moved))
        if not isinstance(self.scale, tuple):
            return {"scale": r * np.exp(-r)}
        share = np.exp(-r) / np.where(r > 0, r, 1.0)
        return {"scale": share[..., None] * moved**2}


@dataclass(frozen=True)
class Matern(Radial):
    r"""Matern kernel of smoothness $\nu$,
    $k(x, y) = \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t)$ with $t = \sqrt{2\nu}\,|x-y|/s$.

    Why it is a kernel (completely monotone): it is a mixture of Gaussians of all lengths, whose
    squares follow an inverse Gamma law; equally, its spectral density is that of a Student t
    distribution, which is positive. Its functions are as smooth as $\nu$ says: $\nu = 1/2$ is
    Exponential, $\nu \to \infty$ is Gaussian. It is strictly p.d.

    Args:
        nu: The smoothness $\nu > 0$; 1/2, 3/2 and 5/2 have a fast closed form.
        scale: The length $s$; one, or one a feature.
        metric: A p.s.d. matrix $A$ for the distance.

    Example:
        >>> import mercer as mc
        >>> round(mc.Matern(nu=1.5).pair([0.0], [1.0]), 6)
        0.483358
    """

    word = "matern"
    fades = True

    nu: float = 1.5
    scale: Lengths = 1.0
    metric: Matrix | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nu", parameters.positive("Matern", "nu", self.nu))

    def rooted(self, exponent: float) -> Kernel | None:
        # Only nu = 1/2 is closed under roots.
        if self.nu != 0.5:
            return None
        return replace(self, scale=stretched(self.scale, 1 / exponent))

    @property
    def steepest(self) -> float:  # type: ignore[override]
        # p'(0) = -nu / (2 (nu - 1)) for nu > 1, and a cusp otherwise.
        return self.nu / (2 * (self.nu - 1)) if self.nu > 1 else np.inf

    def compiled(self, scale: float) -> Profile | None:
        rate = float(np.sqrt(2 * self.nu)) / scale
        if self.nu == 0.5:
            return Profile(profiles.EXPONENTIAL, rate)
        if self.nu == 1.5:
            return Profile(profiles.MATERN32, rate)
        return Profile(profiles.MATERN52, rate, 1 / 3) if self.nu == 2.5 else None

    def profile(self, squared: Array) -> Array:
        value: Array = matern(np.sqrt(2 * self.nu) * np.sqrt(squared), self.nu)
        return value

    def slope(self, squared: Array) -> Array:
        if self.nu <= 1:
            return super().slope(squared)
        # d/dt [t^nu K_nu] = -t^nu K_(nu-1), so dp/d(r^2) = -(nu/(2(nu-1))) M_(nu-1)(t).
        t = np.sqrt(2 * self.nu) * np.sqrt(squared)
        return -self.nu / (2 * (self.nu - 1)) * matern(t, self.nu - 1)


@dataclass(frozen=True)
class RationalQuadratic(Radial):
    r"""Rational quadratic kernel, $k(x, y) = (1 + |x - y|^2 / 2 \alpha s^2)^{-\alpha}$.

    Why it is a kernel (completely monotone): it is a mixture of Gaussians of all lengths,
    with Gamma weights, $\int_0^\infty e^{-u |x-y|^2 / 2 s^2}\, d\Gamma_\alpha(u)$; sums and
    limits of kernels are kernels. It is strictly p.d.

    Args:
        scale: The length $s$; one, or one a feature.
        alpha: The shape $\alpha > 0$; large values come close to the Gaussian.
        metric: A p.s.d. matrix $A$ for the distance.

    Example:
        >>> import mercer as mc
        >>> mc.RationalQuadratic(alpha=0.5).pair([0.0], [3**0.5])
        0.5
    """

    word = "rational_quadratic"

    scale: Lengths = 1.0
    alpha: float = 1.0
    metric: Matrix | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = parameters.positive("RationalQuadratic", "alpha", self.alpha)
        object.__setattr__(self, "alpha", alpha)

    def rooted(self, exponent: float) -> Kernel:
        scale = stretched(self.scale, exponent**-0.5)
        return replace(self, scale=scale, alpha=self.alpha * exponent)

    def profile(self, squared: Array) -> Array:
        value: Array = np.exp(-self._exponent(squared))
        return value

    def slope(self, squared: Array) -> Array:
        # One power more, by a division: alpha + 1 would lose the digits of a small alpha.
        value: Array = -0.5 * np.exp(-self._exponent(squared)) / (1 + self._share(squared))
        return value

    def _share(self, squared: Array) -> Array:
        """The numbers r^2 / 2 alpha, at most the largest one."""
        with np.errstate(over="ignore", under="ignore"):
            share = 0.5 * squared / squared.dtype.type(self.alpha)
        top = np.finfo(share.dtype).max
        return np.where(np.isnan(share), share, np.minimum(share, top))

    def _exponent(self, squared: Array) -> Array:
        """The numbers alpha log(1 + r^2 / 2 alpha)."""
        low, high = FLOAT32_LENGTHS
        if squared.dtype == np.float32 and not low < self.alpha < high:
            return self._exponent(squared.astype(np.float64))
        far = squared[np.isinf(squared)]
        # A tail this heavy is not over where the squared distance leaves the range.
        if far.size and self.alpha * math.log(np.finfo(far.dtype).max) < 50:
            raise InvalidInput(
                f"{self} overflows: squared distances are not finite, and its tail is heavy."
                "\nRescale the data."
            )
        if self.alpha > LARGEST_SHAPE:  # the limit, a Gaussian: r^2 / 2 alpha would vanish
            return 0.5 * squared
        exponent: Array = self.alpha * np.log1p(self._share(squared))
        return np.where(np.isinf(squared), np.inf, exponent)

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        moved = self._reduced(self.gaps(A, B))
        squared = np.einsum("ijc,ijc->ij", moved, moved)
        u = self._share(squared)
        slope = self.profile(squared) * self.alpha * (u / (1 + u) - np.log1p(u))
        return super().parameter_block(A, B) | {"alpha": slope}


@dataclass(frozen=True)
class Wendland(Radial):
    r"""Wendland kernel: a polynomial in $r = |x-y|/s$ that is zero from $r = 1$ on.

    With $\ell = \lfloor d/2 \rfloor + q + 1$ and $(t)_+ = \max(t, 0)$ it is
    $(1-r)_+^{\ell}$ for smoothness $q = 0$, $(1-r)_+^{\ell+1}((\ell+1)r + 1)$ for $q = 1$,
    and so on: continuously differentiable $2q$ times.

    Why it is a kernel (Askey, Wendland): $(1-r)_+^\ell$ is p.d. on $\mathbb{R}^d$ exactly for
    $\ell \ge \lfloor d/2 \rfloor + 1$, and integrating twice keeps it p.d. while it becomes
    smoother. In more dimensions than `dimension` it is not, so wider points are refused.

    Args:
        smoothness: The number $q$: 0, 1, 2 or 3.
        scale: The length $s$ from which on the kernel is zero; one, or one a feature.
        dimension: The largest number of features $d$.
        metric: A p.s.d. matrix $A$ for the distance.

    Example:
        >>> import mercer as mc
        >>> mc.Wendland(smoothness=0, dimension=1).pair([0.0], [0.25])
        0.75
    """

    word = "wendland"

    smoothness: int = 1
    scale: Lengths = 1.0
    dimension: int = 3
    metric: Matrix | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("smoothness", 0), ("dimension", 1)):
            value = parameters.whole("Wendland", name, getattr(self, name), least)
            object.__setattr__(self, name, value)
        if self.smoothness > 3:
            raise NotAKernel("Wendland has a formula for smoothness 0, 1, 2 and 3.")

    @property
    def domain(self) -> Domain:
        return Vectors(max_width=self.dimension)

    @property
    def steepest(self) -> float:  # type: ignore[override]
        return np.inf if self.smoothness == 0 else float(-self.slope(np.zeros(1))[0])

    def change(self, error: float) -> float:
        # |dp/dr| = 2 r |dp/d(r^2)|, and p is 0 from r = 1 on.
        smooth = self.smoothness > 0
        return 2 * self.steepest * error if smooth else super().change(error)

    @property
    def _ell(self) -> int:
        return self.dimension // 2 + self.smoothness + 1

    def _factor(self) -> np.polynomial.Polynomial:
        """The polynomial beside the power of 1 - r."""
        e = float(self._ell)
        coefficients = {
            0: [1.0],
            1: [1.0, e + 1],
            2: [1.0, e + 2, (e**2 + 4 * e + 3) / 3],
            3: [
                1.0,
                e + 3,
                (6 * e**2 + 36 * e + 45) / 15,
                (e**3 + 9 * e**2 + 23 * e + 15) / 15,
            ],
        }
        return np.polynomial.Polynomial(coefficients[self.smoothness])

    def profile(self, squared: Array) -> Array:
        r = np.minimum(np.sqrt(squared), 1)
        value: Array = (1 - r) ** (self._ell + self.smoothness) * self._factor()(r)
        return value.astype(squared.dtype)

    def slope(self, squared: Array) -> Array:
        if self.smoothness == 0:
            return super().slope(squared)
        # dp/d(r^2) = p'(r) / 2r, and p'(r) has the factor r.
        power = self._ell + self.smoothness
        factor = self._factor()
        base = np.polynomial.Polynomial([1.0, -1.0])
        over_r = (base * factor.deriv() - power * factor) // np.polynomial.Polynomial(
            [0.0, 1.0]
        )
        r = np.sqrt(squared)
        value: Array = 0.5 * np.maximum(1 - r, 0) ** (power - 1) * over_r(r)
        return value
