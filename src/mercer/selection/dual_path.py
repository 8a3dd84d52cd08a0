r"""Many support vector problems over few Gram matrices: all kernels, all costs, and all folds.

A fold is a box: what is held out has the bound 0, so the matrix stays what it is, and the
images K b that the solver keeps are the scores of the rows held out. Costs are taken in
ascending order. A solution for one cost is feasible for a larger one, and so is its multiple
by any t up to the ratio of the two; the best of them, by the objective, is where the next
search begins. The images are multiplied likewise, so that costs nothing.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.gram.rows import Rows
from mercer.gram.shared import SharedRows, is_sharp
from mercer.kernels import Kernel
from mercer.loops import available, run
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

    def decisions(self, take: Callable[[int, int, int, Reals], None]) -> None:
        """Solve all, and hand over what the functions say of the rows held out.

        Args:
            take: Is called with a kernel, a problem and a fold, all by number, and the values
                f(x) + b: a row a cost, a column a row held out. Several threads may call it.
        """
        crew = self.plan.crew() or available()
        tasks = self._tasks()
        grams = _Grams(self, tasks, crew)
        lots = [tasks]
        if not grams.several:
            lots = [[task for task in tasks if task[0] == k] for k in range(len(self.kernels))]

        def work(task: Task, _: None) -> None:
            kernel, problem, folds = task
            with grams.use(kernel) as gram:
                rows = gram.of(self.problems[problem].places)
                for fold in folds:
                    take(kernel, problem, fold, self._held_out(problem, fold, rows, gram))

        # The solver holds BLAS to one thread for a while and lets it go, which two threads
        # must not do in turns: it is held here until all have ended.
        with threadpool_limits(1, "blas"):
            for lot in lots:
                run(work, lot, crew if grams.fit else 1, lambda: None)

    def _tasks(self) -> list[Task]:
        """A task reads one part of one matrix; a copy of it serves all folds."""
        every = list(range(len(self.folds)))
        shares = [[fold] for fold in every] if len(self.problems) == 1 else [every]
        return [
            (kernel, problem, share)
            for kernel in range(len(self.kernels))
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

    def __init__(self, shared: SharedRows, own: Plan) -> None:
        self._shared, self._own = shared, own

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


class _Grams:
    """The Gram matrices, each made when it is first asked for and dropped after its last task.

    Attributes:
        fit: Whether one is kept whole, so that several threads may read it.
        several: Whether those of several kernels may be there at a time.
    """

    def __init__(self, grid: Grid, tasks: list[Task], crew: int) -> None:
        self._grid = grid
        self._sharp = is_sharp(len(grid.points), grid.plan)
        size = (8 if self._sharp else 4) * len(grid.points) ** 2
        self._budget = grid.plan.budget()
        self.fit = size <= self._budget
        self.several = (crew + 1) * size <= self._budget
        self._threads = 1 if self.fit and self.several else crew
        self._left = Counter(kernel for kernel, _, _ in tasks)
        self._there: dict[int, _Gram] = {}
        self._lock = threading.Lock()

    @contextmanager
    def use(self, kernel: int) -> Iterator[_Gram]:
        """The matrix of a kernel, for one task."""
        with self._lock:
            if kernel not in self._there:
                self._there[kernel] = self._made(self._grid.kernels[kernel])
            gram = self._there[kernel]
        yield gram
        with self._lock:
            self._left[kernel] -= 1
            if not self._left[kernel]:
                del self._there[kernel]

    def _made(self, kernel: Kernel) -> _Gram:
        plan = Plan(
            memory=self._budget, threads=self._threads, precision=self._grid.plan.precision
        )
        shared = SharedRows(kernel, self._grid.points, plan, sharp=self._sharp, lasting=True)
        own = Plan(
            memory=self._budget,
            threads=1 if self.fit else self._threads,
            precision=plan.precision,
        )
        return _Gram(shared, own)
