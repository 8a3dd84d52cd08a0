r"""Least squares over the functions that a few landmarks span, by conjugate gradients.

With $T^\top K_{mm} T = I$ the features $\Phi = K_{nm} T$ make the penalty a plain square, and
the equations are $(\Phi^\top W \Phi + \mu)\, c = \Phi^\top W (y - b)$. They are multiplied by
in passes over blocks of rows, so nothing as long as the data and as wide as the landmarks is
stored. The landmarks themselves, as a sample of the data, precondition (Rudi, Carratino and
Rosasco, 2017).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from mercer.solvers.conjugate import STEPS, Watch, conjugate_gradients
from mercer.solvers.solution import Solution

Reals = NDArray[np.float64]
Blocks = Callable[[], Iterator[tuple[slice, Reals]]]


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Squared errors over the span of landmarks.

    Attributes:
        blocks: Goes over the kernel values between points and landmarks: slices of the points
            with their rows.
        square: The kernel values among the landmarks.
        targets: A row a point, a column a target.
        weights: A positive number a point.
        shift: The penalty times the sum of the weights.
        has_offset: Whether a constant is added.
    """

    blocks: Blocks
    square: Reals
    targets: Reals
    weights: Reals
    shift: float
    has_offset: bool = True

    @cached_property
    def turn(self) -> Reals:
        """The matrix T."""
        return whitening(self.square)

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def means(self) -> tuple[Reals, Reals]:
        """The weighted means of the features and of the targets; zero without an offset."""
        features, targets = np.zeros(self.turn.shape[1]), np.zeros(self.targets.shape[1])
        if not self.has_offset:
            return features, targets
        sums = np.zeros(len(self.square))
        for rows, block in self.blocks():
            sums += self.weights[rows] @ block
        return sums @ self.turn / self.total, self.weights @ self.targets / self.total

    @cached_property
    def right(self) -> Reals:
        """The right-hand sides of the equations."""
        _, mean = self.means
        sums = np.zeros((len(self.square), self.targets.shape[1]))
        for rows, block in self.blocks():
            sums += block.T @ (self.weights[rows, None] * (self.targets[rows] - mean))
        found: Reals = self.turn.T @ sums
        return found

    def apply(self, columns: Reals) -> Reals:
        """The matrix of the equations times columns."""
        anchored = self.turn @ columns
        sums = np.zeros_like(anchored)
        for rows, block in self.blocks():
            sums += block.T @ (self.weights[rows, None] * (block @ anchored))
        found: Reals = self.turn.T @ sums + self.shift * columns
        mean, _ = self.means
        found -= self.total * np.multiply.outer(mean, mean @ columns)
        return found

    def preconditioner(self) -> Callable[[Reals], Reals]:
        """The inverse of the equations as the landmarks see them."""
        sample = self.square @ self.turn
        sample -= sample.mean(axis=0) if self.has_offset else 0.0
        matrix = sample.T @ sample
        matrix *= self.total / len(sample)
        matrix[np.diag_indices_from(matrix)] += self.shift
        root = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return lambda columns: cho_solve(root, columns, check_finite=False)


def landmarks(
    problem: Landmarks,
    *,
    tolerance: float = 1e-8,
    steps: int = STEPS,
    watch: Watch | None = None,
) -> Solution:
    """The coefficients of the landmarks, and the offset.

    Args:
        problem: The problem; its penalty is positive.
        tolerance: The relative residual to reach.
        steps: The most steps.
        watch: Is told each step and the relative residual.
    """
    began = time.perf_counter()
    found = conjugate_gradients(
        problem.apply, problem.right, problem.preconditioner(),
        tolerance=tolerance / 2, steps=steps, watch=watch,
    )  # fmt: skip
    size = float(np.linalg.norm(problem.right)) or 1.0
    rest = problem.right - problem.apply(found.solution)
    residual = float(np.linalg.norm(rest)) / size
    feature, mean = problem.means
    offset = mean - feature @ found.solution
    seconds = time.perf_counter() - began
    return Solution(
        "landmarks", problem.turn @ found.solution, offset, residual, steps=found.steps,
        converged=residual <= tolerance, seconds=seconds,
    )  # fmt: skip


def whitening(matrix: Reals) -> Reals:
    """A matrix T with T' K T = I on what K spans."""
    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    kept = values > len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    turned: Reals = vectors[:, kept] / np.sqrt(values[kept])
    return turned
