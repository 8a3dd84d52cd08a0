"""Newton's method: against closed forms, a general optimiser, and the steps of the seeds."""

import numpy as np
import pytest
from scipy.optimize import minimize

import mercer as mc
from mercer.errors import NotPositiveDefinite
from mercer.problems import loss
from mercer.problems.risk import Risk
from mercer.solvers.newton import newton
from mercer.solvers.spans import Features, Stored

SMOOTH = ["squared", "huber(0.3)", "expectile(0.9)", "poisson", "logistic", "squared_hinge"]


def problem(text, penalty, *, n=40, offset=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)
    kind = loss(text)
    y = {"signs": np.where(y > 0, 1.0, -1.0), "counts": np.exp(y).round()}.get(kind.targets, y)
    return mc.Gaussian(0.8)(X), Risk(kind, y, rng.uniform(0.5, 2, n), penalty, offset)


@pytest.mark.parametrize("text", SMOOTH)
@pytest.mark.parametrize("penalty", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("offset", [True, False])
def test_the_gap_is_closed(text, penalty, offset):
    K, risk = problem(text, penalty, offset=offset)
    found = newton(Stored(K), risk, tolerance=1e-9)
    assert found.converged
    assert abs(found.gap) <= 1e-9


@pytest.mark.parametrize(
    ("size", "penalty"), [(1e2, 1e-2), (1e2, 1e-6), (1e3, 1e-2), (1e3, 1e-6), (1e5, 1e-2)]
)
def test_targets_far_beyond_where_the_square_ends_are_reached(size, penalty):
    # All rows begin where the loss is straight, and one that bends holds the offset.
    K, risk = problem("huber(1)", penalty, n=60)
    far = Risk(risk.loss, size * risk.targets, risk.weights, penalty)
    found = newton(Stored(K), far, tolerance=1e-6)
    assert found.converged


@pytest.mark.parametrize("text", SMOOTH)
def test_a_general_optimiser_finds_no_less(text):
    K, risk = problem(text, 1e-2, n=12)
    found = newton(Stored(K), risk, tolerance=1e-12)

    def objective(z):
        return risk.value(K @ z[:-1] + z[-1], z[:-1] @ K @ z[:-1])

    ours = objective(np.append(found.coefficients, found.offset))
    theirs = minimize(objective, np.zeros(13), method="BFGS", options={"gtol": 1e-9}).fun
    assert ours <= theirs + 1e-10
    assert ours >= theirs - 1e-6 * abs(theirs) - 1e-8


def test_squares_take_one_step_to_the_ridge():
    K, risk = problem("squared", 1e-2, offset=False)
    found = newton(Stored(K), risk)
    shift = 1e-2 * risk.weights.sum()
    expected = np.linalg.solve(K + shift * np.diag(1 / risk.weights), risk.targets)
    assert found.steps == 1
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-8, atol=1e-10)


def test_a_step_for_the_logistic_loss_is_the_weighted_ridge_of_the_seeds():
    # Iteratively reweighted least squares: with W = diag(s(m) s(-m)) and
    # z = m + y / s(y m) the next function solves (K + n penalty' W^-1) a = z, here for n
    # equal weights, where the penalty of the seeds is lambda / 2 |f|^2 = penalty |f|^2.
    K, risk = problem("logistic", 1e-2, offset=False)
    n, y = len(K), risk.targets
    risk = Risk(risk.loss, y, np.ones(n), 1e-2, False)
    a = np.zeros(n)
    path = []
    newton(Stored(K), risk, tolerance=1e-14, watch=lambda *facts: path.append(facts[1]))
    ours = path
    theirs = []
    for _ in range(len(ours)):
        m = K @ a
        s = 1 / (1 + np.exp(-m))
        w, z = s * (1 - s), m + y * (1 + np.exp(-y * m))
        a = np.linalg.solve(K + n * 2 * 1e-2 * np.diag(1 / w), z)
        theirs.append(risk.value(K @ a, a @ K @ a))
    np.testing.assert_allclose(ours[-1], theirs[-1], rtol=1e-12)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10)


@pytest.mark.parametrize("text", SMOOTH)
def test_features_reach_what_their_matrix_reaches(text):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(80, 4))
    _, risk = problem(text, 1e-2, n=80)
    stored = newton(Stored(rows @ rows.T), risk, tolerance=1e-10)
    kept = newton(Features(rows), risk, tolerance=1e-10)
    ours, theirs = (rows @ (rows.T @ found.coefficients) for found in (kept, stored))
    np.testing.assert_allclose(ours + kept.offset, theirs + stored.offset, atol=1e-4)


def test_a_matrix_that_is_no_gram_matrix_is_found_out():
    K, risk = problem("logistic", 1e-4)
    K[0, 1] = K[1, 0] = 3.0
    with pytest.raises(NotPositiveDefinite, match="positive definite"):
        newton(Stored(K), risk)


def test_a_start_at_the_end_needs_one_step():
    K, risk = problem("logistic", 1e-3)
    found = newton(Stored(K), risk, tolerance=1e-10)
    again = newton(Stored(K), risk, start=(found.coefficients, float(found.offset[0])))
    assert again.steps == 1


def test_separable_classes_keep_a_finite_function():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    K = mc.Gaussian(0.1)(np.arange(4.0)[:, None])
    found = newton(Stored(K), Risk(loss("logistic"), y, np.ones(4), 1e-9))
    assert np.isfinite(found.coefficients).all()
    assert (np.sign(K @ found.coefficients + found.offset) == y).all()
