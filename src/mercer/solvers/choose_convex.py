"""Which functions are searched for a general convex loss, and why."""

from __future__ import annotations

import numpy as np

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan, readable
from mercer.solvers.choose import LANDMARKS, SolverPlan

EXACT = 6_000
"""Rows up to which every point is an anchor: each step factorises a matrix of their number."""

METHODS = ("auto", "dense", "cholesky", "primal", "landmarks", "blocked")
"""What may be asked for: all anchors (two names), features, or landmarks (two names)."""

TOLERANCE = 1e-6
"""The duality gap to reach, relative to the objective."""


def choose_convex(plan: Plan, rows: int, outputs: int, *, width: int | None) -> SolverPlan:
    """The space for a loss that is minimised in steps.

    Args:
        plan: What the user wants.
        rows: Distinct rows.
        outputs: Functions.
        width: Features of an explicit map, None where there is none.

    Raises:
        InvalidParameter: The method that was asked for is none of these.
        BudgetExceeded: It does not fit.
    """
    if plan.method not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise InvalidParameter(
            f"the method {plan.method!r} is not one for a loss that is minimised in steps.\n"
            f"Say one of {known}."
        )
    budget = plan.budget()
    small = 64 * rows * (outputs + 2)
    wide = width or 0
    room = max(budget - small, 0)
    # 4 n m + 3 m^2 numbers.
    fitting = (np.sqrt(16.0 * rows**2 + 12.0 * room / 8) - 4 * rows) / 6
    wanted = LANDMARKS if plan.anchors == "auto" else int(plan.anchors)
    anchors = int(max(min(rows, wanted, fitting), 1))
    needs = {
        "newton": 8 * 3 * rows * rows + small,
        "primal": 8 * (3 * rows * wide + 3 * wide * wide) + small,
        "landmarks": 8 * (4 * rows * anchors + 3 * anchors**2) + small,
    }
    method, why = _wanted(plan, rows, width, needs, budget)
    if needs[method] > budget:
        raise BudgetExceeded(
            f"the method {method!r} takes {readable(needs[method])} for {rows} distinct rows, "
            f"and {readable(budget)} are allowed.\nLeave the method to the plan, allow more, "
            "mercer.Plan(memory=...), or say how many landmarks: mercer.Plan(anchors=...)."
        )
    tolerance = TOLERANCE if plan.tolerance == "auto" else float(plan.tolerance)
    kept = anchors if method == "landmarks" else rows
    return SolverPlan(method, why, needs[method], budget, kept, plan.crew(), tolerance)


def _wanted(
    plan: Plan, rows: int, width: int | None, needs: dict[str, int], budget: int
) -> tuple[str, str]:
    few = plan.anchors != "auto" and int(plan.anchors) < rows
    asked = {"landmarks": "landmarks", "blocked": "landmarks", "primal": "primal"}
    matrix = f"the {rows} x {rows} matrix"
    found = "newton", f"{matrix} fits, and is factorised in each step"
    if plan.method not in ("auto", "primal") or (plan.method == "primal" and width is not None):
        found = asked.get(plan.method, "newton"), "as asked"
    elif few:
        found = "landmarks", f"{plan.anchors} anchors, as asked"
    elif width is not None and 2 * width < rows and needs["primal"] <= budget:
        found = "primal", f"the kernel has {width} features, fewer than half of {rows} rows"
    elif needs["newton"] > budget:
        found = "landmarks", f"{matrix} does not fit"
    elif rows > EXACT:
        found = "landmarks", f"each step would factorise {matrix}"
    return found
