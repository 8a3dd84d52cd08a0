"""Weights of classes and rows, shares nu, and data at the edge."""

import re

import numpy as np
import pytest
import sklearn.svm as peers
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotSeparable

# The kernel is bounded by 1 here, and both stop at a violation of 1e-7.
TIGHT = {"tol": 1e-7, "gamma": 0.1}


def blobs(n=150, classes=3, seed=0):
    X, y = make_blobs(n, 4, centers=classes, cluster_std=4.0, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def agree(ours, theirs, X, atol):
    found, expected = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=atol)


def with_class_weights(name, class_weight, X, y, **params):
    """Ours with class_weight, and scikit-learn's with the weights of rows that it means."""
    ours = getattr(mc, name)(**TIGHT, **params, class_weight=class_weight)
    factors = np.vectorize(class_weight.get)(y)
    return ours.fit(X, y), getattr(peers, name)(**TIGHT, **params).fit(X, y, factors)


# The offset is not unique where nu / 2 of the rows is a whole number: 0.31 leaves none so.
@pytest.mark.parametrize("factors", [{0: 2.0, 1: 1.0, 2: 1.5}, {0: 300.0, 1: 200.0, 2: 250.0}])
def test_class_weights_are_weights_of_rows_with_nu_too(factors):
    X, y = blobs()
    more = {"nu": 0.31, "decision_function_shape": "ovo"}
    ours, theirs = with_class_weights("NuSVC", factors, X, y, **more)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("heavy", [1.0, 1e3, 1e7])
def test_extreme_class_weights_are_solved_or_told_the_largest_nu(heavy):
    X, y = blobs(60, 2)
    factors = {0: heavy, 1: 1.0 / heavy}
    mass = np.bincount(y, np.vectorize(factors.get)(y))
    largest = 2 * mass.min() / mass.sum()
    machine = mc.NuSVC(class_weight=factors, gamma=0.1, nu=min(1.0, 1.01 * largest))
    if largest < 1 / 1.01:
        with pytest.warns(ConvergenceWarning, match="specified nu is infeasible") as caught:
            taken = machine.fit(X, y).decision_function(X)
        told = float(re.search(r"largest possible nu is (\S+);", str(caught[0].message))[1])
        assert told == pytest.approx(largest, rel=1e-5)
        # With the number that was told, which is rounded down, and no warning.
        machine.set_params(nu=told).fit(X, y)
        np.testing.assert_allclose(machine.decision_function(X), taken, atol=1e-2)
    theirs = peers.NuSVC(nu=0.93 * largest, gamma=0.1, tol=1e-12)
    # The same problem in larger variables, which LIBSVM needs to see that it is not done.
    theirs.fit(X, y, sample_weight=np.vectorize(factors.get)(y) * len(y) / mass.min())
    ours = machine.set_params(nu=0.93 * largest, tol=1e-6).fit(X, y)
    assert ours.fit_status_ == 0
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-3
    )


def test_balanced_classes_make_every_nu_feasible():
    X, y = blobs(60, 2)
    few = np.flatnonzero((y == 0) | (np.arange(60) % 6 == 0))
    with pytest.warns(ConvergenceWarning, match="lighter of 1 and 0 has"):
        mc.NuSVC(nu=0.9).fit(X[few], y[few])
    counts = np.bincount(y[few])
    given = {c: len(few) / (2 * counts[c]) for c in (0, 1)}
    ours, theirs = with_class_weights("NuSVC", given, X[few], y[few], nu=0.9)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )
    balanced = clone(ours).set_params(class_weight="balanced").fit(X[few], y[few])
    np.testing.assert_allclose(
        balanced.decision_function(X), theirs.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_only_ratios_of_weights_matter_with_nu(rng, scale):
    X, y = blobs(60, 2)
    weights = rng.uniform(0.5, 2, len(X))
    theirs = peers.NuSVC(nu=0.3, **TIGHT).fit(X, y, sample_weight=weights)
    ours = mc.NuSVC(nu=0.3, **TIGHT).fit(X, y, sample_weight=weights * scale)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )


def test_the_tolerance_with_nu_is_that_of_decisions():
    X, y = blobs(60, 2)
    # The same problem at another scale: LIBSVM stops at once, in values that are so small.
    exact = peers.NuSVC(nu=0.7, kernel="linear", tol=1e-8).fit(X, y)
    ours = mc.NuSVC(nu=0.7, kernel="linear").fit(X * 1e-4, y)
    np.testing.assert_allclose(
        ours.decision_function(X * 1e-4), exact.decision_function(X), atol=5e-3
    )


@pytest.mark.parametrize("nu", [0.03, 0.05, 0.055, 0.06, 0.1])
def test_no_margin_is_an_error_exactly_where_the_reduced_hulls_meet(nu):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    most = 1 / (nu * len(y) / 2)
    apart = [np.where(y == 2, 1.0, -1.0) * column for column in X.T]
    sums = np.array([*apart, y == 1, y == 2], dtype=float)
    goal = [0.0] * X.shape[1] + [1.0, 1.0]
    meet = linprog(np.zeros(len(y)), A_eq=sums, b_eq=goal, bounds=(0, most)).status == 0
    machine = mc.NuSVC(nu=nu, kernel="linear")
    if not meet:
        assert machine.fit(X, y).fit_status_ == 0
        return
    with pytest.raises(
        NotSeparable, match=r"no margin.*\n.*larger nu.*\n.* are 2 and 1"
    ) as caught:
        machine.fit(X, y)
    weights = caught.value.certificate
    assert weights.max() <= most * (1 + 1e-9)
    np.testing.assert_allclose(sums @ weights, goal, atol=1e-4 * np.abs(X).max())


def test_weights_that_floating_point_does_not_hold_are_refused():
    X, y = blobs(40, 2)
    for C, weight in ((1e300, 1e300), (1e-300, 1e-300)):
        with pytest.raises(InvalidParameter, match="leaves what floating point holds"):
            mc.SVC(C=C).fit(X, y, np.full(40, weight))
    for bad in (np.nan, np.inf):
        for machine in (mc.SVC(), mc.NuSVC()):
            with pytest.raises(InvalidInput, match="weights are finite"):
                machine.fit(X, y, np.where(np.arange(40) == 3, bad, 1.0))


@pytest.mark.parametrize("C", [1e-300, 1e-8, 1e8, 1e300])
def test_costs_of_any_size(C):
    X, y = blobs(40, 2)
    ours, theirs = mc.SVC(C=C, gamma=1.0).fit(X, y), peers.SVC(C=C, gamma=1.0).fit(X, y)
    scale = np.abs(theirs.decision_function(X)).max()
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=5e-3 * scale
    )


@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_numbers_for_classes_that_are_not_there(name):
    X, y = blobs(60)
    y = np.array(["ash", "elm", "fir"])[y]
    machine = getattr(mc, name)(gamma=0.1)
    with pytest.raises(InvalidParameter, match="names the class 'oak'"):
        clone(machine).set_params(class_weight={"ash": 2.0, "oak": 1.0}).fit(X, y)
    # As in scikit-learn: no class is without a number, so none was misspelt.
    given = {"ash": 1.0, "elm": 1.0, "fir": 1.0, "oak": 7.0}
    plain = clone(machine).fit(X, y).decision_function(X)
    more = clone(machine).set_params(class_weight=given)
    np.testing.assert_array_equal(more.fit(X, y).decision_function(X), plain)
    # Weights take a class out, and the machine is that of the others.
    kept = y != "elm"
    left = clone(machine).fit(X[kept], y[kept])
    without = more.fit(X, y, kept.astype(float))
    assert without.classes_.tolist() == ["ash", "fir"]
    np.testing.assert_array_equal(without.decision_function(X), left.decision_function(X))


def test_one_row_a_class():
    X, y = np.array([[0.0, 0], [2, 0]]), [0, 1]
    for machine in (mc.SVC(C=np.inf), mc.SVC(C=9.0), mc.NuSVC(nu=1.0), mc.NuSVC(nu=0.01)):
        machine.set_params(kernel="linear", tol=1e-8).fit(X, y)
        np.testing.assert_allclose(machine.coef_, [[1, 0]], atol=1e-7)
        np.testing.assert_allclose(machine.intercept_, [-1], atol=1e-7)


def test_equal_rows_of_opposite_labels():
    X, y = blobs(40, 2)
    X, y = np.vstack([X, X]), np.append(y, 1 - y)
    # Each pays for the other: f = 0 is best, and either label as good.
    values = mc.SVC().fit(X, y).decision_function(X)
    np.testing.assert_allclose(values, 0, atol=1e-3)
    for machine in (mc.SVC(C=np.inf), mc.NuSVC(), mc.NuSVC(nu=1.0)):
        with pytest.raises(NotSeparable) as caught:
            machine.fit(X, y)
        weights = caught.value.certificate
        np.testing.assert_allclose(weights[y == 0].sum(), 1)
        np.testing.assert_allclose(weights[y == 1].sum(), 1)
        np.testing.assert_allclose(X.T @ (weights * (2 * y - 1)), 0, atol=1e-4)
