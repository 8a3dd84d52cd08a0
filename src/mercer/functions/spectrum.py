r"""Mercer's expansion of a kernel on an interval, by quadrature.

The operator $(T f)(x) = \int_a^b k(x, y) f(y)\, dy$ has eigenfunctions that are orthonormal
on the interval, and for a continuous kernel
$k(x, y) = \sum_j \lambda_j \varphi_j(x) \varphi_j(y)$, uniformly (Mercer 1909).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from mercer.domains import REALS, Categories, Records, Sets
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions.geometry import encoded
from mercer.functions.rounding import Reals, above_noise, eigen
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel

DEGREE = 8
"""Nodes of a panel: functions are polynomials of one degree less there."""


@dataclass(frozen=True, eq=False, repr=False)
class MercerExpansion:
    r"""The first terms of $k(x, y) = \sum_j \lambda_j \varphi_j(x) \varphi_j(y)$ by Mercer.

    A function $f$ of the RKHS has the norm
    $\|f\|^2 = \sum_j \langle f, \varphi_j \rangle_{L_2}^2 / \lambda_j$.

    Attributes:
        kernel: The kernel.
        interval: The interval $[a, b]$.
        eigenvalues: The numbers $\lambda_j$, the largest first.
        remainder: The sum of all the others, $\int_a^b k(x, x)\, dx - \sum_j \lambda_j$: what
            keeping these terms loses of the variance of random functions with covariance k.
    """

    kernel: Kernel
    interval: tuple[float, float]
    eigenvalues: Reals
    remainder: float
    _edges: Reals
    _series: Reals  # Legendre coefficients: degree, panel, function

    def __repr__(self) -> str:
        (low, high), terms = self.interval, self.eigenvalues.size
        return f"MercerExpansion({self.kernel}, [{low:g}, {high:g}], {terms} terms)"

    def eigenfunctions(self, X: Any) -> Reals:
        r"""The values $\varphi_j(x)$: shape (points, terms). Each function is a polynomial on
        each panel, orthonormal on the interval, and positive where it first leaves zero.

        Args:
            X: Numbers in the interval.
        """
        x = REALS.encode(X).values[:, 0].astype(np.float64)
        low, high = self.interval
        if x.min() < low or x.max() > high:
            raise InvalidInput(
                f"the eigenfunctions live on [{low:g}, {high:g}], and the points reach from "
                f"{x.min():g} to {x.max():g}.\nExpand the kernel on an interval around them."
            )
        last = len(self._edges) - 2
        panel = np.clip(np.searchsorted(self._edges, x, side="right") - 1, 0, last)
        left, right = self._edges[panel], self._edges[panel + 1]
        place = (2 * x - left - right) / (right - left)
        basis = legendre.legvander(place, DEGREE - 1)
        values: Reals = np.einsum("xd,dxj->xj", basis, self._series[:, panel])
        return values

    def features(self, X: Any) -> Reals:
        r"""Mercer's feature map $\sqrt{\lambda_j}\, \varphi_j(x)$, cut off: (points, terms)."""
        return self.eigenfunctions(X) * np.sqrt(self.eigenvalues)

    def __call__(self, X: Any, Y: Any = None) -> Reals:
        """The sum of the terms, which tends to k(x, y) with more of them."""
        left = self.features(X)
        right = left if Y is None else self.features(Y)
        product: Reals = left @ right.T
        return product


def mercer_expansion(
    k: Kernel | str,
    interval: tuple[float, float] = (0.0, 1.0),
    terms: int = 10,
    nodes: int = 256,
) -> MercerExpansion:
    r"""Eigenvalues and eigenfunctions of $(T f)(x) = \int_a^b k(x, y) f(y)\, dy$.

    The interval is cut into panels with eight Gauss-Legendre nodes each, and the operator is
    restricted to the functions that are polynomials on each panel. Integrals over two panels
    take the nodes of both; over a panel with itself, where many kernels have a kink at
    $x = y$, each of the two triangles has its own rule. So the eigenvalues of min on [0, 1],
    which are $1 / ((j - \frac12) \pi)^2$, have twelve digits right; with the plain rule, three.

    Args:
        k: A kernel on numbers, or on vectors of one coordinate; or its text.
        interval: The interval $(a, b)$.
        terms: How many terms; fewer come back if fewer eigenvalues are above rounding.
        nodes: How many nodes, rounded up to whole panels. A kernel of scale s on an interval
            of length L needs a few times L / s; the cost grows with the cube.

    Example:
        >>> import mercer as mc
        >>> expansion = mc.mercer_expansion(mc.Min(), terms=3)
        >>> 1 / np.sqrt(expansion.eigenvalues) / np.pi
        array([0.5, 1.5, 2.5])
        >>> (expansion.eigenfunctions([1.0]) / np.sqrt(2)).round(9)
        array([[ 1., -1.,  1.]])
    """
    k = as_kernel(k)
    if isinstance(k.domain, Sets | Records | Categories):
        raise InvalidInput(
            f"an interval holds numbers, and {k} reads {k.domain.name}.\nOn finitely many "
            "points of any kind mercer.embed(k, X) gives the features."
        )
    low, high = _interval(interval)
    terms, nodes = _count("terms", terms), _count("nodes", nodes)
    edges = np.linspace(low, high, -(-nodes // DEGREE) + 1)
    if terms > DEGREE * (len(edges) - 1):
        raise InvalidParameter(f"{terms} terms need at least {terms} nodes, got {nodes}.")
    matrix, points, weights = _discretised(k, edges)
    # What is negative here is an error of the quadrature, and so is what is as small.
    unit = float(np.finfo(matrix.dtype).eps)
    values, vectors = above_noise(*np.linalg.eigh(matrix), unit)
    values, vectors = values[:terms], vectors[:, :terms]
    at_nodes = vectors / np.sqrt(weights)[:, None]
    large = np.abs(at_nodes) > 0.01 * np.abs(at_nodes).max(axis=0, initial=0)
    at_nodes *= np.sign(at_nodes[large.argmax(axis=0), np.arange(len(values))])
    panels = at_nodes.reshape(len(edges) - 1, DEGREE, len(values))
    series = np.einsum("di,pij->dpj", _to_legendre(), panels)
    own = np.asarray(k.diag(encoded(k, points[:, None])), dtype=np.float64)
    rest = float(own @ weights - values.sum())
    # Eigenvalues are not negative, so neither is what is left of their sum.
    return MercerExpansion(k, (low, high), values, max(rest, 0.0), edges, series)


def _discretised(k: Kernel, edges: Reals) -> tuple[Reals, Reals, Reals]:
    """The operator in the orthonormal basis of Lagrange polynomials, its nodes and weights."""
    nodes, weights = legendre.leggauss(DEGREE)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    points = (middle[:, None] + half[:, None] * nodes).ravel()
    mass = (half[:, None] * weights).ravel()
    root = np.sqrt(mass)
    matrix = k.square(encoded(k, points[:, None])) * (root[:, None] * root)
    eigen(matrix)  # a Gram matrix so far: refuses what is no kernel
    # Exact for polynomials of degree 16 on either side of the diagonal: not less so than the
    # rule over two panels, or the matrix would have negative eigenvalues.
    x, wx = legendre.leggauss(2 * DEGREE)
    t, wt = (x + 1) / 2, wx / 2
    y = -1 + t[None, :] * (x[:, None] + 1)  # the triangle y < x of the square [-1, 1]^2
    area = (wx * (x + 1))[:, None] * wt[None, :]
    left = _lagrange(x)
    right = _lagrange(y.ravel()).reshape(*y.shape, DEGREE)
    for panel, (centre, width) in enumerate(zip(middle, half, strict=True)):
        rows = encoded(k, (centre + width * x)[:, None])
        columns = encoded(k, (centre + width * y).reshape(-1, 1))
        block = k.block(rows, columns).reshape(len(x), *y.shape)
        kernel = block[np.arange(len(x)), np.arange(len(x))] * area
        below = width**2 * np.einsum("xt,xi,xtj->ij", kernel, left, right)
        mine = slice(panel * DEGREE, (panel + 1) * DEGREE)
        matrix[mine, mine] = (below + below.T) / (root[mine, None] * root[mine])
    return matrix, points, mass


def _to_legendre() -> Reals:
    """The matrix from the values at the nodes of a panel to Legendre coefficients."""
    nodes, weights = legendre.leggauss(DEGREE)
    norms = (2 * np.arange(DEGREE) + 1) / 2
    matrix: Reals = norms[:, None] * legendre.legvander(nodes, DEGREE - 1).T * weights
    return matrix


def _lagrange(x: Reals) -> Reals:
    """The Lagrange polynomials of the nodes of [-1, 1]: shape (points, nodes)."""
    values: Reals = legendre.legvander(x, DEGREE - 1) @ _to_legendre()
    return values


def _interval(interval: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in interval)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"an interval is a pair of numbers, got {interval!r}."
        ) from error
    if not (np.isfinite([low, high]).all() and low < high):
        raise InvalidParameter(f"an interval is (low, high) with low < high, got {interval!r}.")
    return low, high


def _count(name: str, value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(f"{name} must be a whole number >= 1, got {value!r}.")
    return int(value)
