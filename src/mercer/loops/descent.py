"""Coordinate descent over rows of features, and the two products that surround it.

Features are flat memory, `width` numbers a row, in float32 or float64; all sums are in float64.
Rows are named by their places in it, so several problems read one array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.loops.compiled import REGROUP, compiled
from mercer.loops.vector import full_width


@compiled(REGROUP)
def descend(
    features: Any, width: Any, places: Any, order: Any, curves: Any, pull: Any, low: Any,
    high: Any, group: Any, levels: Any, stiff: Any, excess: Any, signed: Any, weights: Any,
    moved: Any,
) -> Any:  # fmt: skip
    """Move one variable after the other to where its slope is zero, or to its bound.

    The slope of a variable v of row i is `F_i w + pull[v]`, less the level of its group, plus
    `stiff` times the excess of the group's sum: a spring that pulls the sum back.

    Args:
        features: The rows F, flat.
        width: How many numbers a row has.
        places: Where the row of each point is.
        order: The points to visit, one after the other.
        curves: The squared length of each row.
        pull: The linear term of each variable.
        low: Their lower bounds.
        high: Their upper bounds.
        group: The group of each variable.
        levels: The level of each group.
        stiff: The stiffness of the springs, above 0.
        excess: How far the sum of each group is above what it should be; follows the moves.
        signed: The variables b; those of a second copy of the points follow the first.
        weights: The sum w of the rows times their variables; follows the moves.
        moved: Is told for each point whether one of its variables moved.

    Returns:
        The largest slope of a variable that moved.
    """
    full_width()
    points = len(places)
    copies = len(signed) // points
    worst = 0.0
    for t in range(len(order)):
        i = order[t]
        at = places[i] * width
        row = features[at : at + width]
        image = 0.0
        for c in range(width):
            image += row[c] * weights[c]
        change = 0.0
        for copy in range(copies):
            v = copy * points + i
            g = group[v]
            slope = image + change * curves[i] + pull[v] - levels[g] + stiff * excess[g]
            new = signed[v] - slope / (curves[i] + stiff)
            if new < low[v]:
                new = low[v]
            elif new > high[v]:
                new = high[v]
            move = new - signed[v]
            if move != 0:
                signed[v] = new
                excess[g] += move
                change += move
                size = abs(slope)
                if not size <= worst:
                    worst = size
        moved[i] = change != 0
        if change != 0:
            for c in range(width):
                weights[c] += change * row[c]
    return worst


@compiled(REGROUP)
def images_of(
    features: Any, width: Any, places: Any, start: Any, stop: Any, weights: Any, out: Any
) -> None:
    """`out[i] += F_i w` for the points from start to stop."""
    full_width()
    for i in range(start, stop):
        at = places[i] * width
        row = features[at : at + width]
        image = 0.0
        for c in range(width):
            image += row[c] * weights[c]
        out[i] += image


@compiled(REGROUP)
def add_weights(
    features: Any, width: Any, places: Any, factors: Any, start: Any, stop: Any, out: Any
) -> None:
    """`out += factors[i] F_i`, for the points from start to stop that have a factor."""
    full_width()
    for i in range(start, stop):
        factor = factors[i]
        if factor != 0:
            at = places[i] * width
            row = features[at : at + width]
            for c in range(width):
                out[c] += factor * row[c]


@compiled(REGROUP)
def lengths_of(features: Any, width: Any, start: Any, stop: Any, out: Any) -> None:
    """`out[i] = |F_i|^2` for the rows from start to stop."""
    full_width()
    for i in range(start, stop):
        row = features[i * width : (i + 1) * width]
        total = 0.0
        for c in range(width):
            total += np.float64(row[c]) * np.float64(row[c])
        out[i] = total


@compiled(REGROUP)
def respond(
    gaps: Any, along: Any, step: Any, soft: Any, low: Any, high: Any, signed: Any
) -> Any:
    """Set each variable to `(gap - step * along) / soft`, or to its bound.

    Args:
        gaps: How far the slope of each is below its level.
        along: How fast that falls.
        step: How far to go.
        soft: What a unit of each variable adds to its slope.
        low: Lower bounds.
        high: Upper bounds.
        signed: The variables.

    Returns:
        The sum of the variables times `along`.
    """
    full_width()
    total = 0.0
    for v in range(len(signed)):
        new = (gaps[v] - step * along[v]) / soft[v]
        new = low[v] if new < low[v] else new
        new = high[v] if new > high[v] else new
        signed[v] = new
        total += new * along[v]
    return total
