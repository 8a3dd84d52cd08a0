r"""Sequential minimal optimisation in large working sets, for every support vector machine.

Two variables are moved at a time, as in LIBSVM, but among a working set of up to two thousand,
whose kernel values stay in cache: a move costs less than a microsecond. What the working set
has moved is then told to all slopes at once, in one pass over the rows of the moved variables
only, with float32 rows and float64 sums.

It stops when no pair of the whole problem violates by the tolerance, and only after the slopes
were computed anew in float64 from the support vectors; if single precision has spoiled them,
the search goes on from the right ones. Nothing else counts as convergence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import InvalidInput
from mercer.gram.rows import Rows
from mercer.loops.smo import solve_within
from mercer.problems.duals import Dual
from mercer.solvers.smo_polish import MOST, polish
from mercer.solvers.smo_working_set import padded, working_set
from mercer.solvers.solution import Solution
from mercer.types import Indices

Reals = NDArray[np.float64]
Watch = Callable[[int, float, float], None]

TAU = 1e-12
"""The least curvature along a pair, relative to that of the kernel: LIBSVM's guard."""

WHOLE = 4096
"""Variables up to which the working set is all of them."""

SIZE = 2048
"""Variables of a working set, where there are more."""

LARGEST = 8192
"""Variables of a working set that many free ones have made grow."""

PASSES = 30
"""Pairs that are moved in a working set, for each of its variables, before all slopes are
brought up to date."""

CLOSER = 0.05
"""The violation that a working set is left with, relative to that of the whole problem."""

CHECKS = 100
"""How often slopes may be computed anew."""

ROUNDS = 1
"""Factors of the free variables that the pairs moved so far must have been worth, before
Newton's method is tried: neither can then take much longer than the other.
"""

WIDE = 1_000
"""Free variables from which a factor is worth a second thread."""

NOISE = 0.1
"""The estimated error of the slopes, relative to the violation, that is let pass."""

BLURRED = 2
"""How often slopes may turn out too rough before rows are computed in float64."""


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
    """

    variables: Reals
    images: Reals
    objective: float
    bound: float
    levels: Reals
    scale: float = 1.0
    checks: int = 0


def smo(
    dual: Dual,
    rows: Rows,
    *,
    tolerance: float = 1e-3,
    start: tuple[Reals, Reals | None] | None = None,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> DualSolution:
    """Solve the dual problem of a support vector machine.

    Args:
        dual: The problem.
        rows: The Gram matrix.
        tolerance: The largest violation of a pair that is left, as in LIBSVM.
        start: A feasible point a, and K b for it if it is known.
        max_steps: Give up after so many pairs; the solution then says so.
        watch: Is told the number of pairs, the objective and the violation.

    Raises:
        InvalidParameter: The start is not feasible.
        InvalidInput: Kernel values are not finite.
    """
    began = time.perf_counter()
    state = _State(dual, rows, start)
    while state.checks < CHECKS:
        if watch is not None:
            watch(state.steps, state.objective, state.violation)
        if state.violation < tolerance and state.is_exact:
            break
        if state.violation < tolerance or state.is_blurred():
            state.refresh()
            continue
        allowed = None if max_steps is None else max_steps - state.steps
        if allowed is not None and allowed <= 0:
            break
        state.improve(tolerance, allowed)
    if not state.is_exact:
        state.refresh()
    return state.solution(time.perf_counter() - began, state.violation < tolerance)


class _State:
    """Where the search is."""

    def __init__(
        self, dual: Dual, rows: Rows, start: tuple[Reals, Reals | None] | None
    ) -> None:
        self.dual, self.rows = dual, rows
        self.low, self.high, self.groups = dual.low, dual.high, dual.groups
        variables, images = (dual.start, None) if start is None else start
        if start is not None:
            dual.check(variables)
        self.signed = dual.signs * variables
        self.images = np.zeros(dual.rows) if images is None else images.astype(float)
        self.steps = self.checks = self.blurred = 0
        self.is_exact, self.noise, self.effort = True, 0.0, 0.0
        self.curvature = float(rows.diagonal.max(initial=0.0))
        if images is None:
            self._follow(self.signed)
        self.before: Indices = np.zeros(0, np.int64)
        self.tau = TAU * (self.curvature or 1.0)
        self.size = WHOLE if len(self.signed) <= WHOLE else SIZE
        self.measure()

    def is_blurred(self) -> bool:
        """Whether the error of the slopes comes near the violation that they show."""
        blurred = not self.is_exact and self.noise > NOISE * self.violation
        if blurred:
            self.blurred += 1
            if self.blurred > BLURRED:
                self.rows.sharpen()
        return blurred

    def measure(self) -> None:
        """Bring slopes and violation up to date."""
        self.slopes = self.dual.slopes(self.images)
        if not np.isfinite(self.slopes).all():
            raise InvalidInput(
                "kernel values are NaN or infinite, or too large to be added up.\nRescale the "
                "data or the parameters of the kernel."
            )
        self.up, self.down = self.signed < self.high, self.signed > self.low
        self.objective = self.dual.objective(self.signed, self.slopes)
        self.spans = [self._span(group) for group in self.groups]
        self.violation = max(most - least for least, most in self.spans)

    def _span(self, group: Indices) -> tuple[float, float]:
        """The least slope of what may rise, the largest of what may fall."""
        slopes = self.slopes[group]
        rising, falling = slopes[self.up[group]], slopes[self.down[group]]
        return float(rising.min(initial=np.inf)), float(falling.max(initial=-np.inf))

    def refresh(self) -> None:
        """Compute the slopes anew, in float64."""
        self.images = self.rows.product(self.dual.combined(self.signed))
        self.is_exact, self.noise = True, 0.0
        self.checks += 1
        self.measure()

    def improve(self, tolerance: float, allowed: int | None) -> None:
        """Solve the problem in a working set, and tell all slopes."""
        parts = working_set(
            self.slopes, self.up, self.down, self.groups, self.size, self.before
        )
        chosen, real, edges = padded([part for part in parts if len(part)])
        moved, steps = self._within(chosen, real, edges, tolerance, allowed)
        self.steps += steps
        self.before = chosen[real]
        self._move(self.before, moved[real])
        free = int((self.up & self.down).sum())
        if free > 0.9 * self.size:
            self.size = min(2 * self.size, LARGEST)
        self.effort += 4.0 * steps * len(chosen)
        if steps >= PASSES * len(chosen) and free <= MOST and self.effort > ROUNDS * free**3:
            self._polish(tolerance)

    def _polish(self, tolerance: float) -> None:
        """Give the free variables their best values."""
        if not self.is_exact:
            self.refresh()
        free = np.flatnonzero(self.up & self.down)
        places = free % self.dual.rows
        groups = np.column_stack([np.isin(free, group) for group in self.groups]).astype(float)
        matrix = self.rows.block(places, places)
        with threadpool_limits(self.rows.threads if len(free) > WIDE else 1, "blas"):
            moved = polish(
                matrix, self.slopes[free], self.signed[free], self.low[free],
                self.high[free], groups, tolerance / 4, self.effort,
            )  # fmt: skip
        self.effort = 0.0
        self._move(free, moved)

    def _move(self, chosen: Indices, moved: Reals) -> None:
        """Give variables other values, and tell all slopes."""
        change = np.zeros(len(self.signed))
        change[chosen] = moved - self.signed[chosen]
        self.signed[chosen] = moved
        self._follow(change)
        self.measure()

    def _within(
        self, chosen: Indices, real: NDArray[np.bool_], edges: Indices, tolerance: float,
        allowed: int | None,
    ) -> tuple[Reals, int]:  # fmt: skip
        """The variables of a working set after they were moved, and the pairs that moved."""
        places = chosen % self.dual.rows
        tile = self.rows.tile(places)
        least, most = self.spans[int(np.argmax([b - a for a, b in self.spans]))]
        slopes = self.slopes[chosen]
        if len(self.groups) == 1:  # what is near 0 keeps more digits
            slopes = slopes - (least + most) / 2
        goal = max(tolerance / 2, CLOSER * self.violation)
        rough = np.finfo(np.float32).eps * float(np.abs(slopes).max(initial=0.0))
        kind = np.dtype(np.float32 if 16 * rough < goal else np.float64)
        tile = tile.astype(kind, copy=False)
        count = len(chosen)
        moved = self.signed[chosen]
        steps = solve_within(
            tile.reshape(-1), count, self.rows.diagonal[places].astype(kind),
            slopes.astype(kind), np.where(self.up[chosen] & real, 0, np.inf).astype(kind),
            np.where(self.down[chosen] & real, 0, -np.inf).astype(kind), moved,
            self.low[chosen], self.high[chosen], edges, kind.type(self.tau), kind.type(goal),
            PASSES * count if allowed is None else min(allowed, PASSES * count),
            kind.type(np.inf), np.zeros(2, kind),
        )  # fmt: skip
        return moved, steps

    def _follow(self, change: Reals) -> None:
        """Add to the images what these changes of the variables do."""
        factors = self.dual.combined(change)
        moved = np.flatnonzero(factors)
        if len(moved):
            self.rows.add(moved, factors[moved], self.images)
            self.is_exact = False
            # Roundings of rows are of either sign: they add up as their squares do.
            rounded = 4 * self.rows.unit * self.curvature * np.linalg.norm(factors[moved])
            self.noise = float(np.hypot(self.noise, rounded))

    def levels(self) -> Reals:
        """The slope in the middle of each group: the mean over its free variables, as long as
        there are some.
        """
        found = []
        for group, (least, most) in zip(self.groups, self.spans, strict=True):
            free = group[self.up[group] & self.down[group]]
            ends = [end for end in (least, most) if np.isfinite(end)]
            middle = self.slopes[free] if len(free) else np.asarray(ends)
            found.append(float(middle.mean()) if len(middle) else 0.0)
        return np.asarray(found)

    def gap(self, levels: Reals) -> float:
        r"""How far the objective is above its bound: the sum of $b (h - \rho)$ and of what the
        box still allows to gain, over all variables.
        """
        above = self.slopes.copy()
        for group, level in zip(self.groups, levels, strict=True):
            above[group] -= level
        largest = np.abs(self.signed).max(initial=0.0)
        # An infinite bound proves nothing: a box of twice the largest variable stands for it.
        upper = np.where(np.isinf(self.dual.upper), 2 * largest, self.dual.upper)
        lacking = np.maximum(-self.dual.signs * above, 0.0)
        return float((self.signed * above + upper * lacking).sum())

    def solution(self, seconds: float, converged: bool) -> DualSolution:
        levels = self.levels()
        gap = self.gap(levels)
        scale, offset = 1.0, -float(levels.mean())
        if self.dual.name == "NuSVC":
            half = float(levels[0] - levels[1]) / 2
            scale = 1 / half if half > 0 else 1.0
        coefficients = self.dual.combined(self.signed) * scale
        return DualSolution(
            method="smo", coefficients=coefficients, offset=np.array([offset * scale]),
            residual=max(self.violation, 0.0), gap=gap / max(abs(self.objective), 1e-300),
            steps=self.steps, converged=converged, seconds=seconds,
            variables=self.dual.signs * self.signed, images=self.images,
            objective=self.objective, bound=self.objective - gap, levels=levels, scale=scale,
            checks=self.checks,
        )  # fmt: skip
