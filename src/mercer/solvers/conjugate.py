r"""Conjugate gradients, preconditioned by a Cholesky factor of a few pivots; nothing is stored.

After t steps the error, in the norm of the matrix, is at most
$2 (\frac{\sqrt\kappa - 1}{\sqrt\kappa + 1})^t$ times the first one, where $\kappa$ is the
condition number after preconditioning. For $A = K + \mu$ the preconditioner is
$F F^\top + \mu$, where the k columns of F come from k pivots: it takes the large eigenvalues
away, and $\kappa$ is at most one plus the trace of what is left over $\mu$.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from mercer.errors import NotPositiveDefinite
from mercer.problems.risk import LeastSquares
from mercer.solvers.solution import Solution
from mercer.types import Indices

Reals = NDArray[np.float64]
Apply = Callable[[Reals], Reals]
Watch = Callable[[int, float], None]

STEPS = 1_000
"""Steps after which it gives up, and says so."""

LOT = 64
"""Pivots that are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Iterated:
    """Where conjugate gradients ended.

    Attributes:
        solution: A column a right-hand side.
        offset: What multiplies the vector `along`, for each column; else zero.
        steps: How many products there were.
        converged: Whether all columns reached the tolerance.
    """

    solution: Reals
    offset: Reals
    steps: int
    converged: bool


def conjugate_gradients(
    apply: Apply,
    right: Reals,
    precondition: Apply,
    *,
    tolerance: float,
    steps: int = STEPS,
    along: Reals | None = None,
    watch: Watch | None = None,
) -> Iterated:
    r"""Solve $A x + b z = r$ with $z^\top x = 0$, for every column r; or $A x = r$ without z.

    Args:
        apply: Multiplies columns by the positive definite matrix A.
        right: The right-hand sides, a column each.
        precondition: Multiplies columns by an approximation of the inverse of A.
        tolerance: The residual to reach, relative to each column without its part along z.
        steps: The most steps.
        along: The vector z, which for kernel machines stands for the offset.
        watch: Is told each step and the largest relative residual.

    Raises:
        NotPositiveDefinite: A direction has no positive curvature.
    """
    better, part = _projections(precondition, along)
    solution, offset = np.zeros_like(right), part(right)
    # What lies along z is taken out at once, or it would drown the inner products.
    rest = right - (0.0 if along is None else np.multiply.outer(along, offset))
    direction, energy = np.zeros_like(right), np.ones(right.shape[1])
    size = np.linalg.norm(rest, axis=0)
    goal, first = tolerance * size, np.where(size > 0, size, 1.0)
    step = 0
    while True:
        active = np.flatnonzero(size > goal)
        if watch is not None:
            watch(step, float((size / first).max(initial=0.0)))
        if not active.size or step == steps:
            break
        step += 1
        turned = better(rest[:, active])
        fresh = _products(rest[:, active], turned)
        ratio = fresh / energy[active] if step > 1 else 0.0
        way = turned + ratio * direction[:, active]
        image = apply(way)
        curvature = _products(way, image)
        if not ((curvature > 0).all() and (fresh > 0).all()):
            raise NotPositiveDefinite(
                _INDEFINITE.format(
                    step=step, curvature=float(min(curvature.min(), fresh.min()))
                )
            )
        length = fresh / curvature
        solution[:, active] += length * way
        rest[:, active] -= length * image
        if along is not None:
            moved = part(rest[:, active])
            offset[active] += moved
            rest[:, active] -= np.multiply.outer(along, moved)
        direction[:, active], energy[active] = way, fresh
        size = np.linalg.norm(rest, axis=0)
    return Iterated(solution, offset, step, not bool((size > goal).any()))


def _projections(precondition: Apply, along: Reals | None) -> tuple[Apply, Apply]:
    """The preconditioner on what is orthogonal to `along`; and what multiplies `along` in each
    column.
    """
    if along is None:
        return precondition, lambda columns: np.zeros(columns.shape[1])
    dual = precondition(along[:, None])[:, 0]
    scale, square = float(along @ dual), float(along @ along)

    def better(columns: Reals) -> Reals:
        found = precondition(columns)
        return found - np.multiply.outer(dual, along @ found / scale)

    def part(columns: Reals) -> Reals:
        found: Reals = along @ columns / square
        return found

    return better, part


def _products(left: Reals, right: Reals) -> Reals:
    """The inner product of each column with its partner."""
    found: Reals = np.einsum("it,it->t", left, right)
    return found


_INDEFINITE = (
    "conjugate gradients met a direction of curvature {curvature:.2e} at step {step}: the "
    "matrix is not positive definite, or its penalty is lost in rounding.\nRaise the penalty, "
    "or ask mercer.testing.check_kernel(k, X) whether the kernel is positive definite."
)


def pivoted(
    diagonal: Reals,
    columns: Callable[[Indices], Reals],
    rank: int,
    *,
    chance: Any = None,
    enough: float = 0.0,
) -> tuple[Indices, Reals]:
    """A partial Cholesky factor F of a p.s.d. matrix, from a few of its columns.

    Args:
        diagonal: The diagonal of the matrix.
        columns: Tells the columns at some places.
        rank: The most pivots.
        chance: Draws each pivot with probability proportional to what is left of the diagonal;
            without it each is the place where most is left.
        enough: Stop when what is left of the trace is no more than this.

    Returns:
        The pivots, and F with the matrix nearly F F'; exact in the columns of the pivots.
    """
    left = np.maximum(diagonal.astype(np.float64), 0.0)
    # What is left of an entry is a difference: below this it is rounding.
    floor = 4 * len(left) * np.finfo(np.float64).eps * float(left.max(initial=0.0))
    factor = np.empty((len(left), min(rank, len(left))), order="F")
    pivots: list[int] = []
    while len(pivots) < factor.shape[1] and float(left.sum()) > enough:
        places = _drawn(left, floor, factor.shape[1] - len(pivots), chance)
        if not places.size:
            break
        done = len(pivots)
        block = columns(places) - factor[:, :done] @ factor[places, :done].T
        lower, order, count, _ = lapack.dpstrf(block[places], tol=floor, lower=1)
        chosen = order[:count] - 1  # pivots count from 1
        if not count:
            left[places] = 0.0
            continue
        corner = lower[:count, :count]
        fresh = solve_triangular(corner, block[:, chosen].T, lower=True, check_finite=False).T
        factor[:, done : done + count] = fresh
        left = np.maximum(left - np.einsum("ij,ij->i", fresh, fresh), 0.0)
        left[places] = 0.0
        pivots.extend(places[chosen].tolist())
    return np.array(pivots, dtype=np.int64), factor[:, : len(pivots)]


def _drawn(left: Reals, floor: float, room: int, chance: Any) -> Indices:
    """The next pivots, none of which is rounding."""
    found = np.where(left > floor, left, 0.0)
    there = int(np.count_nonzero(found))
    if not there:
        return np.zeros(0, dtype=np.int64)
    if chance is None:
        return np.array([np.argmax(found)], dtype=np.int64)
    count = min(LOT, room, there)
    drawn: Indices = chance.choice(len(left), count, replace=False, p=found / found.sum())
    return drawn.astype(np.int64)


def inverse_of(factor: Reals, shift: float) -> Apply:
    """What multiplies by the inverse of F F' + shift (Woodbury)."""
    inner = factor.T @ factor
    inner[np.diag_indices_from(inner)] += shift
    root = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def apply(columns: Reals) -> Reals:
        pulled = cho_solve(root, factor.T @ columns, check_finite=False)
        found: Reals = (columns - factor @ pulled) / shift
        return found

    return apply


def conjugate(
    problem: LeastSquares,
    factor: Reals,
    *,
    tolerance: float = 1e-8,
    watch: Watch | None = None,
) -> Solution:
    """Least squares with all points as anchors, and products with a Gram matrix only.

    Args:
        problem: The problem; its penalty is positive.
        factor: A partial Cholesky factor of the weighted Gram matrix, from `pivoted`.
        tolerance: The relative residual to reach.
        watch: Is told each step and the relative residual.
    """
    began = time.perf_counter()
    found = conjugate_gradients(
        problem.apply,
        problem.right,
        inverse_of(factor, problem.shift),
        tolerance=tolerance / 2,  # the residual that is updated drifts from the true one
        along=problem.roots if problem.has_offset else None,
        watch=watch,
    )
    coefficients, offset = problem.unscaled(found.solution, found.offset)
    residual = problem.residual(coefficients, offset)
    seconds = time.perf_counter() - began
    return Solution(
        "conjugate", coefficients, offset, residual, steps=found.steps,
        converged=residual <= tolerance, seconds=seconds,
    )  # fmt: skip
