"""Regression with any convex loss."""

import numpy as np
import pytest
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter

LOSSES = [
    "squared", "absolute", "huber(0.5)", "epsilon_insensitive(0.1)", "pinball(0.8)",
    "expectile(0.8)", "poisson",
]  # fmt: skip


@parametrize_with_checks(
    [mc.KernelRegressor()]
    + [mc.KernelRegressor(mc.Gaussian(2.0), loss, 1e-2) for loss in LOSSES]
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def waves(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, (n, 1)), axis=0)
    return X, np.sin(X[:, 0]), rng


def test_squares_are_ridge_regression():
    X, y, _ = waves()
    general = mc.KernelRegressor(mc.Gaussian(1.0), "squared", 1e-3).fit(X, y)
    ridge = mc.KernelRidge(mc.Gaussian(1.0), 1e-3).fit(X, y)
    np.testing.assert_allclose(general.predict(X), ridge.predict(X), atol=1e-8)


def test_the_tube_is_scikit_learns():
    X, y, _ = waves()
    n = len(X)
    ours = mc.KernelRegressor(
        mc.Gaussian(1.0), "epsilon_insensitive(0.05)", 1e-3, plan=mc.Plan(tolerance=1e-8)
    ).fit(X, y)
    theirs = SVR(C=1 / (2e-3 * n), epsilon=0.05, gamma=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)


@pytest.mark.parametrize("loss", ["absolute", "huber(0.1)"])
def test_a_robust_loss_passes_over_mistakes(loss):
    X, y, rng = waves()
    wrong = y.copy()
    wrong[rng.choice(150, 15, replace=False)] += 10
    robust, square = (
        np.abs(mc.KernelRegressor("gaussian(1)", one, 1e-3).fit(X, wrong).predict(X) - y).max()
        for one in (loss, "squared")
    )
    assert robust < 0.3 < square


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles_leave_their_share_below(q):
    X, y, rng = waves(600)
    y = y + 0.3 * rng.normal(size=600)
    model = mc.KernelRegressor(mc.Gaussian(2.0), f"pinball({q})").fit(X, y)
    # Five standard errors of a share of 600, and the few rows on the curve itself.
    allowed = 5 * np.sqrt(q * (1 - q) / 600) + 0.02
    assert abs((y <= model.predict(X)).mean() - q) < allowed


def test_quantiles_and_expectiles_are_in_order():
    X, y, rng = waves(200)
    y = y + rng.exponential(size=200)
    for name in ("pinball", "expectile"):
        low, high = (
            mc.KernelRegressor(mc.Gaussian(2.0), f"{name}({q})", 1e-2).fit(X, y).predict(X)
            for q in (0.2, 0.8)
        )
        assert (low < high).all()


def test_poisson_predicts_rates():
    X, y, rng = waves(400)
    counts = rng.poisson(np.exp(1 + y))
    model = mc.KernelRegressor(mc.Gaussian(1.0), "poisson").fit(X, counts)
    rate = model.predict(X)
    assert (rate > 0).all()
    # The offset costs nothing, so the mean of the rates is that of the counts.
    assert rate.mean() == pytest.approx(counts.mean(), rel=1e-3)
    assert np.abs(np.log(rate) - 1 - y).mean() < 0.15
    with pytest.raises(InvalidInput, match="numbers >= 0, and row 0"):
        model.fit(X, counts - 100)


def test_the_penalty_is_found_and_its_path_kept():
    X, y, rng = waves(80)
    y = y + 0.1 * rng.normal(size=80)
    model = mc.KernelRegressor(mc.Gaussian(1.0), "huber(0.2)").fit(X, y)
    assert model.penalty_ in model.penalties_
    assert len(model.penalties_) == len(model.loo_errors_) > 5
    assert model.loo_errors_.min() == pytest.approx(
        model.loo_errors_[list(model.penalties_).index(model.penalty_)]
    )
    assert np.abs(model.loo_predictions_ - np.sin(X[:, 0])).mean() < 0.1


def test_a_classifiers_loss_is_refused():
    X, y, _ = waves(20)
    with pytest.raises(InvalidParameter, match="KernelClassifier"):
        mc.KernelRegressor(loss="hinge").fit(X, y)
    with pytest.raises(InvalidParameter, match="there is no loss"):
        mc.KernelRegressor(loss="hubert").fit(X, y)


def test_constant_targets_are_the_constant():
    X, _, _ = waves(30)
    for loss in LOSSES:
        model = mc.KernelRegressor(mc.Gaussian(1.0), loss, 1e-2).fit(X, np.full(30, 3.0))
        tube = 0.1 if loss.startswith("eps") else 0.0  # within which all is as good
        np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-3, atol=tube)


def test_one_row_is_enough():
    for loss in LOSSES:
        model = mc.KernelRegressor(mc.Gaussian(1.0), loss, 1e-2).fit([[1.0]], [2.0])
        tube = 0.1 if loss.startswith("eps") else 2e-3
        assert model.predict([[1.0]])[0] == pytest.approx(2.0, abs=tube)


@pytest.mark.parametrize("loss", ["huber(0.2)", "absolute"])
def test_a_radius_bounds_the_norm(loss):
    X, y, _ = waves(60)
    model = mc.KernelRegressor(mc.Gaussian(1.0), loss, radius=1.0).fit(X, y)
    assert model.function_.norm() == pytest.approx(1.0, rel=1e-3)
    same = mc.KernelRegressor(mc.Gaussian(1.0), loss, model.penalty_).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-3)
    slack = mc.KernelRegressor(mc.Gaussian(1.0), loss, radius=1e3).fit(X, np.zeros(60))
    assert slack.function_.norm() < 1e-6
    with pytest.raises(InvalidParameter, match="one of them"):
        mc.KernelRegressor(mc.Gaussian(1.0), loss, 1e-3, radius=1.0).fit(X, y)


@pytest.mark.parametrize("loss", ["absolute", "pinball(0.8)", "squared", "huber"])
def test_the_unit_of_the_targets_does_not_matter(loss):
    # The penalty of a loss that grows like |y - f| is in one over that unit. Huber's has a
    # unit of its own: beyond it, it is the absolute loss.
    X, y, rng = waves(60)
    y = y + 0.1 * rng.normal(size=60)
    for unit in (1e-6, 1e3, 1e6):
        model = mc.KernelRegressor(mc.Gaussian(1.0), loss).fit(X, unit * y)
        plain = mc.KernelRegressor(mc.Gaussian(1.0), loss).fit(X, y)
        far = loss == "huber" and unit > 1
        np.testing.assert_allclose(
            model.predict(X) / unit, plain.predict(X), atol=0.2 if far else 1e-3
        )


def test_a_second_fit_tells_nothing_of_the_first():
    X, y, _ = waves(30)
    model = mc.KernelRegressor(mc.Gaussian(1.0)).fit(X, y)
    assert model.loo_predictions_.shape == model.dual_coef_.shape == (30,)
    model.set_params(penalty=0.1).fit(X, y)
    assert not hasattr(model, "loo_predictions_")
    assert not hasattr(model.set_params(plan=mc.Plan(anchors=5)).fit(X, y), "dual_coef_")
