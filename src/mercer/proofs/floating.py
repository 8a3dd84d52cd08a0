r"""The steps of evaluating a formula on arrays: each writes into memory that is free.

>>> divided(np.ones(2), np.array([4.0, 0.0]))
array([0.25,  nan])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats: TypeAlias = NDArray[np.float64]

_ROUNDING = 128 * np.finfo(np.float64).eps
"""How far beyond 1 a cosine may be read: the inner product of two unit vectors with d <= 64
coordinates, each rounded, exceeds 1 by at most (d + 3) eps."""

MULTIPLIED = 1024
"""Whole powers up to this one are products; beyond it, rounding grows as large as pow's."""

_EXACT = 2.0**53
"""Whole numbers below this one are what their floats say."""


def folded(operation: Any, parts: list[tuple[Any, bool]]) -> Any:
    """An operation between several values, each with whether it may be written into."""
    value, free = parts[0]
    for other, owned in parts[1:]:
        shape = np.broadcast_shapes(np.shape(value), np.shape(other))
        out = None
        if free and np.shape(value) == shape:
            out = value
        elif owned and np.shape(other) == shape:
            out = other
        value = operation(value, other, out=out)
        free = isinstance(value, np.ndarray)
    return value


def owned(value: Any, free: bool) -> Any:
    """The value in memory that is nobody else's."""
    return value if free or not isinstance(value, np.ndarray) else value.copy()


def divided(top: Any, bottom: Any) -> Any:
    """The quotient of two values that nobody else needs; over zero it is NaN."""
    if not np.all(bottom):
        bottom = np.where(bottom == 0, np.nan, bottom)
    arrays = [(part, isinstance(part, np.ndarray) and part.ndim > 0) for part in (top, bottom)]
    return folded(np.divide, arrays)


def unless(undefined: Any, value: Any) -> Any:
    """The value, or NaN where it is undefined."""
    return np.where(undefined, np.nan, value) if np.any(undefined) else value


def whole(value: Any, power: int, *, free: bool) -> Any:
    """A whole power by repeated squares."""
    free = free and isinstance(value, np.ndarray)
    if power == 0:
        return np.where(np.isnan(value), np.nan, 1.0)
    if power == 1:
        return owned(value, free)
    result = None
    while True:
        if power & 1:
            result = value if result is None else result * value
        power >>= 1
        if not power:
            return result
        # The square may take the place of its root, unless the result is that root.
        value = np.multiply(value, value, out=value if free and result is not value else None)
        free = isinstance(value, np.ndarray)


def logarithm(value: Any, free: bool) -> Any:
    """The logarithm; NaN of what is not positive."""
    if not np.all(value):
        value, free = np.where(value == 0, np.nan, value), np.ndim(value) > 0
    return np.log(value, out=value if free else None)


def arc(head: str, value: Any) -> Any:
    """The arc cosine or arc sine; a hair beyond 1 counts as 1."""
    if np.max(value, initial=0) > 1 or np.min(value, initial=0) < -1:
        edge = np.absolute(value)
        near = (edge > 1) & (edge <= 1 + _ROUNDING)
        value = np.where(near, np.sign(value), value)
    return np.arccos(value) if head == "acos" else np.arcsin(value)


def folded_angle(value: Any) -> Any:
    """The angle in [0, pi] with the same cosine: the distance to the next multiple of 2 pi."""
    turns = np.rint(value / (2 * np.pi))
    return np.minimum(np.absolute(value - 2 * np.pi * turns), np.pi)


def divisors(head: str, values: list[Any]) -> Any:
    """Common divisors and multiples of whole numbers; of others they are undefined."""
    total = values[0]
    for value in values[1:]:
        a, b = np.broadcast_arrays(np.asarray(total, float), np.asarray(value, float))
        good = (np.rint(a) == a) & (np.rint(b) == b)
        good &= (np.absolute(a) < _EXACT) & (np.absolute(b) < _EXACT)
        whole = np.where(good, a, 1).astype(np.int64), np.where(good, b, 1).astype(np.int64)
        common = np.gcd(*whole).astype(np.float64)
        if head == "lcm":
            # |a b| / gcd, where the gcd of two zeros is 0 and their lcm is 0 too.
            common = np.absolute(a) / np.where(common == 0, 1, common) * np.absolute(b)
        total = np.where(good, common, np.nan)
    return total


def crossed(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether the points run along different axes, as the rows and columns of a matrix do."""
    return a.ndim > 2 and a.ndim == b.ndim and a.shape[-2] == 1 and b.shape[-3] == 1


def inner(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Inner products along the last axis, of rows and columns by one matrix product."""
    if crossed(a, b):
        return np.matmul(a[..., 0, :], np.swapaxes(b[..., 0, :, :], -1, -2))
    if crossed(b, a):
        return np.matmul(b[..., 0, :], np.swapaxes(a[..., 0, :, :], -1, -2))
    return np.einsum("...c,...c->...", a, b)


def distances(X: Floats, Y: Floats, p: float, *, root: bool) -> Any:
    """The p-distances between rows; without the root, the squares for p = 2."""
    if p == 2:
        return cdist(X, Y, "euclidean" if root else "sqeuclidean")
    if p == 1:
        return cdist(X, Y, "cityblock")
    return cdist(X, Y, "chebyshev") if p == np.inf else cdist(X, Y, "minkowski", p=p)


def times(factor: Any, points: NDArray[Any], c: int) -> Any:
    """A coordinate of the points, times a factor; None where there is no factor."""
    if factor is None:
        return None
    column = points[..., c]
    return column if np.ndim(factor) == 0 and factor == 1 else factor * column


def total(parts: Sequence[Any]) -> Any:
    """The sum of what is present; None if nothing is."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    value = present[0]
    for part in present[1:]:
        value = value + part
    return value
