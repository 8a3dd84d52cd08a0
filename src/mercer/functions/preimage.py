r"""Pre-images: the point whose section is a given function, or comes closest to it.

A function $f$ has a pre-image if $f = k(x, \cdot)$ for a point $x$. Most have none.

- Linear kernel: every $f(x) = w^\top x$ has one, $w$ itself.
- $k(x, y) = (x^\top y)^2$: $f(x) = x^\top S x$ has one exactly when $S$ is p.s.d. of rank at
  most one, because $k(x, \cdot)$ has the matrix $x x^\top$.
- A strictly p.d. kernel, such as the Gaussian: sections of distinct points are independent, so
  a sum over distinct anchors has one exactly when one coefficient is 1 and the others are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Vectors
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions.batches import coordinates, merge
from mercer.functions.expansion import Function, section
from mercer.functions.rounding import Reals, promise
from mercer.functions.spaces import explicit
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.types import Array

STARTS = 16
"""Anchors that a search starts from."""

STEPS = 1000
"""Steps of a search at most."""


@dataclass(frozen=True, eq=False)
class Preimage:
    r"""The result of a search for the point whose section is closest to a function.

    Attributes:
        point: The point, as a vector; with several outputs a row each.
        distance: How far its section is from the function, $\|f - k(x, \cdot)\|$.
    """

    point: Reals
    distance: Any


def preimage(f: Function, start: Any = None) -> Preimage:
    r"""The point $x$ that minimises $\|f - k(x, \cdot)\|$: exact for the linear kernel and for
    $(x^\top y)^2$, a search for the Gaussian.

    For the Gaussian $k(x, x) = 1$, so the closest section is where $f$ is largest. There
    $\sum_i c_i k(z_i, x)(z_i - x) = 0$, which gives the iteration of Mika et al. (1999),
    $x \leftarrow \sum_i c_i k(z_i, x)\, z_i / \sum_i c_i k(z_i, x)$. It is a step along the
    gradient; here it is halved until $f$ grows, so that it cannot fail where coefficients are
    negative. It runs from the anchors with the largest values, because $f$ has many maxima.

    Args:
        f: A function, such as a barycentre.
        start: A point, or several, to start from besides the anchors.

    Raises:
        InvalidParameter: The kernel is another one.

    Example:
        >>> import mercer as mc
        >>> mu = mc.barycenter(mc.Gaussian(), [[-0.5, 1.0], [0.5, 1.0]])
        >>> found = mc.preimage(mu)
        >>> found.point.round(6) + 0.0
        array([0., 1.])
        >>> round(found.distance, 6)
        0.195631
    """
    if f.coefficients.ndim == 2:
        columns = (Function(f.kernel, f.anchors, c) for c in f.coefficients.T)
        found = [preimage(column, start) for column in columns]
        points, apart = [p.point for p in found], [p.distance for p in found]
        return Preimage(np.stack(points), np.array(apart))
    point = closest(f, start)
    return Preimage(point, f.distance(section(f.kernel, point)))


def closest(f: Function, start: Any = None) -> Reals:
    """The point of `preimage` alone; how far it is costs a norm, which is not computed.

    Args:
        f: A function; with several outputs the points come back as rows.
        start: A point, or several, to start from besides the anchors.

    Raises:
        InvalidParameter: No search is known for the kernel.
    """
    if isinstance(f.kernel, Linear) and f.kernel.metric is None:
        return explicit(f).weights.T
    if f.coefficients.ndim == 2:
        columns = (Function(f.kernel, f.anchors, c) for c in f.coefficients.T)
        return np.stack([closest(column, start) for column in columns])
    if isinstance(f.kernel, Gaussian):
        return _climb(f, start)
    if _is_square(f):
        # The closest matrix x x' to S is that of the largest eigenvalue, if it is positive.
        values, vectors = np.linalg.eigh(explicit(f).matrix())
        point: Reals = np.sqrt(max(values[-1], 0.0)) * vectors[:, -1]
        return point
    raise InvalidParameter(
        f"pre-images are searched for the kernels gaussian, linear and (x'y)^2, and this "
        f"is {f.kernel}.\nAmong candidates X of your own the closest one minimises "
        "k.diagonal(X) - 2 * f(X)."
    )


def has_preimage(f: Function) -> Any:
    r"""Whether $f = k(x, \cdot)$ for some point $x$, up to rounding of the coefficients.

    Decided for the linear kernel (always), for $(x^\top y)^2$ (the matrix is p.s.d. of rank at
    most one), and for every kernel that is known to be strictly p.d. (one coefficient is 1,
    the others are 0): see the head of this module.

    Args:
        f: A function.

    Returns:
        True or False; an array of them for several outputs.

    Raises:
        InvalidParameter: The kernel is another one.

    Example:
        >>> import mercer as mc
        >>> mc.has_preimage(mc.section(mc.Gaussian(), [1.0, 2.0]))
        True
        >>> mc.has_preimage(mc.barycenter(mc.Gaussian(), [[1.0], [2.0]]))
        False
        >>> mc.has_preimage(mc.barycenter(mc.Linear(), [[1.0], [2.0]]))
        True
    """
    if f.coefficients.ndim == 2:
        columns = (Function(f.kernel, f.anchors, c) for c in f.coefficients.T)
        return np.array([has_preimage(column) for column in columns])
    if isinstance(f.kernel, Linear) and f.kernel.metric is None:
        return True
    size = float(np.abs(f.coefficients).sum())
    if _is_square(f):
        values = np.linalg.eigvalsh(explicit(f).matrix())
        scale = float((f.kernel.diag(f.anchors) * np.abs(f.coefficients)).sum())
        rounding = len(f.anchors) * len(values) * float(np.finfo(float).eps) * max(scale, 0.0)
        return bool((np.abs(values[:-1]) <= rounding).all() and values[-1] >= -rounding)
    if f.kernel.is_strict:
        _, merged = merge(f.anchors, f.coefficients)
        # Each merged coefficient is a sum, off by at most m u times the sum of the sizes.
        rounding = len(f.anchors) * float(np.finfo(float).eps) * size
        one = np.abs(merged - 1) <= rounding
        return bool(one.sum() == 1 and (np.abs(merged[~one]) <= rounding).all())
    raise InvalidParameter(
        f"which functions are sections is known for strictly p.d. kernels, linear and (x'y)^2, "
        f"and not for {f.kernel}."
    )


def _is_square(f: Function) -> bool:
    return f.kernel in (Polynomial(degree=2, offset=0), Linear() ** 2)


def _climb(f: Function, start: Any) -> Reals:
    """The largest maximum of f that is found by climbing from many places."""
    # It is the largest of any multiple of f, and sums of coefficients near one stay finite.
    f = Function(f.kernel, f.anchors, np.ldexp(f.coefficients, -_exponent(f)))
    anchors = f.anchors
    Z = coordinates(anchors)
    best = np.argsort(-f(anchors), kind="stable")[:STARTS]
    X = Z[best]
    if start is not None:
        given = Vectors().encode([start] if np.ndim(start) == 1 else start)
        if given.width != Z.shape[1]:
            raise InvalidInput(
                f"start has {given.width} coordinates, and the anchors have {Z.shape[1]}."
            )
        X = np.concatenate([X, coordinates(given)])
    values = f(X)
    for _ in range(STEPS):
        moved, grown = _step(f, Z, X, values)
        still = np.abs(moved - X) <= np.finfo(float).eps * (np.abs(X) + np.abs(Z).max(axis=0))
        X, values = moved, grown
        if still.all():
            break
    best_one: Reals = X[int(values.argmax())]
    return best_one


def _exponent(f: Function) -> int:
    """The binary exponent of the largest coefficient."""
    return int(np.frexp(np.abs(f.coefficients).max())[1])


def _step(f: Function, Z: Array, X: Array, values: Reals) -> tuple[Reals, Reals]:
    """One step of the fixed-point iteration from each row, halved until f does not fall."""
    shares = f.kernel(X, Z) * f.coefficients
    total = shares.sum(axis=1, keepdims=True)
    direction = shares @ Z - total * X
    # Where f is negative the fixed point is a minimum; the gradient still points uphill.
    size = np.abs(shares).sum(axis=1, keepdims=True)
    step = direction / np.where(
        total > promise(np.dtype(np.float64)) * size, total, size + 1e-300
    )
    moved, grown = X + step, f(X + step)
    falls = grown < values
    for _ in range(60):
        if not falls.any():
            break
        step = np.where(falls[:, None], step / 2, step)
        moved = X + step
        grown = f(moved)
        falls = grown < values
    return np.where(falls[:, None], X, moved), np.where(falls, values, grown)
