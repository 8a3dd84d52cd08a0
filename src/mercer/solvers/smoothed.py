r"""Newton's method for the dual problems over features, where bounds are large.

A little softness $\delta_v = \varepsilon / C_v$ is added to the curvature of each variable.
Then the variable follows from the weights w and the level $\rho$ of its group,

$$b_v = \mathrm{clip}\bigl((\rho - F_v w - p_v) / \delta_v\bigr),$$

and only w and the levels are to be found: they minimise a convex function whose gradient is
$w - F^\top b$, and how far the sums of b are off. It is quadratic in pieces, so Newton's method
with a line search ends after finitely many steps. Only the band of variables inside their boxes
enters its matrix. What softness adds to a slope is at most $\varepsilon$, which is made smaller
by and by: the violation of the true problem is then no larger, however large the bounds are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from mercer.gram.features import FeatureRows
from mercer.loops import pieces, run
from mercer.loops.descent import respond
from mercer.problems.duals import Dual
from mercer.types import Indices

Reals = NDArray[np.float64]

BAND = 8
"""One variable in so many is in the band at first, at most."""

FINER = 4.0
"""By how much the softness falls."""

STEPS = 40
"""Newton steps with one softness, at most."""

EXACT = 0.1
"""The slope that a line search leaves, relative to that at its start."""

TRIED = 60
"""Lengths that a line search tries, at most."""

BLOCK = 1024
"""Rows of the band that are read in float64 at a time."""

LOTS = 2
"""Lots of blocks whose sums are kept apart: sums do not depend on the threads then, and two
threads have work."""


class Smoothed:
    """The problem with softened variables, at some weights and levels.

    Attributes:
        signed: The signed variables b that follow from them.
        moves: The steps taken.
    """

    def __init__(
        self,
        dual: Dual,
        rows: FeatureRows,
        group: Indices,
        weights: Reals,
        levels: Reals,
    ) -> None:
        self.dual, self.rows, self._group = dual, rows, group
        self._weights, self._levels = weights.copy(), levels.copy()
        self._sums = np.array([(dual.signs * dual.start)[g].sum() for g in dual.groups])
        self._slopes = dual.slopes(rows.images(self._weights))
        self._far = float(np.sqrt(rows.diagonal.max(initial=0.0))) or 1.0
        self.signed = np.zeros(len(dual.signs))
        self.moves = 0

    def run(self, tolerance: float) -> Reals:
        """The variables, when they are few enough inside their boxes for pairs to settle."""
        softness = self._first()
        with threadpool_limits(1, "blas"):
            while np.isfinite(softness) and self._reach(softness):
                free = int(
                    ((self.signed > self.dual.low) & (self.signed < self.dual.high)).sum()
                )
                if free <= 2 * self.rows.width or softness <= tolerance / 2:
                    break
                softness = max(softness / FINER, tolerance / 2)
        return self.signed

    def _first(self) -> float:
        """The softness with which the band is a good part of all variables."""
        gaps = np.abs(self._levels[self._group] - self._slopes)[self.dual.upper > 0]
        wanted = max(len(gaps) // BAND, min(4 * self.rows.width, len(gaps)), 1)
        return float(np.partition(gaps, wanted - 1)[wanted - 1]) or self._far

    def _reach(self, softness: float) -> bool:
        """Newton steps with this softness, until the gradient is no larger.

        Returns:
            Whether the matrix had a factor.
        """
        upper = self.dual.upper
        soft = softness / np.where(upper > 0, upper, 1.0)
        still = np.zeros(len(soft))
        for _ in range(STEPS):
            gaps = self._levels[self._group] - self._slopes
            respond(gaps, still, 0.0, soft, self.dual.low, self.dual.high, self.signed)
            rest = self._weights - self.rows.weights(self.dual.combined(self.signed))
            off = np.array([self.signed[g].sum() for g in self.dual.groups]) - self._sums
            # How far slopes are from those of the variables, and levels from their sums.
            size = max(float(np.linalg.norm(rest)), self._far * float(np.abs(off).max()))
            if self._far * size <= softness:
                return True
            try:
                step, rise = self._newton(soft, rest, off)
            except LinAlgError:
                return False
            self._walk(gaps, soft, step, rise)
        return True

    def _walk(self, gaps: Reals, soft: Reals, step: Reals, rise: Reals) -> None:
        """Go along a step of the weights and levels, as far as the function falls."""
        fall = self.dual.slopes(self.rows.images(step)) - self.dual.pull - rise[self._group]
        first = float(self._weights @ step) - float(rise @ self._sums)
        curve, trial = float(step @ step), np.empty(len(soft))

        def slope(t: float) -> float:
            sums = respond(gaps, fall, t, soft, self.dual.low, self.dual.high, trial)
            return first + t * curve - float(sums)

        length = _length(slope)
        self._weights = self._weights + length * step
        self._levels = self._levels + length * rise
        self._slopes = self._slopes + length * (fall + rise[self._group])
        self.moves += 1

    def _newton(self, soft: Reals, rest: Reals, off: Reals) -> tuple[Reals, Reals]:
        """Newton's step of the weights, and of the levels."""
        matrix, pulled, own = self._curvature(soft)
        # The rounding of a sum of squares; and a level that holds no variable still moves.
        unit = self.rows.width * np.finfo(np.float64).eps
        matrix[np.diag_indices_from(matrix)] += 1 + unit * float(np.trace(matrix))
        own += 1e-6 / float(soft.max())
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        both = cho_solve(factor, np.column_stack([-rest, pulled]), check_finite=False)
        inner = np.diag(own) - pulled.T @ both[:, 1:]
        inner[np.diag_indices_from(inner)] += unit * own
        rise = np.linalg.solve(inner, pulled.T @ both[:, 0] - off)
        return both[:, 0] + both[:, 1:] @ rise, rise

    def _curvature(self, soft: Reals) -> tuple[Reals, Reals, Reals]:
        """What the band adds to the matrix: of weights, of weights and levels, of levels."""
        rows, groups = self.rows, len(self._sums)
        band = np.flatnonzero((self.signed > self.dual.low) & (self.signed < self.dual.high))
        matrices = np.zeros((LOTS, rows.width, rows.width))
        pulled, own = np.zeros((LOTS, rows.width, groups)), np.zeros((LOTS, groups))
        blocks = list(pieces(len(band), BLOCK))

        def work(lot: int, _: None) -> None:
            for start, stop in blocks[lot::LOTS]:
                part = band[start:stop]
                firm = 1 / soft[part]
                block = rows.features[rows.places[part % self.dual.rows]].astype(np.float64)
                member = firm[:, None] * (self._group[part][:, None] == np.arange(groups))
                pulled[lot] += block.T @ member
                own[lot] += member.sum(axis=0)
                block *= np.sqrt(firm)[:, None]
                matrices[lot] += block.T @ block

        run(work, range(LOTS), rows.threads, lambda: None)
        return matrices.sum(axis=0), pulled.sum(axis=0), own.sum(axis=0)


def _length(slope: Callable[[float], float]) -> float:
    """How far to go along a line, where the slope has fallen to a part of what it was."""
    goal = EXACT * abs(slope(0.0))
    low, high, last = 0.0, 1.0, slope(1.0)
    for _ in range(TRIED):
        if abs(last) <= goal:
            return high
        if last >= 0:
            break
        low, high = high, 4 * high
        last = slope(high)
    middle = high
    for _ in range(TRIED):
        middle = (low + high) / 2
        found = slope(middle)
        if abs(found) <= goal:
            break
        low, high = (middle, high) if found < 0 else (low, middle)
    return middle
