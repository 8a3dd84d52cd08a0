r"""Losses with kinks, through their dual: a quadratic programme in a box, by interior points.

The slopes u of the losses are the unknowns, and $a = -u / 2\lambda$. Where the conjugate of the
loss is $y u + \epsilon |u|$ for slopes between two bounds, the dual problem is to minimise

$$\frac{1}{4\lambda} u^\top K u + \sum_i y_i u_i + \epsilon \sum_i |u_i|$$

within the bounds, with $\sum_i u_i = 0$ if there is an offset. Split into its positive and its
negative part, each u is kept inside its bounds by a barrier that fades (Mehrotra's predictor
and corrector). A step is one factor of $2\lambda + T K$ for a diagonal matrix T: that of a
weighted ridge regression, whose weights the barrier makes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import InvalidInput
from mercer.problems.risk import Risk
from mercer.solvers.solution import Solution
from mercer.solvers.spans import Span

Reals = NDArray[np.float64]
Watch = Callable[[int, float, float], None]

STEPS = 100
"""Steps before giving up; ten to thirty are usual."""

ROUNDED = 0.1
"""The duality gap at which the barrier rounds kinks off as much as leaving out a row does."""

INSIDE = 0.995
"""The part of the way to the nearest bound that a step goes."""


def interior(
    span: Span,
    risk: Risk,
    *,
    tolerance: float = 1e-6,
    threads: int | None = None,
    watch: Watch | None = None,
) -> tuple[Solution, Reals]:
    """Minimise a risk whose loss has kinks.

    Args:
        span: The Gram matrix.
        risk: The problem.
        tolerance: The duality gap to reach, relative to the objective.
        threads: How many threads the factors take.
        watch: Is told the step, the objective and the gap.

    Returns:
        The solution, and the curvature of the barrier at each row, halfway: large on a kink,
        and next to nothing where the loss is straight. At the end it would be infinite, and
        tell less of what happens when a row is left out.
    """
    began = time.perf_counter()
    state = _Start(risk).state()
    best: Solution | None = None
    weights = np.zeros(len(span))
    with threadpool_limits(threads, "blas"):
        for step in range(1, STEPS + 1):
            state, bends = _improved(span, risk, state)
            if best is None or (best.gap or 0.0) > ROUNDED:
                weights = bends
            found, objective = _evidence(span, risk, state)
            if best is None or (found.gap or 0.0) < (best.gap or 0.0):
                best = replace(found, steps=step)
            if watch is not None:
                watch(step, objective, float(found.gap or 0.0))
            stalled = step > 10 and state.barrier() < 1e-15 * state.first
            if (best.gap or 0.0) <= tolerance or stalled:
                break
    assert best is not None  # noqa: S101 - there is at least one step
    seconds = time.perf_counter() - began
    reached = (best.gap or 0.0) <= tolerance
    return replace(best, converged=reached, seconds=seconds), weights


@dataclass(frozen=True, eq=False)
class _State:
    """The slopes in two parts, each in a box, and the multipliers of the boxes.

    A column for the positive parts p and one for the negative parts m: u = p - m.

    Attributes:
        parts: Both parts, inside their boxes.
        room: The upper ends of the boxes; 0 for a part that is not there.
        below: The multipliers of the lower ends.
        above: The multipliers of the upper ends.
        offset: The offset of the function: minus the multiplier of the sum.
        first: The size of the barrier in the beginning.
    """

    parts: Reals
    room: Reals
    below: Reals
    above: Reals
    offset: float
    first: float

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which parts are there."""
        return self.room > 0

    @property
    def slopes(self) -> Reals:
        slopes: Reals = self.parts[:, 0] - self.parts[:, 1]
        return slopes

    def barrier(self) -> float:
        """The mean product of a multiplier and its slack."""
        there = self.there
        total = (self.below * self.parts)[there].sum()
        total += (self.above * (self.room - self.parts))[there].sum()
        return float(total / (2 * there.sum()))

    def moved(self, change: _Change, length: float) -> _State:
        """Some of the way along a change."""
        return replace(
            self,
            parts=self.parts + length * change.parts,
            below=self.below + length * change.below,
            above=self.above + length * change.above,
            offset=self.offset + length * change.offset,
        )


@dataclass(frozen=True, eq=False)
class _Change:
    parts: Reals
    below: Reals
    above: Reals
    offset: float


@dataclass(frozen=True, eq=False)
class _Start:
    """Where the search begins: in the middle of what the sum allows."""

    risk: Risk

    def state(self) -> _State:
        low, high = self.risk.loss.slopes(self.risk.targets)
        shares = self.risk.shares
        room = np.column_stack([shares * high, -shares * low])
        totals = room.sum(axis=0)
        if self.risk.has_offset and not (totals > 0).all():
            raise InvalidInput(
                f"with the loss {self.risk.loss} all targets pull one way, so that no offset "
                "is best.\nGive rows of both classes, or fit without an offset."
            )
        parts = room / 2
        if self.risk.has_offset:  # the same total of both kinds
            parts = room * (0.5 * totals.min() / totals)
        size = float(np.abs(self.risk.targets).mean()) or 1.0
        ones = np.full_like(room, size)
        first = _State(parts, room, ones, ones, 0.0, 0.0)
        return replace(first, first=first.barrier())


def _improved(span: Span, risk: Risk, state: _State) -> tuple[_State, Reals]:
    """One step of the predictor and the corrector, and the weights of its ridge regression."""
    there = state.there
    least = 1e-30 * state.room  # rounding may have reached the bound itself
    slack = np.where(there, np.maximum(state.room - state.parts, least), 1.0)
    held = np.where(there, np.maximum(state.parts, least), 1.0)
    bends = np.where(there, state.below / held + state.above / slack, np.inf)
    weights = (1 / bends).sum(axis=1)
    double = 2 * risk.penalty
    step = span.step(weights, double, has_offset=risk.has_offset)
    # The derivative in p is (K u / 2 penalty + y + b) + epsilon - below + above, that in m has
    # the other sign on the bracket.
    bracket = span @ state.slopes / double + risk.targets - state.offset
    sides = np.column_stack([bracket, -bracket]) + risk.loss.tube

    def change(aim: float, past: _Change | None) -> _Change:
        low, high = np.full_like(held, aim), np.full_like(held, aim)
        if past is not None:
            low, high = low - past.parts * past.below, high + past.parts * past.above
        wanted = np.where(there, -sides + low / held - high / slack, 0.0)
        pulled = wanted / bends
        moved, shift = step(double * (pulled[:, 0] - pulled[:, 1])[:, None])
        flat = (span @ moved)[:, 0] / double + shift[0] / double
        parts = (wanted - np.column_stack([flat, -flat])) / bends
        below = np.where(there, (low - state.below * parts) / held - state.below, 0.0)
        above = np.where(there, (high + state.above * parts) / slack - state.above, 0.0)
        return _Change(parts, below, above, -float(shift[0]) / double)

    now = state.barrier()
    guess = change(0.0, None)
    ahead = state.moved(guess, _length(state, guess)).barrier()
    real = change(now * (ahead / now) ** 3, guess)
    return state.moved(real, INSIDE * _length(state, real)), weights


def _length(state: _State, change: _Change) -> float:
    """How far both parts and multipliers can go before one is zero; at most 1."""
    there = state.there
    longest = 1 / INSIDE
    slack = state.room - state.parts
    for value, move in (
        (state.parts, change.parts),
        (slack, -change.parts),
        (state.below, change.below),
        (state.above, change.above),
    ):
        falling = there & (move < 0)
        if falling.any():
            longest = min(longest, float((-value[falling] / move[falling]).min()))
    return min(longest, 1 / INSIDE)


def _evidence(span: Span, risk: Risk, state: _State) -> tuple[Solution, float]:
    """The function of the slopes, its risk, and the gap to the dual problem."""
    slopes = risk.feasible(state.slopes)
    if slopes is None:
        slopes = state.slopes
    coefficients = -slopes / (2 * risk.penalty)
    image = span @ coefficients
    squared = max(float(coefficients @ image), 0.0)
    offset = state.offset if risk.has_offset else 0.0
    objective = risk.value(image + offset, squared)
    lower = -risk.conjugate(slopes) - risk.penalty * squared
    gap = risk.gap(objective, lower)
    moved = float(np.abs(slopes - state.slopes).sum())
    residual = moved / (float(np.abs(slopes).sum()) or 1.0)
    found = Solution("interior", coefficients, np.array([offset]), residual, gap)
    return found, objective
