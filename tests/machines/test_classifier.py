"""Classifiers of any convex loss, and logistic regression."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotPositiveDefinite

MACHINES = [
    mc.KernelLogisticRegression(),
    mc.KernelLogisticRegression(mc.Gaussian(2.0), 1e-3),
    mc.KernelLogisticRegression("polynomial(2)", fit_intercept=False, class_weight="balanced"),
    mc.KernelClassifier(loss="squared_hinge"),
    mc.KernelClassifier(mc.Gaussian(2.0), "hinge", 1e-2),
]


@parametrize_with_checks(MACHINES)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def blobs(n=120, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    angle = 2 * np.pi * y / classes
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.6 * rng.normal(size=(n, 2))
    return X, y


def test_the_linear_kernel_is_scikit_learns_regression():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    n = len(X)
    ours = mc.KernelLogisticRegression(mc.Linear(), 1e-2, plan=mc.Plan(tolerance=1e-11))
    theirs = LogisticRegression(C=1 / (2 * 1e-2 * n), solver="newton-cholesky", tol=1e-10)
    np.testing.assert_allclose(
        ours.fit(X, y).decision_function(X), theirs.fit(X, y).decision_function(X), atol=1e-4
    )
    assert ours.plan_.method == "primal"


def test_the_hinge_is_scikit_learns_machine():
    X, y = blobs()
    ours = mc.KernelClassifier(mc.Gaussian(1.0), "hinge", 1e-2, plan=mc.Plan(tolerance=1e-9))
    theirs = SVC(C=1 / (2 * 1e-2 * len(X)), gamma=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        ours.fit(X, y).decision_function(X), theirs.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("classes", [2, 3])
def test_dual_and_primal_give_the_same_function(loss, classes):
    X, y = blobs(classes=classes)
    k = mc.Polynomial(degree=2)
    found = {
        method: mc.KernelClassifier(k, loss, 1e-2, plan=mc.Plan(method, tolerance=1e-6))
        .fit(X, y)
        .decision_function(X)
        for method in ("dense", "primal")
    }
    # Strong convexity: values differ by sqrt(k(x, x) gap risk / penalty) at most, twice.
    np.testing.assert_allclose(found["dense"], found["primal"], atol=2e-2)


def test_probabilities_are_calibrated_and_agree_with_the_decisions():
    X, y = blobs(400)
    Z, z = blobs(4000, seed=1)
    model = mc.KernelLogisticRegression().fit(X, y)
    chances = model.predict_proba(Z)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(Z)).all()
    np.testing.assert_allclose(model.predict_log_proba(Z), np.log(chances), atol=1e-9)
    # Four standard errors of the mean of a tenth of 4000 coin tosses: 4 * 0.5 / 20 = 0.1.
    order = np.argsort(chances[:, 1]).reshape(10, -1)
    gaps = [abs(chances[part, 1].mean() - z[part].mean()) for part in order]
    assert max(gaps) < 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_the_penalty_that_is_found_is_nearly_the_best_of_exact_leave_one_out(classes):
    X, y = blobs(45, classes)
    grid = np.geomspace(1e-4, 1e-1, 4)
    model = mc.KernelLogisticRegression(mc.Gaussian(1.0), grid).fit(X, y)
    exact = []
    for penalty in grid:
        losses = []
        for i in range(len(X)):
            rest = np.delete(np.arange(len(X)), i)
            one = mc.KernelLogisticRegression(mc.Gaussian(1.0), penalty * 45 / 44)
            chances = one.fit(X[rest], y[rest]).predict_proba(X[i : i + 1])
            losses.append(-np.log(chances[0, y[i]]))
        exact.append(np.mean(losses))
    # First order is too hopeful where the penalty hardly holds the function back.
    np.testing.assert_allclose(model.loo_errors_[1:], exact[1:], rtol=0.06)
    assert exact[0] * 0.8 < model.loo_errors_[0] < exact[0]
    assert model.penalty_ == grid[int(np.argmin(exact))]
    assert model.loo_decisions_.shape == ((45,) if classes == 2 else (45, 3))


def test_weights_are_repetitions_and_zero_is_no_row():
    X, y = blobs(60, 3)
    times = np.random.default_rng(2).integers(0, 3, 60)
    one = mc.KernelLogisticRegression(random_state=0).fit(X, y, sample_weight=times)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(60), times))
    many = mc.KernelLogisticRegression(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(one.predict_proba(X), many.predict_proba(X))
    assert one.penalty_ == many.penalty_


def test_balanced_classes_weigh_the_same():
    X, y = blobs(200)
    keep = np.flatnonzero((y == 0) | (np.arange(200) % 8 == 0))
    X, y = X[keep], y[keep]
    plain, balanced = (
        mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-3, class_weight=w).fit(X, y)
        for w in (None, "balanced")
    )
    assert balanced.predict(X).mean() > plain.predict(X).mean()
    n, counts = len(y), np.bincount(y)
    told = mc.KernelLogisticRegression(
        mc.Gaussian(1.0), 1e-3, class_weight={0: n / (2 * counts[0]), 1: n / (2 * counts[1])}
    )
    np.testing.assert_allclose(
        told.fit(X, y).decision_function(X), balanced.decision_function(X), rtol=1e-9
    )


def test_every_domain_has_its_kernel():
    baskets = [{"tea", "milk"}, {"tea"}, {"rum", "gin"}, {"gin"}] * 5
    model = mc.KernelLogisticRegression().fit(baskets, ["day", "day", "night", "night"] * 5)
    assert list(model.predict([{"milk", "tea"}, {"rum", "gin"}])) == ["day", "night"]
    table = pd.DataFrame({"age": [20.0, 30, 60, 70] * 6, "city": ["Rome", "Oslo"] * 12})
    k = mc.Gaussian(10).on("age") * mc.Delta().on("city")
    records = mc.KernelLogisticRegression(k, 1e-2).fit(table, table["age"] > 40)
    assert records.score(table, table["age"] > 40) == 1.0
    assert list(records.feature_names_in_) == ["age", "city"]


def test_kernel_values_may_be_given():
    X, y = blobs(80, 3)
    k = mc.Gaussian(1.0)
    ours = mc.KernelLogisticRegression(k, 1e-3).fit(X, y)
    given = mc.KernelLogisticRegression("precomputed", 1e-3).fit(k(X), y)
    Z, _ = blobs(10, 3, seed=5)
    np.testing.assert_allclose(given.predict_proba(k(Z, X)), ours.predict_proba(Z), rtol=1e-6)
    scores = cross_val_score(mc.KernelLogisticRegression("precomputed", 1e-3), k(X), y, cv=3)
    assert scores.mean() > 0.6


def test_it_works_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), mc.KernelLogisticRegression(mc.Gaussian(), 1e-3))
    search = GridSearchCV(
        pipe,
        {
            "kernellogisticregression__kernel__scale": [0.5, 2.0],
            "kernellogisticregression__plan__memory": ["1 GB"],
        },
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_copies_and_pickles_say_the_same():
    X, y = blobs(60, 3)
    model = mc.KernelLogisticRegression(random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


def test_the_function_lives_in_the_space():
    X, y = blobs()
    model = mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-2).fit(X, y)
    f = model.function_
    np.testing.assert_allclose(f(X) + model.intercept_, model.decision_function(X))
    assert 0 < f.norm() < np.inf
    assert f.gradient(X).shape == X.shape
    assert f.lipschitz() > 0
    K = mc.Gaussian(1.0)(X)
    np.testing.assert_allclose(K @ model.dual_coef_, f(X), atol=1e-9)


def test_landmarks_stand_in_for_many_rows():
    X, y = blobs(1500)
    Z, z = blobs(1000, seed=1)
    exact = mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-3).fit(X, y)
    fewer = mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-3, plan=mc.Plan(anchors=100))
    fewer.fit(X, y)
    assert fewer.plan_.method == "landmarks"
    assert fewer.plan_.anchors == len(fewer.function_.anchors) == 100
    assert abs(fewer.score(Z, z) - exact.score(Z, z)) < 0.02
    assert np.abs(fewer.predict_proba(Z) - exact.predict_proba(Z)).max() < 0.05


def test_a_small_budget_takes_landmarks_and_says_so():
    X, y = blobs(1200)
    model = mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-3, plan=mc.Plan(memory="12 MB"))
    model.fit(X, y)
    assert "does not fit" in str(model.plan_)
    assert model.plan_.memory <= 12_000_000


@pytest.mark.parametrize("labels", [["a", "b"], [True, False], [3, -7], [0.0, 1.0]])
def test_labels_are_of_any_type(labels):
    X, y = blobs(40)
    named = np.array(labels)[y]
    model = mc.KernelLogisticRegression(mc.Gaussian(1.0), 1e-2).fit(X, named)
    assert model.predict(X).dtype == model.classes_.dtype
    assert set(model.predict(X)) <= set(labels)


def test_one_class_is_refused_by_name():
    X, _ = blobs(10)
    with pytest.raises(InvalidInput, match=r"one class, .*'x'"):
        mc.KernelLogisticRegression().fit(X, ["x"] * 10)
    with pytest.raises(InvalidInput, match="class"):
        mc.KernelLogisticRegression().fit(X, [0] * 5 + [1] * 5, sample_weight=[1] * 5 + [0] * 5)
    with pytest.raises(InvalidInput, match="weights are zero"):
        mc.KernelLogisticRegression().fit(X, [0] * 5 + [1] * 5, sample_weight=np.zeros(10))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"penalty": 0}, "> 0 for this loss"),
        ({"penalty": -1}, "penalty is"),
        ({"penalty": "small"}, "penalty is"),
        ({"class_weight": "equal"}, "class_weight is"),
        ({"class_weight": {9: 1.0}}, "names the class 9"),
        ({"class_weight": {0: -1.0}}, "number > 0"),
        ({"kernel": 3}, "kernel is"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(given, words):
    X, y = blobs(20)
    with pytest.raises(InvalidParameter, match=words):
        mc.KernelLogisticRegression(**given).fit(X, y)


def test_losses_of_numbers_are_for_regressors():
    X, y = blobs(20)
    with pytest.raises(InvalidParameter, match="that of a number"):
        mc.KernelClassifier(loss="huber").fit(X, y)
    assert not hasattr(mc.KernelClassifier(loss="hinge"), "predict_proba")
    assert hasattr(mc.KernelClassifier(), "predict_proba")


def test_a_function_that_is_no_kernel_is_found_out():
    X, y = blobs(30)

    def distance(x, z):
        return float(np.linalg.norm(np.subtract(x, z)))

    with pytest.raises(NotPositiveDefinite, match="repair"):
        mc.KernelLogisticRegression(distance, 1e-4).fit(X, y)


def test_a_gap_that_rounding_keeps_open_is_told():
    X = np.random.default_rng(0).normal(size=(60, 1))
    y = np.sign(np.sin(9 * X[:, 0]))
    model = mc.KernelClassifier("gaussian(3)", "hinge", 1e-13, plan=mc.Plan(tolerance=1e-12))
    with pytest.warns(ConvergenceWarning, match="relative"):
        model.fit(X, y)
    assert not model.solution_.converged
