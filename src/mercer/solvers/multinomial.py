r"""Multinomial logistic regression by Newton's method, for any number of classes at once.

The loss of a row is $\ln \sum_c e^{f_c} - f_y$, with the slopes $p - e_y$ and the curvature
$\operatorname{diag}(p) - p p^\top$. With one number a row in its place the equations of a step
fall apart into equal ones, one a class: their one factor preconditions conjugate gradients for
the step itself.

The unknowns are the weights of features, a column a class, with a last row for the offsets. At
the end the coefficients are the slopes divided by $-2 \lambda$, as for every smooth loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp, softmax
from threadpoolctl import threadpool_limits

from mercer.solvers.solution import Solution
from mercer.solvers.spans import Span

Reals = NDArray[np.float64]

STEPS = 60
"""Newton steps."""

TINY = float(np.finfo(np.float64).tiny)

INNER = 200
"""Steps of conjugate gradients for one Newton step."""

SLOW = 12
"""Steps of conjugate gradients after which the factor is made anew."""


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
        tolerance: How far the risk may be above the least, relative to it, as half the squared
            length of the gradient in the metric of a step foretells.
        threads: How many threads the matrices take.
    """
    began = time.perf_counter()
    steps = 0
    with threadpool_limits(threads, "blas"):
        search = _Search(span.features, problem)
        weights = search.zero if start is None else search.of(*start)
        reached = np.inf
        while steps < STEPS:
            gradient = search.gradient(weights)
            reached = search.above(weights, gradient)
            if search.is_stale and reached <= tolerance:  # judged by today's factor only
                search.prepare(weights)
                reached = search.above(weights, gradient)
            if reached <= tolerance:
                break
            steps += 1
            move = search.newton(weights, gradient, min(0.1, float(np.sqrt(reached))))
            length = search.length(weights, gradient, move)
            if not length:
                break
            weights = weights + length * move
        values = search.values(weights)
    coefficients = -problem.slope(values) / (2 * problem.penalty)
    offset = weights[-1] - weights[-1].mean() if problem.has_offset else np.zeros(len(values.T))
    seconds = time.perf_counter() - began
    return Solution(
        "newton", coefficients, offset, reached, None, steps, reached <= tolerance, seconds
    )


def curvature(chances: Reals) -> Reals:
    """One number for the curvature diag(p) - pp' of each row: between the mean of its
    eigenvalues and their mean weighted by size. For two classes it is exact.
    """
    square, cube = ((chances**power).sum(axis=1) for power in (2, 3))
    trace = np.maximum(1 - square, np.finfo(np.float64).tiny)
    weighted = (square - 2 * cube + square**2) / trace
    found: Reals = np.maximum(0.5 * (weighted + trace / (chances.shape[1] - 1)), 0.0)
    return found


class _Search:
    """The risk as a function of the weights of features, with its derivatives."""

    def __init__(self, rows: Reals, problem: Classes) -> None:
        self.problem, self.plain = problem, rows
        ones = np.ones((len(rows), int(problem.has_offset)))
        self.rows = np.hstack([rows, ones])
        self.ridge = np.full((self.rows.shape[1], 1), 2 * problem.penalty)
        if problem.has_offset:
            self.ridge[-1] = 0
        self._factor: Any = None
        self._inner, self.is_stale = 0, True

    def prepare(self, weights: Reals) -> None:
        """Factorise the equations with one number for the curvature of a row."""
        chances = softmax(self.values(weights), axis=1)
        scaled = np.sqrt(self.problem.shares * curvature(chances)[:, None]) * self.rows
        matrix = scaled.T @ scaled
        # The offsets cost nothing, and rows without curvature do not hold them.
        floor = np.finfo(np.float64).eps * float(np.trace(matrix))
        matrix[np.diag_indices_from(matrix)] += self.ridge[:, 0] + floor
        self._factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        self.is_stale, self._inner = False, 0

    @property
    def zero(self) -> Reals:
        """No function at all."""
        return np.zeros((self.rows.shape[1], self.problem.hot.shape[1]))

    def of(self, coefficients: Reals, offset: Reals) -> Reals:
        """The weights of functions that are known by coefficients of the rows."""
        weights = self.zero
        weights[: self.plain.shape[1]] = self.plain.T @ coefficients
        if self.problem.has_offset:
            weights[-1] = offset
        return weights

    def above(self, weights: Reals, gradient: Reals) -> float:
        """How far the risk is above the least, relative to it, as the gradient foretells."""
        if self._factor is None or self._inner > SLOW:
            self.prepare(weights)
        squared = float((gradient * self._solve(gradient)).sum())
        return 0.5 * max(squared, 0.0) / max(self.risk(weights), TINY)

    def values(self, weights: Reals) -> Reals:
        """The values of the functions."""
        found: Reals = self.rows @ weights
        return found

    def risk(self, weights: Reals) -> float:
        """What is minimised."""
        squared = float((self.ridge * weights**2).sum()) / (2 * self.problem.penalty)
        return self.problem.value(self.values(weights), squared)

    def gradient(self, weights: Reals) -> Reals:
        """Its derivative."""
        slopes = self.problem.slope(self.values(weights))
        found: Reals = self.rows.T @ slopes + self.ridge * weights
        return found

    def _solve(self, right: Reals) -> Reals:
        found: Reals = cho_solve(self._factor, right, check_finite=False)
        return found

    def newton(self, weights: Reals, gradient: Reals, accuracy: float) -> Reals:
        """The step of Newton's method, by preconditioned conjugate gradients."""
        bend = self._bend(softmax(self.values(weights), axis=1))
        total, rest = np.zeros_like(weights), -gradient
        way = better = self._solve(rest)
        energy = first = float((rest * better).sum())
        self.is_stale, self._inner = True, 0
        for _ in range(INNER):
            self._inner += 1
            image = bend(way)
            curved = float((image * way).sum())
            if not curved > 0:
                break
            length = energy / curved
            total = total + length * way
            rest = rest - length * image
            better = self._solve(rest)
            fresh = float((rest * better).sum())
            if not fresh > accuracy**2 * first:
                break
            way = better + fresh / energy * way
            energy = fresh
        return total

    def _bend(self, chances: Reals) -> Callable[[Reals], Reals]:
        """What multiplies by the second derivative."""

        def bend(way: Reals) -> Reals:
            values = self.rows @ way
            mean = (chances * values).sum(axis=1, keepdims=True)
            bent: Reals = self.problem.shares * chances * (values - mean)
            found: Reals = self.rows.T @ bent + self.ridge * way
            return found

        return bend

    def length(self, weights: Reals, gradient: Reals, move: Reals) -> float:
        """The longest of 1, 1/2, 1/4, ... that lowers the risk as its slope foretells."""
        now, slope = self.risk(weights), float((gradient * move).sum())
        rounding = 4 * np.finfo(np.float64).eps * abs(now)
        length = 1.0
        for _ in range(40):
            fall = self.risk(weights + length * move) - now
            if fall <= 1e-4 * length * slope + rounding:
                return length
            length /= 2
        return 0.0
