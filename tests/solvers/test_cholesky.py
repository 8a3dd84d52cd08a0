"""One factor, in either precision, against the equations written out; and its refusals."""

import numpy as np
import pytest

import mercer as mc
from mercer.errors import NotPositiveDefinite
from mercer.problems.risk import LeastSquares
from mercer.solvers import cholesky as module
from mercer.solvers.cholesky import cholesky, mixed, steps_needed

N = 60


def problem(X, Y, weights, penalty, has_offset, kernel=None):
    gram = mc.operator(kernel or mc.Gaussian(), X, plan="blocked")
    return LeastSquares(gram, Y, weights, penalty, has_offset)


def plain(problem):
    """(K + mu / W) a + b = y with sum(a) = 0, by elimination in one dense system."""
    n = len(problem.weights)
    system = np.eye(n + 1)
    system[:n, :n] = problem.gram.to_dense() + np.diag(problem.shift / problem.weights)
    if problem.has_offset:
        system[:n, n] = system[n, :n] = 1.0
        system[n, n] = 0.0
    right = np.vstack([problem.targets, np.zeros((1, problem.targets.shape[1]))])
    found = np.linalg.solve(system, right)
    return found[:n], found[n]


@pytest.fixture
def data(rng):
    return rng.normal(size=(N, 2)), rng.normal(size=(N, 2)) + 3, rng.uniform(0.2, 3, N)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_cholesky_solves_the_equations(data, has_offset, weighted):
    X, Y, weights = data
    task = problem(X, Y, weights if weighted else np.ones(N), 1e-3, has_offset)
    found = cholesky(task)
    wanted, offset = plain(task)
    # The condition number is below 1e4.
    np.testing.assert_allclose(found.coefficients, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.offset, offset, rtol=1e-9, atol=1e-9)
    assert found.residual < 1e-13
    assert found.converged
    assert found.seconds > 0


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("penalty", [1e-2, 1e-5, 1e-8])
def test_a_float32_factor_gives_float64_digits(data, has_offset, weighted, penalty):
    X, Y, weights = data
    task = problem(X, Y, weights if weighted else np.ones(N), penalty, has_offset)
    found = mixed(task, tolerance=1e-8, at_any_price=True)
    wanted = cholesky(task)
    assert found.method == "mixed"
    assert found.converged
    assert found.residual <= 1e-8
    assert found.residual == task.residual(found.coefficients, found.offset)
    # The smallest eigenvalue of the weighted matrix is at least the shift.
    error = np.linalg.norm((found.coefficients - wanted.coefficients) / task.roots[:, None])
    assert error <= 2e-8 * np.linalg.norm(task.right) / task.shift


def test_refinement_stops_where_it_would_cost_more_than_it_saves(data, monkeypatch):
    X, Y, weights = data
    monkeypatch.setattr(module, "WORTH", 1)
    asked = []

    def narrow(self, dtype=None, whole=mc.gram.Operator.upper):
        asked.append(dtype)
        return whole(self, dtype)

    monkeypatch.setattr(mc.gram.Operator, "upper", narrow)
    assert mixed(problem(X, Y, weights, 1e-2, True)) is not None
    assert asked == [np.float32]
    asked.clear()
    monkeypatch.setattr(module, "WORTH", N)
    # Nothing was built before it was known to be too rough.
    assert mixed(problem(X, Y, weights, 1e-12, True)) is None
    assert not asked


@pytest.mark.parametrize("scale", [0.5, 3.0, 30.0])
@pytest.mark.parametrize("ratio", [100, 10, 3])
def test_the_steps_are_foretold(rng, scale, ratio):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    kernel = mc.Gaussian(scale)
    largest = np.linalg.eigvalsh(kernel(X))[-1]
    penalty = ratio * np.finfo(np.float32).eps * largest / 200
    task = problem(X, y, np.ones(200), penalty, True, kernel)
    steps, told = steps_needed(task, 1e-8)
    assert largest <= 1.25 * told <= 1.6 * largest
    found = mixed(task, at_any_price=True)
    assert found.converged
    assert found.steps <= 2 * steps + 1


@pytest.mark.parametrize("solve", [cholesky, lambda task: mixed(task, at_any_price=True)])
@pytest.mark.parametrize("n", [60, 700])
def test_what_is_below_the_diagonal_is_never_read(rng, monkeypatch, solve, n):
    def upper(self, dtype=None):
        matrix = self.to_dense(dtype)
        matrix[np.tril_indices(n, -1)] = np.nan
        return matrix

    X, y, weights = rng.normal(size=(n, 2)), rng.normal(size=(n, 1)), rng.uniform(0.5, 2, n)
    task = problem(X, y, weights, 1e-2, True)
    wanted = solve(task)
    monkeypatch.setattr(mc.gram.Operator, "upper", upper)
    np.testing.assert_array_equal(solve(task).coefficients, wanted.coefficients)


def test_a_far_offset_of_the_targets_costs_no_digits(data):
    X, Y, weights = data
    near, far = (cholesky(problem(X, Y + c, weights, 1e-2, True)) for c in (0.0, 1e6))
    # The targets themselves are rounded to 1e6 * 2^-53, and divided by the shift, 1.
    np.testing.assert_allclose(far.coefficients, near.coefficients, atol=1e-8)
    np.testing.assert_allclose(far.offset - 1e6, near.offset, atol=1e-8)


@pytest.mark.parametrize("solve", [cholesky, lambda task: mixed(task, at_any_price=True)])
def test_a_constant_target_is_its_offset(data, solve):
    X, _, weights = data
    found = solve(problem(X, np.full((N, 1), 7.0), weights, 1e-3, True))
    assert found.offset[0] == pytest.approx(7.0, rel=1e-14)
    assert np.abs(found.coefficients).max() < 1e-10
    assert found.converged
    none = solve(problem(X, np.zeros((N, 1)), weights, 1e-3, False))
    assert not none.coefficients.any()
    assert none.residual == 0


def test_a_structural_failure_names_the_kernel():
    wrong = mc.from_function(lambda x, y: -float(x @ y))
    X, y = np.array([[1.0], [2.0], [3.0]]), np.ones((3, 1))
    with pytest.raises(
        NotPositiveDefinite, match=r"kernel is not positive definite.*\n.*repair"
    ):
        cholesky(problem(X, y, np.ones(3), 1e-3, False, wrong))


def test_a_numerical_failure_names_the_penalty(rng):
    X = np.repeat(rng.normal(size=(10, 2)), 4, axis=0)
    with pytest.raises(
        NotPositiveDefinite, match=r"penalty 1e-18.*\n.*may be all right"
    ) as caught:
        cholesky(problem(X, np.ones((40, 1)), np.ones(40), 1e-18, True))
    # The penalty that it proposes works.
    proposed = float(str(caught.value).split("about ")[1].split(",")[0])
    assert cholesky(problem(X, np.ones((40, 1)), np.ones(40), proposed, True)).residual < 1e-8
