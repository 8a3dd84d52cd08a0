r"""From a Gram matrix with an eigenvalue below zero to a refutation that can be checked.

Points are dropped while the eigenvalue stays below zero, what is left is moved to short
rationals, the eigenvector is rounded to short weights, and then exact arithmetic decides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidProof
from mercer.proofs.admissible import belongs
from mercer.proofs.certificates import Refutation, certify
from mercer.proofs.exact import Point, Undecided, Undefined, low_high, value
from mercer.proofs.floating import Floats
from mercer.proofs.refute_cases import NOISE, Case, finite, lowest, normalised
from mercer.proofs.refute_descent import descended
from mercer.proofs.spaces import Space

_DENOMINATORS: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 50, 100, 200, 1000)
_DENOMINATORS += (10**4, 10**5, 10**6, 10**8, 10**10, 10**12)

_WEIGHTS: tuple[int, ...] = (*range(1, 13), 20, 30, 50, 100, 1000, 10**4, 10**6)

_DIGITS = (2, 3, 4, 6, 9, 12, 17)

_MANY = 6
"""More points than this are worth a descent to be rid of some."""

_PRECISION = 70
"""Decimals of the arithmetic that follows eigenvalues too small for floats."""


def settle(case: Case, P: NDArray[Any], deadline: float) -> Refutation | None:
    """A refutation from an arrangement whose matrix has an eigenvalue below zero, if it has.

    Args:
        case: The function.
        P: The points, rows of an array.
        deadline: The time, of `time.monotonic`, at which to give up.
    """
    P, K = finite(P, case.gram(P))
    if len(P) == 0:
        return None
    P = _fewer(case, P[reduced(K, deadline)], deadline)
    bottom = float(lowest(case.gram(P)))
    for points in _rationalised(case, P, bottom, deadline):
        found = weighted(case, points, deadline)
        if found is not None:
            return found
        if time.monotonic() > deadline or bottom > -NOISE:
            return None
    return None


def _fewer(case: Case, P: NDArray[Any], deadline: float) -> NDArray[Any]:
    """Descent lowers the eigenvalue, and then some points can be spared again."""
    while _MANY < len(P) <= 40:
        start = time.monotonic()
        lower = descended(case, P[None], min(deadline, start + 0.05))
        if lower is None:
            break
        rest = lower[reduced(case.gram(lower), deadline)]
        if len(rest) > 0.8 * len(P) or time.monotonic() > deadline:
            break
        P = rest
    return P


def reduced(K: Floats, deadline: float) -> NDArray[np.int64]:
    """A few rows of a symmetric matrix whose smallest eigenvalue is still well below zero."""
    kept = np.arange(len(K))
    bottom = float(lowest(K))
    # Fewer points are worth a thousandth of the eigenvalue, as long as floats see what is left.
    goal = bottom * (1e-3 if bottom < -1e-6 else 0.5)
    while len(kept) > 24 and time.monotonic() < deadline:
        vector = np.linalg.eigh(normalised(K[np.ix_(kept, kept)])[0])[1][:, 0]
        # Half of them at once, or a tenth, when half of them cannot be spared.
        for share in (0.5, 0.8, 0.95):
            count = min(int(len(kept) * share), len(kept) - 1)
            fewer = kept[np.sort(np.argsort(-np.absolute(vector), kind="stable")[:count])]
            if lowest(K[np.ix_(fewer, fewer)]) < goal:
                kept = fewer
                break
        else:
            break
    while 1 < len(kept) <= 64 and time.monotonic() < deadline:
        without = np.array([np.delete(kept, n) for n in range(len(kept))])
        left = lowest(K[without[:, :, None], without[:, None, :]])
        best = int(np.argmin(left))
        if not left[best] < goal:
            break
        kept = without[best]
    return kept


# ---------------------------------------------------------------------------------- points


def _rationalised(
    case: Case, P: NDArray[Any], bottom: float, deadline: float
) -> Iterator[list[Point]]:
    """The points as short rationals at which the eigenvalue is still below zero."""
    where, best = case.formula.space, None
    tried = set()
    for points in _rounded(P, where):
        key = tuple(points)
        if time.monotonic() > deadline:
            return
        if key in tried or not all(belongs(point, where) for point in points):
            continue
        tried.add(key)
        K = case.gram(floats(points))
        if not np.isfinite(K).all():
            continue
        left = float(lowest(K))
        if left < min(bottom / 5, -10 * NOISE):
            yield points
            return
        if left < 0:
            best = points
    if best is not None:
        yield best


def floats(points: list[Point]) -> NDArray[Any]:
    """Exact points as rows of an array."""
    sets = [point for point in points if isinstance(point, frozenset)]
    if sets:
        most = max(max(part, default=1) for part in sets)
        return np.array([[n in part for n in range(1, most + 1)] for part in sets])
    return np.array(points, dtype=np.float64)


def _rounded(P: NDArray[Any], where: Space) -> Iterator[list[Point]]:
    """Ever finer roundings of the points; where all may be shifted, of them shifted too."""
    if where.points_are == "set":
        yield [frozenset(int(n) + 1 for n in np.flatnonzero(row)) for row in P]
        return
    if where.kind == "naturals":
        yield [Fraction(int(number)) for number in P]
        return
    shifts = [P]
    if where.kind in ("reals", "circle", "vectors", "nonnegative"):
        shifts = [P - P[np.argmin(P.sum(axis=-1) if P.ndim > 1 else P)], P]
    for denominator in _DENOMINATORS:
        for Q in shifts:
            yield [_short(point, denominator, where) for point in Q]
    yield [_short(point, None, where) for point in P]


def _short(point: Any, denominator: int | None, where: Space) -> Point:
    if where.kind == "sphere":
        return _on_sphere(np.asarray(point), denominator or 10**15)
    if np.ndim(point):
        return tuple(_near(part, denominator) for part in point)
    return _near(point, denominator)


def _near(number: Any, denominator: int | None) -> Fraction:
    if denominator is None:
        return Fraction(float(number))
    return Fraction(round(float(number) * denominator), denominator)


def _on_sphere(point: Floats, denominator: int) -> tuple[Fraction, ...]:
    """A rational unit vector near a unit vector, by projection from a pole that is far off."""
    pole = int(np.argmax(np.absolute(point)))
    side = -1 if point[pole] > 0 else 1
    plane = [
        _near(part / (1 - side * point[pole]), denominator)
        for n, part in enumerate(point)
        if n != pole
    ]
    square = sum((part**2 for part in plane), Fraction(0))
    unit = [2 * part / (1 + square) for part in plane]
    unit.insert(pole, side * (square - 1) / (square + 1))
    return tuple(Fraction(part) for part in unit)


# --------------------------------------------------------------------------------- weights


def weighted(case: Case, points: list[Point], deadline: float) -> Refutation | None:
    """The refutation with the shortest weights that do for these exact points."""
    K = case.gram(floats(points))
    attempts = 0
    for weights in _candidates(K):
        w = np.array([float(weight) for weight in weights])
        form, size = w @ K @ w, np.absolute(w) @ np.absolute(K) @ np.absolute(w)
        if not form < -NOISE * size:
            continue
        found = _certified(case, points, weights, deadline)
        attempts += 1
        if found is not None or attempts >= 3 or time.monotonic() > deadline:
            return found
    if len(points) > 14:
        return None
    return precisely(case, points, deadline)


def _candidates(K: Floats) -> Iterator[list[Fraction]]:
    """The eigenvector of the smallest eigenvalue, rounded ever less."""
    N, root = normalised(K)
    if not np.isfinite(N).all():
        return
    vector = np.linalg.eigh(N)[1][:, 0] / root
    vector = vector / vector[np.argmax(np.absolute(vector))]
    yield from short_vectors(vector)


def short_vectors(vector: Floats) -> Iterator[list[Fraction]]:
    """A vector whose largest entry is 1, rounded ever less and scaled."""
    for top in _WEIGHTS:
        yield [Fraction(round(float(part) * top)) for part in vector]
    for digits in _DIGITS:
        yield [Fraction(f"{float(part):.{digits - 1}e}") for part in vector]


def _certified(
    case: Case, points: list[Point], weights: list[Fraction], deadline: float
) -> Refutation | None:
    """The refutation, when exact arithmetic agrees and it passes its own check."""
    used = [(point, weight) for point, weight in zip(points, weights, strict=True) if weight]
    if not used:
        return None
    scale = Fraction(
        lcm(*(w.denominator for _, w in used)), gcd(*(w.numerator for _, w in used))
    )
    if scale.numerator.bit_length() < 40:
        used = [(point, weight * scale) for point, weight in used]
    found = certify(
        case.formula,
        [point for point, _ in used],
        [weight for _, weight in used],
        case.parameters,
        deadline=deadline,
    )
    if found is None:
        return None
    try:
        found.check()
    except InvalidProof:
        return None
    return found


def precisely(case: Case, points: list[Point], deadline: float) -> Refutation | None:
    """A refutation that floats are too coarse for: by elimination with many digits."""
    with localcontext() as context:
        context.prec = _PRECISION
        K = _decimals(case, points, deadline)
        solution = None if K is None else _descending(K)
        if K is None or solution is None:
            return None
        top = max(abs(part) for part in solution)
        for digits in (*_DIGITS, 25, 35, 50):
            weights = [Fraction(f"{part / top:.{digits - 1}e}") for part in solution]
            rounded = [Decimal(w.numerator) / Decimal(w.denominator) for w in weights]
            size = range(len(rounded))
            if sum(rounded[i] * K[i][j] * rounded[j] for i in size for j in size) < 0:
                return _certified(case, points[: len(weights)], weights, deadline)
    return None


def _decimals(case: Case, points: list[Point], deadline: float) -> list[list[Decimal]] | None:
    """The symmetric Gram matrix with many digits."""
    size = len(points)
    K = [[Decimal(0)] * size for _ in range(size)]
    try:
        for i in range(size):
            if time.monotonic() > deadline:
                return None
            for j in range(size):
                entry = value(case.formula.tree, points[i], points[j], case.parameters, 256)
                low, high = low_high(entry)
                quarter = (low + high) / 4
                K[i][j] += Decimal(quarter.numerator) / Decimal(quarter.denominator)
                K[j][i] += Decimal(quarter.numerator) / Decimal(quarter.denominator)
    except (Undefined, Undecided):
        return None
    return K


def _descending(K: list[list[Decimal]]) -> list[Decimal] | None:
    """A vector with v'Kv < 0 from the first negative pivot of an elimination, if there is one.

    With K = L D L', the v that solves L'v = e_n for the n-th pivot has v'Kv = D_n.
    """
    L: list[list[Decimal]] = []
    D: list[Decimal] = []
    for n in range(len(K)):
        row: list[Decimal] = []
        for j in range(n):
            rest = K[n][j] - sum((row[m] * L[j][m] * D[m] for m in range(j)), Decimal(0))
            if not D[j] and rest:
                return _isolated(K, j, n)
            row.append(rest / D[j] if D[j] else rest)
        pivot = K[n][n] - sum((row[m] ** 2 * D[m] for m in range(n)), Decimal(0))
        L.append(row)
        D.append(pivot)
        if pivot < 0:
            v = [Decimal(0)] * n + [Decimal(1)]
            for j in range(n - 1, -1, -1):
                v[j] = -sum((L[m][j] * v[m] for m in range(j + 1, n + 1)), Decimal(0))
            return v
    return None


def _isolated(K: list[list[Decimal]], j: int, n: int) -> list[Decimal] | None:
    """Two points of which one has a zero on the diagonal, but no zero beside it."""
    if K[j][j] or not K[j][n]:
        return None
    v = [Decimal(0)] * (n + 1)
    v[n], v[j] = Decimal(1), -(K[n][n] + 1) / (2 * K[j][n])
    return v
