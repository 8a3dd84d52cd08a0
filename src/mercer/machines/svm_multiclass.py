"""Several classes: a problem for each pair of them, or for each against the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.gram.features import FeatureRows
from mercer.gram.rows import Rows
from mercer.gram.shared import SharedRows
from mercer.kernels import Kernel
from mercer.loops import available, run
from mercer.plan import Plan
from mercer.problems.pairs import Problem, pairs_of
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.solution import Solution
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

SMALL = 500
"""Rows below which threads for the pairs would cost more than they save."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The solutions of several problems of two classes.

    Attributes:
        coefficients: A row a point, a column a problem.
        offsets: One a problem.
        steps: The pairs of variables that each has moved.
        evidence: That of the worst.
        weights: A row a feature, a column a pair, where features stood for the points.
    """

    coefficients: Reals
    offsets: Reals
    steps: NDArray[np.int32]
    evidence: Solution
    weights: Reals | None


def solve_pairs(
    kernel: Kernel,
    points: Batch,
    problems: list[Problem],
    solve: Callable[[int, Rows], DualSolution],
    plan: Plan,
    *,
    sharp: bool,
    features: FeatureRows | None = None,
) -> Pairs:
    """Solve several problems of two classes, over rows of one Gram matrix.

    Args:
        kernel: The kernel.
        points: The distinct points of all classes.
        problems: The rows of each problem, and their signs.
        solve: Solves the problem of this number, over its rows.
        plan: The memory, and the threads.
        sharp: Whether kernel values are kept in float64.
        features: Features that stand for all points, instead of kernel values.
    """
    tiles = kernel.tiles(points[:1], points[:1])
    crew = plan.crew() or available()
    crew = 1 if tiles.serial or len(points) < SMALL else min(crew, len(problems))
    shared = SharedRows(kernel, points, plan, sharp=sharp) if features is None else features
    own = Plan(memory=max(1, plan.budget() // crew), threads=1, precision=plan.precision)
    found: dict[int, DualSolution] = {}

    def work(problem: int, _: None) -> None:
        found[problem] = solve(problem, shared.part(problems[problem][0], own))

    # The solver holds BLAS to one thread for a while and lets it go, which two threads must
    # not do in turns: it is held here until all have ended.
    with threadpool_limits(1, "blas"):
        run(work, range(len(problems)), crew, lambda: None)
    places = [places for places, _ in problems]
    return _gathered(places, [found[one] for one in range(len(problems))], len(points))


def _gathered(places: list[Indices], solutions: list[DualSolution], rows: int) -> Pairs:
    coefficients = np.zeros((rows, len(solutions)))
    for column, (mine, solution) in enumerate(zip(places, solutions, strict=True)):
        coefficients[mine, column] = solution.coefficients
    offsets = np.concatenate([solution.offset for solution in solutions])
    evidence = Solution(
        solutions[0].method,
        coefficients,
        offsets,
        max(solution.residual for solution in solutions),
        max(float(solution.gap or 0.0) for solution in solutions),
        sum(solution.steps for solution in solutions),
        all(solution.converged for solution in solutions),
        sum(solution.seconds for solution in solutions),
        solutions[0].approximation,
    )
    seen = [solution.weights for solution in solutions if solution.weights is not None]
    weights = np.column_stack(seen) if seen else None
    steps = np.array([solution.steps for solution in solutions], np.int32)
    return Pairs(coefficients, offsets, steps, evidence, weights)


def told_by_class(coefficients: Array, codes: Indices, classes: int) -> Reals:
    """Coefficients in scikit-learn's form: for each row those against the other classes.

    Args:
        coefficients: A row a support vector, a column a pair.
        codes: The class of each.
        classes: How many there are.
    """
    found = np.zeros((classes - 1, len(codes)))
    for column, (first, second) in enumerate(pairs_of(classes)):
        one, other = codes == first, codes == second
        found[second - 1, one] = coefficients[one, column]
        found[first, other] = coefficients[other, column]
    return found
