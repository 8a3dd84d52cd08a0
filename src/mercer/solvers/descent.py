r"""The dual problems over features, for very many rows: descent, Newton's method, pairs.

With $K = F F^\top$ the slopes are $F w$ with the weights $w = F^\top b$. So a variable is moved
at the cost of one row of F, and no other slope has to be told.

1. Coordinate descent moves one variable after the other in random order: all rows first, then
   those that moved, which shrinks the problem. A variable alone cannot keep a sum. Springs pull
   the sums back, and the levels that they hold are brought up to date after each pass.
2. Where bounds are large, variables have a long way to go, and their steps are short. Descent
   then stays with smaller bounds, and Newton's method goes on from its weights.
3. Pairs (`smo`) have the last word, over the same features: they keep the sums exactly, and end
   only where no pair of the whole problem violates by the tolerance, in float64.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.gram.features import FeatureRows
from mercer.gram.rows import Rows
from mercer.loops.descent import descend
from mercer.problems.duals import Dual
from mercer.solvers.smo import Watch, smo
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.smo_start import Start
from mercer.solvers.smoothed import Smoothed
from mercer.types import Indices

Reals = NDArray[np.float64]

FIRM = 10.0
"""How often a variable may move until it is at its bound, where descent alone is fast."""

STIFF = 0.1
"""The stiffness of the springs, relative to the mean curvature."""

ROUNDS = 20
"""Rounds of descent, at most; each is a pass over all rows and some over those that moved."""

PASSES = 10
"""Passes over the rows that moved, at most, in each round."""

SLOW = 0.5
"""A round that leaves more of the largest slope is a slow one. Two in turn end the descent."""

NEAR = 100.0
"""The largest slope that is left to pairs, relative to the tolerance."""

EXACT = 1e-13
"""How far a sum may be off, relative to its terms: a rounding error."""


def solved(
    dual: Dual,
    rows: Rows,
    *,
    tolerance: float = 1e-3,
    start: Start | None = None,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> DualSolution:
    """Solve the dual problem of a support vector machine, over whatever rows there are.

    Args:
        dual: The problem.
        rows: The Gram matrix: features are for `descent`, all else is for `smo`.
        tolerance: The largest violation of a pair that is left.
        start: Where `smo` begins; a descent is as fast from nothing.
        max_steps: Give up after so many moves.
        watch: Is told the number of moves, the objective and the violation.
    """
    if isinstance(rows, FeatureRows):
        return descent(dual, rows, tolerance=tolerance, max_steps=max_steps, watch=watch)
    return smo(dual, rows, tolerance=tolerance, start=start, max_steps=max_steps, watch=watch)


def descent(
    dual: Dual,
    rows: FeatureRows,
    *,
    tolerance: float = 1e-3,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> DualSolution:
    """Solve the dual problem of a support vector machine over features.

    Args:
        dual: The problem. Where bounds are infinite it is left to `smo` as it is.
        rows: The features.
        tolerance: The largest violation of a pair that is left, in the whole problem.
        max_steps: Give up after so many moves, of a variable or a pair; the solution then says
            so.
        watch: Is told the number of moves, the objective and the violation.

    Raises:
        InvalidInput: Features are not finite.
        NotSeparable: The margin is hard, and there is none.
    """
    began = time.perf_counter()
    start, moves = None, 0
    if np.isfinite(dual.upper).all() and rows.size == dual.rows:
        near = Descent(dual, rows, max_steps, watch)
        signed = near.run(tolerance)
        start, moves = (dual.signs * signed, rows.product(dual.combined(signed))), near.moves
    left = None if max_steps is None else max(max_steps - moves, 0)

    def told(pairs: int, objective: float, violation: float) -> None:
        if watch is not None:
            watch(moves + pairs, objective, violation)

    found = smo(
        dual, rows, tolerance=tolerance, start=start, max_steps=left, exact=True, watch=told
    )
    return replace(
        found,
        method="descent",
        steps=found.steps + moves,
        seconds=time.perf_counter() - began,
        weights=rows.weights(found.coefficients),
        approximation=rows.approximation,
    )


class Descent:
    """Variables with their weights, while they are moved.

    Attributes:
        signed: The signed variables b.
        weights: The weights w = F' b.
        levels: The slope at which each group is in balance, as far as it is known.
        moves: How many moves there were.
    """

    def __init__(
        self, dual: Dual, rows: FeatureRows, max_moves: int | None, watch: Watch | None
    ) -> None:
        self.dual, self.rows, self._watch = dual, rows, watch
        self._most = max_moves
        self.signed = dual.signs * dual.start
        self._sums = np.array([self.signed[group].sum() for group in dual.groups])
        self._group = np.zeros(len(self.signed), np.int64)
        for place, group in enumerate(dual.groups):
            self._group[group] = place
        self.levels = np.zeros(len(dual.groups))
        self._curvature = float(rows.diagonal.mean()) or 1.0
        self._moved = np.zeros(rows.size, np.bool_)
        boxes = dual.upper.reshape(dual.copies, -1).max(axis=0)
        self._open = np.flatnonzero(boxes > 0)
        # Its own chance, always the same: the same problem has the same solution.
        self._chance = np.random.default_rng(0)
        self.moves = 0

    def run(self, tolerance: float) -> Reals:
        """Signed variables near the solution, in their boxes and with their sums."""
        scale = self._scale()
        self._begin(scale)
        is_near = self._descend(scale, NEAR * tolerance)
        if not (is_near and scale == 1) and not self._is_over:
            smoothed = Smoothed(self.dual, self.rows, self._group, self.weights, self.levels)
            self.signed = smoothed.run(tolerance)
            self.moves += smoothed.moves
        return self._mended()

    @property
    def _is_over(self) -> bool:
        """Whether there were as many moves as are allowed."""
        return self._most is not None and self.moves >= self._most

    def _scale(self) -> float:
        """The factor of all bounds with which descent is fast."""
        bounds = self.dual.upper[self.dual.upper > 0]
        first = float(self.dual.pull.std()) / self._curvature
        if not len(bounds) or not first > 0:
            return 1.0
        return min(1.0, FIRM * first / float(np.median(bounds)))

    def _begin(self, scale: float) -> None:
        """Start where the problem does, at levels between what may rise and what may fall."""
        self.signed = scale * self.signed
        self.weights = self.rows.weights(self.dual.combined(self.signed))
        if not self.signed.any():
            return
        slopes = self.dual.slopes(self.rows.images(self.weights))
        up, down = self.signed < scale * self.dual.high, self.signed > scale * self.dual.low
        for place, group in enumerate(self.dual.groups):
            least = slopes[group][up[group]].min(initial=np.inf)
            most = slopes[group][down[group]].max(initial=-np.inf)
            ends = [float(end) for end in (least, most) if np.isfinite(end)]
            self.levels[place] = sum(ends) / max(len(ends), 1)

    def _descend(self, scale: float, goal: float) -> bool:
        """Rounds of descent with scaled bounds; whether all slopes end below a goal."""
        low, high = scale * self.dual.low, scale * self.dual.high
        excess = np.array([self.signed[group].sum() for group in self.dual.groups])
        excess -= scale * self._sums
        before, slow = np.inf, 0
        for _ in range(ROUNDS):
            worst = self._pass(self._open, low, high, excess)
            if not worst > goal:
                return True
            slow = slow + 1 if worst > SLOW * before else 0
            if slow == 2 or self._is_over:
                return False
            before, active = worst, self._open[self._moved[self._open]]
            for _ in range(min(PASSES, len(self._open) // len(active))):
                self._pass(active, low, high, excess)
        return False

    def _pass(self, points: Indices, low: Reals, high: Reals, excess: Reals) -> float:
        """Move the variables of these points once; the largest slope of one that moved."""
        dual, rows, stiff = self.dual, self.rows, STIFF * self._curvature
        order = self._chance.permutation(points)
        if self._most is not None:
            order = order[: self._most - self.moves]
        worst = descend(
            rows.flat, rows.width, rows.places, order, rows.diagonal, dual.pull, low, high,
            self._group, self.levels, stiff, excess, self.signed, self.weights, self._moved,
        )  # fmt: skip
        self.levels -= stiff * excess
        self.moves += int(self._moved[order].sum())
        if self._watch is not None:
            objective = 0.5 * self.weights @ self.weights + dual.pull @ self.signed
            self._watch(self.moves, float(objective), float(worst))
        return float(worst)

    def _mended(self) -> Reals:
        """The variables, with the drift of their sums taken from those that have room."""
        signed = np.clip(self.signed, self.dual.low, self.dual.high)
        for group, total in zip(self.dual.groups, self._sums, strict=True):
            own, low, high = signed[group], self.dual.low[group], self.dual.high[group]
            free = (own > low) & (own < high)
            size = max(float(np.abs(own).sum()), abs(total))
            for movable in (free, free, np.ones_like(free), np.ones_like(free)):
                drift = float(own.sum()) - total
                if abs(drift) <= EXACT * size:  # none leaves its bound for a rounding error
                    break
                room = np.where(movable, own - low if drift > 0 else high - own, 0.0)
                share = min(abs(drift) / max(float(room.sum()), 1e-300), 1.0)
                own = np.clip(own - np.sign(drift) * share * room, low, high)
            signed[group] = own
        return signed
