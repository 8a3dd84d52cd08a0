"""What a support vector machine's solver returns: the variables, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.problems.duals import Dual
from mercer.solvers.solution import Solution

Reals = NDArray[np.float64]
Span = tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DualSolution(Solution):
    """The solution of a dual problem, and what support vector machines read off it.

    Attributes:
        variables: The variables a of the dual, before any scaling.
        images: K b for each row of the Gram matrix, with the signed coefficients b before any
            scaling. The function has the values `images * scale + offset` there.
        objective: The dual objective, which is minimised.
        bound: What no feasible point is below: minus the primal objective.
        levels: The slope at which each group is in balance.
        scale: What the coefficients were multiplied by: 1, except for nu in classification,
            where the margin becomes 1, and the hard margin.
        checks: How often all slopes were computed anew in float64.
        weights: What stands before each feature, where the Gram matrix is F F': it is F' times
            the coefficients.
    """

    variables: Reals
    images: Reals
    objective: float
    bound: float
    levels: Reals
    scale: float = 1.0
    checks: int = 0
    weights: Reals | None = None


def levels_of(dual: Dual, signed: Reals, slopes: Reals, spans: list[Span]) -> Reals:
    """The slope in the middle of each group: the mean over its free variables, and where there
    are none the middle between what may rise and what may fall.
    """
    free = (signed > dual.low) & (signed < dual.high)
    found = []
    for group, span in zip(dual.groups, spans, strict=True):
        inside = slopes[group[free[group]]]
        ends = np.asarray([end for end in span if np.isfinite(end)])
        middle = inside if len(inside) else ends
        found.append(float(middle.mean()) if len(middle) else 0.0)
    return np.asarray(found)


def gap_of(dual: Dual, signed: Reals, slopes: Reals, levels: Reals) -> float:
    r"""How far the objective is above its bound: the sum of $b (h - \rho)$, and of what the
    box still allows to gain, over all variables.
    """
    above = slopes.copy()
    for group, level in zip(dual.groups, levels, strict=True):
        above[group] -= level
    largest = np.abs(signed).max(initial=0.0)
    # An infinite bound proves nothing: a box of twice the largest variable stands for it.
    upper = np.where(np.isinf(dual.upper), 2 * largest, dual.upper)
    lacking = np.maximum(-dual.signs * above, 0.0)
    return float((signed * above + upper * lacking).sum())
