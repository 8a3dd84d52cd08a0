r"""Many support vector problems over few Gram matrices: all kernels, all costs, and all folds.

A fold is a box: what is held out has the bound 0, so the matrix stays what it is, and the
images K b that the solver keeps are the scores of the rows held out. Costs are taken in
ascending order. A solution for one cost is feasible for a larger one, and so is its multiple
by any t up to the ratio of the two; the best of them, by the objective, is where the next
search begins. The images are multiplied likewise, so that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.gram.rows import Rows
from mercer.gram.shared import SharedRows, is_sharp
from mercer.kernels import Kernel
from mercer.loops import available, pieces, run
from mercer.plan import Plan
from mercer.problems.duals import Dual
from mercer.selection.folds import Fold
from mercer.solvers.smo import smo
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.smo_start import onwards
from mercer.types import Indices

Reals = NDArray[np.float64]
Make = Callable[[float, Reals], Dual]
Task = tuple[int, int, list[int]]
Take = Callable[[int, int, int, Reals], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem for each cost and fold, over some of the rows.

    Attributes:
        places: The rows, None for all.
        make: The dual for a cost and for the weights of its rows, 0 for what is held out.
    """

    places: Indices | None
    make: Make


@dataclass(frozen=True, eq=False)
class Grid:
    """What is to be solved: each problem with each kernel, cost and fold.

    Attributes:
        points: The points.
        weights: Their weights.
        problems: The problems: one, or one a pair of classes.
        kernels: The kernels.
        costs: The costs, ascending.
        folds: The folds.
        tolerance: That of the solver.
        plan: The memory, and the threads.
    """

    points: Batch
    weights: Reals
    problems: list[Problem]
    kernels: list[Kernel]
    costs: Reals
    folds: list[Fold]
    tolerance: float
    plan: Plan

    def decisions(self, take: Take) -> None:
        """Solve all, and hand over what the functions say of the rows held out.

        Args:
            take: Is called with a kernel, a problem and a fold, all by number, and the values
                f(x) + b: a row a cost, a column a row held out. Several threads may call it.
        """
        crew = self.plan.crew() or available()
        size = (8 if is_sharp(len(self.points), self.plan) else 4) * len(self.points) ** 2
        budget = self.plan.budget()
        # Room for one is left for parts of them.
        several = max(1, budget // size - 1)
        # The solver holds BLAS to one thread for a while and lets it go, which two threads
        # must not do in turns: it is held here until all have ended.
        with threadpool_limits(1, "blas"):
            for first, end in pieces(len(self.kernels), several):
                self._solve(range(first, end), budget // (end - first), crew, size, take)

    def _solve(self, kernels: range, budget: int, crew: int, size: int, take: Take) -> None:
        """Solve all with some kernels, whose matrices are there at a time."""
        readers = 1 if size <= budget else crew
        grams = {at: _Gram(self, self.kernels[at], budget, crew, readers) for at in kernels}

        def work(task: Task, _: None) -> None:
            kernel, problem, folds = task
            gram = grams[kernel]
            rows = gram.of(self.problems[problem].places)
            for fold in folds:
                take(kernel, problem, fold, self._held_out(problem, fold, rows, gram))

        run(work, self._tasks(kernels), crew // readers, lambda: None)

    def _tasks(self, kernels: range) -> list[Task]:
        """A task reads one part of one matrix; a copy of it serves all folds."""
        every = list(range(len(self.folds)))
        shares = [[fold] for fold in every] if len(self.problems) == 1 else [every]
        return [
            (kernel, problem, share)
            for kernel in kernels
            for problem in range(len(self.problems))
            for share in shares
        ]

    def _held_out(self, problem: int, fold: int, rows: Rows, gram: _Gram) -> Reals:
        """The values for the rows that a fold holds out, a row a cost."""
        asked, places = self.folds[fold].test, self.problems[problem].places
        found = np.empty((len(self.costs), len(asked)))
        solutions = along(
            self.problems[problem], rows, self.folds[fold], self.costs, self.weights,
            self.tolerance,
        )  # fmt: skip
        for at, solution in enumerate(solutions):
            if places is None:
                values = solution.images[asked] * solution.scale
            else:
                values = gram.values(places, solution.coefficients)[asked]
            found[at] = values + solution.offset
        return found


def along(
    problem: Problem, rows: Rows, fold: Fold, costs: Reals, weights: Reals, tolerance: float
) -> Iterator[DualSolution]:
    """The solutions for ascending costs, without the rows that a fold holds out."""
    bounds = np.where(fold.train, weights, 0.0)
    if problem.places is not None:
        bounds = bounds[problem.places]
    before, last = None, 0.0
    for cost in costs.tolist():
        dual = problem.make(cost, bounds)
        start = None if before is None else onwards(dual, before, cost / last, rows)
        before, last = smo(dual, rows, tolerance=tolerance, start=start), cost
        yield before


class _Gram:
    """The Gram matrix of one kernel, whole or as far as the memory goes."""

    def __init__(
        self, grid: Grid, kernel: Kernel, budget: int, crew: int, readers: int
    ) -> None:
        precision = grid.plan.precision
        self._shared = SharedRows(
            kernel,
            grid.points,
            Plan(memory=budget, threads=crew, precision=precision),
            sharp=is_sharp(len(grid.points), grid.plan),
            lasting=True,
        )
        self._own = Plan(memory=budget, threads=readers, precision=precision)

    def of(self, places: Indices | None) -> Rows:
        """The rows and columns of some points, or of all, for one thread."""
        if places is not None:
            return self._shared.part(places, self._own)
        if not self._shared.is_whole:
            return self._shared
        return self._shared.part(np.arange(self._shared.size), self._own)

    def values(self, places: Indices, coefficients: Reals) -> Reals:
        """The function with these coefficients, at all points."""
        out = np.zeros(self._shared.size)
        support = np.flatnonzero(coefficients)
        self.of(None).add(places[support], coefficients[support], out)
        return out
