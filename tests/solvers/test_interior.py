"""Losses with kinks: interior points against scikit-learn, linear programmes, and the gap."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC, SVR

import mercer as mc
from mercer.errors import InvalidInput
from mercer.problems import loss
from mercer.problems.risk import Risk
from mercer.solvers.interior import interior
from mercer.solvers.spans import Features, Stored

KINKED = ["absolute", "epsilon_insensitive(0.1)", "pinball(0.9)", "hinge"]


def problem(text, penalty, *, n=60, offset=True, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(2, n)
    y = np.where(y > 0, 1.0, -1.0) if text == "hinge" else y
    weights = np.ones(n) if weights is None else weights
    K = mc.Gaussian(0.8)(X)
    return K, Risk(loss(text), y, weights, penalty, offset)


def risk_of(K, risk, solution):
    values = K @ solution.coefficients + solution.offset
    return risk.value(values, solution.coefficients @ K @ solution.coefficients)


@pytest.mark.parametrize("text", KINKED)
@pytest.mark.parametrize("penalty", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("offset", [True, False])
def test_the_gap_is_closed(text, penalty, offset):
    K, risk = problem(text, penalty, offset=offset)
    found, _ = interior(Stored(K), risk, tolerance=1e-7)
    assert found.converged
    assert found.gap <= 1e-7
    # The gap is a proof: no slopes that the loss can have give a higher bound than the risk.
    bound = risk.bound(-2 * penalty * found.coefficients, K)
    assert bound <= risk_of(K, risk, found) * (1 + 1e-12)
    assert risk_of(K, risk, found) - bound <= 2e-7 * risk_of(K, risk, found)
    if offset:
        assert abs(found.coefficients.sum()) <= 1e-9 * np.abs(found.coefficients).sum()


@pytest.mark.parametrize("penalty", [1e-1, 1e-3])
def test_the_hinge_is_the_support_vector_machine(penalty):
    K, risk = problem("hinge", penalty)
    found, _ = interior(Stored(K), risk, tolerance=1e-9)
    peer = SVC(C=1 / (2 * penalty * len(K)), kernel="precomputed", tol=1e-10)
    peer.fit(K, risk.targets)
    theirs = peer.decision_function(K)
    ours = K @ found.coefficients + found.offset
    # The risk is strongly convex in f: values differ by at most sqrt(gap * risk / penalty).
    allowed = np.sqrt(1e-8 * risk_of(K, risk, found) / penalty) + 1e-4
    np.testing.assert_allclose(ours - ours.mean(), theirs - theirs.mean(), atol=allowed)


@pytest.mark.parametrize("penalty", [1e-1, 1e-3])
def test_the_tube_is_support_vector_regression(penalty):
    K, risk = problem("epsilon_insensitive(0.1)", penalty)
    found, _ = interior(Stored(K), risk, tolerance=1e-9)
    peer = SVR(C=1 / (2 * penalty * len(K)), epsilon=0.1, kernel="precomputed", tol=1e-10)
    theirs = peer.fit(K, risk.targets).predict(K)
    allowed = np.sqrt(1e-8 * risk_of(K, risk, found) / penalty) + 1e-4
    ours = K @ found.coefficients + found.offset
    np.testing.assert_allclose(ours, theirs, atol=allowed)


def test_without_a_slope_the_offset_is_the_quantile():
    # With a huge penalty only the offset is left: a linear programme in one number.
    K, risk = problem("pinball(0.8)", 1e6, n=41)
    found, _ = interior(Stored(K), risk, tolerance=1e-9)
    n = len(K)
    cost = np.concatenate([[0, 0], np.full(n, 0.8), np.full(n, 0.2)])
    equal = np.hstack([np.ones((n, 1)), -np.ones((n, 1)), np.eye(n), -np.eye(n)])
    best = linprog(cost, A_eq=equal, b_eq=risk.targets).x
    assert found.offset[0] == pytest.approx(best[0] - best[1], abs=1e-5)


@pytest.mark.parametrize("text", KINKED)
def test_weights_are_repetitions(text):
    times = np.random.default_rng(3).integers(1, 4, 40)
    K, risk = problem(text, 1e-2, n=40, weights=times.astype(float))
    rows = np.repeat(np.arange(40), times)
    longer = Risk(risk.loss, risk.targets[rows], np.ones(len(rows)), 1e-2)
    one, _ = interior(Stored(K), risk, tolerance=1e-9)
    many, _ = interior(Stored(K[np.ix_(rows, rows)]), longer, tolerance=1e-9)
    summed = np.bincount(rows, many.coefficients)
    np.testing.assert_allclose(K @ summed, K @ one.coefficients, atol=2e-3)
    longest = longer.value((K @ one.coefficients + one.offset)[rows], 0.0)
    assert longest == pytest.approx(risk.value(K @ one.coefficients + one.offset, 0.0))


@pytest.mark.parametrize("text", KINKED)
def test_features_reach_what_their_matrix_reaches(text):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(80, 4))
    y = rows[:, 0] + 0.2 * rng.normal(size=80)
    y = np.sign(y) if text == "hinge" else y
    risk = Risk(loss(text), y, np.ones(80), 1e-2)
    stored, _ = interior(Stored(rows @ rows.T), risk, tolerance=1e-6)
    kept, _ = interior(Features(rows), risk, tolerance=1e-6)
    one, other = (risk_of(rows @ rows.T, risk, found) for found in (stored, kept))
    assert abs(one - other) <= 2e-6 * one


def test_one_class_has_no_best_offset():
    K, risk = problem("hinge", 1e-2, n=5)
    with pytest.raises(InvalidInput, match="both classes"):
        interior(Stored(K), Risk(risk.loss, np.ones(5), np.ones(5), 1e-2))


def test_the_curvature_marks_the_kinks():
    K, risk = problem("absolute", 1e-2)
    found, curvature = interior(Stored(K), risk, tolerance=1e-9)
    errors = np.abs(risk.targets - K @ found.coefficients - found.offset)
    on_kink = errors < 1e-5
    assert 0 < on_kink.sum() < len(K)
    assert np.median(curvature[on_kink]) > 1.5 * np.median(curvature[errors > 1e-2])


def test_progress_is_told():
    K, risk = problem("absolute", 1e-2)
    told = []
    found, _ = interior(Stored(K), risk, watch=lambda *facts: told.append(facts))
    assert [step for step, _, _ in told] == list(range(1, len(told) + 1))
    assert found.gap == min(gap for _, _, gap in told)
