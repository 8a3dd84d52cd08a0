r"""Least squares by one triangular factor, for one penalty.

In weighted coordinates the matrix is $A = S K S + \mu$ with $S = \operatorname{diag}(\sqrt w)$.
With an offset the equations have one more unknown and one more row, which costs one more
right-hand side.

A factor in float32 costs half the time and half the memory. It is used to precondition
conjugate gradients on the exact matrix, a few steps of which give every digit, as long as
its rounding stays below the smallest eigenvalue. Otherwise the factor is in float64.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mercer.errors import NotPositiveDefinite
from mercer.problems.risk import LeastSquares
from mercer.solvers.solution import Solution

Reals = NDArray[np.float64]

MIXED = 1_500
"""Rows from which a factor in float32 pays."""

STEPS = 30
"""Steps of refinement before the factor counts as too rough."""

ROWS = 256
"""Rows that are scaled at a time."""


def cholesky(problem: LeastSquares, *, threads: int | None = None) -> Solution:
    """Solve with a factor in float64, in place: the memory of one matrix.

    Raises:
        NotPositiveDefinite: The matrix has no factor.
    """
    start = time.perf_counter()
    matrix = problem.gram.to_dense().astype(np.float64, copy=False)
    _shift(matrix, problem.roots, problem.shift)
    with threadpool_limits(threads, "blas"):
        factor = _factor(matrix, problem)

        def solve(right: Reals) -> Reals:
            found: Reals = lapack.dpotrs(factor, right, lower=1)[0]
            return found

        scaled = solve(_right(problem))
    coefficients, offset = _unscaled(problem, scaled)
    residual = problem.residual(coefficients, offset)
    seconds = time.perf_counter() - start
    return Solution("cholesky", coefficients, offset, residual, seconds=seconds)


def mixed(
    problem: LeastSquares,
    rough: Callable[[], NDArray[np.float32]],
    *,
    tolerance: float = 1e-8,
    threads: int | None = None,
) -> Solution | None:
    """Solve with a factor in float32 and conjugate gradients in float64.

    Args:
        problem: The problem, whose Gram matrix is multiplied by and not stored.
        rough: Makes the Gram matrix in float32, which is overwritten.
        tolerance: The relative residual to reach.
        threads: How many threads the factor takes.

    Returns:
        The solution; None where float32 is too rough for this matrix.
    """
    start = time.perf_counter()
    matrix = rough()
    _shift(matrix, problem.roots.astype(np.float32), problem.shift)
    with threadpool_limits(threads, "blas"):
        factor, failed = lapack.spotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None

    def precondition(rest: Reals) -> Reals:
        size = float(np.abs(rest).max()) or 1.0
        with threadpool_limits(threads, "blas"):
            found = lapack.spotrs(factor, (rest / size).astype(np.float32), lower=1)[0]
        better: Reals = found.astype(np.float64) * size
        return better

    roots = problem.roots[:, None]

    def apply(vectors: Reals) -> Reals:
        image: Reals = problem.gram @ (roots * vectors)
        return roots * image + problem.shift * vectors

    right = _right(problem)
    scaled, steps = _conjugate(apply, right, precondition, tolerance / 4)
    if scaled is None:
        return None
    coefficients, offset = _unscaled(problem, scaled)
    residual = problem.residual(coefficients, offset)
    if residual > tolerance:
        return None
    seconds = time.perf_counter() - start
    return Solution("mixed", coefficients, offset, residual, steps=steps, seconds=seconds)


def _conjugate(
    apply: Callable[[Reals], Reals],
    right: Reals,
    precondition: Callable[[Reals], Reals],
    tolerance: float,
) -> tuple[Reals | None, int]:
    """Conjugate gradients for every column at once; None where they do not get there."""
    solution = np.zeros_like(right)
    rest = right.copy()
    goal = tolerance * np.linalg.norm(right, axis=0)
    direction = precondition(rest)
    energy = np.einsum("it,it->t", rest, direction)
    for step in range(1, STEPS + 1):
        image = apply(direction)
        curvature = np.einsum("it,it->t", direction, image)
        active = np.linalg.norm(rest, axis=0) > goal
        if not (curvature[active] > 0).all() or not (energy[active] > 0).all():
            return None, step
        length = np.divide(energy, curvature, out=np.zeros_like(energy), where=active)
        solution += length * direction
        rest -= length * image
        if (np.linalg.norm(rest, axis=0) <= goal).all():
            return solution, step
        better = precondition(rest)
        fresh = np.einsum("it,it->t", rest, better)
        ratio = np.divide(fresh, energy, out=np.zeros_like(energy), where=active)
        energy = fresh
        direction = better + ratio * direction
    return None, STEPS


def _right(problem: LeastSquares) -> Reals:
    """The weighted targets, and with an offset the roots of the weights as one more column."""
    targets = problem.roots[:, None] * problem.targets
    if not problem.has_offset:
        return np.asfortranarray(targets)
    return np.asfortranarray(np.column_stack([targets, problem.roots]))


def _unscaled(problem: LeastSquares, scaled: Reals) -> tuple[Reals, Reals]:
    """The coefficients, orthogonal to the constant if there is an offset, and the offset."""
    offset = np.zeros(problem.targets.shape[1])
    if problem.has_offset:
        scaled, ones = scaled[:, :-1], scaled[:, -1]
        offset = problem.roots @ scaled / (problem.roots @ ones)
        scaled = scaled - ones[:, None] * offset
    return problem.roots[:, None] * scaled, offset


def _shift(matrix: Any, roots: Any, shift: float) -> None:
    """Weigh rows and columns, and add to the diagonal, in place."""
    for start in range(0, len(matrix), ROWS):
        rows = slice(start, start + ROWS)
        matrix[rows] *= roots[rows, None] * roots
    matrix[np.diag_indices_from(matrix)] += matrix.dtype.type(shift)


def _factor(matrix: Reals, problem: LeastSquares) -> Reals:
    """The factor in place. Transposed the matrix is in LAPACK's layout, and the same."""
    largest = float(np.diagonal(matrix).max())
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    least = len(matrix) * np.finfo(np.float64).eps * largest
    pivots = np.diagonal(factor) ** 2
    if failed or not (pivots > least / 4).all():
        # A shift above the rounding of all pivots together cannot be lost in it.
        structural = problem.shift > least * len(matrix)
        raise NotPositiveDefinite(
            _STRUCTURAL.format(n=len(matrix))
            if structural
            else _NUMERICAL.format(penalty=problem.penalty, wanted=100 * least / len(matrix))
        )
    found: Reals = factor
    return found


_STRUCTURAL = (
    "the Gram matrix of {n} points has an eigenvalue more negative than the penalty and than "
    "rounding explains: the kernel is not positive definite.\nAsk "
    "mercer.testing.check_kernel(k, X), or mercer.prove for a formula; mercer.repair(K) mends "
    'a matrix, for kernel="precomputed".'
)

_NUMERICAL = (
    "with the penalty {penalty:.3g} the equations are singular to working precision: points "
    "coincide, or nearly so, and rounding decides.\nThe kernel itself may be all right. Raise "
    'the penalty to about {wanted:.1g}, or say penalty="auto".'
)
