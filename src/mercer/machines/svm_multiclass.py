"""One machine for each pair of classes, and what they decide together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

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
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.solution import Solution
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

SMALL = 500
"""Rows below which threads for the pairs would cost more than they save."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The solutions of all pairs of classes.

    Attributes:
        coefficients: A row a point, a column a pair.
        offsets: One a pair.
        steps: The pairs of variables that each has moved.
        evidence: That of the worst.
        weights: A row a feature, a column a pair, where features stood for the points.
    """

    coefficients: Reals
    offsets: Reals
    steps: NDArray[np.int32]
    evidence: Solution
    weights: Reals | None


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in scikit-learn's order."""
    return list(combinations(range(classes), 2))


def solve_pairs(
    kernel: Kernel,
    points: Batch,
    codes: Indices,
    solve: Callable[[Indices, Reals, Rows], DualSolution],
    plan: Plan,
    *,
    sharp: bool,
    features: FeatureRows | None = None,
) -> Pairs:
    """Solve the problem of each pair of classes, over rows of one Gram matrix.

    Args:
        kernel: The kernel.
        points: The distinct points of all classes.
        codes: The class of each.
        solve: Solves the problem of these rows, with a sign each: 1 in the first class.
        plan: The memory, and the threads.
        sharp: Whether kernel values are kept in float64.
        features: Features that stand for all points, instead of kernel values.
    """
    pairs = pairs_of(int(codes.max()) + 1)
    tiles = kernel.tiles(points[:1], points[:1])
    crew = plan.crew() or available()
    crew = 1 if tiles.serial or len(points) < SMALL else min(crew, len(pairs))
    shared = SharedRows(kernel, points, plan, sharp=sharp) if features is None else features
    own = Plan(memory=max(1, plan.budget() // crew), threads=1, precision=plan.precision)
    found: dict[int, tuple[Indices, DualSolution]] = {}

    def work(pair: int, _: None) -> None:
        first, second = pairs[pair]
        places = np.flatnonzero((codes == first) | (codes == second))
        rows = shared.part(places, own)
        signs = np.where(codes[places] == first, 1.0, -1.0)
        found[pair] = places, solve(places, signs, rows)

    # The solver holds BLAS to one thread for a while and lets it go, which two threads must
    # not do in turns: it is held here until all have ended.
    with threadpool_limits(1, "blas"):
        run(work, range(len(pairs)), crew, lambda: None)
    return _gathered([found[pair] for pair in range(len(pairs))], len(points))


def _gathered(found: list[tuple[Indices, DualSolution]], rows: int) -> Pairs:
    coefficients = np.zeros((rows, len(found)))
    for column, (places, solution) in enumerate(found):
        coefficients[places, column] = solution.coefficients
    solutions = [solution for _, solution in found]
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
