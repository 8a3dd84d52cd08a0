"""Several classes: against scikit-learn's multinomial regression and against two classes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mercer as mc
from mercer.problems import loss
from mercer.problems.risk import Risk
from mercer.solvers.multinomial import Classes, multinomial
from mercer.solvers.newton import newton
from mercer.solvers.spans import Features, Stored


def data(n=60, classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.5, 0.5][: classes - 1])


@pytest.mark.parametrize("penalty", [1e-1, 1e-3])
def test_with_linear_features_it_is_scikit_learns(penalty):
    X, y = data()
    problem = Classes(np.eye(3)[y], np.ones(60), penalty)
    found = multinomial(Stored(X @ X.T), problem, tolerance=1e-20)
    # Their objective is C sum(loss) + |w|^2 / 2; ours is mean(loss) + penalty |w|^2.
    peer = LogisticRegression(C=1 / (2 * penalty * 60), solver="newton-cg", tol=1e-12)
    peer.fit(X, y)
    ours = X @ (X.T @ found.coefficients) + found.offset
    theirs = peer.decision_function(X)
    ours, theirs = (f - f.mean(axis=1, keepdims=True) for f in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_two_classes_are_the_logistic_loss_with_half_the_penalty():
    # Both functions are f / 2 and -f / 2, whose squared norms sum to half of |f|^2.
    X, y = data(classes=2)
    K = mc.Gaussian(1.0)(X)
    two = multinomial(Stored(K), Classes(np.eye(2)[y], np.ones(60), 1e-2), tolerance=1e-20)
    one = newton(
        Stored(K), Risk(loss("logistic"), 2.0 * y - 1, np.ones(60), 0.5e-2), tolerance=1e-13
    )
    apart = two.coefficients[:, 1] - two.coefficients[:, 0]
    np.testing.assert_allclose(K @ apart, K @ one.coefficients, atol=1e-6)
    assert two.offset[1] - two.offset[0] == pytest.approx(one.offset[0], abs=1e-6)


def test_weights_are_repetitions_and_features_their_matrix():
    X, y = data()
    times = np.random.default_rng(1).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), times)
    one = multinomial(
        Features(X), Classes(np.eye(3)[y], times.astype(float), 1e-2), tolerance=1e-20
    )
    many = multinomial(
        Stored(X[rows] @ X[rows].T), Classes(np.eye(3)[y[rows]], np.ones(len(rows)), 1e-2),
        tolerance=1e-20,
    )  # fmt: skip
    np.testing.assert_allclose(X.T @ one.coefficients, X[rows].T @ many.coefficients, atol=1e-6)
    np.testing.assert_allclose(one.offset, many.offset, atol=1e-6)


def test_the_gradient_at_the_end_is_nothing():
    X, y = data()
    K = mc.Gaussian(1.0)(X)
    problem = Classes(np.eye(3)[y], np.ones(60), 1e-5)
    found = multinomial(Stored(K), problem, tolerance=1e-20)
    assert found.converged
    slopes = problem.slope(K @ found.coefficients + found.offset)
    np.testing.assert_allclose(slopes, -2e-5 * found.coefficients, atol=1e-9)
    np.testing.assert_allclose(found.coefficients.sum(axis=0), 0, atol=1e-4)
