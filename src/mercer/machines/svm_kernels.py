r"""The kernels that scikit-learn's support vector machines know by a word.

They share the parameters gamma, degree and coef0:

| word | formula |
|---|---|
| "linear" | $x^\top y$ |
| "poly" | $(\gamma\, x^\top y + c)^n$ |
| "rbf" | $\exp(-\gamma |x - y|^2)$ |
| "sigmoid" | $\tanh(\gamma\, x^\top y + c)$ |

The last one is positive definite for hardly any parameters: it is assumed to be a kernel, and
says so. So is "poly" with a negative constant c, or with the degree 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, SparseBatch, Vectors
from mercer.errors import InvalidInput
from mercer.kernels import Bias, FunctionKernel, Gaussian, Kernel, Linear, Polynomial
from mercer.types import Array

Reals = NDArray[np.float64]

WORDS = ("linear", "poly", "rbf", "sigmoid")


@dataclass(frozen=True)
class Sigmoid:
    r"""The function $\tanh(\gamma\, x^\top y + c)$ of the rows of two matrices."""

    gamma: float
    coef0: float

    def __call__(self, X: Any, Y: Any) -> Array:
        values: Array = np.tanh(self.gamma * _products(X, Y) + self.coef0)
        return values


@dataclass(frozen=True)
class Powers:
    r"""The function $(\gamma\, x^\top y + c)^n$ where it is no kernel: n = 0 or c < 0."""

    gamma: float
    coef0: float
    degree: int

    def __call__(self, X: Any, Y: Any) -> Array:
        values: Array = (self.gamma * _products(X, Y) + self.coef0) ** self.degree
        return values


def _products(X: Any, Y: Any) -> Array:
    X, Y = (np.atleast_2d(Z) if not sp.issparse(Z) else Z for Z in (X, Y))
    found = X @ Y.T
    values: Array = found.toarray() if sp.issparse(found) else found
    return values


def kernel_called(word: str, gamma: float, degree: int, coef0: float) -> Kernel:
    """The kernel that scikit-learn calls by this word.

    Args:
        word: One of `WORDS`.
        gamma: The factor of the inner product, or of the squared distance.
        degree: The power of "poly".
        coef0: The constant of "poly" and "sigmoid".
    """
    if word == "linear":
        return Linear()
    if word == "sigmoid":
        return _assumed(Sigmoid(gamma, coef0))
    if word == "rbf":
        return Gaussian(scale=(2 * gamma) ** -0.5) if gamma > 0 else Bias()
    if gamma > 0 and degree > 0 and coef0 >= 0:
        return Polynomial(degree=degree, offset=coef0, scale=gamma**-0.5)
    return _assumed(Powers(gamma, coef0, degree))


def _assumed(function: Any) -> Kernel:
    return FunctionKernel(function, vectorized=True, points=Vectors())


def gamma_of(given: Any, points: Batch, weights: Reals) -> float:
    """The number that gamma stands for.

    Args:
        given: A number, "auto" (one over the number of features), or "scale" (that, over the
            variance of all coordinates, each with the weight of its row).
        points: Distinct vectors.
        weights: Their weights.
    """
    if not isinstance(given, str):
        return float(given)
    assert isinstance(points, DenseBatch | SparseBatch)  # noqa: S101 - words are for vectors
    if given == "auto":
        return 1 / points.width
    spread = variance(points, weights)
    if not np.isfinite(spread):
        raise InvalidInput(
            "The dual coefficients or intercepts are not finite: the squares of the data leave "
            'the range of numbers, and gamma="scale" needs their variance.\nScale the data.'
        )
    return 1 / (points.width * spread) if spread > 0 else 1.0


def variance(points: DenseBatch | SparseBatch, weights: Reals) -> float:
    """The variance of all coordinates of the rows, each with the weight of its row."""
    total = float(weights.sum()) * points.width
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(points, DenseBatch):
            values, factors, rest = points.values, weights[:, None], 0.0
        else:
            counts = np.diff(points.matrix.indptr)
            values, factors = points.matrix.data, np.repeat(weights, counts)
            rest = total - float(factors.sum())
        mean = (factors * values).sum() / total
        spread = (factors * (values - mean) ** 2).sum() + rest * mean**2
    return float(spread / total)
