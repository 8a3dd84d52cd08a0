"""The rules that keep the cone of kernels: sums, products, positive multiples, powers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from mercer.domains import Batch, Domain
from mercer.errors import InvalidInput, InvalidParameter, NotAKernel
from mercer.kernels import parameters
from mercer.kernels.base import WIDEST_MAP, Kernel, check_map, check_parts
from mercer.kernels.points import TOLERANCE
from mercer.loops import Applied, Combined, Tiles
from mercer.types import Array


@dataclass(frozen=True)
class Pair(Kernel):
    """Two kernels on one domain, combined entry by entry."""

    left: Kernel
    right: Kernel
    operation: ClassVar[np.ufunc]

    def __post_init__(self) -> None:
        check_parts(type(self).__name__, self.left, self.right)
        # Kernels that share no point cannot be combined: say so now, not at the first use.
        self.domain  # noqa: B018

    @property
    def domain(self) -> Domain:
        return self.left.domain.meet(self.right.domain)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return Combined(self.left.tiles(A, B), self.right.tiles(A, B), self.operation)

    def diag(self, A: Batch) -> Array:
        both: Array = self.operation(self.left.diag(A), self.right.diag(A))
        return both


@dataclass(frozen=True)
class Sum(Pair):
    r"""Sum of two kernels, $k(x, y) = k_1(x, y) + k_2(x, y)$.

    Why it is a kernel (sum): a sum of two positive semidefinite matrices is one, because
    $a^\top (K_1 + K_2) a = a^\top K_1 a + a^\top K_2 a \ge 0$. Its feature map puts those of
    the two kernels side by side.

    Args:
        left: The first kernel.
        right: The second kernel, on the same points.

    Example:
        >>> import mercer as mc
        >>> k = mc.Gaussian() + mc.Linear()
        >>> k.pair([1.0], [1.0])
        2.0
    """

    word = "sum"
    operation = np.add

    def bell(self, rate: float) -> Kernel | None:
        left, right = self.left.bell(rate), self.right.bell(rate)
        # A sum of squared distances: a product of bells, if at least one is better off.
        if left is None and right is None:
            return None
        other = self.rules.schoenberg
        return Product(left or other(rate, self.left), right or other(rate, self.right))

    def feature_map(self, A: Batch) -> Array:
        return np.hstack([self.left.feature_map(A), self.right.feature_map(A)])

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        both: Array = self.left.gradient_block(A, B) + self.right.gradient_block(A, B)
        return both

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        return named("left", self.left.parameter_block(A, B)) | named(
            "right", self.right.parameter_block(A, B)
        )


@dataclass(frozen=True)
class Product(Pair):
    r"""Product of two kernels, $k(x, y) = k_1(x, y)\, k_2(x, y)$.

    Why it is a kernel (Schur): write two Gram matrices as sums of squares,
    $K_1 = \sum_r a_r a_r^\top$ and $K_2 = \sum_s b_s b_s^\top$. Entry by entry their product
    is one too, $\sum_{r,s} (a_r \circ b_s)(a_r \circ b_s)^\top$. Its feature map holds all
    products of a feature of the one and a feature of the other.

    Args:
        left: The first kernel.
        right: The second kernel, on the same points.

    Example:
        >>> import mercer as mc
        >>> k = mc.Linear() * mc.Linear()
        >>> k.pair([1.0, 2.0], [3.0, 4.0])
        121.0
    """

    word = "product"
    operation = np.multiply

    def rooted(self, exponent: float) -> Kernel:
        return Product(Power(exponent, self.left), Power(exponent, self.right))

    def feature_map(self, A: Batch) -> Array:
        left, right = self.left.feature_map(A), self.right.feature_map(A)
        check_map(self, left.shape[1] * right.shape[1])
        return (left[:, :, None] * right[:, None, :]).reshape(len(A), -1)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        left, right = self.left.block(A, B)[..., None], self.right.block(A, B)[..., None]
        both: Array = self.left.gradient_block(A, B) * right
        both += left * self.right.gradient_block(A, B)
        return both

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        parts: dict[str, Array] = {}
        for side, part, other in (
            ("left", self.left, self.right),
            ("right", self.right, self.left),
        ):
            slopes = part.parameter_block(A, B)
            factor = other.block(A, B) if slopes else np.ones((1, 1))
            parts |= named(side, {name: times(factor, s) for name, s in slopes.items()})
        return parts


@dataclass(frozen=True)
class Scaled(Kernel):
    r"""Non-negative multiple of a kernel, $w\,k(x, y)$ with $w \ge 0$.

    Why it is a kernel (non-negative multiple): $a^\top (w K) a = w\, a^\top K a \ge 0$. Its
    feature map is that of $k$ times $\sqrt w$.

    Args:
        weight: The factor $w \ge 0$.
        kernel: The kernel.

    Example:
        >>> import mercer as mc
        >>> (3 * mc.Linear()).pair([2.0], [5.0])
        30.0
    """

    word = "scaled"

    weight: float
    kernel: Kernel

    def __post_init__(self) -> None:
        check_parts("Scaled", self.kernel)
        weight = parameters.number(f"w * ({self.kernel})", "w", self.weight)
        if weight < 0:
            raise NotAKernel(
                f"{weight} * ({self.kernel}) is not a kernel: its diagonal is negative.\n"
                "Multiply by a number >= 0."
            )
        object.__setattr__(self, "weight", weight)

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    def rooted(self, exponent: float) -> Kernel:
        return Scaled(self.weight**exponent, Power(exponent, self.kernel))

    def bell(self, rate: float) -> Kernel | None:
        return self.kernel.bell(rate * self.weight) if self.weight > 0 else None

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        def scale(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            np.multiply(tile, tile.dtype.type(self.weight), out=tile)

        return Applied(self.kernel.tiles(A, B), scale)

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        return self.kernel.normalized_tiles(A, B) if self.weight > 0 else None

    def diag(self, A: Batch) -> Array:
        own = self.kernel.diag(A)
        scaled: Array = own * own.dtype.type(self.weight)
        return scaled

    def feature_map(self, A: Batch) -> Array:
        features: Array = np.sqrt(self.weight) * self.kernel.feature_map(A)
        return features

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        slope: Array = self.weight * self.kernel.gradient_block(A, B)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        inner = {n: self.weight * s for n, s in self.kernel.parameter_block(A, B).items()}
        # d(w k) / d log w = w k.
        return {"weight": self.block(A, B)} | named("kernel", inner)


@dataclass(frozen=True)
class Power(Kernel):
    r"""Power of a kernel, $k(x, y)^n$.

    Why it is a kernel (Schur): a whole power $n \ge 1$ is a product of $n$ kernels. Any other
    positive power is one only if the kernel is infinitely divisible, which is read off its
    proof: $k = (k^{1/n})^n$ with every root a kernel, and limits of kernels are kernels.

    Args:
        exponent: A whole number, or any positive number if the kernel is infinitely divisible.
        kernel: The kernel.

    Example:
        >>> import mercer as mc
        >>> (mc.Linear() ** 2).pair([1.0, 2.0], [3.0, 4.0])
        121.0
        >>> round((mc.Gaussian() ** 0.5).pair([0.0], [2.0]), 6)  # mc.Gaussian(2**0.5)
        0.367879
    """

    word = "power"

    exponent: float
    kernel: Kernel

    def __post_init__(self) -> None:
        check_parts("Power", self.kernel)
        exponent = self.exponent
        try:
            numeric = isinstance(exponent, Real) and not isinstance(exponent, bool)
            value = float(exponent) if numeric else np.nan
        except OverflowError:  # a whole number beyond every float
            value = np.inf
        if value.is_integer() and value >= 1:
            object.__setattr__(self, "exponent", int(exponent))
            return
        divisible = "infinitely divisible" in self.kernel.proof().facts
        if divisible and 0 < value < np.inf:
            object.__setattr__(self, "exponent", value)
            return
        if value == 0:
            raise NotAKernel(
                f"({self.kernel}) ** 0 would be the constant 1, whatever the kernel.\n"
                "Write mercer.Bias() for the constant."
            )
        raise NotAKernel(
            f"({self.kernel}) ** {exponent!r} is not a kernel in general.\n"
            "Positive definiteness survives products, hence whole powers 1, 2, 3, ...; other "
            "powers keep it only for infinitely divisible kernels.\n"
            "Round the power, or change a parameter of the kernel instead."
        )

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    @property
    def _twin(self) -> Kernel | None:
        """The same kernel without the power, where tiny values would lose it."""
        if self.exponent >= 1:
            return None
        try:
            return self.kernel.rooted(self.exponent)
        except InvalidParameter:  # its lengths would leave the range of floating point
            return None

    def rooted(self, exponent: float) -> Kernel:
        return Power(self.exponent * exponent, self.kernel)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        twin = self._twin
        if twin is not None:
            return twin.tiles(A, B)

        def raise_power(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            tile[...] = self._raised(tile)

        return Applied(self.kernel.tiles(A, B), raise_power)

    def diag(self, A: Batch) -> Array:
        twin = self._twin
        return self._raised(self.kernel.diag(A)) if twin is None else twin.diag(A)

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        if not isinstance(self.exponent, int):
            return None
        # The power of the normalised kernel: powers of k(x, x) may leave the range of numbers.
        once = self.rules.normalized(self.kernel)
        for batch in (A,) if A is B else (A, B):
            once.check_finite(batch)

        def raise_power(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            with np.errstate(under="ignore"):
                tile[...] = self._raised(tile)

        return Applied(once.tiles(A, B), raise_power)

    def _raised(self, values: Array) -> Array:
        if not isinstance(self.exponent, int):
            limits = np.finfo(values.dtype)
            visible = float(limits.tiny) ** self.exponent > TOLERANCE[values.dtype.name]
            if self.kernel.fades and visible and (values < limits.tiny).any():
                raise self._underflow()
            raised: Array = np.power(values, values.dtype.type(self.exponent))
            return raised
        # Repeated squaring: np.power would call the slow general function.
        result, square, rest = np.ones_like(values), values, self.exponent
        while rest:
            if rest & 1:
                result = result * square
            rest >>= 1
            if rest:
                square = square * square
        return result

    def feature_map(self, A: Batch) -> Array:
        if not isinstance(self.exponent, int):
            return super().feature_map(A)
        once = self.kernel.feature_map(A)
        if once.shape[1] == 1:
            return self._raised(once)
        # Two features to the 21st are too many already: no need for a larger number.
        check_map(self, once.shape[1] ** min(self.exponent, WIDEST_MAP.bit_length()))
        result = once
        for _ in range(self.exponent - 1):
            result = (result[:, :, None] * once[:, None, :]).reshape(len(A), -1)
        return result

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        if self._twin is not None:
            return self._twin.gradient_block(A, B)
        slope: Array = self._slope(A, B)[..., None] * self.kernel.gradient_block(A, B)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        if self._twin is not None:
            if not self.kernel.children():  # the same parameters, up to factors
                slopes = self._twin.parameter_block(A, B)
                if "base" in slopes:  # the twin's is a power of it, its logarithm a multiple
                    slopes["base"] = self.exponent * slopes["base"]
                return named("kernel", slopes)
            self._check_underflow(A, B)
        inner = self.kernel.parameter_block(A, B)
        slope = self._slope(A, B)
        return named("kernel", {name: times(slope, s) for name, s in inner.items()})

    def _check_underflow(self, A: Batch, B: Batch) -> None:
        if ((self.kernel.block(A, B) == 0) & (self.block(A, B) > 0)).any():
            raise self._underflow()

    def _underflow(self) -> InvalidInput:
        return InvalidInput(
            f"{self.kernel} underflows: its values are too small for {self}, whose own are "
            "not.\nRescale the data or the parameters."
        )

    def _slope(self, A: Batch, B: Batch) -> Array:
        values = self.kernel.block(A, B)
        if self.exponent == 1:
            return np.ones_like(values)
        if isinstance(self.exponent, int):
            power = values.dtype.type(self.exponent - 1)
            slope: Array = self.exponent * np.power(values, power)
            return slope
        # A root is steep at zero, but where a divisible kernel vanishes it is flat.
        base = np.where(values > 0, values, 1.0)
        return np.where(values > 0, self.exponent * base ** (self.exponent - 1), 0.0)


def named(prefix: str, slopes: dict[str, Array]) -> dict[str, Array]:
    """The slopes of a part, under the names that `replace` knows them by."""
    return {f"{prefix}__{name}": slope for name, slope in slopes.items()}


def times(factor: Array, slope: Array) -> Array:
    """A factor per pair, times a slope per pair and perhaps per feature."""
    product: Array = factor[..., None] * slope if slope.ndim > factor.ndim else factor * slope
    return product
