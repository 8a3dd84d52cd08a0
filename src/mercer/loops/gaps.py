"""Sums over pairs of rows: how a criterion changes with the length of each feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.loops.compiled import compiled
from mercer.types import Array


@compiled()
def _gap_sums(weights: Any, points: Any, out: Any) -> None:
    """Add w_ij |z_ic - z_jc| over the pairs i > j to `out`, for each feature c."""
    rows, width = points.shape
    for i in range(rows):
        for j in range(i):
            weight = weights[i, j]
            for c in range(width):
                out[c] += weight * abs(points[i, c] - points[j, c])


def gap_sums(weights: Array, points: Array) -> Array:
    """The sums of w_ij |z_ic - z_jc| over all pairs of rows, for each feature c.

    Args:
        weights: A symmetric matrix w in float64.
        points: The rows z in float64.

    Example:
        >>> gap_sums(np.ones((2, 2)), np.array([[0.0, 1.0], [3.0, 1.0]]))
        array([6., 0.])
    """
    out = np.zeros(points.shape[1])
    _gap_sums(np.ascontiguousarray(weights), np.ascontiguousarray(points), out)
    return 2 * out
