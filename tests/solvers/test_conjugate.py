"""Conjugate gradients and their preconditioner, against dense algebra and their theory."""

import numpy as np
import pytest

import mercer as mc
from mercer.errors import NotPositiveDefinite
from mercer.problems.risk import LeastSquares
from mercer.solvers.cholesky import cholesky
from mercer.solvers.conjugate import conjugate, conjugate_gradients, inverse_of, pivoted


def same(columns):
    return columns


def test_as_many_steps_as_distinct_eigenvalues(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(30, 30)))
    A = Q @ np.diag([1.0, 2.0, 5.0] * 10) @ Q.T
    b = rng.normal(size=(30, 1))
    found = conjugate_gradients(lambda v: A @ v, b, same, tolerance=1e-10)
    assert found.steps == 3
    np.testing.assert_allclose(A @ found.solution, b, atol=1e-9)


def test_the_error_is_within_the_bound_of_the_theory(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(80, 80)))
    values = np.geomspace(1, 100, 80)
    A, b = Q @ np.diag(values) @ Q.T, rng.normal(size=(80, 1))
    exact = np.linalg.solve(A, b)
    rate = (np.sqrt(100) - 1) / (np.sqrt(100) + 1)
    for steps in (1, 5, 20, 40):
        found = conjugate_gradients(lambda v: A @ v, b, same, tolerance=1e-14, steps=steps)
        assert found.steps == steps
        assert not found.converged
        error, first = found.solution - exact, exact
        bound = 2 * rate**steps * np.sqrt((first * (A @ first)).sum())
        assert np.sqrt((error * (A @ error)).sum()) <= bound


def test_columns_stop_on_their_own(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(20, 20)))
    A = Q @ np.diag(np.arange(1.0, 21)) @ Q.T
    right = np.column_stack([Q[:, 0], rng.normal(size=20), np.zeros(20), 1e9 * Q[:, 3]])
    seen = []

    def apply(columns):
        seen.append(columns.shape[1])
        return A @ columns

    found = conjugate_gradients(apply, right, same, tolerance=1e-10)
    assert seen[0] == 3  # nothing is to be done for zero
    assert seen[1:] == [1] * (len(seen) - 1)  # an eigenvector takes one step
    np.testing.assert_allclose(A @ found.solution, right, rtol=1e-8, atol=1e-8)


def test_with_a_constraint_it_solves_the_saddle(rng):
    M = rng.normal(size=(25, 25))
    A, z, B = M @ M.T + np.eye(25), rng.uniform(0.5, 2, 25), rng.normal(size=(25, 2))
    found = conjugate_gradients(
        lambda v: A @ v, B, lambda v: v / np.diag(A)[:, None], tolerance=1e-12, along=z
    )
    system = np.block([[A, z[:, None]], [z[None, :], np.zeros((1, 1))]])
    wanted = np.linalg.solve(system, np.vstack([B, np.zeros((1, 2))]))
    np.testing.assert_allclose(found.solution, wanted[:-1], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.offset, wanted[-1], rtol=1e-7, atol=1e-8)
    assert np.abs(z @ found.solution).max() < 1e-10


def test_each_step_is_told():
    A = np.diag([1.0, 2.0, 3.0])
    told = []
    conjugate_gradients(
        lambda v: A @ v, np.ones((3, 1)), same, tolerance=1e-9,
        watch=lambda step, size: told.append((step, size)),
    )  # fmt: skip
    assert [step for step, _ in told] == [0, 1, 2, 3]
    assert told[0][1] == 1.0
    assert told[-1][1] < 1e-9


def test_a_negative_direction_is_an_error():
    A = np.diag([1.0, -1.0, 2.0])
    with pytest.raises(NotPositiveDefinite, match="curvature"):
        conjugate_gradients(
            lambda v: A @ v, np.array([[0.1], [1.0], [0.1]]), same, tolerance=1e-9
        )


@pytest.mark.parametrize("seed", [None, 0])
def test_a_pivoted_factor_is_exact_at_its_pivots(rng, seed):
    K = mc.Gaussian()(rng.normal(size=(200, 2)))
    chance = None if seed is None else np.random.RandomState(seed)
    pivots, F = pivoted(np.diag(K), lambda p: K[:, p], 70, chance=chance)
    assert F.shape == (200, len(pivots))
    assert len(set(pivots.tolist())) == len(pivots)
    rest = K - F @ F.T
    assert np.abs(rest[:, pivots]).max() < 1e-9
    # What is left is p.s.d., and small where 70 eigenvalues hold nearly all of the trace.
    assert np.linalg.eigvalsh(rest)[0] > -1e-9
    assert np.trace(rest) < 1e-2 * np.trace(K)


def test_greedy_pivots_are_those_of_the_definition(rng):
    K = mc.Gaussian()(rng.normal(size=(40, 2)))
    pivots, _ = pivoted(np.diag(K), lambda p: K[:, p], 10)
    rest = K.copy()
    for pivot in pivots:
        assert np.diag(rest)[pivot] == pytest.approx(np.diag(rest).max(), rel=1e-9)
        rest -= np.outer(rest[:, pivot], rest[pivot]) / rest[pivot, pivot]


@pytest.mark.parametrize("seed", [None, 0])
def test_a_matrix_of_low_rank_is_found_whole_and_no_rounding_is_a_pivot(rng, seed):
    X = np.repeat(rng.normal(size=(15, 6)), 20, axis=0)
    K = X @ X.T
    chance = None if seed is None else np.random.RandomState(seed)
    pivots, F = pivoted(np.diag(K), lambda p: K[:, p], 100, chance=chance)
    assert len(pivots) == 6
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)


def test_the_same_seed_gives_the_same_pivots(rng):
    K = mc.Gaussian()(rng.normal(size=(100, 2)))
    first, second = (
        pivoted(np.diag(K), lambda p: K[:, p], 80, chance=np.random.RandomState(3))[0]
        for _ in range(2)
    )
    assert (first == second).all()


def test_it_stops_when_enough_of_the_trace_is_found(rng):
    K = mc.Gaussian(3.0)(rng.normal(size=(300, 2)))
    pivots, F = pivoted(np.diag(K), lambda p: K[:, p], 300, enough=1.0)
    assert len(pivots) < 50
    assert np.trace(K - F @ F.T) <= 1.0


def test_a_matrix_of_zeros_has_no_pivots():
    pivots, F = pivoted(np.zeros(5), lambda p: np.zeros((5, len(p))), 3)
    assert len(pivots) == 0
    assert F.shape == (5, 0)
    np.testing.assert_allclose(inverse_of(F, 2.0)(np.ones((5, 1))), 0.5)


def test_the_preconditioner_is_an_inverse(rng):
    F = rng.normal(size=(30, 4))
    wanted = np.linalg.inv(F @ F.T + 0.3 * np.eye(30))
    np.testing.assert_allclose(inverse_of(F, 0.3)(np.eye(30)), wanted, atol=1e-10)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_agrees_with_cholesky(rng, has_offset, weighted):
    n = 300
    X, Y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2)) + 2
    weights = rng.uniform(0.2, 3, n) if weighted else np.ones(n)
    gram = mc.operator(mc.Gaussian(), X, plan="blocked")
    task = LeastSquares(gram, Y, weights, 1e-4, has_offset)
    K = gram.to_dense() * task.roots * task.roots[:, None]
    _, F = pivoted(np.diag(K), lambda p: K[:, p], 80, chance=np.random.RandomState(0))
    found, wanted = conjugate(task, F, tolerance=1e-10), cholesky(task)
    assert found.converged
    assert found.residual <= 1e-10
    # |x - x*| <= |A^-1| |residual|, and no eigenvalue of A is below the shift.
    error = np.linalg.norm((found.coefficients - wanted.coefficients) / task.roots[:, None])
    assert error <= 2e-10 * np.linalg.norm(task.right) / task.shift
    plain = conjugate(task, F[:, :0], tolerance=1e-10)
    assert found.steps < plain.steps / 2  # the factor is worth its cost
