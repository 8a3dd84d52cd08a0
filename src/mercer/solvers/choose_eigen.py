"""Which method for the leading eigenpairs of a centred Gram matrix, and why."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan, readable
from mercer.solvers.choose import SolverPlan
from mercer.solvers.krylov import basis_bytes, suits

DENSE = 500
"""Rows up to which all eigenpairs take no longer than a few."""

WIDEST = 1_000
"""Features up to which their singular values are found instead."""

METHODS = ("auto", "dense", "blocked", "spectral", "lanczos", "randomized", "primal")
"""What a plan may ask for here."""

SCRATCH = 1 << 25
"""The bytes of the tiles of a matrix that is not stored, at most."""

LOOSE = 1e-3
"""A tolerance from which a few products are enough."""


@dataclass(frozen=True)
class EigenPlan(SolverPlan):
    """What was chosen for eigenpairs, and why.

    Attributes:
        method: "spectral" (LAPACK, all of them), "lanczos" (block Lanczos, until residuals are
            small), "randomized" (a random block and a few products) or "primal" (singular
            values of features).
        stores: Whether the Gram matrix is stored; else each product computes it anew.
    """

    stores: bool


def choose_eigen(
    plan: Plan, rows: int, count: int | None, *, width: int | None, entry: int = 8
) -> EigenPlan:
    """The method for so many eigenpairs.

    Args:
        plan: What the user wants.
        rows: Distinct rows.
        count: How many pairs, at least; None for all.
        width: Features of an explicit map, None where there is none.
        entry: The bytes of an entry of the Gram matrix.

    Raises:
        InvalidParameter: The method that was asked for finds no eigenpairs.
        BudgetExceeded: The method does not fit.
    """
    if plan.method not in METHODS:
        raise InvalidParameter(
            f"eigenpairs are found by {', '.join(map(repr, METHODS))}, and the plan asks for "
            f"{plan.method!r}."
        )
    budget = plan.budget()
    tolerance = 1e-8 if plan.tolerance == "auto" else float(plan.tolerance)
    square = rows * rows
    basis = basis_bytes(rows, rows if count is None else min(count, rows))
    needs = {
        # The matrix, two more that LAPACK takes, and one if it was computed in float32.
        "spectral": (24 + entry % 8) * square,
        "primal": 8 * (3 * rows * (width or 0) + 3 * (width or 0) ** 2),
        "stored": entry * square + basis,
        "blocked": basis + SCRATCH,
    }
    method, why = _method(plan, rows, count, width, needs, tolerance, budget)
    stores = method == "spectral"
    if method in ("lanczos", "randomized"):
        fits = needs["stored"] <= budget
        stores = plan.method == "dense" or (plan.method != "blocked" and fits)
        how = "stored" if stores else "computed anew in each product"
        why = f"{why}; the {rows} x {rows} matrix is {how}"
        need = needs["stored" if stores else "blocked"]
    else:
        need = needs[method]
    if need > budget:
        raise BudgetExceeded(
            f"the method {method!r} ({why}) takes {readable(need)} for {rows} distinct rows, "
            f"and {readable(budget)} are allowed.\nAsk for fewer components, n_components=10, "
            "or allow more: mercer.Plan(memory=...)."
        )
    return EigenPlan(method, why, need, budget, rows, plan.crew(), tolerance, stores)


def _method(
    plan: Plan,
    rows: int,
    count: int | None,
    width: int | None,
    needs: dict[str, int],
    tolerance: float,
    budget: int,
) -> tuple[str, str]:
    asked, fits = plan.method, needs["spectral"] <= budget
    whole = "all components" if count is None else f"{count} components"
    wanted = f"{whole} of {rows} distinct rows are wanted"
    if asked in ("lanczos", "randomized") and not suits(rows, count or rows):
        return "spectral", f"{wanted}, and a basis of blocks would be as large as the matrix"
    if asked in ("spectral", "lanczos", "randomized") or (asked == "primal" and width):
        return asked, "as asked"
    narrow = width is not None and 2 * width < rows and width <= WIDEST
    if asked == "auto" and narrow and needs["primal"] <= budget:
        return "primal", f"{width} features, for {rows} distinct rows, have the same spectrum"
    if count is None or (count > rows // 5 and fits) or not suits(rows, count):
        return "spectral", wanted
    if rows <= DENSE:
        return "spectral", f"{rows} distinct rows are few"
    loose = tolerance >= LOOSE
    few = f", and a tolerance of {tolerance:g} takes few products" if loose else ""
    return "randomized" if loose else "lanczos", wanted + few
