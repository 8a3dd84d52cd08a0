"""Least squares over a sample: from the kernel and the plan to coefficients and evidence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.domains.samples import Sample
from mercer.errors import NoFeatureMap
from mercer.gram import operator
from mercer.kernels import Kernel
from mercer.loops import dense, pieces
from mercer.machines.assumed import check_assumed
from mercer.plan import Plan
from mercer.problems.risk import LeastSquares
from mercer.selection.penalties import Path, along, leave_one_out, within
from mercer.selection.scales import subset
from mercer.solvers.band import Band
from mercer.solvers.cholesky import cholesky, mixed
from mercer.solvers.choose import (
    EXACT,
    SolverPlan,
    choose_least_squares,
    needed,
    rank_of,
)
from mercer.solvers.conjugate import conjugate, pivoted
from mercer.solvers.landmarks import Landmarks, landmarks, whitening
from mercer.solvers.shifted import Shifted, rounding
from mercer.solvers.solution import Solution
from mercer.solvers.spectral import Spectrum

Reals = NDArray[np.float64]

ENTRIES = 2_000_000
"""Kernel values that a block of rows holds."""

_AT_ONCE = ("spectral", "band", "primal")

TINY = 64
"""Shifts below so many roundings of an eigenvalue are left to eigenvalues."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Least squares, solved.

    Attributes:
        solution: Coefficients, offset, and the evidence.
        anchors: The points that the function is a sum over.
        penalty: The penalty that was given or chosen.
        path: The penalties that were tried, None if one was given.
        spectrum: The eigenvalues, or the band; None where neither was needed.
        shift: The penalty times the sum of the weights.
        plan: What was chosen, and why.
        is_exact: Whether all points are anchors.
    """

    solution: Solution
    anchors: Batch
    penalty: float
    path: Path | None
    spectrum: Shifted | None
    shift: float
    plan: SolverPlan
    is_exact: bool


def fit_least_squares(
    kernel: Kernel,
    sample: Sample,
    penalties: Any,
    *,
    plan: Plan,
    has_offset: bool,
    chance: Any,
    radius: float | None = None,
) -> Fitted:
    """The best function for one penalty, or for the best of several.

    Args:
        kernel: The kernel.
        sample: Points, targets and weights.
        penalties: One number, several, or None for those that span the spectrum.
        plan: How to compute.
        has_offset: Whether a constant is added to the function.
        chance: Draws the landmarks, where there are any.
        radius: The largest norm of the function, which then says the penalty.
    """
    width = feature_width(kernel, sample.points) if plan.method in ("auto", "primal") else None
    outputs = sample.targets.shape[1]
    several = np.size(penalties) > 1
    searched = radius is not None or penalties is None or (not several and penalties == 0)
    many = several or searched
    chosen = choose_least_squares(
        plan, len(sample), outputs, width=width, many_penalties=many,
        given=0 if searched else np.size(penalties),
    )  # fmt: skip
    if chosen.method not in _AT_ONCE:
        check_assumed(kernel, sample.points)
    task = _Task(kernel, sample, plan, has_offset, chance)
    if chosen.method == "band":
        return task.by_band(penalties, chosen)
    if many or chosen.method in _AT_ONCE:
        found = task.by_spectrum(penalties, chosen, radius)
        asked = plan.method != "auto" or plan.anchors != "auto"
        return found if asked or found.path is None else task.on_all(found)
    penalty = float(np.ravel(penalties)[0])
    if chosen.method == "landmarks":
        return task.by_landmarks(penalty, chosen)
    return task.by_products(penalty, chosen)


@dataclass(frozen=True, eq=False)
class _Task:
    """What is to be solved, whichever way."""

    kernel: Kernel
    sample: Sample
    plan: Plan
    has_offset: bool
    chance: Any

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.sample.weights.sum())

    # All penalties at once

    def by_spectrum(self, penalties: Any, chosen: SolverPlan, radius: float | None) -> Fitted:
        """Solve by eigenvalues, of the Gram matrix or of features."""
        began = time.perf_counter()
        sample = self.sample
        anchors = self.anchors(chosen) if chosen.method == "landmarks" else sample.points
        spectrum = self.spectrum(chosen, anchors)
        path = None
        if radius is not None:
            penalty = within(spectrum, sample.targets, radius) / self.total
        elif penalties is None or np.size(penalties) > 1:
            path = leave_one_out(spectrum, sample.targets, penalties)
            penalty = path.best
        else:
            penalty = float(np.ravel(penalties)[0])
        return self.solved(began, chosen, anchors, spectrum, penalty, path)

    def by_band(self, penalties: Any, chosen: SolverPlan) -> Fitted:
        """Solve for penalties that are given, by a band; by eigenvalues if those are tiny."""
        began = time.perf_counter()
        sample = self.sample
        gram = stored(self.kernel, sample, chosen)
        least = float(np.min(penalties)) * self.total
        factor: Shifted
        with threadpool_limits(chosen.threads, "blas"):
            if least < TINY * rounding(gram, sample.weights):
                why = "the least penalty is near rounding, and eigenvalues tell which are zero"
                chosen = chosen.instead("spectral", why, chosen.memory)
                factor = Spectrum.of(gram, sample.weights, has_offset=self.has_offset)
            else:
                factor = Band.of(gram, sample.weights, has_offset=self.has_offset)
            path = along(factor, sample.targets, penalties) if np.size(penalties) > 1 else None
            penalty = float(np.ravel(penalties)[0]) if path is None else path.best
            return self.solved(began, chosen, sample.points, factor, penalty, path)

    def solved(
        self,
        began: float,
        chosen: SolverPlan,
        anchors: Batch,
        spectrum: Shifted,
        penalty: float,
        path: Path | None,
    ) -> Fitted:
        """The solution for the penalty, with its evidence."""
        sample, shift = self.sample, penalty * self.total
        coefficients, offset = spectrum.solve(sample.targets, shift)
        residual = spectrum.residual(sample.targets, coefficients, shift)
        if chosen.method == "landmarks":
            turn = whitening(self.kernel.square(anchors).astype(np.float64))
            coefficients = turn @ (turn.T @ self.pulled(anchors, coefficients, chosen))
        seconds = time.perf_counter() - began
        solution = Solution(chosen.method, coefficients, offset, residual, seconds=seconds)
        exact = chosen.method != "landmarks"
        return Fitted(solution, anchors, penalty, path, spectrum, shift, chosen, exact)

    def spectrum(self, chosen: SolverPlan, anchors: Batch) -> Spectrum:
        """The eigenvalues that the method needs."""
        kernel, sample = self.kernel, self.sample
        if chosen.method == "spectral":
            return spectrum_of(kernel, sample, chosen, has_offset=self.has_offset)
        if chosen.method == "primal":
            features = np.array(kernel.feature_map(sample.points), dtype=np.float64)
        else:
            turn = whitening(kernel.square(anchors).astype(np.float64))
            features = np.empty((len(sample), turn.shape[1]))
            for rows, block in self.blocks(anchors, chosen):
                features[rows] = block @ turn
        return Spectrum.of_features(
            features,
            sample.weights,
            has_offset=self.has_offset,
            white=chosen.method == "landmarks",
            threads=chosen.threads,
        )

    def on_all(self, found: Fitted) -> Fitted:
        """With the penalty that landmarks have chosen, the function over all points: where that
        is possible it predicts far better.
        """
        rows = len(self.sample)
        outputs = self.sample.targets.shape[1]
        chosen = choose_least_squares(
            self.plan, rows, outputs, width=None, many_penalties=False
        )
        if found.is_exact or rows > EXACT or chosen.method == "landmarks":
            return found
        solved = self.by_products(found.penalty, chosen)
        plan = solved.plan
        why = f"{plan.why}; the penalty by leave-one-out over {found.plan.anchors} landmarks"
        memory = max(plan.memory, found.plan.memory)
        return replace(solved, path=found.path, plan=plan.instead(plan.method, why, memory))

    # Landmarks

    def anchors(self, chosen: SolverPlan) -> Batch:
        """The landmarks: distinct rows, drawn without regard to their targets."""
        return self.sample.points[subset(len(self.sample), self.chance, chosen.anchors)]

    def blocks(self, anchors: Batch, chosen: SolverPlan) -> Iterator[tuple[slice, Reals]]:
        """The kernel values between points and landmarks, a few rows at a time."""
        points = self.sample.points
        for start, stop in pieces(len(points), max(ENTRIES // len(anchors), 64)):
            tiles = self.kernel.tiles(points[slice(start, stop)], anchors)
            block = dense(tiles, threads=chosen.threads)
            yield slice(start, stop), block.astype(np.float64, copy=False)

    def pulled(self, anchors: Batch, coefficients: Reals, chosen: SolverPlan) -> Reals:
        """The kernel values between landmarks and points, times coefficients of the points."""
        sums = np.zeros((len(anchors), coefficients.shape[1]))
        for rows, block in self.blocks(anchors, chosen):
            sums += block.T @ coefficients[rows]
        return sums

    def by_landmarks(self, penalty: float, chosen: SolverPlan) -> Fitted:
        """Solve by conjugate gradients over the span of landmarks."""
        anchors, shift = self.anchors(chosen), penalty * self.total
        problem = Landmarks(
            lambda: self.blocks(anchors, chosen),
            self.kernel.square(anchors).astype(np.float64),
            self.sample.targets, self.sample.weights, shift, self.has_offset,
        )  # fmt: skip
        solution = landmarks(problem, tolerance=chosen.tolerance)
        return Fitted(solution, anchors, penalty, None, None, shift, chosen, is_exact=False)

    # One penalty

    def by_products(self, penalty: float, chosen: SolverPlan) -> Fitted:
        """Solve by a triangular factor, or by conjugate gradients."""
        sample, rows = self.sample, len(self.sample)
        needs = needed(rows, sample.targets.shape[1], 0, 0, many_penalties=False)
        # Values that are no function of vectors are dear: they are stored if there is room.
        dear = not isinstance(sample.points, DenseBatch | SparseBatch)
        stored = dear and chosen.memory + 8 * rows * rows <= chosen.budget
        if stored:
            chosen = chosen.instead(chosen.method, chosen.why, chosen.memory + 8 * rows * rows)
        gram = operator(
            self.kernel, sample.points, plan=_storage(chosen, "dense" if stored else "blocked")
        )
        problem = LeastSquares(gram, sample.targets, sample.weights, penalty, self.has_offset)
        found: Solution | None = None
        if chosen.method == "mixed":
            fits = needs["cholesky"] + 8 * rows * rows * stored <= chosen.budget
            found = mixed(
                problem, tolerance=chosen.tolerance, threads=chosen.threads,
                at_any_price=not fits or self.plan.method == "mixed",
            )  # fmt: skip
            if found is None:
                chosen = chosen.instead(
                    "cholesky" if fits else "conjugate",
                    "float32 is too rough for this penalty",
                    needs["cholesky" if fits else "conjugate"] + 8 * rows * rows * stored,
                )
        if chosen.method == "conjugate":
            found = conjugate(problem, self.pivots(problem), tolerance=chosen.tolerance)
        found = found or cholesky(problem, threads=chosen.threads)
        shift = problem.shift
        return Fitted(found, sample.points, penalty, None, None, shift, chosen, is_exact=True)

    def pivots(self, problem: LeastSquares) -> Reals:
        """A partial Cholesky factor of the weighted Gram matrix, for a preconditioner."""
        points, roots = self.sample.points, problem.roots

        def columns(places: NDArray[np.int64]) -> Reals:
            block = self.kernel.block(points, points[places]).astype(np.float64, copy=False)
            weighted: Reals = roots[:, None] * block * roots[places]
            return weighted

        own = problem.weights * problem.gram.diagonal()
        rank = rank_of(len(roots))
        return pivoted(own, columns, rank, chance=self.chance, enough=problem.shift)[1]


def spectrum_of(
    kernel: Kernel, sample: Sample, chosen: SolverPlan, *, has_offset: bool
) -> Spectrum:
    """All eigenvalues of the Gram matrix."""
    return Spectrum.of(
        stored(kernel, sample, chosen),
        sample.weights,
        has_offset=has_offset,
        threads=chosen.threads,
    )


def stored(kernel: Kernel, sample: Sample, chosen: SolverPlan) -> Reals:
    """The Gram matrix, to be overwritten."""
    gram = operator(kernel, sample.points, plan=_storage(chosen, "blocked"))
    matrix: Reals = gram.to_dense(np.float64).astype(np.float64, copy=False)
    return matrix


def feature_width(kernel: Kernel, points: Batch) -> int | None:
    """How many features an explicit map has; None where there is none."""
    try:
        return int(kernel.feature_map(points[slice(0, 1)]).shape[1])
    except NoFeatureMap:
        return None


def _storage(chosen: SolverPlan, method: str) -> Plan:
    threads: Any = "auto" if chosen.threads is None else chosen.threads
    return Plan(
        method=method, threads=threads, tolerance=chosen.tolerance, memory=chosen.budget
    )
