"""Several classes: a problem for each pair of them, or for each against the rest."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.gram.rows import Rows
from mercer.gram.shared import SharedRows
from mercer.kernels import Kernel
from mercer.loops import available, run
from mercer.plan import Plan
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.solution import Solution
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

SMALL = 500
"""Rows below which threads for the pairs would cost more than they save."""


Problem = tuple[Indices, Reals]
"""The rows of a problem of two classes, and a sign for each."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The solutions of several problems of two classes.

    Attributes:
        coefficients: A row a point, a column a problem.
        offsets: One a problem.
        steps: The pairs of variables that each has moved.
        evidence: That of the worst.
    """

    coefficients: Reals
    offsets: Reals
    steps: NDArray[np.int32]
    evidence: Solution


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in scikit-learn's order."""
    return list(combinations(range(classes), 2))


def problems_of(codes: Indices, *, rest: bool) -> list[Problem]:
    """The problems of two classes that tell all classes apart.

    Two classes are one problem, where 1 is the sign of the second. More are a problem for
    each pair, where 1 is the sign of the first, or for each class against the rest.

    Args:
        codes: The class of each row.
        rest: Whether each class is told from the rest.

    Example:
        >>> [places.tolist() for places, _ in problems_of(np.array([0, 1, 2]), rest=False)]
        [[0, 1], [0, 2], [1, 2]]
    """
    classes, every = int(codes.max()) + 1, np.arange(len(codes))
    if classes == 2:
        return [(every, np.where(codes == 1, 1.0, -1.0))]
    if rest:
        return [(every, np.where(codes == own, 1.0, -1.0)) for own in range(classes)]
    found = []
    for first, second in pairs_of(classes):
        places = np.flatnonzero((codes == first) | (codes == second))
        found.append((places, np.where(codes[places] == first, 1.0, -1.0)))
    return found


def solve_pairs(
    kernel: Kernel,
    points: Batch,
    problems: list[Problem],
    solve: Callable[[Indices, Reals, Rows], DualSolution],
    plan: Plan,
    *,
    sharp: bool,
) -> Pairs:
    """Solve several problems of two classes, over rows of one Gram matrix.

    Args:
        kernel: The kernel.
        points: The distinct points of all classes.
        problems: The rows of each problem, and their signs.
        solve: Solves the problem of these rows and signs.
        plan: The memory, and the threads.
        sharp: Whether kernel values are kept in float64.
    """
    tiles = kernel.tiles(points[:1], points[:1])
    crew = plan.crew() or available()
    crew = 1 if tiles.serial or len(points) < SMALL else min(crew, len(problems))
    shared = SharedRows(kernel, points, plan, sharp=sharp)
    own = Plan(memory=max(1, plan.budget() // crew), threads=1, precision=plan.precision)
    found: dict[int, DualSolution] = {}

    def work(problem: int, _: None) -> None:
        places, signs = problems[problem]
        found[problem] = solve(places, signs, _part(shared, places, own))

    # The solver holds BLAS to one thread for a while and lets it go, which two threads must
    # not do in turns: it is held here until all have ended.
    with threadpool_limits(1, "blas"):
        run(work, range(len(problems)), crew, lambda: None)
    places = [places for places, _ in problems]
    return _gathered(places, [found[one] for one in range(len(problems))], len(points))


def _part(shared: SharedRows, places: Indices, own: Plan) -> Rows:
    """The rows of one problem."""
    if len(places) < shared.size or not shared.is_whole:
        return shared.part(places, own)
    # A matrix that is whole is only read from now on: all problems read the same one.
    rows = copy(shared)
    rows.threads = own.crew() or 1
    return rows


def _gathered(places: list[Indices], solutions: list[DualSolution], rows: int) -> Pairs:
    coefficients = np.zeros((rows, len(solutions)))
    for column, (mine, solution) in enumerate(zip(places, solutions, strict=True)):
        coefficients[mine, column] = solution.coefficients
    offsets = np.concatenate([solution.offset for solution in solutions])
    evidence = Solution(
        "smo",
        coefficients,
        offsets,
        max(solution.residual for solution in solutions),
        max(float(solution.gap or 0.0) for solution in solutions),
        sum(solution.steps for solution in solutions),
        all(solution.converged for solution in solutions),
        sum(solution.seconds for solution in solutions),
    )
    steps = np.array([solution.steps for solution in solutions], np.int32)
    return Pairs(coefficients, offsets, steps, evidence)


def votes(values: Reals, classes: int) -> Reals:
    """How many pairs each class wins: a row a point, a column a class."""
    found = np.zeros((len(values), classes))
    for column, (first, second) in enumerate(pairs_of(classes)):
        wins = values[:, column] > 0
        found[:, first] += wins
        found[:, second] += ~wins
    return found


def against_rest(values: Reals, classes: int) -> Reals:
    """A number a class: its votes, and less than one for how sure the pairs are."""
    sure = np.zeros((len(values), classes))
    for column, (first, second) in enumerate(pairs_of(classes)):
        sure[:, first] += values[:, column]
        sure[:, second] -= values[:, column]
    # A decision that is even counts for the first class, as scikit-learn has it here.
    won = votes(np.where(values == 0, 1.0, values), classes)
    decided: Reals = won + sure / (3 * (np.abs(sure) + 1))
    return decided


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
