"""Where sequential minimal optimisation is, and how it goes on from there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import InvalidInput
from mercer.gram.rows import Rows
from mercer.loops.smo import solve_within
from mercer.problems.duals import Dual
from mercer.solvers.smo_polish import FEW, MOST, polish
from mercer.solvers.smo_working_set import least_of, padded, working_set
from mercer.types import Indices

Reals = NDArray[np.float64]

TAU = 1e-12
"""The least curvature along a pair, relative to that of the kernel: LIBSVM's guard."""

WHOLE = 4096
"""Variables up to which the working set is all of them, whose values are then stored."""

SIZE = 2048
"""Variables of a working set, where there are more."""

SMALLER = 1024
"""The same where kernel values are not cheap: most of those between the variables of a working
set are needed for it alone."""

SMALLEST = 512
"""The same where all values are stored: they are copied to where the processor is fastest."""

LARGEST = 8192
"""Variables of a working set that many free ones have made grow."""

PASSES = 30
"""Pairs that are moved in a working set, for each of its variables, before all slopes are
brought up to date."""

PAIRS = 20_000
"""Pairs that are moved at least: what surrounds them takes longer than so many."""

CLOSER = 0.05
"""The violation that a working set is left with, relative to that of the whole problem."""

SHARE = 16.0
"""How much longer than the pairs Newton's method may take. It stops half-way otherwise, and the
pairs then undo its work."""

SETTLED = 50
"""One free variable in so many may have changed where the others count as settled."""

SAMPLE = 64
"""Rows of each kind whose slopes are computed in float64 to see how rough the others are."""

NOISE = 0.1
"""The estimated error of the slopes, relative to the violation, that is let pass."""

BLURRED = 2
"""How often slopes may turn out too rough before rows are computed in float64."""


class State:
    """Where the search is.

    Attributes:
        signed: The signed variables b.
        images: K b.
        slopes: The slope of each variable.
        spans: For each group, the least slope of what may rise and the largest of what may
            fall.
        violation: The largest difference of a span.
        objective: The objective.
        is_exact: Whether the images were computed in float64.
        is_stuck: Whether nothing moves any more, in float64.
        steps: The pairs moved.
        checks: How often the images were computed in float64.
    """

    def __init__(
        self, dual: Dual, rows: Rows, start: tuple[Reals, Reals | None] | None
    ) -> None:
        if rows.size != dual.rows:
            raise InvalidInput(
                f"{dual.name} has {dual.rows} rows and the Gram matrix {rows.size}: they have "
                "to be the same points."
            )
        self.dual, self.rows = dual, rows
        self.low, self.high, self.groups = dual.low, dual.high, dual.groups
        variables, images = (dual.start, None) if start is None else start
        if start is not None:
            dual.check(variables)
        self.signed = dual.signs * variables
        self.sums = [float((dual.signs * dual.start)[group].sum()) for group in self.groups]
        self.images = np.zeros(dual.rows) if images is None else images.astype(float)
        self.steps = self.checks = self.blurred = 0
        self.is_exact, self.noise, self.effort = images is None, 0.0, 0.0
        self.is_rough, self.is_stuck = True, False
        self.free = np.zeros(len(self.signed), np.bool_)
        self.curvature = float(rows.diagonal.max(initial=0.0))
        if images is None:
            self._follow(self.signed)
        self.before: Indices = np.zeros(0, np.int64)
        self.tau = TAU * (self.curvature or 1.0)
        size = SIZE if rows.is_cheap else SMALLER
        if rows.is_whole:
            self.size = SMALLEST
        else:
            self.size = WHOLE if len(self.signed) <= WHOLE else size
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

    def error(self) -> float:
        """The largest error of the images on a sample of rows, whose images are computed in
        float64: those that violate most, those with the largest values, and some between.
        """
        factors = self.dual.combined(self.signed)
        support = np.flatnonzero(factors)
        rising = np.where(self.up, self.slopes, np.inf)
        falling = np.where(self.down, -self.slopes, np.inf)
        ends = np.concatenate([least_of(rising, SAMPLE), least_of(falling, SAMPLE)])
        largest = least_of(-self.rows.diagonal, SAMPLE)
        spread = np.linspace(0, self.dual.rows - 1, SAMPLE).astype(np.int64)
        sample = np.unique(np.concatenate([ends % self.dual.rows, largest, spread]))
        found = (self.rows.block(sample, support) * factors[support]).sum(axis=1)
        return float(np.abs(found - self.images[sample]).max(initial=0.0))

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
        if (moved == self.signed[chosen]).all():
            # Nothing moves: it may in float64, and from exact slopes.
            self.is_stuck = self.is_exact and not self.is_rough
            self.is_rough = False
            if not self.is_exact:
                self.refresh()
            return
        self._move(self.before, moved[real])
        free = self.up & self.down
        count = int(free.sum())
        if count > 0.9 * self.size:
            self.size = min(2 * self.size, LARGEST)
        settled = int((free ^ self.free).sum()) <= count / SETTLED
        self.free = free
        self.effort += SHARE * steps * len(chosen)
        slow = steps >= self._most(len(chosen)) and self.violation >= tolerance
        if not slow or self.effort < count**3:
            return
        if count <= (MOST if settled else FEW):
            self._polish(tolerance)

    @staticmethod
    def _most(count: int) -> int:
        """The most pairs to move in a working set."""
        return max(PASSES * count, PAIRS)

    def _polish(self, tolerance: float) -> None:
        """Give the free variables their best values."""
        if not self.is_exact:
            self.refresh()
        free = np.flatnonzero(self.up & self.down)
        places = free % self.dual.rows
        groups = np.column_stack([np.isin(free, group) for group in self.groups]).astype(float)
        matrix = self.rows.block(places, places)
        # Factors are small: threads of BLAS that wait for each other would cost more.
        with threadpool_limits(1, "blas"):
            moved = polish(
                matrix, self.slopes[free], self.signed[free], self.low[free],
                self.high[free], groups, tolerance / 4, self.effort,
            )  # fmt: skip
        self.effort = 0.0
        self._move(free, moved)

    def _move(self, chosen: Indices, moved: Reals) -> None:
        """Give variables other values, and tell all slopes."""
        before = self.signed
        self.signed = before.copy()
        self.signed[chosen] = moved
        for group, total in zip(self.groups, self.sums, strict=True):
            # Many roundings move the sum: what has most room takes it back.
            room = np.minimum(self.high - self.signed, self.signed - self.low)[group]
            drift, most = float(self.signed[group].sum()) - total, int(np.argmax(room))
            if abs(drift) < room[most]:
                self.signed[group[most]] -= drift
        self._follow(self.signed - before)
        self.measure()

    def _within(
        self, chosen: Indices, real: NDArray[np.bool_], edges: Indices, tolerance: float,
        allowed: int | None,
    ) -> tuple[Reals, int]:  # fmt: skip
        """The variables of a working set after they were moved, and the pairs that moved."""
        places = chosen % self.dual.rows
        once = self.dual.copies == len(self.groups) == 1
        tile, stride = self.rows.tile(places, once=once)
        least, most = self.spans[int(np.argmax([b - a for a, b in self.spans]))]
        slopes = self.slopes[chosen]
        if len(self.groups) == 1:  # what is near 0 keeps more digits
            slopes = slopes - (least + most) / 2
        # A working set of all variables has nothing to wait for.
        alone = int(real.sum()) == len(self.signed)
        goal = tolerance / 2 if alone else max(tolerance / 2, CLOSER * self.violation)
        rough = np.finfo(np.float32).eps * float(np.abs(slopes).max(initial=0.0))
        kind = np.dtype(np.float32 if self.is_rough and 16 * rough < goal else np.float64)
        tile = tile.astype(kind, copy=False)
        count = len(chosen)
        moved = self.signed[chosen]
        steps = solve_within(
            tile, stride, self.rows.diagonal[places].astype(kind),
            slopes.astype(kind), np.where(self.up[chosen] & real, 0, np.inf).astype(kind),
            np.where(self.down[chosen] & real, 0, -np.inf).astype(kind), moved,
            self.low[chosen], self.high[chosen], edges, kind.type(self.tau), kind.type(goal),
            self._most(count) if allowed is None else min(allowed, self._most(count)),
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
