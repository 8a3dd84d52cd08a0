"""Which method for least squares, and why; how many landmarks where nothing else fits."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.errors import BudgetExceeded
from mercer.plan import Plan, readable

SPECTRAL = 5_000
"""Rows up to which all eigenvalues are found when the penalty is chosen among many."""

MIXED = 1_500
"""Rows from which a factor in float32 pays."""

LANDMARKS = 2_000
"""Landmarks that are taken when the matrix does not fit, if the memory allows."""


@dataclass(frozen=True)
class SolverPlan:
    """What was chosen for a problem, and why.

    Attributes:
        method: "spectral", "cholesky", "mixed", "primal", "landmarks" or "newton".
        why: The reason, in words.
        memory: The bytes that it takes at most, besides the data.
        budget: The bytes that were allowed.
        anchors: The number of points that the function is a sum over.
        threads: The number of threads, None for as many as are available.
        tolerance: The relative residual, or duality gap, to reach.
    """

    method: str
    why: str
    memory: int
    budget: int
    anchors: int
    threads: int | None
    tolerance: float

    def __str__(self) -> str:
        used, allowed = readable(self.memory), readable(self.budget)
        return f"{self.method}: {self.why}; {used} of {allowed} allowed"


def choose_least_squares(
    plan: Plan, rows: int, outputs: int, *, width: int | None, many_penalties: bool
) -> SolverPlan:
    """The method for squared errors.

    Args:
        plan: What the user wants.
        rows: Distinct rows.
        outputs: Targets.
        width: Features of an explicit map, None where there is none.
        many_penalties: Whether the penalty is chosen among many, by leave-one-out.

    Raises:
        BudgetExceeded: The method that was asked for does not fit.
    """
    budget = plan.budget()
    square = 8 * rows * rows
    small = 64 * rows * (outputs + 2)
    needs = {
        "spectral": 3 * square + square // 8 + small,
        "cholesky": square + small,
        "mixed": square // 2 + small,
        "primal": 8 * (3 * rows * (width or 0) + 3 * (width or 0) ** 2) + small,
    }
    landmarks = _landmarks(plan, rows, budget - small)
    needs["landmarks"] = 8 * (3 * rows * landmarks + 3 * landmarks**2) + small
    asked = {"dense": "cholesky", "blocked": "landmarks"}.get(plan.method, plan.method)
    method, why = (
        (asked, "as asked")
        if asked != "auto"
        else _best(needs, rows, width, budget, many_penalties=many_penalties)
    )
    if method == "primal" and width is None:
        method, why = "cholesky", "the kernel has no finite feature map"
    if method == "mixed" and plan.precision == "float64":
        method, why = "cholesky", "in float64, as asked"
    if needs[method] > budget:
        raise BudgetExceeded(
            f"the method {method!r} takes {readable(needs[method])} for {rows} distinct rows, "
            f"and {readable(budget)} are allowed.\nLeave the method to the plan, allow more, "
            "mercer.Plan(memory=...), or say how many landmarks: mercer.Plan(anchors=...)."
        )
    anchors = landmarks if method == "landmarks" else rows
    tolerance = 1e-8 if plan.tolerance == "auto" else float(plan.tolerance)
    return SolverPlan(method, why, needs[method], budget, anchors, plan.crew(), tolerance)


def _best(
    needs: dict[str, int], rows: int, width: int | None, budget: int, *, many_penalties: bool
) -> tuple[str, str]:
    matrix = f"the {rows} x {rows} matrix"
    if width is not None and 2 * width < rows and needs["primal"] <= budget:
        return "primal", f"the kernel has {width} features, fewer than half of {rows} rows"
    if many_penalties and rows <= SPECTRAL and needs["spectral"] <= budget:
        return "spectral", "one eigendecomposition gives every penalty"
    if many_penalties and rows > SPECTRAL:
        return "landmarks", (
            f"the penalty is chosen by leave-one-out, and the eigenvalues of {matrix} take too "
            "long"
        )
    if rows >= MIXED and needs["mixed"] <= budget:
        return "mixed", f"{matrix} fits in float32, and steps in float64 give every digit"
    if needs["cholesky"] <= budget:
        return "cholesky", f"{matrix} fits"
    return "landmarks", f"{matrix} does not fit"


def _landmarks(plan: Plan, rows: int, room: int) -> int:
    """As many landmarks as were asked for, or as the memory allows."""
    if plan.anchors != "auto":
        return min(int(plan.anchors), rows)
    fitting = max(room // (8 * 4 * max(rows, 1)), 1)
    return int(max(min(rows, LANDMARKS, fitting), 1))
