r"""Evidence against a Python function: points and weights, and how far to trust its values.

>>> found = attack_callable(max, [1, 2, 3], deadline=time.monotonic() + 5)
>>> found.negative, found.points, found.value, found.exact
(True, (1, 3), Fraction(-2, 1), True)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import InvalidType
from mercer.proofs.floating import Floats
from mercer.proofs.refute_cases import lowest, normalised
from mercer.proofs.refute_points import arrangements, random_batches, simple_points
from mercer.proofs.refute_settle import reduced, short_vectors
from mercer.proofs.spaces import Space, space

_LARGEST = 64
"""Points in one matrix, when they are drawn here: each entry is a call."""

_MOST = 2000
"""Points that are looked at when they are given."""

_DIMENSIONS = (2, 1, 3, 5)


@dataclass(frozen=True)
class Evidence:
    """What a search knows of a Python function: a negative quadratic form, or none.

    Attributes:
        tried: How many Gram matrices were looked at.
        lowest: The smallest eigenvalue that was met, each matrix scaled to a diagonal of ones.
        points: The points of the negative form, as the function was called with them.
        weights: One exact number a point.
        value: The sum of w_i w_j k(x_i, x_j), exact for the values that the function returned.
        eigenvalue: The smallest eigenvalue of the matrix of these values.
        exact: Whether the values were whole numbers or fractions. Then this is a proof that
            the function is not positive definite; else it holds up to its rounding errors.
    """

    tried: int = 0
    lowest: float = float("inf")
    points: tuple[Any, ...] = ()
    weights: tuple[Fraction, ...] = ()
    value: Fraction | None = None
    eigenvalue: float | None = None
    exact: bool = False

    @property
    def negative(self) -> bool:
        """Whether there is a negative form."""
        return self.value is not None and self.value < 0

    def __str__(self) -> str:
        if self.value is None:
            return (
                f"In {self.tried} Gram matrices no eigenvalue was clearly negative; the lowest "
                f"was {self.lowest:.2g}, for a diagonal of ones."
            )
        trust = "exactly" if self.exact else "up to the rounding of the function's values"
        return (
            f"  points   {', '.join(map(str, self.points))}\n"
            f"  weights  {', '.join(map(str, self.weights))}\n"
            f"the sum of w_i w_j k(x_i, x_j) is {float(self.value):.6g}, {trust}."
        )


def attack_callable(
    function: Callable[[Any, Any], Any],
    points: Sequence[Any] | None = None,
    domain: str | Space = "reals",
    *,
    deadline: float,
    seed: int = 0,
) -> Evidence:
    """Points and weights at which a Python function has a negative quadratic form, if found.

    Args:
        function: Takes two points, returns a number. It is called many times.
        points: Points to choose from; None to draw them.
        domain: The space to draw from: it gives vectors as arrays and sets as frozensets.
        deadline: The time, of `time.monotonic`, at which to give up.
        seed: The same seed tries the same points in the same order.

    Raises:
        InvalidType: A value of the function is no real number.
    """
    tried, low = 0, float("inf")
    groups = _drawn(space(domain), seed) if points is None else _parts(list(points))
    with threadpool_limits(1, "blas"):
        for group in groups:
            values = _values(function, group, deadline)
            if values is None:
                break
            found = _judged(*values, deadline)
            tried, low = tried + 1, min(low, found.lowest)
            if found.negative:
                return replace(found, tried=tried, lowest=low)
            if time.monotonic() > deadline:
                break
    return Evidence(tried, low)


def _parts(points: list[Any]) -> Iterator[list[Any]]:
    """The points given, a few of them first."""
    if len(points) > 2 * _LARGEST:
        yield points[: _LARGEST // 2]
    if points:
        yield points[:_MOST]


def _drawn(where: Space, seed: int) -> Iterator[list[Any]]:
    """Lists of points of a space, without end."""
    rng = np.random.default_rng(seed)
    wide = where.points_are == "vector"
    some = [where.dimension] if where.dimension or not wide else list(_DIMENSIONS)
    some = [d for d in some if d != 1 or where.kind != "sphere"]
    for dimension in some:
        yield _objects(simple_points(where, dimension), where)
    for dimension in some:
        for batch in arrangements(where, dimension, rng):
            if batch.shape[1] <= _LARGEST:
                yield from (_objects(P, where) for P in batch[:: max(1, len(batch) // 12)])
    streams = [random_batches(where, dimension, rng) for dimension in some]
    while True:
        for stream in streams:
            yield from (_objects(P, where) for P in islice(next(stream), 8))


def _objects(P: NDArray[Any], where: Space) -> list[Any]:
    """Rows of an array as Python's own: sets, whole numbers, floats, or vectors."""
    if where.points_are == "set":
        return [frozenset(int(n) + 1 for n in np.flatnonzero(row)) for row in P]
    if where.points_are == "vector":
        return [np.array(row) for row in P]
    return [int(part) if where.kind == "naturals" else float(part) for part in P]


def _values(
    function: Callable[[Any, Any], Any], group: list[Any], deadline: float
) -> tuple[list[Any], list[list[Any]]] | None:
    """The points that time allowed, and the values between them; None if time is up."""
    rows: list[list[Any]] = []
    for n, x in enumerate(group):
        if time.monotonic() > deadline:
            break
        for row, y in zip(rows, group, strict=False):
            row.append(_value(function, y, x))
        rows.append([_value(function, x, y) for y in group[: n + 1]])
    return (group[: len(rows)], rows) if len(rows) > 1 or len(rows) == len(group) else None


def _value(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    try:
        value = function(x, y)
    except (ArithmeticError, ValueError):
        return np.nan
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, Real):
        raise InvalidType(
            f"the function returned {str(value)[:40]!r}, a {type(value).__name__}.\nA kernel "
            "is a real number for each two points."
        )
    return value


def _judged(points: list[Any], rows: list[list[Any]], deadline: float) -> Evidence:
    """What a matrix of values shows."""
    K = np.array([[_float(value) for value in row] for row in rows])
    exact = all(isinstance(value, Rational) for row in rows for value in row)
    good = np.isfinite(K) & np.isfinite(K.T)
    keep = np.flatnonzero(np.diagonal(good))
    while not (inner := good[np.ix_(keep, keep)]).all():
        keep = np.delete(keep, np.argmin(inner.sum(axis=0)))
    limit = 0.0 if exact else -_doubt(K[np.ix_(keep, keep)])
    K = (K / 2 + K.T / 2)[np.ix_(keep, keep)]
    bottom = float(lowest(K)) if len(keep) else float("inf")
    if not bottom < limit:
        return Evidence(1, bottom)
    chosen = reduced(K, deadline)
    if not lowest(K[np.ix_(chosen, chosen)]) < limit:
        chosen = np.arange(len(keep))
    K, at = K[np.ix_(chosen, chosen)], keep[chosen]
    values = [[Fraction(rows[i][j]) for j in at] for i in at]
    N, root = normalised(K)
    vector = np.linalg.eigh(N)[1][:, 0] / root
    for weights in short_vectors(vector / vector[np.argmax(np.absolute(vector))]):
        form = _form(values, weights)
        if form < 0 and float(form) < limit * _size(K, weights):
            some = [n for n, weight in enumerate(weights) if weight]
            own = float(np.linalg.eigvalsh(K[np.ix_(some, some)])[0])
            used = tuple(points[at[n]] for n in some)
            left = tuple(weights[n] for n in some)
            return Evidence(1, bottom, used, left, form, own, exact)
    return Evidence(1, bottom)


def _doubt(K: Floats) -> float:
    """How far below zero an eigenvalue of rounded values must lie, the diagonal being 1.

    Half of the digits are allowed to be wrong, as they are after a root of what cancelled.
    Values that are all numbers of single precision are taken to have been computed in it.
    """
    with np.errstate(over="ignore"):
        single = bool(np.all(K.astype(np.float32) == K))
    return float(np.finfo(np.float32 if single else np.float64).eps ** 0.5)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _form(values: list[list[Fraction]], weights: list[Fraction]) -> Fraction:
    size = range(len(weights))
    terms = (weights[i] * weights[j] * values[i][j] for i in size for j in size)
    return sum(terms, Fraction(0))


def _size(K: Floats, weights: list[Fraction]) -> float:
    """What the quadratic form would be if nothing in its diagonal cancelled."""
    w = np.array([float(weight) for weight in weights])
    return float(w**2 @ np.absolute(np.diagonal(K)))
