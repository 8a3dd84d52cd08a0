"""Deviations and intervals: against processes, against fits row by row, and by simulation."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import mercer as mc
from mercer.errors import InvalidParameter

K = mc.Gaussian(1.3)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(30, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=30)


def by_hand(model, X, y, weights, new, coverage):
    """Jackknife+ by fits without a row, and quantiles of the list with every row repeated."""
    low, high = [], []
    shift = model.penalty_ * weights.sum()
    for row in range(len(X)):
        rest = np.delete(np.arange(len(X)), row)
        fit = mc.KernelRidge(K, shift / weights[rest].sum(), fit_intercept=model.fit_intercept)
        fit.fit(X[rest], y[rest], sample_weight=weights[rest])
        error = abs(y[row] - fit.predict(X[[row]])[0])
        low += [fit.predict(new) - error] * int(weights[row])
        high += [fit.predict(new) + error] * int(weights[row])
    place = math.ceil(coverage * (len(low) + 1) - 1e-9)
    if place > len(low):
        return np.array([[-np.inf, np.inf]] * len(new))
    ends = -np.sort(-np.array(low), axis=0)[place - 1], np.sort(high, axis=0)[place - 1]
    return np.column_stack(ends)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("weighted", [False, True])
def test_jackknife_plus_by_hand(data, rng, has_offset, coverage, weighted):
    X, y = data
    weights = rng.integers(1, 4, 30) if weighted else np.ones(30)
    model = mc.KernelRidge(K, 0.01, fit_intercept=has_offset).fit(X, y, sample_weight=weights)
    new = rng.normal(size=(7, 2))
    found = model.predict_interval(new, coverage)
    np.testing.assert_allclose(found, by_hand(model, X, y, weights, new, coverage), atol=1e-9)


def test_weights_are_repetition_in_intervals_too(data, rng):
    X, y = data
    counts = rng.integers(0, 4, 30)
    new = rng.normal(size=(5, 2))
    weighted = mc.KernelRidge(K, 0.01).fit(X, y, sample_weight=counts)
    repeated = mc.KernelRidge(K, 0.01).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_array_equal(
        weighted.predict_interval(new), repeated.predict_interval(new)
    )


def test_few_rows_cannot_promise_much(data):
    X, y = data
    model = mc.KernelRidge(K, 0.01).fit(X[:5], y[:5])
    # 5 of 6 is less than 0.9: no finite interval holds a target that often.
    assert np.isinf(model.predict_interval(X[:2], 0.9)).all()
    assert np.isfinite(model.predict_interval(X[:2], 0.8)).all()


def test_the_coverage_by_simulation():
    """2000 new targets in 40 samples: the standard error of the share is about 0.015."""
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, size=(80, 1))
        y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(3, size=80)
        model = mc.KernelRidge(mc.Gaussian(0.7), 0.01).fit(X[:30], y[:30])
        low, high = model.predict_interval(X[30:], 0.8).T
        held.append(np.mean((low <= y[30:]) & (y[30:] <= high)))
    assert 0.75 < np.mean(held) < 0.87


def test_more_coverage_is_wider_and_holds_the_prediction(data):
    X, y = data
    model = mc.KernelRidge(K, 0.01).fit(X, y)
    inner, outer = model.predict_interval(X, 0.5), model.predict_interval(X, 0.9)
    assert (outer[:, 0] <= inner[:, 0]).all()
    assert (outer[:, 1] >= inner[:, 1]).all()
    assert (outer[:, 0] < model.predict(X)).all()
    assert (model.predict(X) < outer[:, 1]).all()


def test_deviations_are_those_of_the_likeliest_gaussian_process(data, rng):
    X, y = data
    new = rng.normal(size=(9, 2))
    model = mc.KernelRidge(K, 0.01, fit_intercept=False).fit(X, y)
    variance = y @ np.linalg.solve(K(X) + 0.3 * np.eye(30), y) / 30
    process = GaussianProcessRegressor(
        ConstantKernel(variance) * RBF(1.3), alpha=0.3 * variance, optimizer=None
    ).fit(X, y)
    found, wanted = model.predict(new, return_std=True), process.predict(new, return_std=True)
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-9)
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-9)
    assert model.log_marginal_likelihood_ == pytest.approx(
        process.log_marginal_likelihood_value_
    )


def test_many_points_are_looked_at_in_batches(data, monkeypatch, rng):
    from_one = mc.KernelRidge(K, 0.01).fit(*data)
    new = rng.normal(size=(50, 2))
    wanted = from_one.predict_interval(new), from_one.predict(new, return_std=True)[1]
    monkeypatch.setattr("mercer.machines.intervals.BATCH", 7)
    found = from_one.predict_interval(new), from_one.predict(new, return_std=True)[1]
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-12)
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-12)


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 2, np.nan])
def test_a_coverage_is_a_probability(data, wrong):
    with pytest.raises(InvalidParameter, match="coverage"):
        mc.KernelRidge(K, 0.01).fit(*data).predict_interval(data[0], wrong)


def test_what_has_no_leave_one_out_has_no_interval(data):
    X, y = data
    for model in (mc.KernelRidge(K, 0.0), mc.KernelRidge(K, 0.01, plan="landmarks")):
        with pytest.raises(InvalidParameter, match="anchors and a positive penalty"):
            model.fit(X, y).predict_interval(X)
    with pytest.raises(InvalidParameter, match="one target"):
        mc.KernelRidge(K, 0.01).fit(X, np.column_stack([y, y])).predict_interval(X)
