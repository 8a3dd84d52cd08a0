"""Which rows of the Gram matrix the dual problem of a support vector machine sees, and why."""

from __future__ import annotations

from collections.abc import Callable

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan, readable
from mercer.solvers.choose import LANDMARKS, TILES, SolverPlan

EXACT = 100_000
"""Rows up to which all points are anchors: an exact search reads the kernel values between rows
and support vectors, and both grow with the data."""

NARROW = 500
"""Features of an explicit map up to which it is taken by itself."""

MANY, TIMES = 5_000, 10
"""Rows beyond which it is taken, and how many for each feature: fewer are as fast by pairs."""

METHODS = ("auto", "smo", "landmarks", "primal")
"""What may be asked for: all points as anchors, landmarks, or the features of the kernel."""

SQUARE = 80
"""Bytes a pair of landmarks: their kernel values, eigenvectors, a matrix to solve."""

VECTORS = 1_000
"""Bytes a row for what is as long as the data: variables, bounds, slopes, orders."""


def choose_dual(
    plan: Plan, rows: int, *, width: Callable[[], int | None], tolerance: float, sharp: bool
) -> SolverPlan:
    """The method for the dual problem of a support vector machine.

    Args:
        plan: What the user wants.
        rows: Distinct rows.
        width: Tells the features of an explicit map, None where there is none. It is asked
            only where they may be used.
        tolerance: The violation that is left.
        sharp: Whether numbers are kept in float64.

    Raises:
        InvalidParameter: The method that was asked for is none of these.
        BudgetExceeded: It does not fit.
    """
    if plan.method not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise InvalidParameter(
            f"the method {plan.method!r} does not solve the dual problem of a support vector "
            f"machine.\nSay one of {known}."
        )
    explicit = plan.method == "primal" or (plan.method == "auto" and rows > MANY)
    wide = width() if explicit else None
    budget, size = plan.budget(), 8 if sharp else 4
    small = VECTORS * rows + min(TILES, 64 * rows * rows + 65_536)
    anchors = _anchors(plan, rows, budget - small, size)
    needs = {
        "smo": min(budget, size * rows * rows),  # it keeps as many rows as there is room for
        "landmarks": size * rows * anchors + SQUARE * anchors**2 + small,
        "primal": 2 * 8 * rows * (wide or 0) + small,  # some maps are made in two steps
    }
    method, why = _wanted(plan, rows, wide, anchors, needs["primal"] <= budget)
    if needs[method] > budget:
        raise BudgetExceeded(
            f"the method {method!r} takes {readable(needs[method])} for {rows} distinct rows, "
            f"and {readable(budget)} are allowed.\nAllow more, mercer.Plan(memory=...), or "
            'take fewer landmarks, mercer.Plan(anchors=...); "smo" fits into any memory.'
        )
    kept = anchors if method == "landmarks" else rows
    return SolverPlan(method, why, needs[method], budget, kept, plan.crew(), tolerance)


def _anchors(plan: Plan, rows: int, room: int, size: int) -> int:
    """As many landmarks as were asked for, or as the memory allows."""
    if plan.anchors != "auto":
        return min(int(plan.anchors), rows)
    most = min(rows, LANDMARKS)
    return max(min(most, room // (size * rows + SQUARE * most)), 1)


def _wanted(
    plan: Plan, rows: int, width: int | None, anchors: int, fits: bool
) -> tuple[str, str]:
    exactly = f"the dual problem of {rows} rows, by rows of their Gram matrix"
    if plan.method == "primal" and width is None:
        return "smo", f"the kernel has no finite feature map: {exactly}"
    if plan.method != "auto":
        told = {"smo": exactly, "landmarks": f"{anchors} landmarks, as asked"}
        return plan.method, told.get(plan.method, f"by {width} features, as asked")
    if plan.anchors != "auto" and anchors < rows:
        return "landmarks", f"{anchors} landmarks, as asked"
    if width is not None and width <= min(NARROW, rows // TIMES) and fits:
        return "primal", f"the kernel has {width} features, and there are {rows} rows"
    if rows > EXACT:
        return "landmarks", f"{anchors} landmarks, for {rows} rows are more than {EXACT}"
    return "smo", exactly
