"""What support vector machines find out from rows held out: a cost, lengths, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.gram.rows import Rows
from mercer.kernels import Kernel
from mercer.plan import Plan
from mercer.problems.duals import Dual
from mercer.selection.dual_tasks import Task
from mercer.selection.folds import interleaved
from mercer.selection.scales import start, subset, tuned
from mercer.selection.svm_path import Data, SVMPath, search
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.smo_start import Start, nearby
from mercer.types import Indices

Reals = NDArray[np.float64]
Solve = Callable[[Dual, Rows, Start | None], DualSolution]

FOLDS = 5
"""The parts that are held out in turn."""

ROWS = 4_000
"""Rows on which costs and lengths are compared; the machine then learns from all."""

POWERS = (-1.0, 0.0, 1.0)
"""Powers of two by which the lengths of an automatic kernel are multiplied."""


def candidates(points: Batch, targets: Reals, weights: Reals, chance: Any) -> list[Kernel]:
    """Kernels that suit the points and the targets: one, with several common factors."""
    found = tuned(points, targets, weights, chance)
    if found is None:
        return [start(points, weights).kernel]
    return [found.times(power) for power in POWERS]


def best_of(
    task: Callable[[Indices], Task],
    points: Batch,
    weights: Reals,
    kernels: Sequence[Kernel],
    costs: Reals,
    codes: Indices | None,
    chance: Any,
    tolerance: float,
    plan: Plan,
) -> SVMPath:
    """The scores of kernels and costs.

    Args:
        task: What is learned from some of the rows.
        points: Distinct points, four or more.
        weights: Their weights.
        kernels: The kernels.
        costs: The costs.
        codes: Their classes, where they have any.
        chance: Draws the rows, where there are many.
        tolerance: That of the solver.
        plan: The memory, and the threads.
    """
    rows = subset(len(points), chance, ROWS)
    folds = interleaved(
        len(rows), min(FOLDS, len(rows) // 2), None if codes is None else codes[rows]
    )
    data = Data(points[rows], np.zeros(len(rows)), weights[rows], folds)
    return search(task(rows), data, kernels, costs, tolerance, plan)


def held_out(
    make: Callable[[Reals], Dual],
    found: DualSolution,
    rows: Rows,
    weights: Reals,
    solve: Solve,
    codes: Indices,
) -> Reals:
    """What functions say of rows that they have not seen: a fold each, near the solution.

    Args:
        make: The problem with these weights, 0 for a row that is held out.
        found: The solution with all.
        rows: The Gram matrix.
        weights: The weights of its rows.
        solve: Solves a problem, from a start.
        codes: The class of each row.
    """
    decisions = np.empty(len(weights))
    for fold in interleaved(len(weights), min(FOLDS, len(weights)), codes):
        dual = make(np.where(fold.train, weights, 0.0))
        solution = solve(dual, rows, nearby(dual, found, rows))
        values = solution.images[fold.test] * solution.scale + solution.offset
        decisions[fold.test] = values
    return decisions
