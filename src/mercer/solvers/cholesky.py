r"""Least squares by one triangular factor, for one penalty.

In weighted coordinates the matrix is $A = S K S + \mu$ with $S = \operatorname{diag}(\sqrt w)$.
With an offset the equations have one more unknown and one more row, which costs one more
right-hand side.

A factor in float32 costs half the time and half the memory. It preconditions conjugate
gradients on the exact matrix, a few steps of which give every digit. How many is known
beforehand from the penalty and the rounding of the largest eigenvalue: where they would cost
more than they save, the factor is in float64.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mercer.errors import NotPositiveDefinite
from mercer.problems.risk import LeastSquares
from mercer.solvers.conjugate import conjugate_gradients
from mercer.solvers.solution import Solution

Reals = NDArray[np.float64]

STEPS = 200
"""Steps of refinement before it gives up."""

WORTH = 900
"""Rows for which a float32 factor saves the time of one step: n^3 / 3 operations at half the
price, against a product with the matrix and two triangular solutions."""

ROWS = 256
"""Rows that are scaled at a time."""

UNIT = float(np.finfo(np.float32).eps)


def cholesky(problem: LeastSquares, *, threads: int | None = None) -> Solution:
    """Solve with a factor in float64, in place: the memory of one matrix.

    Raises:
        NotPositiveDefinite: The matrix has no factor.
    """
    start = time.perf_counter()
    matrix = problem.gram.upper(np.float64).astype(np.float64, copy=False)
    _shift(matrix, problem.roots, problem.shift)
    with threadpool_limits(threads, "blas"):
        factor = _factor(matrix, problem)
        right = problem.right
        if problem.has_offset:
            right = np.column_stack([right, problem.roots])
        scaled: Reals = lapack.dpotrs(factor, right, lower=1)[0]
    offset = np.zeros(problem.targets.shape[1])
    if problem.has_offset:
        scaled, ones = scaled[:, :-1], scaled[:, -1]
        offset = problem.roots @ scaled / (problem.roots @ ones)
        scaled = scaled - np.multiply.outer(ones, offset)
    coefficients, offset = problem.unscaled(scaled, offset)
    del matrix, factor
    residual = problem.residual(coefficients, offset)
    seconds = time.perf_counter() - start
    return Solution("cholesky", coefficients, offset, residual, seconds=seconds)


def mixed(
    problem: LeastSquares,
    *,
    tolerance: float = 1e-8,
    threads: int | None = None,
    at_any_price: bool = False,
) -> Solution | None:
    """Solve with a factor in float32 and conjugate gradients in float64.

    Args:
        problem: The problem, whose Gram matrix is multiplied by and not stored in float64.
        tolerance: The relative residual to reach.
        threads: How many threads the factor takes.
        at_any_price: Whether it is done even if a factor in float64 would be faster.

    Returns:
        The solution; None where float32 is too rough for this matrix.
    """
    start = time.perf_counter()
    rows = len(problem.weights)
    # The largest eigenvalue is no less than the largest entry of the diagonal.
    least = float((problem.weights * problem.gram.diagonal()).max())
    if not at_any_price and rows < WORTH * (_steps(problem.shift, least, tolerance) + 1):
        return None
    steps, largest = steps_needed(problem, tolerance)
    rough = rows < WORTH * (steps + 1)
    if rough and not at_any_price:
        return None
    matrix = problem.gram.upper(np.float32)
    # What is added where rounding may be above the penalty lets the factor exist.
    more = UNIT * largest if rough else 0.0
    _shift(matrix, problem.roots.astype(np.float32), problem.shift + more)
    with threadpool_limits(threads, "blas"):
        factor, failed = lapack.spotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None

    def precondition(rest: Reals) -> Reals:
        # Squares of large and of small numbers are no numbers in float32.
        size = np.abs(rest).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        with threadpool_limits(threads, "blas"):
            found = lapack.spotrs(factor, (rest / size).astype(np.float32), lower=1)[0]
        better: Reals = found.astype(np.float64) * size
        return better

    found = conjugate_gradients(
        problem.apply, problem.right, precondition, tolerance=tolerance / 4, steps=STEPS,
        along=problem.roots if problem.has_offset else None,
    )  # fmt: skip
    coefficients, offset = problem.unscaled(found.solution, found.offset)
    residual = problem.residual(coefficients, offset)
    if residual > tolerance and not at_any_price:
        return None
    seconds = time.perf_counter() - start
    return Solution(
        "mixed", coefficients, offset, residual, steps=found.steps,
        converged=residual <= tolerance, seconds=seconds,
    )  # fmt: skip


def steps_needed(problem: LeastSquares, tolerance: float) -> tuple[float, float]:
    r"""About how many steps a float32 factor needs, and the largest eigenvalue.

    Rounding moves the eigenvalues by about a unit of the largest one, so the part of the error
    that a step leaves is about the unit over the penalty.
    """
    diagonal = problem.weights * problem.gram.diagonal()
    largest = float(diagonal.sum())  # no eigenvalue is above the trace
    if problem.shift < 100 * UNIT * largest:
        # A few products tell the largest one itself, nearly.
        vector = problem.roots[:, None] * (2 + np.sign(problem.right[:, :1]))
        for _ in range(2):
            vector /= float(np.linalg.norm(vector)) or 1.0
            vector = problem.roots[:, None] * (problem.gram @ (problem.roots[:, None] * vector))
        largest = min(largest, 1.2 * float(np.linalg.norm(vector)))
    return _steps(problem.shift, largest, tolerance), largest


def _steps(shift: float, largest: float, tolerance: float) -> float:
    """Steps for a shift and a largest eigenvalue: a fit to trials with many spectra."""
    ratio = shift / (UNIT * largest) if largest > 0 else math.inf
    return -math.log(tolerance / 4) / math.log1p(4 * ratio)


def _shift(matrix: NDArray[np.floating], roots: NDArray[np.floating], shift: float) -> None:
    """Weigh rows and columns, and add to the diagonal, in place, on and above the diagonal."""
    if not (roots == 1).all():
        for start in range(0, len(matrix), ROWS):
            rows = slice(start, start + ROWS)
            with np.errstate(all="ignore"):  # below the diagonal there may be anything
                matrix[rows, start:] *= roots[rows, None] * roots[start:]
    matrix[np.diag_indices_from(matrix)] += matrix.dtype.type(shift)


def _factor(matrix: Reals, problem: LeastSquares) -> Reals:
    """The factor in place. Transposed the upper half is the lower one, in LAPACK's layout."""
    largest = float(np.diagonal(matrix).max())
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    least = len(matrix) * np.finfo(np.float64).eps * largest
    pivots = np.diagonal(factor) ** 2
    if failed or not (pivots > least / 4).all():
        # A shift above the rounding of all pivots together cannot be lost in it.
        structural = problem.shift > least * len(matrix)
        total = float(problem.weights.sum())
        raise NotPositiveDefinite(
            _STRUCTURAL.format(n=len(matrix))
            if structural
            else _NUMERICAL.format(penalty=problem.penalty, wanted=100 * least / total)
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
