r"""Newton's method for any convex loss: each step is a weighted ridge regression.

Around the values m the mean loss has slopes g and curvatures c. The minimiser of its parabola
plus $\lambda a^\top K a$ solves $2 \lambda a = r - c (K a + b)$ with $r = c m - g$: for the
logistic loss iteratively reweighted least squares. Only rows of positive curvature enter the
factor, so it is small for losses that are flat on most rows.

Losses with kinks have no curvature where it matters: they are left to interior points.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.problems.risk import Risk
from mercer.solvers.solution import Solution
from mercer.solvers.spans import Span

Reals = NDArray[np.float64]
Watch = Callable[[int, float, float], None]

STEPS = 100
"""Newton steps."""

SLOW = 0.01
"""The part of the gap that a step is to gain; else the next one is by parabolas from above."""

FLAT = 1e-10
"""The least curvature of a row with any, relative to the largest: what divides stays finite."""


def newton(
    span: Span,
    risk: Risk,
    *,
    start: tuple[Reals, float] | None = None,
    tolerance: float = 1e-6,
    threads: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise a regularised risk over the functions that a Gram matrix spans.

    Args:
        span: The Gram matrix.
        risk: The problem.
        start: Coefficients and offset to begin with.
        tolerance: The duality gap to reach, relative to the objective.
        threads: How many threads the factors take.
        watch: Is told the step, the objective and the gap.

    Raises:
        NotPositiveDefinite: A direction has a negative norm.
    """
    began = time.perf_counter()
    state = _State(span, risk, start)
    steps = 0
    with threadpool_limits(threads, "blas"):
        above = False
        gap = np.inf
        for _ in range(STEPS):
            steps += 1
            before, was_above = state.objective, above
            moved = state.step(above=above)
            gap = state.gap()
            above = before - state.objective < SLOW * gap * abs(state.objective)
            if watch is not None:
                watch(steps, state.objective, gap)
            if gap <= tolerance or not (moved or (above and not was_above)):
                break
    seconds = time.perf_counter() - began
    return Solution(
        "newton", state.coefficients, np.array([state.offset]), state.residual(), gap, steps,
        gap <= tolerance, seconds,
    )  # fmt: skip


class _State:
    """Where Newton's method is: coefficients, offset, values and the objective."""

    def __init__(self, span: Span, risk: Risk, start: tuple[Reals, float] | None) -> None:
        self.span, self.risk = span, risk
        count = len(span)
        self.coefficients = np.zeros(count) if start is None else start[0].copy()
        self.offset = 0.0 if start is None else float(start[1])
        self.values = span @ self.coefficients + self.offset
        self.objective = self._objective()

    def step(self, *, above: bool = False) -> bool:
        """One step of Newton's method along the best length; False where nothing is gained.

        With `above` it is the least point of parabolas that are nowhere below the losses, where
        these are straight: Newton's method would not leave the rows that bend.
        """
        target, offset = self._newton_point(above=above)
        move, shift = target - self.coefficients, offset - self.offset
        change = self.span @ move + shift
        self.span.check_norm(move, change - shift)
        length = self._length(move, change, shift)
        self.coefficients = self.coefficients + length * move
        self.offset += length * shift
        self.values = self.values + length * change
        before, self.objective = self.objective, self._objective()
        return bool(before - self.objective > 1e-15 * abs(self.objective))

    def _newton_point(self, *, above: bool) -> tuple[Reals, float]:
        slopes = self.risk.slope(self.values)
        curvature = self.risk.curvature(self.values)
        if above or not curvature.any():
            curvature = self.risk.majorant(self.values)
        double = 2 * self.risk.penalty
        largest = float(curvature.max())
        if not largest > 0:  # the loss is flat: a parabola with the curvature of one row
            curvature = self.risk.shares * double * len(slopes)
            largest = float(curvature.max())
        bends = np.where(curvature > FLAT * largest, curvature, 0.0)
        step = self.span.step(bends, double, has_offset=self.risk.has_offset)
        target, offset = step((bends * self.values - slopes)[:, None])
        return target[:, 0], float(offset[0])

    def _objective(self) -> float:
        squared = float(self.coefficients @ (self.values - self.offset))
        return self.risk.value(self.values, max(squared, 0.0))

    def _length(self, move: Reals, change: Reals, shift: float) -> float:
        """How far to go: to where the slope along the way is a tenth of what it was."""
        risk, flat = self.risk, change - shift
        inner = float(self.coefficients @ flat)
        bent = float(move @ flat)

        def slope(length: float) -> float:
            along = float(risk.slope(self.values + length * change) @ change)
            return along + 2 * risk.penalty * (inner + length * bent)

        first = slope(0.0)
        if not first < 0:
            return 0.0
        low, high = 0.0, 1.0
        reached = slope(high)
        if abs(reached) <= 0.1 * abs(first):
            return high
        while reached < 0 and high < 64:
            low, high = high, 2 * high
            reached = slope(high)
        for _ in range(40):
            middle = (low + high) / 2
            reached = slope(middle)
            if abs(reached) <= 0.1 * abs(first):
                break
            low, high = (middle, high) if reached < 0 else (low, middle)
        return (low + high) / 2

    def gap(self) -> float:
        """The duality gap, relative to the objective."""
        lower = max(
            self.risk.bound(slopes, self.span)
            for slopes in (
                self.risk.slope(self.values),
                -2 * self.risk.penalty * self.coefficients,
            )
        )
        return self.risk.gap(self.objective, lower)

    def residual(self) -> float:
        """How far the coefficients are from -g / 2 penalty, relative to them."""
        wanted = -self.risk.slope(self.values) / (2 * self.risk.penalty)
        size = float(np.linalg.norm(wanted))
        return float(np.linalg.norm(self.coefficients - wanted)) / (size or 1.0)
