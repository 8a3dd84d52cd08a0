r"""What may stand in a refutation: points of the space, and parameters as assumed. All exact.

>>> belongs(Fraction(1, 2), Space("naturals")), belongs(frozenset({1, 3}), Space("sets"))
(False, True)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mercer.proofs.assumptions import Bounds
from mercer.proofs.intervals import ZERO
from mercer.proofs.spaces import Space


def belongs(point: Any, where: Space) -> bool:
    """Whether an exact point is of a space. Angles are told from 0 to 2 pi."""
    if where.points_are == "set":
        return isinstance(point, frozenset) and all(type(part) is int for part in point)
    if where.points_are == "vector":
        return _is_vector_of(point, where)
    if not isinstance(point, Fraction):
        return False
    low, high = where.low or ZERO, where.high or ZERO
    # 6.283185307 is just below 2 pi.
    inside = {
        "positive": point > 0,
        "nonnegative": point >= 0,
        "naturals": point.denominator == 1 and point >= 1,
        "interval": low < point < high,
        "circle": 0 <= point <= Fraction(6283185307, 10**9),
    }
    return inside.get(where.kind, True)


def _is_vector_of(point: Any, where: Space) -> bool:
    if not isinstance(point, tuple) or not point:
        return False
    if not all(isinstance(part, Fraction) for part in point):
        return False
    if where.dimension not in (None, len(point)):
        return False
    return where.kind != "sphere" or sum(part**2 for part in point) == 1


def allowed(value: Any, bounds: Bounds) -> bool:
    """Whether an exact number satisfies what is known of a parameter."""
    if not isinstance(value, Fraction) or (bounds.whole and value.denominator != 1):
        return False
    if bounds.low is not None and (
        value < bounds.low or (bounds.open_low and value == bounds.low)
    ):
        return False
    high = bounds.high
    return high is None or value < high or (value == high and not bounds.open_high)


def semidefinite(matrix: Any) -> bool:
    """Whether a matrix of fractions is symmetric and p.s.d., by exact elimination."""
    if not isinstance(matrix, tuple) or any(len(row) != len(matrix) for row in matrix):
        return False
    rows = [list(row) for row in matrix]
    size = len(rows)
    if any(rows[i][j] != rows[j][i] for i in range(size) for j in range(i)):
        return False
    for k in range(size):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k + 1 :])):
            return False
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                rows[i][j] -= rows[i][k] * rows[k][j] / pivot if pivot else ZERO
    return True
