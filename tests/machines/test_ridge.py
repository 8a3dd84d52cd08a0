"""Kernel ridge regression: the objective, its relatives, and scikit-learn's manners."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as Peer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotPositiveDefinite
from mercer.solvers import conjugate

K = mc.Gaussian(1.3)


@parametrize_with_checks(
    [
        mc.KernelRidge(),
        mc.KernelRidge(kernel=mc.Gaussian(2.0), penalty=0.0),
        mc.KernelRidge(kernel=mc.Gaussian(4.0), radius=50.0, fit_intercept=False),
        *[
            mc.KernelRidge(kernel=mc.Gaussian(4.0), penalty=1e-3, plan=method)
            for method in ("cholesky", "mixed", "conjugate", "landmarks")
        ],
        mc.KernelRidge(kernel="polynomial(2)", penalty=0.1),
    ]
)
def test_scikit_learns_manners(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=50)


def objective(function, K, y, weights, penalty):
    """The objective of the docstring, for coefficients and an offset."""
    a, b = function[:-1], function[-1]
    values = K @ a
    return np.average((y - values - b) ** 2, weights=weights) + penalty * a @ values


METHODS = ["spectral", "band", "cholesky", "mixed", "conjugate", "landmarks"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("has_offset", [True, False])
def test_it_minimises_its_objective(data, method, has_offset, rng):
    X, y = data
    weights = rng.uniform(0.2, 3, 50)
    plan = mc.Plan(method=method, tolerance=1e-11)
    model = mc.KernelRidge(K, 0.01, fit_intercept=has_offset, plan=plan)
    model.fit(X, y, sample_weight=weights)
    matrix = K(X)
    found = np.append(np.linalg.solve(matrix, model.function_(X)), model.intercept_)
    least = objective(found, matrix, y, weights, 0.01)
    assert least <= objective(np.zeros(51), matrix, y, weights, 0.01)
    for _ in range(20):
        step = rng.normal(size=51) * np.append(np.ones(50), float(has_offset))
        for size in (1e-4, 1e-2):
            # It is convex: no step goes down, but for rounding.
            assert objective(found + size * step, matrix, y, weights, 0.01) >= least - 1e-12
    assert model.solution_.residual <= 1e-9
    assert method in str(model.plan_)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_scikit_learns_kernel_ridge_with_alpha_n_lambda(data, method):
    X, y = data
    model = mc.KernelRidge(
        K, 0.02, fit_intercept=False, plan=mc.Plan(method=method, tolerance=1e-11)
    )
    peer = Peer(kernel="rbf", gamma=0.5 / 1.3**2, alpha=50 * 0.02)
    new = np.random.default_rng(5).normal(size=(20, 3))
    found, wanted = model.fit(X, y).predict(new), peer.fit(X, y).predict(new)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    if method != "landmarks":
        np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-8)


def test_with_weights_it_is_scikit_learns_ridge_with_its_offset(data, rng):
    """Another road to the same numbers: features and an unpenalised offset."""
    X, y = data
    weights = rng.uniform(0, 3, 50)
    peer = Ridge(alpha=0.1 * weights.sum()).fit(X, y, sample_weight=weights)
    for plan in ("primal", "cholesky", "spectral"):
        model = mc.KernelRidge("linear", 0.1, plan=plan).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-9)
        assert model.intercept_ == pytest.approx(peer.intercept_, abs=1e-9)


def test_the_primal_and_the_dual_are_one_function(data):
    X, y = data
    kernel = mc.Polynomial(degree=2)
    primal, dual = (
        mc.KernelRidge(kernel, 0.01, plan=plan).fit(X, y) for plan in ("primal", "spectral")
    )
    new = np.random.default_rng(5).normal(size=(20, 3))
    np.testing.assert_allclose(primal.predict(new), dual.predict(new), atol=1e-8)
    assert primal.function_.norm() == pytest.approx(dual.function_.norm(), rel=1e-8)
    np.testing.assert_allclose(primal.loo_predictions_, dual.loo_predictions_, atol=1e-8)
    assert mc.KernelRidge(kernel, 0.01).fit(X, y).plan_.method == "primal"


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repetition_and_the_order_of_rows_is_nothing(data, method, rng):
    X, y = data
    counts = rng.integers(0, 4, 50)
    order = rng.permutation(counts.sum())
    model = mc.KernelRidge(K, 0.01, plan=method, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, 0)[order], np.repeat(y, counts)[order])
    # The same numbers go into the same operations, up to the order of sums of whole numbers.
    assert (weighted.predict(X) == repeated.predict(X)).all()
    assert weighted.penalty_ == repeated.penalty_
    assert len(repeated.function_.anchors) == np.count_nonzero(counts)


def test_leave_one_out_leaves_out_a_row_with_all_its_weight(data, rng):
    X, y = data
    counts = rng.integers(1, 4, 50)
    told = mc.KernelRidge(K, 0.01).fit(X, y, sample_weight=counts).loo_predictions_
    again = mc.KernelRidge(K, 0.01).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_array_equal(again.loo_predictions_, np.repeat(told, counts))
    row = 7
    rest = np.delete(np.arange(50), row)
    total = counts.sum()
    # The shift stays what it was: penalty * sum of all weights.
    penalty = 0.01 * total / counts[rest].sum()
    without = mc.KernelRidge(K, penalty).fit(X[rest], y[rest], sample_weight=counts[rest])
    assert told[row] == pytest.approx(without.predict(X[[row]])[0], abs=1e-9)


@pytest.mark.parametrize("method", ["cholesky", "mixed", "conjugate", "band"])
def test_leave_one_out_and_the_likelihood_are_told_for_a_given_penalty_too(data, method):
    X, y = data
    model = mc.KernelRidge(K, 0.01, plan=mc.Plan(method=method, tolerance=1e-11)).fit(X, y)
    wanted = mc.KernelRidge(K, 0.01, plan="spectral").fit(X, y)
    np.testing.assert_allclose(model.loo_predictions_, wanted.loo_predictions_, atol=1e-9)
    assert model.log_marginal_likelihood_ == pytest.approx(wanted.log_marginal_likelihood_)
    model.set_params(plan="landmarks").fit(X, y)
    assert not hasattr(model, "loo_predictions_")
    assert not hasattr(model, "dual_coef_")


def test_the_chosen_penalty_has_the_least_leave_one_out_error(data):
    X, y = data
    model = mc.KernelRidge(K).fit(X, y)
    best = np.mean((y - model.loo_predictions_) ** 2)
    assert best == pytest.approx(model.loo_errors_.min(), rel=1e-9)
    values = np.linalg.eigvalsh(K(X)) / 50
    # The grid spans the spectrum.
    assert model.penalties_[0] <= values[values > 1e-12 * values[-1]][0]
    assert model.penalties_[-1] >= values[-1]
    for penalty in np.geomspace(1e-6, 10, 30):
        other = mc.KernelRidge(K, penalty).fit(X, y)
        # The search stops within 5% of the best penalty, where the error is flat.
        assert np.mean((y - other.loo_predictions_) ** 2) >= best * (1 - 1e-3)


def test_an_array_of_penalties_is_the_path(data):
    X, y = data
    given = np.array([1.0, 1e-3, 0.1])
    model = mc.KernelRidge(K, given).fit(X, y)
    np.testing.assert_array_equal(model.penalties_, np.sort(given))
    for penalty, error in zip(model.penalties_, model.loo_errors_, strict=True):
        one = mc.KernelRidge(K, penalty).fit(X, y)
        assert error == pytest.approx(np.mean((y - one.loo_predictions_) ** 2), rel=1e-9)
    assert model.penalty_ == model.penalties_[model.loo_errors_.argmin()]


@pytest.mark.parametrize("has_offset", [True, False])
def test_a_band_tells_all_that_eigenvalues_tell(data, has_offset, rng):
    X, y = data
    weights = rng.uniform(0.2, 3.0, 50)
    one, other = (
        mc.KernelRidge(K, [1.0, 1e-3, 0.1], fit_intercept=has_offset, plan=plan)
        for plan in ("band", "spectral")
    )
    one.fit(X, y, weights), other.fit(X, y, weights)
    assert (one.plan_.method, other.plan_.method) == ("band", "spectral")
    assert one.penalty_ == other.penalty_
    # Condition numbers stay below 1e5.
    close = {"rtol": 1e-9, "atol": 1e-9}
    for name in ("loo_errors_", "loo_predictions_", "log_marginal_likelihood_", "dual_coef_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), **close)
    new = X[:7] + 0.3
    np.testing.assert_allclose(
        one.predict(new, return_std=True), other.predict(new, return_std=True), **close
    )
    np.testing.assert_allclose(one.predict_interval(new), other.predict_interval(new), **close)


def test_penalties_that_are_lost_in_rounding_need_eigenvalues(data):
    X, y = data
    model = mc.KernelRidge(K, [1e-300, 1.0], plan="band").fit(X, y)
    assert model.plan_.method == model.solution_.method == "spectral"
    assert "near rounding" in str(model.plan_)
    wanted = mc.KernelRidge(K, [1e-300, 1.0], plan="spectral").fit(X, y)
    np.testing.assert_array_equal(model.loo_errors_, wanted.loo_errors_)


def test_several_targets_are_fitted_as_one_by_one(data):
    X, y = data
    Y = np.column_stack([y, 5 - 2 * y, np.cos(X[:, 0])])
    model = mc.KernelRidge(K, 0.01).fit(X, Y)
    assert model.predict(X).shape == model.loo_predictions_.shape == (50, 3)
    for t in range(3):
        one = mc.KernelRidge(K, 0.01).fit(X, Y[:, t])
        np.testing.assert_allclose(model.predict(X)[:, t], one.predict(X), atol=1e-10)
        assert model.intercept_[t] == pytest.approx(one.intercept_)
        assert model.log_marginal_likelihood_[t] == pytest.approx(one.log_marginal_likelihood_)
        both = model.predict(X, return_std=True)[1][:, t], one.predict(X, return_std=True)[1]
        np.testing.assert_allclose(*both, atol=1e-10)


# Without a penalty


def test_without_a_penalty_it_interpolates(data):
    X, y = data
    model = mc.KernelRidge(K, 0.0).fit(X, y)
    # The condition number is 1e7 at most here.
    assert np.linalg.cond(K(X)) < 1e7
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    # Of all functions with these values and their offset it has the least norm.
    a = np.linalg.solve(K(X), y - model.intercept_)
    assert model.function_.norm() == pytest.approx(np.sqrt(a @ K(X) @ a), rel=1e-6)


@pytest.mark.parametrize("has_offset", [True, False])
def test_equal_points_with_different_targets_get_their_mean(has_offset, rng):
    X = np.repeat(rng.normal(size=(10, 2)), 3, axis=0)
    y = rng.normal(size=30)
    model = mc.KernelRidge(K, 0.0, fit_intercept=has_offset).fit(X, y)
    np.testing.assert_allclose(model.predict(X[::3]), y.reshape(10, 3).mean(axis=1), atol=1e-8)


def test_gradient_descent_from_zero_reaches_it(rng):
    """As the seeds argue: the steps never leave the span of the data."""
    X = rng.normal(size=(12, 2))
    X = np.vstack([X, X[:4]])  # the matrix is singular
    y = rng.normal(size=16)
    k = mc.Polynomial(degree=1)
    matrix, a = k(X), np.zeros(16)
    rate = 1 / np.linalg.eigvalsh(matrix)[-1]
    for _ in range(4000):
        a += rate * (y - matrix @ a)  # a step along the gradient in the space
    model = mc.KernelRidge(k, 0.0, fit_intercept=False).fit(X, y)
    new = rng.normal(size=(9, 2))
    np.testing.assert_allclose(model.predict(new), k(new, X) @ a, atol=1e-8)
    assert model.function_.norm() == pytest.approx(np.sqrt(a @ matrix @ a), rel=1e-8)


def test_what_the_matrix_maps_to_zero_changes_no_function(data, rng):
    """Uniqueness: alpha + epsilon with K epsilon = 0 is the same element of the space."""
    X, y = data
    k = mc.Linear()
    model = mc.KernelRidge(k, 0.1, fit_intercept=False, plan="cholesky").fit(X, y)
    epsilon = np.linalg.svd(X.T)[2][3:].T @ rng.normal(size=47)
    assert np.abs(k(X) @ epsilon).max() < 1e-12
    other = mc.Function(k, k.domain.encode(X), model.dual_coef_ + epsilon)
    assert model.function_.distance(other) < 1e-6  # the root of a rounding error
    np.testing.assert_allclose(other(X), model.function_(X), atol=1e-12)


# The constrained form


@pytest.mark.parametrize("radius", [0.01, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("has_offset", [True, False])
def test_the_norm_is_the_radius(data, radius, has_offset):
    X, y = data
    model = mc.KernelRidge(K, radius=radius, fit_intercept=has_offset).fit(X, y)
    assert model.function_.norm() == pytest.approx(radius, rel=1e-8)
    assert model.penalty_ > 0
    # It is the minimiser for its multiplier.
    other = mc.KernelRidge(K, model.penalty_, fit_intercept=has_offset).fit(X, y)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-8)


def test_a_bound_that_does_not_bind_is_slack(data):
    X, y = data
    free = mc.KernelRidge(K, 0.0).fit(X, y)
    model = mc.KernelRidge(K, radius=2 * free.function_.norm()).fit(X, y)
    assert model.penalty_ == 0
    np.testing.assert_allclose(model.predict(X), free.predict(X))


def test_a_radius_is_a_positive_number_without_a_penalty(data):
    for wrong in (0, -1, np.nan, np.inf, "1", [1.0]):
        with pytest.raises(InvalidParameter, match="radius is a positive number"):
            mc.KernelRidge(K, radius=wrong).fit(*data)
    with pytest.raises(InvalidParameter, match="one of them"):
        mc.KernelRidge(K, 0.1, radius=1.0).fit(*data)


# Other data


def test_sparse_rows_dense_rows_and_tables_are_the_same_points(data):
    X, y = data
    X = np.where(abs(X) < 0.5, 0.0, X)
    model = mc.KernelRidge(K, 0.01).fit(X, y)
    names = ["a", "b", "c"]
    for other in (
        sp.csr_array(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        again = mc.KernelRidge(K, 0.01).fit(other, y)
        np.testing.assert_allclose(again.predict(other), model.predict(X), atol=1e-10)
    assert list(again.feature_names_in_) == names


def test_a_matrix_of_kernel_values_is_the_kernel(data):
    X, y = data
    for penalty in (0.01, "auto"):
        model = mc.KernelRidge(K, penalty).fit(X[:40], y[:40])
        given = mc.KernelRidge("precomputed", penalty).fit(K(X[:40]), y[:40])
        np.testing.assert_allclose(
            given.predict(K(X[40:], X[:40])), model.predict(X[40:]), atol=1e-7
        )
    scores = [
        cross_val_score(mc.KernelRidge(kernel, 0.01), values, y)
        for kernel, values in ((K, X), ("precomputed", K(X)))
    ]
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_sets_and_records_are_points_too(rng):
    sets = [{f"word{w}" for w in rng.integers(0, 30, 6)} for _ in range(40)]
    y = np.array([("word3" in s) + 0.5 * ("word7" in s) for s in sets])
    for method in METHODS:
        model = mc.KernelRidge(mc.SetIntersection(), 1e-3, plan=method).fit(sets, y)
        assert model.score(sets, y) > 0.9
    rows = pd.DataFrame({"size": rng.normal(size=40), "kind": rng.choice(["a", "b"], 40)})
    target = rows["size"] + (rows["kind"] == "a")
    kernel = mc.Gaussian(2.0).on("size") + mc.Delta().on("kind")
    assert mc.KernelRidge(kernel, 1e-3).fit(rows, target).score(rows, target) > 0.95


# As scikit-learn's own


def test_grids_over_parts_of_the_kernel_and_the_plan(data):
    X, y = data
    search = GridSearchCV(
        mc.KernelRidge(mc.Gaussian() + mc.Linear(), 0.01, plan=mc.Plan()),
        {
            "kernel__left__scale": [0.1, 1.0],
            "penalty": [0.01, 1.0],
            "plan__memory": ["1 GB"],
        },
        cv=3,
    ).fit(X, y)
    assert search.best_params_["kernel__left__scale"] == 1.0
    assert search.best_estimator_.plan_.budget == 10**9
    pipe = make_pipeline(StandardScaler(), mc.KernelRidge(mc.Gaussian(), 0.01))
    found = GridSearchCV(pipe, {"kernelridge__kernel__scale": [0.1, 2.0]}, cv=3).fit(X, y)
    assert found.best_params_ == {"kernelridge__kernel__scale": 2.0}
    with pytest.raises(InvalidParameter, match="Pass one"):
        mc.KernelRidge().set_params(kernel__scale=2.0)


def test_in_workers_it_is_the_same(data):
    X, y = data
    grid = {"penalty": [0.01, 1.0]}
    alone, two = (
        GridSearchCV(mc.KernelRidge(K), grid, cv=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    np.testing.assert_allclose(
        alone.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"], rtol=1e-9
    )


def test_clones_and_pickles(data):
    X, y = data
    model = mc.KernelRidge(K, "auto", plan=mc.Plan(threads=1)).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_weights_are_routed(data):
    X, y = data
    weights = np.arange(50.0)
    with config_context(enable_metadata_routing=True):
        model = mc.KernelRidge(K, 0.01).set_fit_request(sample_weight=True)
        scaler = StandardScaler(with_mean=False, with_std=False)
        pipe = make_pipeline(scaler.set_fit_request(sample_weight=False), model)
        found = pipe.fit(X, y, sample_weight=weights).predict(X)
    wanted = mc.KernelRidge(K, 0.01).fit(X, y, sample_weight=weights).predict(X)
    assert not np.allclose(wanted, mc.KernelRidge(K, 0.01).fit(X, y).predict(X), atol=1e-3)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_the_function_is_an_element_of_the_space(data):
    X, y = data
    model = mc.KernelRidge(K, 0.01).fit(X, y)
    np.testing.assert_allclose(model.function_(X) + model.intercept_, model.predict(X))
    a = model.dual_coef_
    assert model.function_.norm() == pytest.approx(np.sqrt(a @ K(X) @ a))
    assert model.function_.gradient(X).shape == (50, 3)
    assert model.function_.lipschitz() > 0
    assert a.sum() == pytest.approx(0.0, abs=1e-10)  # the offset takes the mean


# Bad input


def test_a_constant_target_is_the_constant(data):
    X, _ = data
    for penalty in ("auto", 0.1, 0.0):
        model = mc.KernelRidge(K, penalty).fit(X, np.full(50, 7.0))
        np.testing.assert_allclose(model.predict(X), 7.0, rtol=1e-12)
        assert model.function_.norm() < 1e-6


@pytest.mark.parametrize("penalty", ["auto", 0.1, 0.0])
def test_one_row_is_its_target(penalty):
    model = mc.KernelRidge(K, penalty).fit([[1.0, 2.0]], [3.0])
    np.testing.assert_allclose(model.predict([[1.0, 2.0], [5.0, 5.0]]), 3.0)
    plain = mc.KernelRidge(K, 0.5, fit_intercept=False).fit([[1.0, 2.0]], [3.0])
    assert plain.predict([[1.0, 2.0]])[0] == pytest.approx(2.0)  # 3 / (1 + 0.5)


def test_nan_is_named_by_row_and_column(data):
    X, y = data
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3.*column 1"):
        mc.KernelRidge(K, 0.1).fit(X, y)
    X, y = np.nan_to_num(X), y.copy()
    y[5] = np.inf
    with pytest.raises(ValueError, match=r"y has 1 values.*row 5"):
        mc.KernelRidge(K, 0.1).fit(X, y)


@pytest.mark.parametrize("wrong", [-1, np.nan, np.inf, "much", [], [[1.0]], [0.0, 1.0], None])
def test_a_penalty_that_means_nothing(data, wrong):
    with pytest.raises(InvalidParameter, match=r"penalty|penalties"):
        mc.KernelRidge(K, wrong).fit(*data)


@pytest.mark.parametrize(
    "weights", [np.zeros(50), -np.ones(50), np.full(50, np.nan), np.ones(3)]
)
def test_weights_that_mean_nothing(data, weights):
    with pytest.raises(InvalidInput, match=r"weight"):
        mc.KernelRidge(K, 0.1).fit(*data, sample_weight=weights)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("penalty", ["auto", 0.5])
def test_what_is_no_kernel_is_named_and_its_repair_offered(data, method, penalty):
    X, y = data
    if penalty == "auto" and method in ("band", "cholesky", "mixed", "conjugate"):
        with pytest.raises(InvalidParameter, match="Give one number"):
            mc.KernelRidge(K, penalty, plan=method).fit(X, y)
        return
    wrong = mc.from_function(lambda x, z: float(np.tanh(x @ z - 1)))
    with pytest.raises(NotPositiveDefinite, match=r"not positive definite(.|\n)*repair"):
        mc.KernelRidge(wrong, penalty, plan=method).fit(X, y)
    matrix = np.tanh(X @ X.T - 1)
    with pytest.raises(NotPositiveDefinite, match="repair"):
        mc.KernelRidge("precomputed", penalty, plan=method).fit(matrix, y)
    mended = mc.repair(matrix).matrix
    mc.KernelRidge("precomputed", 0.5).fit(mended, y)


def test_steps_that_do_not_suffice_are_a_warning(data, monkeypatch):
    def short(*arguments, **options):
        return whole(*arguments, **(options | {"steps": 1}))

    whole = conjugate.conjugate_gradients
    monkeypatch.setattr(conjugate, "conjugate_gradients", short)
    X, y = data
    with pytest.warns(ConvergenceWarning, match="not converged"):
        model = mc.KernelRidge(mc.Gaussian(9.0), 1e-9, plan="conjugate").fit(X, y)
    assert not model.solution_.converged


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_the_unit_of_the_targets_does_not_matter(data, size):
    X, y = data
    for method in METHODS:
        one, other = (mc.KernelRidge(K, 0.01, plan=method).fit(X, c * y) for c in (1.0, size))
        np.testing.assert_allclose(other.predict(X) / size, one.predict(X), atol=1e-7)
