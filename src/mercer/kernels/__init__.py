"""Positive definite functions, and the rules that make new ones from them."""

from collections.abc import Callable
from typing import Any

from mercer.kernels.algebra import Power, Product, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.coordinates import GeneralizedGaussian, Laplacian, Periodic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Tanimoto
from mercer.kernels.equality import Bias, Delta, White
from mercer.kernels.histograms import AdditiveChi2, Chi2, Intersection
from mercer.kernels.lifts import Exp, Normalized, Schoenberg, Series
from mercer.kernels.missing import Filled, Missing
from mercer.kernels.numbers import (
    GCD,
    CosineDifference,
    GCDOverLCM,
    Geometric,
    Min,
    MinOverMax,
    ProductPower,
    SumPower,
)
from mercer.kernels.proof import Proof
from mercer.kernels.pullbacks import Column, Pullback, Weighted
from mercer.kernels.radial import Exponential, Gaussian, Matern, RationalQuadratic, Wendland
from mercer.kernels.sets import Jaccard, SetIntersection, SetPower
from mercer.kernels.text import kernel
from mercer.kernels.user import FeatureKernel, FunctionKernel, from_function


class _Algebra:
    """The rules, as the operators of `Kernel` ask for them."""

    def bias(self) -> Kernel:
        return Bias()

    def sum(self, left: Kernel, right: Kernel) -> Kernel:
        return Sum(left, right)

    def product(self, left: Kernel, right: Kernel) -> Kernel:
        return Product(left, right)

    def scaled(self, weight: float, kernel: Kernel) -> Kernel:
        return Scaled(weight, kernel)

    def schoenberg(self, rate: float, kernel: Kernel) -> Kernel:
        return Schoenberg(rate, kernel)

    def power(self, kernel: Kernel, exponent: float) -> Kernel:
        return Power(exponent, kernel)

    def exp(self, kernel: Kernel) -> Kernel:
        return Exp(kernel)

    def normalized(self, kernel: Kernel) -> Kernel:
        return Normalized(kernel)

    def weighted(self, kernel: Kernel, function: Callable[[Any], Any]) -> Kernel:
        return Weighted(function, kernel)

    def map(self, kernel: Kernel, function: Callable[[Any], Any]) -> Kernel:
        return Pullback(function, kernel)

    def on(self, kernel: Kernel, columns: tuple[str | int, ...]) -> Kernel:
        return Column(columns, kernel)


Kernel.rules = _Algebra()


def series(kernel: Kernel, coefficients: tuple[float, ...]) -> Series:
    """The polynomial or truncated power series sum_n c_n k^n, with all c_n >= 0."""
    return Series(coefficients, kernel)


__all__ = [
    "GCD", "AdditiveChi2", "Bias", "Chi2", "Column", "Cosine", "CosineDifference", "Delta",
    "Exp", "Exponential", "FeatureKernel", "Filled", "FunctionKernel", "GCDOverLCM", "Gaussian",
    "GeneralizedGaussian", "Geometric", "Intersection", "Jaccard", "Kernel", "Laplacian",
    "Linear", "Matern", "Min", "MinOverMax", "Missing", "Normalized", "Periodic", "Polynomial",
    "Power",
    "Product", "ProductPower", "Proof", "Pullback", "RationalQuadratic", "Scaled",
    "Schoenberg", "Series", "SetIntersection", "SetPower", "Sum", "SumPower", "Tanimoto",
    "Weighted", "Wendland", "White", "from_function", "kernel", "series",
]  # fmt: skip
