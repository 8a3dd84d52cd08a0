r"""Kernels on numbers: minimum, greatest common divisor, geometric series, powers, cosine."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import (
    NATURALS,
    NONNEGATIVE,
    POSITIVE,
    REALS,
    Batch,
    DenseBatch,
    Domain,
    interval,
    same_width,
)
from mercer.errors import NotAKernel, NotSmooth
from mercer.kernels import parameters
from mercer.kernels.base import Kernel
from mercer.loops import MINIMUM, Blocks, Pairwise, Profile, Tiles
from mercer.types import Array


class OnNumbers(Kernel):
    """A kernel on numbers. A subclass writes its formula, and where it is smooth its slope."""

    @abstractmethod
    def formula(self, x: Array, y: Array) -> Array:
        """The values for numbers in float64, entry by entry."""

    def slope(self, x: Array, y: Array) -> Array:
        """The derivatives in x."""
        raise NotSmooth(f"{self} has no gradient in its points: it has a cusp, or gaps.")

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        x, y = numbers(A), numbers(B)
        dtype = np.result_type(_type(A), _type(B))

        def block(rows: slice, columns: slice) -> Array:
            with np.errstate(over="ignore", under="ignore"):
                return self.formula(x[rows, None], y[None, columns])

        return Blocks((len(x), len(y)), dtype, block)

    def diag(self, A: Batch) -> Array:
        x = numbers(A)
        with np.errstate(over="ignore", under="ignore"):
            return self.formula(x, x).astype(_type(A))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        return self.slope(numbers(A)[:, None], numbers(B)[None, :])[..., None]


def numbers(batch: Batch) -> Array:
    """The points as a flat array of float64."""
    assert isinstance(batch, DenseBatch)  # noqa: S101 - the domain encodes nothing else
    values: Array = batch.values[:, 0].astype(np.float64)
    return values


def _type(batch: Batch) -> np.dtype[Any]:
    assert isinstance(batch, DenseBatch)  # noqa: S101 - as above
    return batch.values.dtype


def base_from_one(owner: str, value: Any) -> float:
    """A number b >= 1, whose logarithm is not negative."""
    base = parameters.number(owner, "base", value)
    if base < 1:
        raise NotAKernel(
            f"{owner} needs base >= 1, got {base}: below 1 its logarithm is negative, and so "
            "is some eigenvalue.\nPass a base of at least 1."
        )
    return base


@dataclass(frozen=True)
class Min(OnNumbers):
    r"""Minimum of two numbers, $k(x, y) = \min(x, y)$ for $x, y \ge 0$.

    Why it is a kernel (feature map): it is the length of what the intervals $[0, x]$ and
    $[0, y]$ have in common, $\int 1_{[0, x]}(t)\, 1_{[0, y]}(t)\, dt$, an inner product of
    indicator functions. It is the covariance of Brownian motion. The maximum is no kernel: on
    0 and 1 its matrix has the determinant -1.

    Example:
        >>> import mercer as mc
        >>> mc.Min()([1.0, 2.0, 4.0])
        array([[1., 1., 1.],
               [1., 2., 2.],
               [1., 2., 4.]])
    """

    word = "min"

    @property
    def domain(self) -> Domain:
        return NONNEGATIVE

    def formula(self, x: Array, y: Array) -> Array:
        return np.minimum(x, y)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        assert isinstance(A, DenseBatch)  # noqa: S101 - the domain encodes nothing else
        assert isinstance(B, DenseBatch)  # noqa: S101 - as above
        same_width(A, B)
        dtype = np.result_type(_type(A), _type(B))
        Y = B.values.astype(dtype, copy=False)
        X = Y if A is B else A.values.astype(dtype, copy=False)
        return Pairwise(X, Y, MINIMUM, Profile())


@dataclass(frozen=True)
class MinOverMax(OnNumbers):
    r"""Ratio of two numbers, $k(x, y) = \min(x, y) / \max(x, y)$ for $x, y > 0$.

    Why it is a kernel (Schoenberg): it is $\exp(-|\log x - \log y|)$, and the distance of two
    numbers is conditionally negative definite. It is a Laplacian kernel of the logarithms,
    strictly p.d.

    Example:
        >>> import mercer as mc
        >>> mc.MinOverMax().pair(2.0, 8.0)
        0.25
    """

    word = "min_over_max"
    fades = True

    @property
    def domain(self) -> Domain:
        return POSITIVE

    def formula(self, x: Array, y: Array) -> Array:
        return np.minimum(x, y) / np.maximum(x, y)


class OnNaturals(OnNumbers):
    """A kernel on the whole numbers from 1. They are exact in int64, below 2^53."""

    @property
    def domain(self) -> Domain:
        return NATURALS


@dataclass(frozen=True)
class GCD(OnNaturals):
    r"""Greatest common divisor, $k(x, y) = \gcd(x, y)$ for $x, y = 1, 2, 3, ...$

    Why it is a kernel (feature map): $n = \sum_{d | n} \phi(d)$ with Euler's
    $\phi(d) \ge 1$, and the divisors of $\gcd(x, y)$ are the common divisors of $x$ and $y$. So
    it is the inner product of features $\sqrt{\phi(d)}\, 1[d | x]$, one for each $d$. It is
    strictly p.d. (Smith: the determinant on $1, ..., n$ is $\phi(1) \cdots \phi(n)$).

    Example:
        >>> import mercer as mc
        >>> mc.GCD()([4, 6, 9])
        array([[4., 2., 1.],
               [2., 6., 3.],
               [1., 3., 9.]])
    """

    word = "gcd"

    def formula(self, x: Array, y: Array) -> Array:
        return np.gcd(x.astype(np.int64), y.astype(np.int64)).astype(np.float64)


@dataclass(frozen=True)
class GCDOverLCM(OnNaturals):
    r"""Greatest common divisor over least common multiple, for $x, y = 1, 2, 3, ...$

    Why it is a kernel (feature map): as $\gcd \cdot \operatorname{lcm} = x y$ it is
    $\gcd(x, y)^2 / x y$, the square of the kernel gcd (Schur) times $f(x) f(y)$ with
    $f(x) = 1 / x$. Its features are $\sqrt{J(d)} / x$ for each divisor $d$ of $x$, where
    Jordan's $J$ sums over the divisors of $n$ to $n^2$.

    Example:
        >>> import mercer as mc
        >>> mc.GCDOverLCM().pair(4, 8)
        0.5
    """

    word = "gcd_over_lcm"

    def formula(self, x: Array, y: Array) -> Array:
        common = np.gcd(x.astype(np.int64), y.astype(np.int64)).astype(np.float64)
        ratio: Array = (common / x) * (common / y)
        return ratio


@dataclass(frozen=True)
class Geometric(OnNumbers):
    r"""Geometric series, $k(x, y) = 1 / (1 - x y)$ for $-1 < x, y < 1$.

    Why it is a kernel (power series): it is $\sum_n (x y)^n$, a limit of sums of whole powers
    of the linear kernel with positive weights. The features are $1, x, x^2, x^3, ...$

    Example:
        >>> import mercer as mc
        >>> mc.Geometric().pair(0.5, 0.5)
        1.3333333333333333
    """

    word = "geometric"

    @property
    def domain(self) -> Domain:
        return interval(-1, 1)

    def formula(self, x: Array, y: Array) -> Array:
        return 1 / _one_minus_product(x, y)

    def slope(self, x: Array, y: Array) -> Array:
        slope: Array = y / _one_minus_product(x, y) ** 2
        return slope


def _one_minus_product(x: Array, y: Array) -> Array:
    """1 - x y. Near 1 the difference would lose its digits; with p = 1 - |x| and q = 1 - |y|,
    which are exact there, it is p + q - p q.
    """
    p, q = 1 - np.abs(x), 1 - np.abs(y)
    return np.where((x < 0) == (y < 0), p + q - p * q, 1 - x * y)


@dataclass(frozen=True)
class ProductPower(OnNumbers):
    r"""Power of a product, $k(x, y) = b^{x y}$ with $b \ge 1$.

    Why it is a kernel (power series): it is $\exp(x y \log b)$, that is
    $\sum_n (\log b)^n (x y)^n / n!$, and $\log b \ge 0$. It is p.d. on all numbers, and
    strictly so for $b > 1$.

    Args:
        base: The number $b \ge 1$.

    Example:
        >>> import mercer as mc
        >>> mc.ProductPower(base=2).pair(3.0, 2.0)
        64.0
    """

    word = "product_power"

    base: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", base_from_one("ProductPower", self.base))

    def rooted(self, exponent: float) -> Kernel:
        return ProductPower(self.base**exponent)

    @property
    def domain(self) -> Domain:
        return REALS

    def formula(self, x: Array, y: Array) -> Array:
        return np.power(self.base, x * y)

    def slope(self, x: Array, y: Array) -> Array:
        slope: Array = math.log(self.base) * y * self.formula(x, y)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        x, y = numbers(A)[:, None], numbers(B)[None, :]
        return {"base": x * y * self.formula(x, y)}


@dataclass(frozen=True)
class SumPower(OnNumbers):
    r"""Power of a sum, $k(x, y) = b^{x + y}$ with $b > 0$.

    Why it is a kernel (feature map): it is $b^x b^y$, the product of one feature $f(x) = b^x$
    at the two points. Its matrices have rank 1.

    Args:
        base: The number $b > 0$.

    Example:
        >>> import mercer as mc
        >>> mc.SumPower(base=2).pair(3.0, 2.0)
        32.0
    """

    word = "sum_power"

    base: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", parameters.positive("SumPower", "base", self.base))

    def rooted(self, exponent: float) -> Kernel:
        return SumPower(self.base**exponent)

    @property
    def domain(self) -> Domain:
        return REALS

    def formula(self, x: Array, y: Array) -> Array:
        return np.power(self.base, x + y)

    def slope(self, x: Array, y: Array) -> Array:
        slope: Array = math.log(self.base) * self.formula(x, y)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        x, y = numbers(A)[:, None], numbers(B)[None, :]
        return {"base": (x + y) * self.formula(x, y)}

    def feature_map(self, A: Batch) -> Array:
        with np.errstate(under="ignore"):
            feature: Array = np.power(self.base, numbers(A)).astype(_type(A))
        return feature[:, None]


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product of numbers near one, and what rounding took from it (Dekker)."""

    def halves(number: Array) -> tuple[Array, Array]:
        far = (2.0**27 + 1) * number
        high = far - (far - number)
        return high, number - high

    product = a * b
    (p, q), (r, s) = halves(a), halves(b)
    return product, q * s - (((product - p * r) - q * r) - p * s)


@dataclass(frozen=True)
class CosineDifference(OnNumbers):
    r"""Cosine of a difference, $k(x, y) = \cos(w (x - y))$.

    Why it is a kernel (Bochner): it is the Fourier transform of two equal masses at $w$ and
    $-w$. By the addition theorem it is $\cos wx \cos wy + \sin wx \sin wy$, an inner product of
    two features. The cosine of a sum is no kernel: at $x = \pi / 2w$ it is -1 on the diagonal.

    Args:
        frequency: The number $w$.

    Example:
        >>> import mercer as mc
        >>> round(mc.CosineDifference().pair(0.0, 1.0), 6)
        0.540302
    """

    word = "cosine_difference"

    frequency: float = 1.0

    def __post_init__(self) -> None:
        frequency = parameters.number("CosineDifference", "frequency", self.frequency)
        object.__setattr__(self, "frequency", frequency)

    @property
    def domain(self) -> Domain:
        return REALS

    def angle(self, x: Array) -> Array:
        """The angles w x, less whole turns, right to a few roundings of one turn."""
        # Far from zero the rounding error of the product is many turns, so it is kept.
        (left, power), (right, powers) = np.frexp(self.frequency), np.frexp(x)
        product, rest = _product(left, right)
        product, rest = np.ldexp(product, power + powers), np.ldexp(rest, power + powers)
        cos, sin = np.cos(product), np.sin(product)
        c, s = np.cos(rest), np.sin(rest)
        angle: Array = np.arctan2(sin * c + cos * s, cos * c - sin * s)
        return angle

    # Equal numbers have equal angles, so the value is exactly 1 there.
    def formula(self, x: Array, y: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.cos(self.angle(x) - self.angle(y))

    def slope(self, x: Array, y: Array) -> Array:
        slope: Array = -self.frequency * np.sin(self.angle(x) - self.angle(y))
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        x, y = numbers(A)[:, None], numbers(B)[None, :]
        return {"frequency": (x - y) * self.slope(x, y)}

    def feature_map(self, A: Batch) -> Array:
        angle = self.angle(numbers(A))
        features: Array = np.column_stack([np.cos(angle), np.sin(angle)]).astype(_type(A))
        return features
