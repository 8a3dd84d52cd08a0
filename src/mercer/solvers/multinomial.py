r"""Multinomial logistic regression by Newton's method, for any number of classes at once.

The loss of a row is $\ln \sum_c e^{f_c} - f_y$, with the slopes $p - e_y$ and the curvature
$\operatorname{diag}(p) - p p^\top \preceq \tfrac12 I$ (Boehning). The bound is the same for
all classes and all steps: its one factor preconditions conjugate gradients for the equations
of each step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from threadpoolctl import threadpool_limits

from mercer.solvers.solution import Solution
from mercer.solvers.spans import Span, Step

Reals = NDArray[np.float64]

STEPS = 60
"""Newton steps."""

INNER = 200
"""Steps of conjugate gradients for one Newton step."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The problem: which class each row is of.

    Attributes:
        hot: A row a point, with a one at its class.
        weights: A positive number a point.
        penalty: The number lambda > 0.
        has_offset: Whether each class has a constant of its own.
    """

    hot: Reals
    weights: Reals
    penalty: float
    has_offset: bool = True

    @property
    def shares(self) -> Reals:
        """The weights as shares of one, as a column."""
        shares: Reals = (self.weights / self.weights.sum())[:, None]
        return shares

    def value(self, values: Reals, squared: float) -> float:
        """The risk of functions with these values, and the sum of their squared norms."""
        losses = logsumexp(values, axis=1) - (self.hot * values).sum(axis=1)
        return float(self.shares[:, 0] @ losses + self.penalty * squared)

    def slope(self, values: Reals) -> Reals:
        """The derivative of the mean loss in each value."""
        slopes: Reals = self.shares * (softmax(values, axis=1) - self.hot)
        return slopes


def multinomial(
    span: Span,
    problem: Classes,
    *,
    start: tuple[Reals, Reals] | None = None,
    tolerance: float = 1e-8,
    threads: int | None = None,
) -> Solution:
    """Minimise the multinomial risk.

    Args:
        span: The Gram matrix.
        problem: The problem.
        start: Coefficients and offsets to begin with.
        tolerance: How small the gradient, relative to that of no function at all.
        threads: How many threads the matrices take.
    """
    began = time.perf_counter()
    shape = problem.hot.shape
    coefficients, offset = (np.zeros(shape), np.zeros(shape[1])) if start is None else start
    double = 2 * problem.penalty
    steps = 0
    with threadpool_limits(threads, "blas"):
        bound = 0.5 * problem.shares[:, 0]
        precondition = span.step(bound, double, has_offset=problem.has_offset)
        image = span @ coefficients
        size = float(np.linalg.norm(problem.slope(np.zeros(shape)))) or 1.0
        gradient = np.inf
        while steps < STEPS:
            values = image + offset
            rest = -problem.slope(values) - double * coefficients
            gradient = float(np.linalg.norm(rest)) / size
            if gradient <= tolerance:
                break
            steps += 1
            chances = softmax(values, axis=1)
            move = _solve(span, problem, chances, rest, precondition, min(0.1, gradient))
            length = _length(problem, values, coefficients, image, move)
            if not length:
                break
            coefficients = coefficients + length * move[0]
            offset = offset + length * move[1]
            image = image + length * move[2]
    offset = offset - offset.mean()
    seconds = time.perf_counter() - began
    return Solution(
        "newton", coefficients, offset, gradient, None, steps, gradient <= tolerance, seconds
    )


def _solve(
    span: Span,
    problem: Classes,
    chances: Reals,
    rest: Reals,
    precondition: Step,
    accuracy: float,
) -> tuple[Reals, Reals, Reals]:
    """The Newton step (a, b) and K a, by conjugate gradients in the space of functions.

    The residuals are derivatives, and pair with functions by the sum of the products of their
    values: in this pairing the equations and the preconditioner are symmetric.
    """
    double = 2 * problem.penalty

    def bend(values: Reals) -> Reals:
        mean = (chances * values).sum(axis=1, keepdims=True)
        bent: Reals = problem.shares * chances * (values - mean)
        return bent

    total: list[Any] = [np.zeros_like(rest), np.zeros(rest.shape[1]), np.zeros_like(rest)]
    way = _moved(span, precondition(rest))
    energy = first = float((rest * (way[2] + way[1])).sum())
    for _ in range(INNER):
        image = bend(way[2] + way[1]) + double * way[0]
        curved = float((image * (way[2] + way[1])).sum())
        span.check_norm(way[0], way[2])
        if not curved > 0:
            break
        length = energy / curved
        total = [old + length * part for old, part in zip(total, way, strict=True)]
        rest = rest - length * image
        better = _moved(span, precondition(rest))
        fresh = float((rest * (better[2] + better[1])).sum())
        if not fresh > accuracy**2 * first:
            break
        way = tuple(part + fresh / energy * old for part, old in zip(better, way, strict=True))  # type: ignore[assignment]
        energy = fresh
    return total[0], total[1], total[2]


def _moved(span: Span, step: tuple[Reals, Reals]) -> tuple[Reals, Reals, Reals]:
    return step[0], step[1], span @ step[0]


def _length(
    problem: Classes,
    values: Reals,
    coefficients: Reals,
    image: Reals,
    move: tuple[Reals, Reals, Reals],
) -> float:
    """The longest of 1, 1/2, 1/4, ... that lowers the risk as its slope foretells."""
    change = move[2] + move[1]
    now = problem.value(values, float((coefficients * image).sum()))
    double = 2 * problem.penalty
    slope = float((problem.slope(values) * change).sum())
    slope += double * float((coefficients * move[2]).sum())
    cross = float((coefficients * move[2]).sum())
    own = float((move[0] * move[2]).sum())
    squared = float((coefficients * image).sum())
    length = 1.0
    for _ in range(40):
        norm = squared + 2 * length * cross + length**2 * own
        if problem.value(values + length * change, norm) <= now + 1e-4 * length * slope:
            return length
        length /= 2
    return 0.0
