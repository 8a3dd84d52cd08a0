r"""Sequential minimal optimisation in large working sets, for every support vector machine.

Two variables are moved at a time, as in LIBSVM, but among a working set of up to two thousand,
whose kernel values stay in cache: a move costs less than a microsecond. What the working set
has moved is then told to all slopes at once, in one pass over the rows of the moved variables
only, with float32 rows and float64 sums.

It stops when no pair of the whole problem violates by the tolerance, and only after slopes
were computed anew in float64 from the support vectors: on a sample of rows, the worst among
them, and on all rows if the sample shows that single precision has spoiled something. Then the
search goes on from the right ones. Nothing else counts as convergence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NotSeparable
from mercer.gram.rows import Rows
from mercer.problems.duals import Dual, nearest_points
from mercer.solvers.smo_solution import DualSolution, gap_of, levels_of
from mercer.solvers.smo_state import State

Reals = NDArray[np.float64]
Start = tuple[Reals, Reals | None]
Watch = Callable[[int, float, float], None]

IDLE = 20
"""How often slopes are computed anew without gain before the search gives up."""

SHARE = 10
"""How much smaller than the tolerance the errors of slopes on a sample have to be."""

TOUCHING = 1e-5
"""The distance of two classes, relative to the largest norm of a point, from which on they
count as separable."""


def smo(
    dual: Dual,
    rows: Rows,
    *,
    tolerance: float = 1e-3,
    start: Start | None = None,
    max_steps: int | None = None,
    exact: bool = False,
    watch: Watch | None = None,
) -> DualSolution:
    """Solve the dual problem of a support vector machine.

    Args:
        dual: The problem. Where all its upper bounds are infinite it is the hard margin, which
            is solved as the nearest points of two convex hulls.
        rows: The Gram matrix.
        tolerance: The largest violation of a pair that is left, as in LIBSVM.
        start: A feasible point a, and K b for it if it is known.
        max_steps: Give up after so many pairs; the solution then says so.
        exact: Whether all slopes are computed anew in float64 before convergence is claimed.
            By default that is done on a sample of rows, the critical ones among them, and on
            all only if the sample is not ten times as exact as the tolerance asks.
        watch: Is told the number of pairs, the objective and the violation.

    Raises:
        InvalidParameter: The start is not feasible.
        InvalidInput: Kernel values are not finite.
        NotSeparable: The margin is hard, and there is none.
    """
    counted = dual.upper[dual.upper > 0]
    if dual.name == "SVC" and not dual.separate and len(counted) and np.isinf(counted).all():
        return _hard_margin(dual, rows, tolerance, max_steps, watch)
    return _solve(dual, rows, tolerance, start, max_steps, watch, exact=exact)


def _solve(
    dual: Dual,
    rows: Rows,
    tolerance: float,
    start: Start | None,
    max_steps: int | None,
    watch: Watch | None,
    *,
    exact: bool,
) -> DualSolution:
    began = time.perf_counter()
    state = State(dual, rows, start)
    best, idle = np.inf, 0
    error = _error_at_end(state, tolerance, exact=exact)
    while error is None and idle < IDLE and not state.is_stuck:
        if watch is not None:
            watch(state.steps, state.objective, state.violation)
        allowed = None if max_steps is None else max_steps - state.steps
        if state.violation < tolerance or state.is_blurred():
            state.refresh()
            idle = 0 if state.objective < best - 1e-12 * abs(best) else idle + 1
            best = min(best, state.objective)
        elif allowed is not None and allowed <= 0:
            break
        else:
            state.improve(tolerance, allowed)
        error = _error_at_end(state, tolerance, exact=exact)
    if error is None and not state.is_exact:
        state.refresh()
    return _solution(state, time.perf_counter() - began, tolerance, error or 0.0)


def _error_at_end(state: State, tolerance: float, *, exact: bool) -> float | None:
    """The error of the slopes, where they prove that the end is reached; else None."""
    if not state.violation < tolerance:
        return None
    if state.is_exact:
        return 0.0
    if exact:
        return None
    error = state.error()
    sure = state.violation + 2 * error < tolerance and SHARE * error < tolerance
    return error if sure else None


def _solution(state: State, seconds: float, tolerance: float, error: float) -> DualSolution:
    dual, signed = state.dual, state.signed
    levels = levels_of(dual, signed, state.slopes, state.spans)
    gap = gap_of(dual, signed, state.slopes, levels)
    scale, offset = 1.0, -float(levels.mean())
    if dual.name == "NuSVC":
        half = float(levels[0] - levels[1]) / 2
        scale = 1 / half if half > 0 else 1.0
    return DualSolution(
        method="smo",
        coefficients=dual.combined(signed) * scale,
        offset=np.array([offset * scale]),
        residual=max(state.violation, 0.0) + 2 * error,
        gap=gap / max(abs(state.objective), 1e-300),
        steps=state.steps,
        converged=state.violation < tolerance,
        seconds=seconds,
        variables=dual.signs * signed,
        images=state.images,
        objective=state.objective,
        bound=state.objective - gap,
        levels=levels,
        scale=scale,
        checks=state.checks,
    )


def _hard_margin(
    dual: Dual, rows: Rows, tolerance: float, max_steps: int | None, watch: Watch | None
) -> DualSolution:
    r"""The hard margin, from the nearest points of the convex hulls of the two classes.

    With nearest points at the distance d, in feature space, the function is their difference
    times $2 / d^2$, and a violation of the one problem is $d^2 / 2$ times that of the other.
    """
    began = time.perf_counter()
    hulls = nearest_points(dual.signs, dual.upper > 0)
    size = float(rows.diagonal[dual.upper > 0].max())
    goal, start, steps, checks = size / 4, None, 0, 0
    while True:
        left = None if max_steps is None else max_steps - steps
        found = _solve(hulls, rows, goal, start, left, watch, exact=True)
        steps, checks = steps + found.steps, checks + found.checks
        squared = 2 * found.objective
        if squared <= TOUCHING**2 * size:
            raise _touching(found.variables, max(squared, 0.0), size)
        enough = found.residual < tolerance * squared / 2
        if enough or not found.converged:
            break
        start = found.variables, found.images
        goal = min(goal / 4, tolerance * squared / 2)
    scale = 2 / squared
    width = float(found.levels[0] - found.levels[1]) - 2 * found.residual
    bound = -2 * squared / width**2 if width > 0 else -np.inf
    return replace(
        found,
        coefficients=found.coefficients * scale,
        offset=np.array([-float(found.levels.mean()) * scale]),
        residual=found.residual * scale,
        gap=-bound / scale - 1,
        steps=steps,
        converged=enough,
        seconds=time.perf_counter() - began,
        variables=found.variables * scale,
        images=found.images * scale,
        objective=-scale,
        bound=bound,
        levels=np.array([float(found.levels.mean()) * scale]),
        checks=checks,
    )


def _touching(weights: Reals, squared: float, size: float) -> NotSeparable:
    count = int((weights > 0).sum())
    return NotSeparable(
        "the two classes cannot be separated: in the feature space of this kernel the "
        f"barycentres of the two, with weights on {count} rows, coincide (their distance is "
        f"{squared**0.5:.1e}, and {TOUCHING * size**0.5:.1e} counts as none).\nUse a finite C, "
        "or a kernel with more features; the weights are the `certificate` of this error.",
        weights,
        squared**0.5,
    )
