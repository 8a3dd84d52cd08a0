"""Squared errors as frozen data: the numbers that solvers and evidence are made of."""

import numpy as np
import pytest

import mercer as mc
from mercer.problems.risk import LeastSquares


@pytest.fixture
def task(rng):
    X = rng.normal(size=(20, 2))
    weights = rng.uniform(0.5, 2, 20)
    return LeastSquares(
        mc.operator(mc.Gaussian(), X), rng.normal(size=(20, 2)) + 9, weights, 0.1
    )


def solved(task):
    n = len(task.weights)
    system = np.eye(n + 1)
    system[:n, :n] = task.gram.to_dense() + np.diag(task.shift / task.weights)
    system[n], system[:, n] = task.has_offset * 1.0, task.has_offset * 1.0
    system[n, n] = 1.0 - task.has_offset
    found = np.linalg.solve(system, np.vstack([task.targets, np.zeros((1, 2))]))
    return found[:n], found[n]


@pytest.mark.parametrize("has_offset", [True, False])
def test_the_residual_is_zero_at_the_solution_alone(task, has_offset):
    task = LeastSquares(task.gram, task.targets, task.weights, task.penalty, has_offset)
    a, b = solved(task)
    assert task.residual(a, b) < 1e-13
    # 1% too much of a is 1% of the targets less the offset, which is near their mean.
    assert task.residual(1.01 * a, b) == pytest.approx(0.01, rel=0.05)


def test_the_mean_counts_only_without_an_offset(task):
    assert task.residual(np.zeros((20, 2)), task.mean) == pytest.approx(1.0)
    np.testing.assert_allclose(
        task.mean, np.average(task.targets, axis=0, weights=task.weights)
    )
    plain = LeastSquares(task.gram, task.targets, task.weights, 0.1, has_offset=False)
    assert plain.residual(np.zeros((20, 2)), np.zeros(2)) == pytest.approx(1.0)
    assert (plain.mean == 0).all()


def test_a_constant_target_has_no_residual(task):
    constant = LeastSquares(task.gram, np.full((20, 1), 0.1), task.weights, 0.1)
    # The mean of equal numbers may be rounded: that is a unit, and counts as one.
    assert constant.residual(np.zeros((20, 1)), constant.mean) <= 1.0
    zero = LeastSquares(task.gram, np.zeros((20, 1)), task.weights, 0.1)
    assert zero.residual(np.zeros((20, 1)), np.zeros(1)) == 0.0


def test_the_weighted_coordinates_are_those_of_the_seeds(task):
    roots = np.diag(np.sqrt(task.weights))
    matrix = roots @ task.gram.to_dense() @ roots + 0.1 * task.weights.sum() * np.eye(20)
    np.testing.assert_allclose(task.apply(np.eye(20)), matrix, atol=1e-12)
    np.testing.assert_allclose(task.right, roots @ (task.targets - task.mean), atol=1e-12)
    a, b = solved(task)
    inner, offset = task.unscaled(np.linalg.solve(roots, a), b - task.mean)
    np.testing.assert_allclose(inner, a)
    np.testing.assert_allclose(offset, b)
