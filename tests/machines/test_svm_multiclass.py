"""Several classes: pairs, and each against the rest."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as peers
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

import mercer as mc
from mercer.errors import InvalidParameter, NotSeparable
from mercer.machines.svm_multiclass import solve_pairs
from mercer.problems.duals import classification
from mercer.solvers.smo import smo

# The kernel is bounded by 1 here, and both stop at a violation of 1e-7.
TIGHT = {"tol": 1e-7, "gamma": 0.1}


def blobs(n=150, classes=3, seed=0):
    X, y = make_blobs(n, 4, centers=classes, cluster_std=4.0, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def against_rest(name, X, y, weights=None, **params):
    """Scikit-learn's machine for each class against the rest."""
    kind = getattr(peers, name)
    return [kind(**params).fit(X, y == label, weights) for label in np.unique(y)]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_each_class_against_the_rest_is_that_of_scikit_learn(kernel):
    X, y = blobs(classes=4)
    y = np.array(["ash", "elm", "fir", "oak"])[y]
    X = X @ X.T if kernel == "precomputed" else X
    ours = mc.SVC(kernel=kernel, multi_class="ovr", **TIGHT).fit(X, y)
    theirs = OneVsRestClassifier(peers.SVC(kernel=kernel, **TIGHT)).fit(X, y)
    values = theirs.decision_function(X)
    np.testing.assert_allclose(
        ours.decision_function(X), values, atol=2e-5 * np.abs(values).max()
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    _told_as_of(ours, theirs.estimators_, y)
    if kernel == "linear":
        coefs = np.vstack([part.coef_ for part in theirs.estimators_])
        np.testing.assert_allclose(ours.coef_, coefs, atol=1e-4)


# The offset is not unique where nu / 2 of the rows is a whole number: 0.31 leaves none so.
def test_each_class_against_the_rest_with_nu(rng):
    X, y = blobs(classes=4)
    weights = rng.uniform(0.5, 2, len(X))
    ours = mc.NuSVC(nu=0.31, multi_class="ovr", **TIGHT).fit(X, y, weights)
    parts = against_rest("NuSVC", X, y, weights, nu=0.31, **TIGHT)
    values = np.column_stack([part.decision_function(X) for part in parts])
    # The smallest margin is some 1e-3 of the kernel, whose values LIBSVM rounds to float32.
    np.testing.assert_allclose(ours.decision_function(X), values, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), values.argmax(axis=1))
    _told_as_of(ours, parts, y)
    with pytest.warns(ConvergenceWarning, match=r"lighter of .* and all other classes"):
        mc.NuSVC(nu=0.7, multi_class="ovr").fit(X, y)


def _told_as_of(ours, parts, y):
    """The attributes are those of these machines, side by side."""
    np.testing.assert_allclose(
        ours.intercept_, [part.intercept_[0] for part in parts], atol=1e-3
    )
    own = np.zeros((len(parts), len(y)))
    own[:, ours.support_] = ours.dual_coef_
    for row, part in zip(own, parts, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(row), np.sort(part.support_))
    codes = np.searchsorted(ours.classes_, y[ours.support_])
    np.testing.assert_array_equal(codes, np.sort(codes))
    np.testing.assert_array_equal(ours.n_support_, np.bincount(codes))
    assert len(np.unique(ours.support_)) == len(ours.support_)
    assert ours.n_iter_.shape == ours.intercept_.shape == (len(parts),)


def test_class_weights_belong_to_rows_against_the_rest_too(rng):
    X, y = blobs()
    weights = rng.uniform(0.5, 2, len(X))
    given = {0: 3.0, 1: 1.0, 2: 0.5}
    ours = mc.SVC(multi_class="ovr", class_weight=given, **TIGHT).fit(X, y, weights)
    factors = weights * np.vectorize(given.get)(y)
    parts = against_rest("SVC", X, y, factors, **TIGHT)
    values = np.column_stack([part.decision_function(X) for part in parts])
    np.testing.assert_allclose(ours.decision_function(X), values, atol=1e-4)


def test_two_classes_are_one_problem_either_way():
    X, y = blobs(60, 2)
    one, other = (mc.SVC(multi_class=way).fit(X, y) for way in ("ovo", "ovr"))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


def test_a_fitted_machine_decides_as_it_was_fitted(tmp_path):
    X, y = blobs(60)
    machine = mc.SVC(multi_class="ovr").fit(X, y)
    values = machine.decision_function(X)
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(
        mc.load(tmp_path / "machine.mercer").decision_function(X), values
    )
    sparse = clone(machine).set_params(gamma=0.2).fit(sp.csr_array(X), y)
    dense = clone(sparse).fit(X, y)
    np.testing.assert_allclose(
        sparse.decision_function(X), dense.decision_function(X), atol=1e-2
    )
    assert sparse.dual_coef_.shape == (3, len(sparse.support_))
    machine.set_params(multi_class="ovo")
    np.testing.assert_array_equal(machine.decision_function(X), values)
    machine.set_params(decision_function_shape="ovo")
    with pytest.raises(InvalidParameter, match="there are no pairs"):
        machine.decision_function(X)
    pairs = mc.SVC().fit(X, y)
    before = pairs.predict(X)
    np.testing.assert_array_equal(pairs.set_params(multi_class="ovr").predict(X), before)


@pytest.mark.parametrize(
    ("multi_class", "sides"), [("ovo", "'b' and 'c'"), ("ovr", "'b' and all other classes")]
)
def test_the_certificate_of_several_classes_is_told_for_the_rows_as_they_came(
    multi_class, sides
):
    # b and c meet within 6 of the line; a is apart; rows are there twice, and one not at all.
    x = np.array([0.0, 5, 1, 7, 6, 6, 8, 5, 20])
    y = np.array(["a", "b", "a", "b", "c", "c", "c", "b", "b"])
    weights = np.append(np.ones(8), 0.0)
    machine = mc.SVC(C=np.inf, kernel="linear", multi_class=multi_class)
    with pytest.raises(NotSeparable, match=sides) as caught:
        machine.fit(x[:, None], y, weights)
    found = caught.value.certificate
    assert found.shape == x.shape
    assert (found >= 0).all()
    assert found[8] == 0
    assert found[1] == found[7]
    assert found[4] == found[5]
    b = y == "b"
    np.testing.assert_allclose([found[b].sum(), found[~b].sum()], 1, atol=1e-9)
    np.testing.assert_allclose(found[b] @ x[b], found[~b] @ x[~b], atol=1e-3)
    if multi_class == "ovo":
        assert (found[y == "a"] == 0).all()


def test_the_hard_margin_of_several_classes():
    X, y = blobs(60)
    for way in ("ovo", "ovr"):
        hard = mc.SVC(C=np.inf, gamma=1.0, multi_class=way, tol=1e-6).fit(X, y)
        soft = mc.SVC(C=1e9, gamma=1.0, multi_class=way, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(hard.dual_coef_, soft.dual_coef_, atol=1e-4)
        np.testing.assert_array_equal(hard.predict(X), y)


def test_problems_of_any_rows_share_one_matrix():
    X, y = blobs(80, 2)
    every, half = np.arange(80), np.arange(0, 80, 2)
    signs = np.where(y == 1, 1.0, -1.0)
    batch = mc.Gaussian(2.0).domain.encode(X)
    problems = [(every, signs), (half, signs[half]), (every, -signs)]

    def solve(number, rows):
        return smo(classification(problems[number][1], 1.0), rows, tolerance=1e-7)

    found = solve_pairs(mc.Gaussian(2.0), batch, problems, solve, mc.Plan(), sharp=True)
    for column, (places, own) in enumerate(problems):
        theirs = peers.SVC(gamma=1 / 8, tol=1e-7).fit(X[places], own)
        expected = np.zeros(80)
        expected[places[theirs.support_]] = theirs.dual_coef_[0]
        np.testing.assert_allclose(found.coefficients[:, column], expected, atol=1e-4)
        np.testing.assert_allclose(found.offsets[column], theirs.intercept_[0], atol=1e-4)
    assert found.evidence.converged
