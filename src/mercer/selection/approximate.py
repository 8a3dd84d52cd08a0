r"""Leave-one-out without fitting again, for any convex loss, and the penalty where it is least.

At the best function the mean loss has the slopes g and the curvatures c in its values. Leaving
out row i moves the value there, to first order, to

$$f_i + \frac{G_{ii}\, g_i}{1 - c_i G_{ii}}, \qquad G = K (2 \lambda + C K)^{-1},$$

one step of Newton's method from the solution that is known. For squared errors it is exact. On
a kink the curvature is that of the barrier which interior points leave there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer.selection.penalties import Path
from mercer.solvers.spans import Span

Reals = NDArray[np.float64]

RATIO = 10**0.5
"""Between a penalty that is tried and the next."""

LOWEST, HIGHEST = 1e-12, 1e2
"""The penalties that are tried, relative to the mean of k(x, x)."""

WORSE = 2
"""How often in a row the error must be worse before the search turns back."""


def left_out(
    span: Span,
    values: Reals,
    slopes: Reals,
    curvature: Reals,
    penalty: float,
    *,
    has_offset: bool,
) -> Reals:
    """The values of the function where it has not seen the row: a row a point.

    Args:
        span: The Gram matrix.
        values: The values of the function, a column for each of several.
        slopes: The derivatives of the mean loss in them.
        curvature: Its second derivative, one number a row.
        penalty: The penalty.
        has_offset: Whether a constant follows.
    """
    moved = span.influence(curvature, 2 * penalty, has_offset=has_offset)
    held = np.maximum(1 - curvature * moved, np.finfo(np.float64).eps)
    far = (moved / held).reshape(-1, *[1] * (values.ndim - 1))
    found: Reals = values + far * slopes
    return found


def walk(error: Callable[[float], float], rows: int, size: float) -> Path:
    """The penalty with the least error, looked for from a middle one in both directions.

    Args:
        error: The error of a penalty; each is asked for once.
        rows: How many rows there are.
        size: The mean of k(x, x).
    """
    size = size if size > 0 else 1.0
    tried: dict[float, float] = {}
    middle = size * 10.0 ** round(-np.log10(max(rows, 1)))

    def at(place: float) -> float:
        penalty = middle * RATIO**place
        if penalty not in tried:
            tried[penalty] = error(penalty)
        return tried[penalty]

    best = 0.0
    for way in (-1.0, 1.0):
        place, worse = best, 0
        while worse < WORSE and LOWEST < middle * RATIO ** (place + way) / size < HIGHEST:
            place += way
            better = at(place) < at(best)
            best, worse = (place, 0) if better else (best, worse + 1)
        if way < 0 and best < 0:
            break  # it fell in this direction: what is behind is worse
    at(_bottom(best, at))
    penalties = np.array(sorted(tried))
    errors = np.array([tried[penalty] for penalty in penalties])
    return Path(penalties, errors, float(penalties[int(np.nanargmin(errors))]))


def _bottom(best: float, at: Callable[[float], float]) -> float:
    """Where the parabola through the best and its neighbours is lowest."""
    low, here, high = at(best - 1), at(best), at(best + 1)
    bend = low - 2 * here + high
    if not (np.isfinite(bend) and bend > 0):
        return best
    return best + float(np.clip(0.5 * (low - high) / bend, -0.9, 0.9))
