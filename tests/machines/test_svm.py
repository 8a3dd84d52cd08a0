"""Support vector machines: scikit-learn's in every respect, on any points."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as peers
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, InvalidType, NotSeparable
from mercer.testing import check_machine

OURS = {
    "SVC": mc.SVC,
    "NuSVC": mc.NuSVC,
    "SVR": mc.SVR,
    "NuSVR": mc.NuSVR,
    "OneClassSVM": mc.OneClassSVM,
}
NAMES = list(OURS)
WORDS = ["linear", "poly", "rbf", "sigmoid"]

MACHINES = [
    mc.SVC(),
    mc.SVC(kernel="precomputed"),
    mc.SVC(kernel=mc.Matern(1.5), break_ties=True),
    mc.SVC(multi_class="ovr"),
    mc.SVC(C="auto"),
    mc.SVC(probability=True),
    mc.NuSVC(),
    mc.NuSVC(kernel=mc.Matern(1.5), nu=0.3, multi_class="ovr"),
    mc.SVR(),
    mc.SVR(C="auto"),
    mc.NuSVR(),
    mc.OneClassSVM(),
]


def expected_failures(machine):
    """Where scikit-learn expects its own NuSVC to fail too."""
    if not isinstance(machine, mc.NuSVC):
        return {}
    why = "weights of 1000 and 0.0001 leave the lighter class a share that is no nu"
    return {"check_class_weight_classifiers": why}


@pytest.mark.filterwarnings("ignore:specified nu is infeasible")
@parametrize_with_checks(MACHINES, expected_failed_checks=expected_failures)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def blobs(n=150, classes=3, seed=0):
    X, y = make_blobs(n, 4, centers=classes, cluster_std=4.0, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def pair(name, **params):
    """A machine of ours and the same of scikit-learn's, not fitted."""
    return OURS[name](**params), getattr(peers, name)(**params)


def learned(machine, X, y, **more):
    return machine.fit(X, **more) if y is None else machine.fit(X, y, **more)


def targets(name, X, y):
    if name == "OneClassSVM":
        return None
    return y if name.endswith("SVC") else np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def decided(machine, X):
    if hasattr(machine, "decision_function"):
        return machine.decision_function(X)
    return machine.predict(X)


# The kernel is bounded by a few hundred here, and both stop at a violation of 1e-7.
TIGHT = {"tol": 1e-7, "gamma": 0.1}


# The sigmoid is no kernel: its problems have several solutions, and each its own.
@pytest.mark.parametrize("word", WORDS[:3])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_decisions_are_those_of_scikit_learn(name, word, classes):
    X, y = blobs(classes=classes)
    shape = {"decision_function_shape": "ovo"} if name.endswith("SVC") else {}
    ours, theirs = pair(name, kernel=word, **TIGHT, **shape)
    X = X + 3 * (name == "OneClassSVM")  # around 0 its linear and cubic functions vanish
    t = targets(name, X, y)
    learned(ours, X, t)
    learned(theirs, X, t)
    new = X[::2] + 0.1
    # LIBSVM keeps its matrix in float32: six digits of values that are added up.
    scale = np.abs(decided(theirs, new)).max()
    np.testing.assert_allclose(decided(ours, new), decided(theirs, new), atol=2e-5 * scale)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert ours.support_.dtype == theirs.support_.dtype
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == theirs.fit_status_ == 0
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    size = np.abs(theirs.dual_coef_).max()
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3 * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-5 * scale)
    assert type(ours.n_iter_) is type(theirs.n_iter_)
    if word == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * size)
    if name.endswith("SVC"):
        np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
        np.testing.assert_array_equal(ours.class_weight_, theirs.class_weight_)
        ours.decision_function_shape = theirs.decision_function_shape = "ovr"
        np.testing.assert_allclose(decided(ours, new), decided(theirs, new), atol=1e-4)
    if name == "OneClassSVM":
        np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
        np.testing.assert_allclose(
            ours.score_samples(new), theirs.score_samples(new), rtol=1e-4
        )
        np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_class_weights_and_weights_scale_the_cost_of_a_row(rng, classes):
    X, y = blobs(classes=classes)
    weights = rng.uniform(0.5, 2, len(X))
    more = {"class_weight": {0: 3.0, 1: 0.5}, "decision_function_shape": "ovo"}
    if classes == 4:
        more["class_weight"] |= {2: 1.0, 3: 2.0}
    ours, theirs = pair("SVC", **TIGHT, **more)
    ours.fit(X, y, sample_weight=weights)
    theirs.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(decided(ours, X), decided(theirs, X), atol=1e-4)


@pytest.mark.parametrize("name", ["NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_weights_are_those_of_scikit_learn(rng, name):
    X, y = blobs(classes=2)
    weights = rng.uniform(0.5, 2, len(X))
    ours, theirs = pair(name, **TIGHT)
    t = targets(name, X, y)
    learned(ours, X, t, sample_weight=weights)
    learned(theirs, X, t, sample_weight=weights)
    np.testing.assert_allclose(decided(ours, X), decided(theirs, X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "function"])
@pytest.mark.parametrize("name", NAMES)
def test_equal_rows_are_one_row_and_share_its_coefficient(rng, name, kernel):
    X, y = blobs(60)
    t = targets(name, X, y)
    times = rng.integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    extra = {"nu": 0.75} if name == "NuSVC" else {}

    def points(chosen):
        return (X @ X.T)[np.ix_(chosen, chosen)] if kernel == "precomputed" else X[chosen]

    called = (lambda A, B: np.exp(-0.1 * _squares(A, B))) if kernel == "function" else kernel
    machine = OURS[name](kernel=called, tol=1e-9, gamma=0.1, **extra)
    once = learned(clone(machine), points(np.arange(60)), t, sample_weight=times)
    many = learned(clone(machine), points(rows), None if t is None else t[rows])
    told, whole = np.zeros(len(rows)), np.zeros(len(X))
    told[many.support_] = np.abs(many.dual_coef_).sum(axis=0)
    whole[once.support_] = np.abs(once.dual_coef_).sum(axis=0)
    # Each of the equal rows has its part. Variables are free by the violation over the least
    # curvature, which is some 1e-4 here.
    np.testing.assert_allclose(np.bincount(rows, told), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told, (whole / times)[rows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(many.intercept_, once.intercept_, atol=1e-8)


def _squares(A, B):
    return ((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2)


def test_gamma_scale_is_the_weighted_variance(rng):
    X, y = blobs(40, 2)
    times = rng.integers(0, 4, len(X))
    found = mc.SVC().fit(X, y, sample_weight=times).kernel_.scale
    repeated = np.repeat(X, times, axis=0)
    assert found == pytest.approx((X.shape[1] * repeated.var() / 2) ** 0.5, rel=1e-12)
    assert mc.SVC().fit(sp.csr_array(X), y, sample_weight=times).kernel_.scale == (
        pytest.approx(found, rel=1e-12)
    )
    assert mc.SVC(gamma="auto").fit(X, y).kernel_ == mc.Gaussian(scale=2**0.5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("word", WORDS[:3])
def test_sparse_points_have_the_decisions_of_dense_ones(name, word):
    X, y = blobs(80)
    X = np.where(np.abs(X) < 0.5, 0.0, X + 3 * (name == "OneClassSVM"))
    machine = OURS[name](kernel=word, tol=1e-9, gamma=0.1)
    dense = learned(clone(machine), X, targets(name, X, y))
    sparse = learned(clone(machine), sp.csr_matrix(X), targets(name, X, y))
    scale = np.abs(decided(dense, X)).max()
    np.testing.assert_allclose(decided(sparse, X), decided(dense, X), atol=1e-7 * scale)
    np.testing.assert_allclose(decided(sparse, sp.csr_array(X)), decided(sparse, X), atol=1e-9)
    assert sp.issparse(sparse.dual_coef_)
    np.testing.assert_array_equal(sparse.support_vectors_.toarray(), dense.support_vectors_)
    if word == "linear":
        np.testing.assert_allclose(sparse.coef_.toarray(), dense.coef_, atol=1e-6 * scale)


def test_a_function_is_called_with_all_points_as_in_scikit_learn():
    X, y = blobs(60, 2)
    calls = []

    def kernel(A, B):
        calls.append((A, B))
        return np.asarray(A) @ np.asarray(B).T

    points = X.tolist()
    ours = mc.SVC(kernel=kernel, tol=1e-7).fit(points, y)
    assert calls[0][0] is points
    assert calls[0][1] is points
    theirs = peers.SVC(kernel="linear", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(decided(ours, X[:7]), decided(theirs, X[:7]), atol=1e-4)
    assert calls[-1][1] is points
    with pytest.raises(InvalidInput, match=r"shape \(60, 4\)"):
        mc.SVC(kernel=lambda A, B: np.asarray(A)).fit(points, y)


def test_kernel_values_are_enough():
    X, y = blobs(60)
    K = X @ X.T
    ours = mc.SVC(kernel="precomputed", tol=1e-9).fit(K, y)
    words = mc.SVC(kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(decided(ours, K[:9]), decided(words, X[:9]), atol=1e-7)
    np.testing.assert_array_equal(ours.support_, words.support_)
    # Columns of other rows are not read.
    known = np.zeros_like(K)
    known[:, ours.support_] = K[:, ours.support_]
    np.testing.assert_array_equal(decided(ours, known), decided(ours, K))
    with pytest.raises(InvalidType, match="Sparse precomputed"):
        mc.SVC(kernel="precomputed").fit(sp.csr_array(K), y)


def test_only_support_vectors_are_kept_and_once_for_all_pairs():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    machine = mc.SVC().fit(X, y)
    assert len(machine.function_.anchors) == len(machine.support_) < 600
    assert machine.function_.coefficients.shape[1] == len(machine.intercept_) == 45
    theirs = peers.SVC().fit(X, y)
    assert (machine.predict(X) == theirs.predict(X)).mean() > 0.995


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_threads_change_no_bit(precision, multi_class):
    X, y = blobs(600, 5)

    def fit(threads):
        plan = mc.Plan(threads=threads, precision=precision)
        return mc.SVC(plan=plan, multi_class=multi_class).fit(X, y)

    one, two = fit(1), fit(2)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_little_memory_gives_the_same_machine(multi_class):
    X, y = blobs(300, 4)
    wide = mc.SVC(tol=1e-6, multi_class=multi_class).fit(X, y)
    tight = clone(wide).set_params(plan=mc.Plan(memory="50 KB")).fit(X, y)
    np.testing.assert_allclose(decided(wide, X), decided(tight, X), atol=1e-5)


def test_ties_are_broken_by_how_sure_they_are():
    X, y = blobs(90, 3)
    far = np.random.default_rng(0).normal(size=(4000, 4))
    machines = {ties: mc.SVC(break_ties=ties, gamma=1.0).fit(X, y) for ties in (False, True)}
    surest = machines[True].decision_function(far).argmax(axis=1)
    np.testing.assert_array_equal(machines[True].predict(far), surest)
    assert (machines[False].predict(far) != surest).any()
    theirs = peers.SVC(gamma=1.0).fit(X, y)
    assert (machines[False].predict(far) == theirs.predict(far)).mean() > 0.99
    with pytest.raises(InvalidParameter, match="break_ties must be False"):
        mc.SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_the_hard_margin_or_why_there_is_none():
    X = np.array([[0.0, 0], [0, 1], [2, 0], [2, 1], [0, 0]])
    y = np.array(["a", "a", "b", "b", "a"])
    machine = mc.SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(machine.coef_, [[1, 0]], atol=1e-6)
    np.testing.assert_allclose(machine.intercept_, [-1], atol=1e-6)
    inside = np.vstack([X, [[2.0, 0.5]]])
    with pytest.raises(NotSeparable) as caught:
        mc.SVC(C=np.inf, kernel="linear").fit(inside, [*y, "a"])
    weights, b = caught.value.certificate, np.array([*y, "a"]) == "b"
    np.testing.assert_allclose(weights[b] @ inside[b], weights[~b] @ inside[~b], atol=1e-4)
    assert weights[b].sum() == pytest.approx(1)


def test_weights_that_are_not_positive_are_no_rows():
    X, y = blobs(40, 2)
    weights = np.where(np.arange(40) % 4, 1.0, -0.5)
    left = mc.SVC().fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(
        decided(mc.SVC().fit(X, y, sample_weight=weights), X), decided(left, X)
    )
    for name in NAMES:
        with pytest.raises(InvalidInput, match="zero or negative weights"):
            learned(OURS[name](), X, targets(name, X, y), sample_weight=-np.ones(40))
    for name, why in (("SVC", "same class"), ("NuSVC", "nu is infeasible")):
        with pytest.raises(InvalidInput, match=why):
            OURS[name]().fit(X, y, sample_weight=y)


def test_too_few_steps_are_told():
    X, y = blobs(100, 3)
    with pytest.warns(ConvergenceWarning, match=r"terminated early \(max_iter=3\)"):
        machine = mc.SVC(max_iter=3).fit(X, y)
    assert machine.fit_status_ == 1
    assert (machine.n_iter_ <= 3).all()
    assert not machine.solution_.converged
    with pytest.warns(ConvergenceWarning):
        assert mc.SVR(max_iter=1).fit(X, X[:, 0]).n_iter_ == 1


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"C": 0}, "C is a number > 0"),
        ({"C": -1.0}, "C is a number > 0"),
        ({"gamma": -1}, "gamma is"),
        ({"gamma": "wide"}, "gamma is"),
        ({"degree": 1.5}, "degree is a whole"),
        ({"tol": 0}, "tol is"),
        ({"max_iter": -2}, "max_iter is"),
        ({"coef0": np.nan}, "coef0 is"),
        ({"cache_size": 0}, "cache_size is"),
        ({"decision_function_shape": "crammer"}, "decision_function_shape is"),
        ({"multi_class": "crammer"}, "multi_class is"),
        ({"multi_class": "ovr", "decision_function_shape": "ovo"}, "there are no pairs"),
        ({"probability": "often"}, "probability is True or False"),
        ({"plan": "spectral"}, "does not solve the dual problem"),
        ({"plan": mc.Plan(tolerance=1e-6)}, "`tol` is its tolerance"),
        ({"class_weight": "even"}, "class_weight is"),
    ],
)
def test_what_means_nothing_is_refused(params, why):
    X, y = blobs(30, 2)
    with pytest.raises(InvalidParameter, match=why):
        mc.SVC(**params).fit(X, y)


def test_shares_and_widths_that_mean_nothing_are_refused():
    X, y = blobs(30, 2)
    for machine in (mc.NuSVC(nu=0), mc.NuSVR(nu=1.5), mc.OneClassSVM(nu=-1)):
        with pytest.raises(InvalidParameter, match="nu is a number > 0 and <= 1"):
            machine.fit(X, y)
    with pytest.raises(InvalidParameter, match="epsilon"):
        mc.SVR(epsilon=-0.1).fit(X, y)
    with pytest.raises(InvalidParameter, match="finite C"):
        mc.NuSVR(C=np.inf).fit(X, y)
    with pytest.raises(InvalidInput, match="are not finite"):
        mc.SVC().fit(np.full((4, 2), 1e300) * [[1], [-1], [1], [0.5]], [0, 1, 0, 1])


def test_a_constant_target_needs_no_support_vector():
    machine = mc.SVR().fit(np.arange(6.0)[:, None], np.ones(6))
    np.testing.assert_allclose(machine.predict([[3.0], [50.0]]), [1.0, 1.0], rtol=1e-15)
    assert machine.dual_coef_.shape == (1, 0)
    assert machine.support_vectors_.shape == (0, 1)


def test_parameters_of_the_kernel_are_searched():
    X, y = blobs(120, 2)
    search = GridSearchCV(mc.SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}, cv=3).fit(X, y)
    theirs = GridSearchCV(peers.SVC(), search.param_grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    scales = GridSearchCV(mc.SVC(kernel=mc.Gaussian()), {"kernel__scale": [0.5, 2.0]}, cv=3)
    assert scales.fit(X, y).best_estimator_.kernel_.scale in (0.5, 2.0)
    with pytest.raises(InvalidParameter, match="set on a Kernel"):
        mc.SVC().set_params(kernel__scale=2.0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", ["rbf", mc.Laplacian(2.0), "precomputed", "sigmoid"])
def test_pickles_and_files_say_the_same(tmp_path, name, kernel):
    X, y = blobs(50)
    X = X @ X.T if kernel == "precomputed" else X
    extra = {"nu": 0.75} if name.startswith("Nu") else {}
    machine = learned(OURS[name](kernel=kernel, **extra), X, targets(name, X, y))
    found = [pickle.loads(pickle.dumps(machine))]
    if kernel != "sigmoid":  # a function of code
        mc.save(machine, tmp_path / "machine.mercer")
        found.append(mc.load(tmp_path / "machine.mercer"))
    for again in found:
        np.testing.assert_array_equal(decided(again, X), decided(machine, X))
        np.testing.assert_array_equal(again.dual_coef_, machine.dual_coef_)


SETS = [{"tea"}, {"tea", "milk"}, {"tea", "cup"}, {"rum"}, {"rum", "gin"}, {"gin", "ice"}] * 4


@pytest.mark.parametrize(
    "machine",
    [
        mc.SVC(kernel=mc.Jaccard()),
        mc.NuSVC(kernel=mc.Jaccard(), nu=0.2),
        mc.SVR(kernel=mc.Jaccard()),
        mc.NuSVR(kernel="jaccard"),
        mc.OneClassSVM(kernel="auto"),
    ],
)
def test_sets_are_points(machine):
    y = np.tile([0, 0, 0, 1, 1, 1], 4)
    check_machine(machine, SETS, None if isinstance(machine, mc.OneClassSVM) else y)


def test_records_are_points(rng):
    rows = 24
    table = {
        "age": rng.normal(size=rows).round(1).tolist(),
        "city": np.array(["Ulm", "Bonn", "Kiel"])[np.arange(rows) % 3].tolist(),
    }
    y = (np.asarray(table["age"]) > 0).astype(int)
    check_machine(mc.SVC(kernel="auto"), table, y)
    check_machine(mc.SVR(kernel="auto"), table, y.astype(float))


def test_progress_is_printed(capsys):
    X, y = blobs(60, 2)
    mc.SVC(verbose=True).fit(X, y)
    told = capsys.readouterr().out
    assert "violation" in told
    assert "smo" in told


def test_unfitted_machines_have_no_coefficients():
    assert not hasattr(mc.SVC(kernel="linear"), "coef_")
    X, y = blobs(30, 2)
    assert not hasattr(mc.SVC().fit(X, y), "coef_")
    assert mc.SVC(kernel=mc.Linear()).fit(X, y).coef_.shape == (1, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hasattr(mc.SVC(), "predict_proba")
