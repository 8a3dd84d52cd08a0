"""Any convex loss over a sample: from the kernel and the plan to coefficients and evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.domains.samples import Sample
from mercer.gram import operator
from mercer.kernels import Kernel
from mercer.machines.least_squares import feature_width
from mercer.plan import Plan
from mercer.problems.losses import Loss
from mercer.problems.risk import Risk
from mercer.selection.approximate import LOWEST, left_out, walk
from mercer.selection.penalties import Path
from mercer.selection.scales import subset
from mercer.solvers.choose import SolverPlan
from mercer.solvers.choose_convex import choose_convex
from mercer.solvers.interior import interior
from mercer.solvers.landmarks import whitening
from mercer.solvers.multinomial import Classes, curvature, multinomial
from mercer.solvers.newton import newton
from mercer.solvers.solution import Solution
from mercer.solvers.spans import Features, Span, Stored

Reals = NDArray[np.float64]

SEARCHED = 1_000
"""Rows up to which the penalty is searched over all anchors."""

COARSE = 800
"""Landmarks on which it is searched beyond that."""

SMALL = 2_000
"""Rows of a factor that one thread makes as soon as two: NumPy and SciPy have a BLAS each,
whose threads wait for one another.
"""

ROUGH = 1e-3
"""The duality gap at which a penalty is judged."""


@dataclass(frozen=True, eq=False)
class Space:
    """The functions that are searched.

    Attributes:
        span: Their Gram matrix in some form.
        anchors: The points that they are sums over.
        basis: Makes coefficients of the anchors from those of the rows; None if these are
            the anchors.
    """

    span: Span
    anchors: Batch
    basis: Reals | None = None

    def of_anchors(self, coefficients: Reals) -> Reals:
        """The coefficients of the anchors."""
        return coefficients if self.basis is None else self.basis @ coefficients


@dataclass(frozen=True, eq=False)
class Reached:
    """The best function for one penalty.

    Attributes:
        solution: Its coefficients, a column a function, and the evidence.
        values: Its values, offset included.
        slopes: The derivatives of the mean loss there.
        curvature: The second derivative, one number a row.
    """

    solution: Solution
    values: Reals
    slopes: Reals
    curvature: Reals


class Objective(ABC):
    """What is minimised: weights, a loss, and whether there is an offset."""

    weights: Reals
    has_offset: bool

    @abstractmethod
    def reach(
        self, span: Span, penalty: float, start: Reached | None, plan: SolverPlan, gap: float
    ) -> Reached:
        """The best function for a penalty, from where another was reached."""

    @abstractmethod
    def losses(self, values: Reals) -> Reals:
        """What each row costs."""

    @property
    def unit(self) -> float:
        """How steep the loss is beside the square of an error, a power of ten: the penalties
        that matter grow with it. 1 where targets have no unit.
        """
        return 1.0

    def error(self, values: Reals) -> float:
        """The mean cost."""
        return float(self.weights @ self.losses(values) / self.weights.sum())

    def elsewhere(self, span: Span, reached: Reached, penalty: float) -> Reals:
        """The values on each row that was left out."""
        return left_out(
            span, reached.values, reached.slopes, reached.curvature, penalty,
            has_offset=self.has_offset,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class OneByOne(Objective):
    """A loss of one value for each column of targets, each column a problem of its own.

    Attributes:
        loss: The loss.
        targets: A column a function.
        weights: A positive number a row.
        has_offset: Whether each function has an offset.
    """

    loss: Loss
    targets: Reals
    weights: Reals
    has_offset: bool

    def reach(
        self, span: Span, penalty: float, start: Reached | None, plan: SolverPlan, gap: float
    ) -> Reached:
        parts = [
            self._reach(span, penalty, start, plan, gap, at)
            for at in range(self.targets.shape[1])
        ]
        if len(parts) == 1:
            return parts[0]
        found = [part.solution for part in parts]
        whole = Solution(
            found[0].method,
            np.column_stack([one.coefficients for one in found]),
            np.concatenate([one.offset for one in found]),
            max(one.residual for one in found),
            max(one.gap or 0.0 for one in found),
            sum(one.steps for one in found),
            all(one.converged for one in found),
            sum(one.seconds for one in found),
        )
        values, slopes = (
            np.hstack([getattr(part, name) for part in parts]) for name in ("values", "slopes")
        )
        curvature = np.column_stack([part.curvature for part in parts])
        return Reached(whole, values, slopes, curvature)

    def _reach(
        self,
        span: Span,
        penalty: float,
        start: Reached | None,
        plan: SolverPlan,
        gap: float,
        at: int,
    ) -> Reached:
        risk = Risk(self.loss, self.targets[:, at], self.weights, penalty, self.has_offset)
        if self.loss.is_smooth:
            before = None
            if start is not None:
                solution = start.solution
                before = solution.coefficients[:, at], float(solution.offset[at])
            found = newton(span, risk, start=before, tolerance=gap, threads=plan.threads)
            values = span @ found.coefficients + found.offset
            curvature = risk.curvature(values)
        else:
            found, curvature = interior(span, risk, tolerance=gap, threads=plan.threads)
            values = span @ found.coefficients + found.offset
        columns = Solution(
            found.method, found.coefficients[:, None], found.offset, found.residual,
            found.gap, found.steps, found.converged, found.seconds,
        )  # fmt: skip
        slopes = -2 * penalty * columns.coefficients
        return Reached(columns, values[:, None], slopes, curvature)

    @property
    def unit(self) -> float:
        if self.loss.targets != "numbers":
            return 1.0
        center = self.weights @ self.targets / self.weights.sum()
        slopes = self.loss.slope(self.targets, np.broadcast_to(center, self.targets.shape))
        steep = float((self.weights @ np.abs(slopes)).sum())
        errors = float((self.weights @ np.abs(self.targets - center)).sum())
        ratio = steep / (2 * errors) if errors > 0 else 1.0
        return float(10.0 ** np.round(np.log10(ratio))) if 0 < ratio < np.inf else 1.0

    def losses(self, values: Reals) -> Reals:
        columns = [
            self.loss.value(self.targets[:, at], values[:, at]) for at in range(values.shape[1])
        ]
        found: Reals = np.sum(columns, axis=0)
        return found

    def elsewhere(self, span: Span, reached: Reached, penalty: float) -> Reals:
        if reached.curvature.ndim == 1:
            return super().elsewhere(span, reached, penalty)
        columns = zip(reached.values.T, reached.slopes.T, reached.curvature.T, strict=True)
        found = [
            left_out(span, *column, penalty, has_offset=self.has_offset) for column in columns
        ]
        return np.column_stack(found)


@dataclass(frozen=True, eq=False)
class Multinomial(Objective):
    """The logistic loss of several classes.

    Attributes:
        hot: A row a point, with a one at its class.
        weights: A positive number a row.
        has_offset: Whether each class has an offset.
    """

    hot: Reals
    weights: Reals
    has_offset: bool

    def reach(
        self, span: Span, penalty: float, start: Reached | None, plan: SolverPlan, gap: float
    ) -> Reached:
        problem = Classes(self.hot, self.weights, penalty, self.has_offset)
        before = None
        if start is not None:
            before = start.solution.coefficients, start.solution.offset
        found = multinomial(span, problem, start=before, tolerance=gap, threads=plan.threads)
        values = span @ found.coefficients + found.offset
        chances = softmax(values, axis=1)
        pull = chances - self.hot
        return Reached(
            found, values, problem.shares * pull, problem.shares[:, 0] * curvature(chances)
        )

    def losses(self, values: Reals) -> Reals:
        found: Reals = logsumexp(values, axis=1) - (self.hot * values).sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """A risk, minimised.

    Attributes:
        solution: Coefficients of the anchors, a column a function, and the evidence.
        anchors: The points that the functions are sums over.
        penalty: The penalty that was given or chosen.
        path: The penalties that were tried, None if one was given.
        left_out: The values on each row from a fit without it, where they were needed.
        plan: What was chosen, and why.
        is_exact: Whether all points are anchors.
    """

    solution: Solution
    anchors: Batch
    penalty: float
    path: Path | None
    left_out: Reals | None
    plan: SolverPlan
    is_exact: bool


@dataclass(eq=False)
class Fitter:
    """Minimises an objective over the functions of a kernel.

    Attributes:
        kernel: The kernel.
        sample: Points and weights.
        objective: What is minimised.
        plan: How to compute.
        chance: Draws the landmarks, where there are any.
    """

    kernel: Kernel
    sample: Sample
    objective: Objective
    plan: Plan
    chance: Any
    chosen: SolverPlan = field(init=False)

    def __post_init__(self) -> None:
        width = feature_width(self.kernel, self.sample.points)
        outputs = self.sample.targets.shape[1]
        self.chosen = choose_convex(self.plan, len(self.sample), outputs, width=width)

    def fit(self, penalties: Any, radius: float | None = None) -> Fitted:
        """The best function for one penalty, or for the best of several.

        Args:
            penalties: One number, several, or None for those that a search tries.
            radius: The largest norm of the function, which then says the penalty.
        """
        space = self._space(self.chosen.method, self.chosen.anchors)
        path: Path | None = None
        start: Reached | None = None
        if radius is not None:
            penalties, start = self._within(space, radius)
        elif penalties is None or np.size(penalties) > 1:
            path, start = self._search(space, penalties)
        penalty = path.best if path is not None else float(np.ravel(penalties)[0])
        reached = self._reach(space.span, penalty, start, self.chosen.tolerance)
        elsewhere = None
        if path is not None:
            elsewhere = self.objective.elsewhere(space.span, reached, penalty)
        found = reached.solution
        solution = Solution(
            found.method, space.of_anchors(found.coefficients), found.offset, found.residual,
            found.gap, found.steps, found.converged, found.seconds,
        )  # fmt: skip
        exact = space.basis is None
        return Fitted(solution, space.anchors, penalty, path, elsewhere, self.chosen, exact)

    def _reach(self, span: Span, penalty: float, start: Reached | None, gap: float) -> Reached:
        plan = replace(self.chosen, threads=self._crew(span))
        return self.objective.reach(span, penalty, start, plan, gap)

    def _crew(self, span: Span) -> int | None:
        """How many threads a factor is worth."""
        return 1 if span.width <= SMALL else self.chosen.threads

    def _within(self, space: Space, radius: float) -> tuple[float, Reached]:
        """The penalty at which the norm of the functions is the radius: it falls as the penalty
        grows. Where even the least penalty does not reach it, that one.
        """
        span, rows = space.span, len(self.sample)
        size = (span.trace / rows or 1.0) * self.objective.unit
        near: list[Reached] = []

        def excess(exponent: float) -> float:
            penalty = float(np.exp(exponent))
            before = near[-1] if near else None
            near.append(self._reach(span, penalty, before, self.chosen.tolerance))
            coefficients = near[-1].solution.coefficients
            squared = float((coefficients * (span @ coefficients)).sum())
            return float(np.log(max(squared, 1e-300)) - 2 * np.log(radius))

        low = high = float(np.log(size / rows))
        while excess(high) > 0:
            high += np.log(10)
        low = high - np.log(10)
        while excess(low) <= 0:
            low -= np.log(10)
            if low < np.log(LOWEST * size):
                return float(np.exp(low + np.log(10))), near[-2]
        found = float(np.exp(brentq(excess, low, high, xtol=1e-9)))
        return found, near[-1]

    def _search(self, space: Space, penalties: Any) -> tuple[Path, Reached]:
        """The penalties with their errors, and what was reached for the best: coefficients of
        the rows, from which the search with all anchors begins too.
        """
        rough = space
        if len(space.span) > SEARCHED and self.chosen.method != "primal":
            rough = self._space("landmarks", min(COARSE, len(self.sample)))
        reached: dict[float, Reached] = {}

        def error(penalty: float) -> float:
            near = min(reached, key=lambda known: abs(np.log(known / penalty)), default=None)
            before = None if near is None else reached[near]
            reached[penalty] = self._reach(rough.span, penalty, before, ROUGH)
            with threadpool_limits(self._crew(rough.span), "blas"):
                values = self.objective.elsewhere(rough.span, reached[penalty], penalty)
            return self.objective.error(values)

        if penalties is None:
            size = rough.span.trace / len(self.sample) * self.objective.unit
            path = walk(error, len(self.sample), size)
        else:
            tried = np.sort(np.asarray(penalties, dtype=np.float64))
            errors = np.array([error(float(one)) for one in tried[::-1]])[::-1]
            path = Path(tried, errors, float(tried[int(np.nanargmin(errors))]))
        return path, reached[path.best]

    def _space(self, method: str, anchors: int) -> Space:
        points, threads = self.sample.points, self.chosen.threads
        if method == "primal":
            rows = np.asarray(self.kernel.feature_map(points), dtype=np.float64)
            return Space(Features(rows), points)
        if method == "landmarks":
            places = subset(len(points), self.chance, anchors)
            chosen = points[places]
            turn = whitening(self.kernel.square(chosen).astype(np.float64))
            rows = self.kernel.block(points, chosen).astype(np.float64) @ turn
            return Space(Features(rows), chosen, turn @ rows.T)
        crew: Any = "auto" if threads is None else threads
        plan = Plan(method="blocked", threads=crew)
        matrix = operator(self.kernel, points, plan=plan).to_dense()
        return Space(Stored(matrix.astype(np.float64, copy=False)), points)
