"""Support vector machines over landmarks, and over the features of the kernel."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as peers
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import BudgetExceeded, InvalidInput, NotSeparable
from mercer.machines import svm_base
from mercer.machines.svm import NuSVC
from mercer.solvers import choose_dual
from mercer.testing import check_machine

OURS = {
    "SVC": mc.SVC,
    "NuSVC": NuSVC,
    "SVR": mc.SVR,
    "NuSVR": mc.NuSVR,
    "OneClassSVM": mc.OneClassSVM,
}
NAMES = list(OURS)
KERNEL = mc.Gaussian(2.0)
FEW = mc.Plan(method="landmarks", anchors=200, threads=2)

# Both stop at violations of this size.
TIGHT = {"tol": 1e-7}


@parametrize_with_checks([mc.SVC(plan="landmarks"), mc.SVR(plan=mc.Plan(anchors=100))])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def blobs(n=600, classes=2, seed=0):
    X, y = make_blobs(n, 4, centers=classes, cluster_std=4.0, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def targets(name, X, y):
    if name == "OneClassSVM":
        return None
    return y if name.endswith("SVC") else np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def learned(machine, X, y, **more):
    return machine.fit(X, **more) if y is None else machine.fit(X, y, **more)


def decided(machine, X):
    if hasattr(machine, "decision_function"):
        return machine.decision_function(X)
    return machine.predict(X)


def projected(kernel, X, Y, anchors):
    """The kernel that landmarks see: inner products of projections on their span."""
    return (
        kernel(X, anchors)
        @ np.linalg.pinv(kernel(anchors), rcond=1e-12, hermitian=True)
        @ (kernel(anchors, Y))
    )


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_decisions_are_those_of_the_kernel_that_landmarks_see(name, classes):
    X, y = blobs(classes=classes)
    t, new = targets(name, X, y), X[::3] + 0.1
    extra = {"nu": 0.677} if name == "NuSVC" else {}  # some of each class are free
    shape = {"decision_function_shape": "ovo"} if name.endswith("SVC") else {}
    ours = learned(OURS[name](kernel=KERNEL, plan=FEW, **TIGHT, **extra, **shape), X, t)
    anchors = ours.function_.anchors
    assert len(anchors) == 200
    theirs = getattr(peers, name)(kernel="precomputed", **TIGHT, **extra, **shape)
    learned(theirs, projected(KERNEL, X, X, anchors.values), t)
    wanted = decided(theirs, projected(KERNEL, new, X, anchors.values))
    # Features, and LIBSVM's matrix, are in float32: six digits of sums of coefficients.
    size = np.abs(theirs.dual_coef_).sum(axis=1).max()
    np.testing.assert_allclose(decided(ours, new), wanted, atol=2e-6 * size)
    assert ours.plan_.method == "landmarks"
    assert ours.solution_.method == "descent"
    assert ours.fit_status_ == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_is_told_as_always(name):
    X, y = blobs(300, classes=3)
    t = targets(name, X, y)
    extra = {"nu": 0.4} if name == "NuSVC" else {}
    machine = OURS[name](kernel=KERNEL, **TIGHT, **extra)
    exact = learned(clone(machine), X, t)
    every = learned(clone(machine).set_params(plan="landmarks"), X, t)
    assert len(every.function_.anchors) == 300  # all points: nothing is left out
    np.testing.assert_allclose(decided(every, X), decided(exact, X), atol=2e-4)
    np.testing.assert_allclose(every.intercept_, exact.intercept_, atol=2e-4)
    np.testing.assert_array_equal(every.support_, exact.support_)
    np.testing.assert_array_equal(every.support_vectors_, exact.support_vectors_)
    np.testing.assert_array_equal(every.n_support_, exact.n_support_)
    size = np.abs(exact.dual_coef_).max()
    np.testing.assert_allclose(every.dual_coef_, exact.dual_coef_, atol=1e-3 * size)
    assert every.shape_fit_ == exact.shape_fit_
    assert type(every.n_iter_) is type(exact.n_iter_)


@pytest.mark.parametrize("name", NAMES)
def test_pickles_and_files_say_the_same_and_hold_no_features(tmp_path, name):
    X, y = blobs(400, classes=3)
    extra = {"nu": 0.4} if name == "NuSVC" else {}
    machine = learned(OURS[name](plan=FEW, **extra), X, targets(name, X, y))
    found = [pickle.loads(pickle.dumps(machine))]
    if name != "NuSVC":  # not public
        mc.save(machine, tmp_path / "machine.mercer")
        found.append(mc.load(tmp_path / "machine.mercer"))
    for again in found:
        np.testing.assert_array_equal(decided(again, X), decided(machine, X))
        np.testing.assert_array_equal(again.dual_coef_, machine.dual_coef_)
        assert again.solution_.approximation == machine.solution_.approximation
        assert str(again.plan_) == str(machine.plan_)
    shapes = {np.shape(value) for value in vars(machine).values()}
    assert (400, 200) not in shapes
    assert vars(machine)["_landmarks"] is None


def test_how_far_landmarks_are_from_the_kernel_is_told():
    X, y = blobs()
    told = [mc.SVC(kernel=KERNEL, plan=mc.Plan(anchors=m)).fit(X, y) for m in (5, 50, 300)]
    missed = [machine.solution_.approximation.missed for machine in told]
    assert 0.5 > missed[0] > missed[1] > missed[2] >= 0
    for machine in told:
        own = machine.function_.anchors.values
        left = np.maximum(1 - np.diagonal(projected(KERNEL, X, X, own)), 0)
        found = machine.solution_.approximation
        assert found.missed == pytest.approx(left.mean(), abs=1e-6)
        assert found.typical == pytest.approx(np.median(left**0.5), abs=1e-3)
        assert found.anchors == len(own)
        assert "of the trace" in str(machine.plan_)
        assert "missed=" in repr(machine.solution_)
    assert mc.SVC().fit(X, y).solution_.approximation is None


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_rows_that_are_there_so_often(rng, name):
    X, y = blobs(150)
    t = targets(name, X, y)
    times = rng.integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    extra = {"nu": 0.3} if name == "NuSVC" else {}
    machine = OURS[name](kernel=KERNEL, plan=mc.Plan(method="landmarks", anchors=40), **extra)
    once = learned(clone(machine), X, t, sample_weight=times)
    many = learned(clone(machine), X[rows], None if t is None else t[rows])
    np.testing.assert_array_equal(decided(once, X), decided(many, X))


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_single_precision_spoils_no_decision(C):
    X, y = blobs(2_000)
    machine = mc.OneClassSVM(kernel=KERNEL, plan=FEW).fit(X)
    svc = mc.SVC(kernel=KERNEL, C=C, plan=FEW).fit(X, y)
    for one in (machine, svc):
        # A feature is rounded once, to half a unit; the rows come in another order.
        near = np.finfo(np.float32).eps / 2 * np.linalg.norm(one.solution_.weights)
        seen = np.sort(one.solution_.images * one.solution_.scale)
        np.testing.assert_allclose(np.sort(one.function_(X)), seen, atol=near + 1e-9)


def test_chance_is_the_same_unless_another_is_given():
    X, y = blobs()
    plan = mc.Plan(anchors=50)
    machines = [
        mc.SVC(plan=plan, random_state=state).fit(X, y) for state in (None, None, 0, 1, 1)
    ]
    values = [decided(machine, X) for machine in machines]
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    np.testing.assert_array_equal(values[3], values[4])
    assert (values[0] != values[3]).any()
    one, two = (mc.OneClassSVM(plan=plan).fit(X) for _ in range(2))
    np.testing.assert_array_equal(decided(one, X), decided(two, X))


@pytest.mark.parametrize("classes", [2, 5])
def test_threads_change_no_bit(classes):
    X, y = blobs(1_200, classes)

    def fit(threads, C):
        return mc.SVC(C=C, plan=mc.Plan(method="landmarks", anchors=150, threads=threads)).fit(
            X, y
        )

    for C in (1.0, 300.0):
        one, two = fit(1, C), fit(2, C)
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
        np.testing.assert_array_equal(decided(one, X), decided(two, X))


@pytest.mark.parametrize("name", ["SVC", "SVR"])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_memory_is_what_the_plan_says(name, classes, C):
    X, y = blobs(12_000, classes)
    t = targets(name, X, y)
    machine = OURS[name](C=C, plan=mc.Plan(method="landmarks", anchors=300, threads=2))
    learned(clone(machine), X[:500], t[:500])  # compiled before
    tracemalloc.start()
    learned(machine, X, t)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 4 * 12_000 * 300 < peak < machine.plan_.memory + 3 * X.nbytes


def test_little_memory_means_few_landmarks_or_an_error():
    X, y = blobs(3_000)
    least = mc.SVC(plan=mc.Plan(anchors=1)).fit(X, y).plan_.memory
    plan = mc.Plan(method="landmarks", memory=least + 3_000_000)
    machine = mc.SVC(plan=plan).fit(X, y)
    assert 50 < len(machine.function_.anchors) < 250
    assert machine.plan_.memory <= plan.budget()
    with pytest.raises(BudgetExceeded, match="fewer landmarks"):
        mc.SVC(plan=mc.Plan(method="landmarks", anchors=1_000, memory=least)).fit(X, y)


def test_landmarks_are_taken_by_themselves_for_many_rows(monkeypatch):
    monkeypatch.setattr(choose_dual, "EXACT", 500)
    X, y = blobs(classes=3)
    machine = mc.SVC(kernel=KERNEL).fit(X, y)
    assert machine.plan_.method == "landmarks"
    assert "are more than 500" in machine.plan_.why
    exact = mc.SVC(kernel=KERNEL, plan="smo").fit(X, y)
    assert exact.plan_.method == "smo"
    # All 600 points are landmarks here.
    np.testing.assert_allclose(decided(machine, X), decided(exact, X), atol=0.01)


# The kernel's own features


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_own_features_are_exact(name, kernel):
    X, y = blobs(300, classes=3)
    X = X + 3 * (name == "OneClassSVM")
    t = targets(name, X, y)
    extra = {} if name in ("SVC", "SVR") else {"nu": 0.633}  # so that some are free
    settings = {"kernel": kernel, "degree": 2, "coef0": 1.0, "gamma": 0.3}
    machine = OURS[name](tol=1e-8, **settings, **extra)
    exact = learned(clone(machine), X, t)
    primal = learned(clone(machine).set_params(plan="primal"), X, t)
    assert primal.plan_.method == "primal"
    assert primal.solution_.approximation is None
    scale = np.abs(decided(exact, X)).max()
    np.testing.assert_allclose(decided(primal, X), decided(exact, X), atol=1e-5 * scale)
    # A function of so few features is a sum over as few points.
    assert len(primal.function_.anchors) == (4 if kernel == "linear" else 15)
    if kernel == "linear":
        np.testing.assert_allclose(primal.coef_, exact.coef_, atol=1e-5 * scale)
        sparse = clone(machine).set_params(plan="primal")
        learned(sparse, sp.csr_array(X), t)
        np.testing.assert_allclose(decided(sparse, X), decided(primal, X), atol=1e-5 * scale)


def test_own_features_are_taken_by_themselves_where_they_pay(monkeypatch):
    monkeypatch.setattr(choose_dual, "MANY", 100)
    X, y = blobs(300)
    assert mc.SVC(kernel="linear").fit(X, y).plan_.method == "primal"
    assert mc.SVC(kernel="linear").fit(X[:90], y[:90]).plan_.method == "smo"
    assert mc.SVC().fit(X, y).plan_.method == "smo"
    assert "no finite feature map" in mc.SVC(plan="primal").fit(X, y).plan_.why


def test_features_that_few_points_do_not_span_are_summed_over_all(rng):
    X = np.zeros((600, 3))
    X[:, 0] = rng.normal(size=600)
    X[5, 1], X[7, 2] = 1.0, 2.0  # a sample of rows misses them
    y = np.sign(X[:, 0] + X[:, 1] - X[:, 2])
    machine = mc.SVC(kernel="linear", plan="primal", tol=1e-8).fit(X, y)
    exact = mc.SVC(kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(machine.coef_, exact.coef_, atol=1e-5)
    flat = mc.SVC(kernel="linear", plan="primal").fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert np.isfinite(flat.decision_function([[1.0, 1.0]])).all()


# Data of all kinds


def test_sparse_points_have_the_decisions_of_dense_ones():
    X, y = blobs(200)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    machine = mc.SVC(kernel=KERNEL, plan=mc.Plan(anchors=60), tol=1e-8)
    dense, sparse = clone(machine).fit(X, y), clone(machine).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(decided(sparse, X), decided(dense, X), atol=1e-5)
    assert sp.issparse(sparse.dual_coef_)


def test_kernel_values_and_functions_have_landmarks_too():
    X, y = blobs(200)
    plan = mc.Plan(anchors=200, method="landmarks")
    K = KERNEL(X)
    exact = mc.SVC(kernel=KERNEL, tol=1e-8).fit(X, y)
    values = mc.SVC(kernel="precomputed", plan=plan, tol=1e-8).fit(K, y)
    np.testing.assert_allclose(decided(values, K), decided(exact, X), atol=1e-4)

    def gaussian(A, B):
        return KERNEL(A, B)

    called = mc.SVC(kernel=gaussian, plan=plan, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(decided(called, X), decided(exact, X), atol=1e-4)
    few = mc.SVC(kernel="precomputed", plan=mc.Plan(anchors=20)).fit(K, y)
    known = np.zeros_like(K)
    columns = few.function_.anchors.places
    known[:, columns] = K[:, columns]  # columns of other rows are not read
    np.testing.assert_array_equal(decided(few, known), decided(few, K))


SETS = [{"tea"}, {"tea", "milk"}, {"tea", "cup"}, {"rum"}, {"rum", "gin"}, {"gin", "ice"}] * 4


def test_sets_are_points():
    y = np.tile([0, 0, 0, 1, 1, 1], 4)
    check_machine(mc.SVC(kernel=mc.Jaccard(), plan=mc.Plan(anchors=4)), SETS, y)
    check_machine(mc.SVR(kernel=mc.SetIntersection(), plan="primal"), SETS, y)


def test_the_hard_margin_over_landmarks():
    X, y = blobs(150)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 0.5 * np.sign(X[:, 0])
    plan = mc.Plan(anchors=60)
    hard = mc.SVC(C=np.inf, kernel=KERNEL, plan=plan).fit(X, y)
    assert (np.where(y, 1, -1) * decided(hard, X)).min() > 0.99
    with pytest.raises(NotSeparable):
        mc.SVC(C=np.inf, kernel=KERNEL, plan=mc.Plan(anchors=2)).fit(X, y[::-1])


def test_huge_values_are_kept_in_double_precision_or_refused():
    X, y = blobs(100)
    big = mc.SVC(kernel=1e32 * KERNEL, C=1e-32, plan="landmarks").fit(X, y)
    one = mc.SVC(kernel=KERNEL, C=1.0, plan="landmarks").fit(X, y)
    assert (big.predict(X) == one.predict(X)).mean() > 0.9
    with pytest.raises(InvalidInput, match="overflows"):
        mc.SVC(kernel=mc.Linear(), plan="landmarks").fit(1e200 * X, y)


def test_an_interrupt_leaves_a_machine_that_can_be_fitted(monkeypatch):
    X, y = blobs(300)
    machine = mc.SVC(plan=mc.Plan(anchors=50))
    wanted = decided(clone(machine).fit(X, y), X)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(svm_base, "solved", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine.fit(X, y)
    assert not hasattr(machine, "function_")
    np.testing.assert_array_equal(decided(machine.fit(X, y), X), wanted)
    exact = machine.set_params(plan="smo").fit(X, y)
    assert len(exact.function_.anchors) == len(exact.support_)


def test_progress_is_printed(capsys):
    X, y = blobs(100)
    mc.SVC(verbose=True, plan=mc.Plan(anchors=20)).fit(X, y)
    told = capsys.readouterr().out
    assert "violation" in told
    assert "20 landmarks" in told


def test_few_moves_are_told():
    X, y = blobs()
    with pytest.warns(match="terminated early"):
        machine = mc.SVC(max_iter=20, plan=mc.Plan(anchors=30)).fit(X, y)
    assert machine.n_iter_.max() <= 20
    assert machine.fit_status_ == 1
