r"""The explicit RKHS of linear and polynomial kernels: functions by their monomials.

Multiplied out, such a kernel is $k(x, y) = \sum_\alpha a_\alpha x^\alpha y^\alpha$ with
$a_\alpha \ge 0$. Its RKHS is the span of the monomials with $a_\alpha > 0$, and the function
$f(x) = \sum_\alpha b_\alpha x^\alpha$ has $\|f\|^2 = \sum_\alpha b_\alpha^2 / a_\alpha$:
the features $\sqrt{a_\alpha}\, x^\alpha$ are an orthonormal basis.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np

from mercer.domains import DenseBatch, SparseBatch, Vectors
from mercer.errors import InvalidInput, NoFeatureMap
from mercer.functions.batches import coordinates
from mercer.functions.expansion import Function
from mercer.functions.rounding import Reals
from mercer.kernels import Bias, Kernel, Linear, Polynomial, Power, Product, Scaled, Series, Sum
from mercer.types import Indices

Weights: TypeAlias = dict[tuple[int, ...], float]
"""The numbers a_alpha by their exponents."""

WIDEST = 1 << 17
"""Monomials beyond which none are listed."""


@dataclass(frozen=True, eq=False, repr=False)
class Explicit:
    r"""A function of the RKHS of a polynomial kernel, $f(x) = \sum_\alpha b_\alpha x^\alpha$.

    Attributes:
        exponents: The exponents $\alpha$, a row a monomial, by degree.
        coefficients: The numbers $b_\alpha$: shape (monomials,) or (monomials, outputs).
        weights: The coordinates $b_\alpha / \sqrt{a_\alpha}$ in the orthonormal basis of the
            RKHS, so that $\|f\| = |w|$.
    """

    exponents: Indices
    coefficients: Reals
    weights: Reals

    def __repr__(self) -> str:
        return f"Explicit({self})"

    def __str__(self) -> str:
        if self.coefficients.ndim == 2:
            return f"{self.coefficients.shape[1]} polynomials of {len(self.names)} monomials"
        pairs = zip(self.coefficients, self.names, strict=True)
        shown = [f"{b:.6g} {name}".removesuffix(" 1") for b, name in pairs if b]
        text = " + ".join(shown[:12] + ["..."] * (len(shown) > 12)) or "0"
        return text.replace("+ -", "- ")

    @property
    def names(self) -> tuple[str, ...]:
        """The monomials in words: "1", "x0", "x0^2 x1"."""
        return tuple(
            " ".join(f"x{i}^{e}" if e > 1 else f"x{i}" for i, e in enumerate(row) if e) or "1"
            for row in self.exponents.tolist()
        )

    def norm(self) -> Any:
        r"""The norm $\|f\| = |w|$, one number an output."""
        found = np.sqrt((self.weights**2).sum(axis=0))
        return found if found.ndim else float(found)

    def __call__(self, X: Any) -> Reals:
        """The values of the polynomial."""
        batch = Vectors().encode(X)
        if batch.width != self.exponents.shape[1]:
            raise InvalidInput(
                f"the polynomial has {self.exponents.shape[1]} variables, and the points have "
                f"{batch.width} coordinates."
            )
        values: Reals = _evaluate(self.exponents, coordinates(batch)) @ self.coefficients
        return values

    def matrix(self) -> Reals:
        r"""The symmetric matrix $S$ of a quadratic form, $f(x) = x^\top S x$.

        For $k(x, y) = (x^\top y)^2$ the norm is $\|f\| = \|S\|_F$. Why symmetric: with
        $A^\top = -A$ the matrix $S + A$ gives the same function, because $x^\top A x = 0$, and
        $\|S + A\|_F^2 = \|S\|_F^2 + \|A\|_F^2$. Only $S$ is in the span of the $x x^\top$, and
        so only its length is the norm.

        Raises:
            InvalidInput: The polynomial is no quadratic form, or several.
        """
        if self.coefficients.ndim == 2 or (self.exponents.sum(axis=1) != 2).any():
            raise InvalidInput(
                "only a quadratic form, one function whose monomials all have degree 2, has a "
                "matrix; Polynomial(degree=2, offset=0) gives such functions."
            )
        S = np.zeros((self.exponents.shape[1],) * 2)
        for row, b in zip(self.exponents, self.coefficients, strict=True):
            i, j = np.repeat(np.arange(len(row)), row)
            S[i, j] = S[j, i] = b if i == j else b / 2
        return S


def explicit(f: Function) -> Explicit:
    r"""A function of a polynomial RKHS by its monomials, instead of by its anchors.

    Reads kernels made of `Linear`, `Polynomial` and constants by sums, products, multiples,
    powers and series. For the linear kernel $f(x) = w^\top x$ and $\|f\| = |w|$.

    Args:
        f: The function.

    Raises:
        NoFeatureMap: The kernel is not such a polynomial, or has too many monomials.

    Example:
        >>> import mercer as mc
        >>> f = mc.Function(mc.Polynomial(degree=2, offset=0), [[1.0, 1.0]], [3.0])
        >>> p = mc.explicit(f)  # 3 (x0 + x1)^2
        >>> print(p)
        3 x0^2 + 6 x0 x1 + 3 x1^2
        >>> p.matrix()
        array([[3., 3.],
               [3., 3.]])
        >>> p.norm() == f.norm() == 6.0
        True
    """
    anchors = f.anchors
    if not isinstance(anchors, DenseBatch | SparseBatch):
        raise NoFeatureMap(f"{f.kernel} is not a polynomial in coordinates.")
    found = monomials(f.kernel, anchors.width)
    exponents = sorted(found, key=lambda row: (sum(row), tuple(-e for e in row)))
    sizes = np.array([found[row] for row in exponents])
    powers = np.array(exponents, dtype=np.int64).reshape(len(exponents), anchors.width)
    # f = sum_i c_i sum_alpha a_alpha z_i^alpha x^alpha.
    coefficients = (_evaluate(powers, coordinates(anchors)) * sizes).T @ f.coefficients
    root = np.sqrt(sizes) if coefficients.ndim == 1 else np.sqrt(sizes)[:, None]
    return Explicit(powers, coefficients, coefficients / root)


@singledispatch
def monomials(kernel: Kernel, width: int) -> Weights:  # noqa: ARG001 - those below read it
    r"""The numbers $a_\alpha > 0$ of $k(x, y) = \sum_\alpha a_\alpha x^\alpha y^\alpha$.

    Raises:
        NoFeatureMap: The kernel has no such form.
    """
    raise NoFeatureMap(
        f"{kernel} is not a polynomial in the coordinates, so its functions are not sums of "
        "monomials.\nf.to_features() gives weights where the kernel has features."
    )


@monomials.register
def _(kernel: Bias, width: int) -> Weights:  # noqa: ARG001 - the constant has no variable
    return {(0,) * width: 1.0}


@monomials.register
def _(kernel: Polynomial, width: int) -> Weights:
    scales = np.broadcast_to(np.asarray(kernel.scale), width)
    inner = {_unit(i, width): float(s) ** -2 for i, s in enumerate(scales)}
    if kernel.offset > 0:
        inner[(0,) * width] = kernel.offset
    _require_few(math.comb(len(inner) + kernel.degree - 1, kernel.degree))
    return _power(inner, kernel.degree, width)


@monomials.register
def _(kernel: Scaled, width: int) -> Weights:
    found = monomials(kernel.kernel, width)
    return {row: kernel.weight * a for row, a in found.items() if kernel.weight > 0}


@monomials.register
def _(kernel: Sum, width: int) -> Weights:
    return _sum(monomials(kernel.left, width), monomials(kernel.right, width))


@monomials.register
def _(kernel: Product, width: int) -> Weights:
    return _times(monomials(kernel.left, width), monomials(kernel.right, width))


@monomials.register
def _(kernel: Power, width: int) -> Weights:
    # A power that is not whole needs an infinitely divisible kernel, which none of these is.
    return _power(monomials(kernel.kernel, width), int(kernel.exponent), width)


@monomials.register
def _(kernel: Series, width: int) -> Weights:
    once, total = monomials(kernel.kernel, width), Weights()
    power: Weights = {(0,) * width: 1.0}
    for coefficient in kernel.coefficients:
        if coefficient > 0:
            total = _sum(total, {row: coefficient * a for row, a in power.items()})
        power = _times(power, once)
    return total


@monomials.register
def _(kernel: Linear, width: int) -> Weights:
    if kernel.metric is None:
        return {_unit(i, width): 1.0 for i in range(width)}
    metric = np.asarray(kernel.metric)
    if (metric != np.diag(np.diag(metric))).any():
        raise NoFeatureMap(
            f"the metric of {kernel} mixes coordinates, so its monomials are not orthogonal.\n"
            "f.to_features() gives weights in coordinates that are."
        )
    return {_unit(i, width): float(a) for i, a in enumerate(np.diag(metric)) if a > 0}


def _evaluate(exponents: Indices, x: Reals) -> Reals:
    """The monomials (columns) at points (rows)."""
    values = np.ones((len(x), len(exponents)))
    for variable, powers in enumerate(exponents.T):
        values *= x[:, variable, None] ** powers
    return values


def _unit(place: int, width: int) -> tuple[int, ...]:
    return tuple(int(i == place) for i in range(width))


def _sum(left: Weights, right: Weights) -> Weights:
    total = defaultdict(float, left)
    for row, a in right.items():
        total[row] += a
    return dict(total)


def _times(left: Weights, right: Weights) -> Weights:
    total: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for row, a in left.items():
        for other, b in right.items():
            total[tuple(map(sum, zip(row, other, strict=True)))] += a * b
        _require_few(len(total))
    return dict(total)


def _require_few(count: int) -> None:
    if count > WIDEST:
        raise NoFeatureMap(
            f"the kernel has {count} monomials or more on these points, and {WIDEST} are "
            "listed at most.\nUse the function itself, which never lists them."
        )


def _power(once: Weights, exponent: int, width: int) -> Weights:
    result: Weights = {(0,) * width: 1.0}
    for _ in range(exponent):
        result = _times(result, once)
    return result
