"""Where a search may begin, when the solution of a similar problem is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.gram.rows import Rows
from mercer.problems.duals import Dual
from mercer.solvers.smo_solution import DualSolution

Reals = NDArray[np.float64]
Start = tuple[Reals, Reals | None]


def onwards(dual: Dual, found: DualSolution, most: float, rows: Rows) -> Start | None:
    """Where to begin, from the solution for boxes that are smaller by a factor.

    The sums are zero in most problems. Then any multiple up to that factor is feasible, and its
    images are known: the best of them costs nothing.

    Args:
        dual: The problem.
        found: The solution of the other.
        most: The factor.
        rows: Their Gram matrix.
    """
    if dual.start.any():
        return nearby(dual, found, rows)
    pull = float(dual.linear @ found.variables)
    signed = dual.combined(dual.signs * found.variables)
    bend = float(signed @ found.images)
    if not bend > 0:
        return None
    best = float(np.clip(-pull / bend, 1.0, most))
    return np.minimum(best * found.variables, dual.upper), best * found.images


def nearby(dual: Dual, found: DualSolution, rows: Rows) -> Start:
    """The solution for other boxes, put into these, with the sums mended.

    What is lacking in a sum is given to the variables of the least slope, and what is too much
    is taken from those of the largest: that costs the objective least.

    Args:
        dual: The problem.
        found: The solution of one that differs in its boxes.
        rows: Their Gram matrix.
    """
    before = dual.signs * found.variables
    signed = np.clip(before, dual.low, dual.high)
    slopes = dual.slopes(found.images)
    totals = dual.signs * dual.start
    for group in dual.groups:
        lacking = float(totals[group].sum() - signed[group].sum())
        room = (dual.high - signed if lacking > 0 else signed - dual.low)[group]
        order = np.argsort(np.sign(lacking) * slopes[group], kind="stable")
        sums = np.cumsum(room[order])
        taken = np.diff(np.minimum(sums, abs(lacking)), prepend=0.0)
        signed[group[order]] += np.sign(lacking) * taken
    signed = np.clip(signed, dual.low, dual.high)
    images = found.images.copy()
    change = dual.combined(signed - before)
    moved = np.flatnonzero(change)
    rows.add(moved, change[moved], images)
    return dual.signs * signed, images
