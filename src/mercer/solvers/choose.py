"""Which method for least squares, and why; how many landmarks where nothing else fits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan, readable

SPECTRAL = 5_000
"""Rows up to which all eigenvalues are found when the penalty is chosen among many."""

BAND = 700
"""Rows from which a reduction to a band may cost less than all eigenvalues: these many, and"""

EACH = 50
"""more for each penalty, which costs a factor of the band, and products."""

MIXED = 3_600
"""Rows from which a factor in float32 may pay."""

LANDMARKS = 2_000
"""Landmarks that are taken when the matrix does not fit, if the memory allows."""

EXACT = 20_000
"""Rows up to which all points are anchors, if the matrix fits, once landmarks have chosen the
penalty."""

TILES = 40_000_000
"""Bytes for the tiles and the blocks of rows that all methods pass over."""


@dataclass(frozen=True)
class SolverPlan:
    """What was chosen for a problem, and why.

    Attributes:
        method: "spectral", "band", "cholesky", "mixed", "conjugate", "primal", "landmarks" or
            "newton".
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

    def instead(self, method: str, why: str, memory: int) -> SolverPlan:
        """The same plan after the method has changed."""
        return replace(self, method=method, why=why, memory=memory)

    def told(self, more: str) -> SolverPlan:
        """The same plan with more to say."""
        return replace(self, why=f"{self.why}; {more}")


def choose_least_squares(
    plan: Plan,
    rows: int,
    outputs: int,
    *,
    width: int | None,
    many_penalties: bool,
    given: int = 0,
) -> SolverPlan:
    """The method for squared errors.

    Args:
        plan: What the user wants.
        rows: Distinct rows.
        outputs: Targets.
        width: Features of an explicit map, None where there is none.
        many_penalties: Whether the penalty is chosen among many, by leave-one-out.
        given: How many positive penalties are given; 0 if they are to be found.

    Raises:
        BudgetExceeded: The method that was asked for does not fit.
        InvalidParameter: The method that was asked for does not solve this.
    """
    budget = plan.budget()
    small = _small(rows, outputs)
    taken = _landmarks(plan, rows, budget - small, many_penalties=many_penalties)
    needs = needed(rows, outputs, width or 0, taken, many_penalties=many_penalties)
    asked = {"dense": "cholesky", "blocked": "conjugate"}.get(plan.method, plan.method)
    if asked != "auto" and asked not in needs:
        raise InvalidParameter(
            f"the method {asked!r} finds eigenvectors, and does not solve this.\nLeave the "
            f"method to the plan, or take one of {', '.join(needs)}."
        )
    if asked != "auto":
        method, why = asked, "as asked"
    elif plan.anchors != "auto" and taken < rows:
        method, why = "landmarks", f"{taken} landmarks, as asked"
    else:
        method, why = _best(
            needs, rows, width, budget, many_penalties=many_penalties, given=given
        )
    if method == "primal" and width is None:
        method, why = "cholesky", "the kernel has no finite feature map"
    if method == "mixed" and plan.precision == "float64":
        method, why = "cholesky", "in float64, as asked"
    if many_penalties and method in ("cholesky", "mixed", "conjugate"):
        raise InvalidParameter(
            f"the method {method!r} solves for one positive penalty, and it is to be found "
            'here.\nGive one number, or the method "spectral" or "landmarks".'
        )
    if method == "band" and not given:
        raise InvalidParameter(
            "the method 'band' solves for positive penalties that are given.\nGive one number, "
            'or several; or leave the method to the plan, or say "spectral".'
        )
    if needs[method] > budget:
        raise BudgetExceeded(
            f"the method {method!r} takes {readable(needs[method])} for {rows} distinct rows, "
            f"and {readable(budget)} are allowed.\nLeave the method to the plan, allow more, "
            "mercer.Plan(memory=...), or say how many landmarks: mercer.Plan(anchors=...)."
        )
    anchors = taken if method == "landmarks" else rows
    # Landmarks are an approximation already, and the features they make have fewer digits.
    usual = 1e-6 if method == "landmarks" else 1e-8
    tolerance = usual if plan.tolerance == "auto" else float(plan.tolerance)
    return SolverPlan(method, why, needs[method], budget, anchors, plan.crew(), tolerance)


def needed(
    rows: int, outputs: int, width: int, landmarks: int, *, many_penalties: bool
) -> dict[str, int]:
    """The bytes that each method takes at most, besides the data."""
    square, small = 8 * rows * rows, _small(rows, outputs)
    # A path of penalties keeps the features of all rows, and turns them.
    long = 3 * rows * landmarks if many_penalties else 0
    return {
        "spectral": 3 * square + square // 8 + small,
        # Two and a half; but a penalty that is no more than rounding needs eigenvalues.
        "band": 3 * square + square // 8 + small,
        "cholesky": square + small,
        "mixed": square // 2 + small,
        "conjugate": 8 * (2 * rows * rank_of(rows) + 2 * rank_of(rows) ** 2) + small,
        "primal": 8 * (3 * rows * width + 3 * width**2) + small,
        "landmarks": 8 * (long + 6 * landmarks**2) + small,
    }


def rank_of(rows: int) -> int:
    """Pivots of the preconditioner of conjugate gradients."""
    return min(rows, int(4 * np.sqrt(rows)) + 16)


def _small(rows: int, outputs: int) -> int:
    """Bytes for vectors as long as the data, those of a product in groups among them."""
    return 8 * rows * (20 + 30 * (outputs + 1)) + min(TILES, 64 * rows * rows + 65_536)


def _best(
    needs: dict[str, int],
    rows: int,
    width: int | None,
    budget: int,
    *,
    many_penalties: bool,
    given: int,
) -> tuple[str, str]:
    matrix = f"the {rows} x {rows} matrix"
    # Singular values cost 6 n d^2 operations, a factor n^3 / 3.
    if width is not None and 4 * width < rows and needs["primal"] <= budget:
        return "primal", f"the kernel has {width} features, and there are {rows} rows"
    if many_penalties and rows <= SPECTRAL and needs["spectral"] <= budget:
        few = f"{given} penalties cost less than the eigenvalues of {matrix}"
        every = "one eigendecomposition gives every penalty"
        is_few = given >= 1 and rows >= BAND + EACH * given
        return ("band", few) if is_few else ("spectral", every)
    if many_penalties:
        why = "does not fit" if rows <= SPECTRAL else "take too long"
        return "landmarks", (
            f"the penalty is chosen by leave-one-out, and the eigenvalues of {matrix} {why}"
        )
    if rows >= MIXED and needs["mixed"] <= budget:
        return "mixed", f"{matrix} fits in float32, and steps in float64 give every digit"
    if needs["cholesky"] <= budget:
        return "cholesky", f"{matrix} fits"
    return "landmarks", f"{matrix} does not fit; conjugate gradients, preconditioned"


def _landmarks(plan: Plan, rows: int, room: int, *, many_penalties: bool) -> int:
    """As many landmarks as were asked for, or as the memory allows."""
    if plan.anchors != "auto":
        return min(int(plan.anchors), rows)
    if many_penalties:  # 3 n m + 6 m^2 numbers
        fitting = room / 8 / (3 * rows + 6 * LANDMARKS)
    else:
        fitting = np.sqrt(max(room, 0) / 8 / 6)
    return int(max(min(rows, LANDMARKS, fitting), 1))
