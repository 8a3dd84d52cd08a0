r"""How exact the values of a kernel have to be: the tolerance of every law, derived.

A value counts as right when $|\hat k(x, y) - k(x, y)| \le \epsilon\,\sqrt{k(x, x)\,k(y, y)}$.
This measure survives the rules: in a sum the larger $\epsilon$ remains (Cauchy-Schwarz), in a
product the two add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.kernels import (
    Column,
    Exp,
    Kernel,
    Normalized,
    Polynomial,
    Power,
    Product,
    Pullback,
    Scaled,
    Schoenberg,
    Series,
    Sum,
    Weighted,
)
from mercer.loops import roundings

PROMISED = {np.dtype(np.float64): 2.0**-40, np.dtype(np.float32): 2.0**-15}
"""The error of a leaf: what `mercer.loops.product_is_safe` lets through."""


@singledispatch
def rounding(kernel: Kernel, A: Batch, dtype: np.dtype[Any]) -> float:  # noqa: ARG001
    """The relative error that the values of this kernel on these points may have."""
    return _of_leaf(A, dtype)


def _of_leaf(A: Batch, dtype: np.dtype[Any]) -> float:
    # A sum over d coordinates is off by so many units, and what becomes of it by a few.
    units = roundings(A.width if isinstance(A, DenseBatch | SparseBatch) else 1) + 3
    return max(PROMISED[dtype], float(np.finfo(dtype).eps) * units)


@rounding.register
def _(kernel: Polynomial, A: Batch, dtype: np.dtype[Any]) -> float:
    return kernel.degree * _of_leaf(A, dtype)


@rounding.register
def _(kernel: Sum, A: Batch, dtype: np.dtype[Any]) -> float:
    return max(rounding(kernel.left, A, dtype), rounding(kernel.right, A, dtype))


@rounding.register
def _(kernel: Product, A: Batch, dtype: np.dtype[Any]) -> float:
    return rounding(kernel.left, A, dtype) + rounding(kernel.right, A, dtype)


@rounding.register(Scaled)
@rounding.register(Weighted)
def _(kernel: Any, A: Batch, dtype: np.dtype[Any]) -> float:
    return rounding(kernel.kernel, A, dtype)


@rounding.register
def _(kernel: Power, A: Batch, dtype: np.dtype[Any]) -> float:
    # Roots are for infinitely divisible kernels, exponentials one and all: their errors are
    # relative to the value, and a root does not enlarge them.
    return rounding(kernel.kernel, A, dtype) * max(1.0, kernel.exponent)


@rounding.register
def _(kernel: Series, A: Batch, dtype: np.dtype[Any]) -> float:
    return len(kernel.coefficients) * rounding(kernel.kernel, A, dtype)


@rounding.register
def _(kernel: Exp, A: Batch, dtype: np.dtype[Any]) -> float:
    # An absolute error in the exponent is a relative error of the value.
    return rounding(kernel.kernel, A, dtype) * max(1.0, _largest(kernel.kernel, A))


@rounding.register
def _(kernel: Normalized, A: Batch, dtype: np.dtype[Any]) -> float:
    return 2 * rounding(kernel.kernel, A, dtype)


@rounding.register
def _(kernel: Schoenberg, A: Batch, dtype: np.dtype[Any]) -> float:
    # k(x, x), k(y, y) and 2 k(x, y) are each off, and exp(-t u) has at most the slope t.
    steepness = 4 * kernel.rate * _largest(kernel.kernel, A)
    return rounding(kernel.kernel, A, dtype) * max(1.0, steepness)


@rounding.register
def _(kernel: Column, A: Batch, dtype: np.dtype[Any]) -> float:
    return rounding(kernel.kernel, kernel._part(A), dtype)


@rounding.register
def _(kernel: Pullback, A: Batch, dtype: np.dtype[Any]) -> float:
    return rounding(kernel.kernel, kernel._image(A), dtype)


def parts(kernel: Kernel, A: Batch) -> Iterator[tuple[Kernel, Batch]]:
    """A kernel and all that it is made of, each with the points that it reads."""
    yield kernel, A
    inner = A
    if isinstance(kernel, Column):
        inner = kernel._part(A)
    elif isinstance(kernel, Pullback):
        inner = kernel._image(A)
    for child in kernel.children():
        yield from parts(child, inner)


def _largest(kernel: Kernel, A: Batch) -> float:
    return float(np.max(kernel.diag(A)))
