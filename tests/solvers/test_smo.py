"""The dual problems are solved: against enumeration, scikit-learn, and their own conditions."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotSeparable
from mercer.gram.rows import KernelRows, MatrixRows
from mercer.plan import Plan
from mercer.problems import duals
from mercer.solvers.smo import smo
from mercer.solvers.smo_polish import polish
from mercer.solvers.smo_working_set import least_of

GAMMA = 0.25
KERNEL = mc.Gaussian(scale=(2 * GAMMA) ** -0.5)


def rows_of(X, kernel=KERNEL, memory="1 GB"):
    return KernelRows(kernel, kernel.domain.encode(X), Plan(memory=memory, threads=2))


@pytest.fixture
def X(rng):
    return rng.normal(size=(400, 4))


@pytest.fixture
def labels(rng, X):
    return np.sign(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X)))


@pytest.fixture
def targets(rng, X):
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))


def violation(dual, K, a):
    """m(a) - M(a), from scratch."""
    b = dual.signs * a
    h = dual.slopes(K @ dual.combined(b))
    found = []
    for group in dual.groups:
        up, down = (b < dual.high)[group], (b > dual.low)[group]
        found.append(h[group][down].max(initial=-np.inf) - h[group][up].min(initial=np.inf))
    return max(found)


def enumerated(dual, K):
    """The least objective by trying every variable at 0, at C and between."""
    rows = np.arange(len(dual.signs)) % dual.rows
    y, n = dual.signs, len(dual.signs)
    Q = np.outer(y, y) * K[np.ix_(rows, rows)]
    planes = [y * np.isin(np.arange(n), group) for group in dual.groups]
    sums = [plane @ dual.start for plane in planes]
    best = np.inf
    for pattern in itertools.product((0, 1, 2), repeat=n):
        state = np.array(pattern)
        free, a = state == 1, np.where(state == 2, dual.upper, 0.0)
        E = np.array(planes)[:, free]
        count, k = int(free.sum()), len(planes)
        matrix = np.block([[Q[np.ix_(free, free)], E.T], [E, np.zeros((k, k))]])
        right = np.concatenate(
            [-(dual.linear + Q @ a)[free], np.array(sums) - np.array(planes) @ a]
        )
        solved = np.linalg.lstsq(matrix, right, rcond=None)[0]
        a[free] = solved[:count]
        inside = (a >= -1e-9).all() and (a <= dual.upper + 1e-9).all()
        if inside and np.allclose(np.array(planes) @ a, sums, atol=1e-9):
            best = min(best, 0.5 * a @ Q @ a + dual.linear @ a)
    return best


def small(rng, which):
    labels, targets = np.array([1.0, -1, 1, -1, 1, -1]), rng.normal(size=4)
    upper = rng.uniform(0.3, 2, 6)
    return {
        "svc": lambda: duals.classification(labels, upper),
        "svr": lambda: duals.regression(targets[:3], upper[:3], 0.2),
        "one": lambda: duals.one_class(upper, 0.4, 6),
        "nusvc": lambda: duals.classification_by_share(labels, 1.0, 0.5),
        "nusvr": lambda: duals.regression_by_share(targets[:3], upper[:3], 0.5),
    }[which]()


@pytest.mark.parametrize("which", ["svc", "svr", "one", "nusvc", "nusvr"])
def test_small_problems_have_the_minimum_that_enumeration_finds(rng, which):
    for _ in range(4):
        dual = small(rng, which)
        root = rng.normal(size=(dual.rows, 3))
        K = root @ root.T + 0.1 * np.eye(dual.rows)
        found = smo(dual, MatrixRows(K, 1), tolerance=1e-9)
        assert found.converged
        # Enumeration is exact to rounding, and the gap is at most the violation times C.
        assert found.objective == pytest.approx(enumerated(dual, K), abs=1e-7)


# What scikit-learn's float32 matrix and both tolerances may change.
PEERS = {
    "svc": (
        lambda y, t: duals.classification(y, 1.0),
        lambda: SVC(C=1.0, gamma=GAMMA, tol=1e-6),
    ),
    "svr": (
        lambda y, t: duals.regression(t, 1.0, 0.1),
        lambda: SVR(C=1.0, epsilon=0.1, gamma=GAMMA, tol=1e-6),
    ),
    "one": (
        lambda y, t: duals.one_class(1.0, 0.1, len(y)),
        lambda: OneClassSVM(nu=0.1, gamma=GAMMA, tol=1e-6),
    ),
    "nusvc": (
        lambda y, t: duals.classification_by_share(y, 1.0, 0.3),
        lambda: NuSVC(nu=0.3, gamma=GAMMA, tol=1e-6),
    ),
    "nusvr": (
        lambda y, t: duals.regression_by_share(t, 1.0, 0.3),
        lambda: NuSVR(nu=0.3, C=1.0, gamma=GAMMA, tol=1e-6),
    ),
}


@pytest.mark.parametrize("which", list(PEERS))
@pytest.mark.parametrize("how", ["kernel", "few rows", "matrix"])
def test_decision_values_are_those_of_scikit_learn(X, labels, targets, which, how):
    problem, peer = PEERS[which]
    source = {
        "kernel": lambda: rows_of(X),
        "few rows": lambda: rows_of(X, memory=400 * 4 * 50),
        "matrix": lambda: MatrixRows(KERNEL(X), 2),
    }[how]()
    found = smo(problem(labels, targets), source, tolerance=1e-6)
    machine = peer().fit(X, targets if which.endswith("svr") else labels)
    decide = machine.predict if which.endswith("svr") else machine.decision_function
    assert found.converged
    values = found.images * found.scale + found.offset
    # Values are within the violation over the scale of the margin; LIBSVM's matrix is float32.
    np.testing.assert_allclose(values, decide(X), atol=5e-5)
    np.testing.assert_allclose(KERNEL(X) @ found.coefficients + found.offset, values, atol=1e-4)


@pytest.mark.parametrize("which", list(PEERS))
def test_the_evidence_is_true(X, labels, targets, which):
    dual, K = PEERS[which][0](labels, targets), KERNEL(X)
    for exact in (False, True):
        found = smo(dual, rows_of(X), tolerance=1e-3, exact=exact)
        dual.check(found.variables)
        assert violation(dual, K, found.variables) <= found.residual * (1 + exact * 1e-9)
        assert found.residual < 1e-3
        best = smo(dual, MatrixRows(K, 2), tolerance=1e-9).objective
        # The slopes are off by the error that the residual counts in.
        slack = found.residual * np.abs(found.variables).sum()
        assert found.bound <= best + 1e-9 * abs(best)
        assert best - 1e-9 * abs(best) <= found.objective + 0.1 * slack
        assert found.gap == pytest.approx(
            (found.objective - found.bound) / abs(found.objective), rel=1e-6
        )


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 40),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    rank=st.integers(1, 5),
)
def test_every_small_problem_is_solved_to_its_conditions(seed, n, scale, rank):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, rank)) * scale
    K = root @ root.T
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    upper = rng.uniform(0, 2, n) * (rng.random(n) < 0.8)
    dual = duals.classification(y, upper)
    found = smo(dual, MatrixRows(K, 1), tolerance=1e-6)
    dual.check(found.variables)
    assert found.converged
    assert violation(dual, K, found.variables) < 1e-6
    assert -1e-9 <= found.gap * max(abs(found.objective), 1e-300) <= 1e-6 * (upper.sum() + 1)
    assert not found.variables[upper == 0].any()


def test_rows_with_a_zero_box_are_no_rows(X, labels):
    upper = np.where(np.arange(400) % 4, 1.0, 0.0)
    inside = upper > 0
    whole = smo(duals.classification(labels, upper), rows_of(X), tolerance=1e-7)
    part = smo(duals.classification(labels[inside], 1.0), rows_of(X[inside]), tolerance=1e-7)
    np.testing.assert_allclose(whole.offset, part.offset, atol=1e-6)
    np.testing.assert_allclose(whole.images[inside], part.images, atol=1e-6)
    # The rows left out have values all the same: those of held-out points.
    np.testing.assert_allclose(
        whole.images, KERNEL(X, X[inside]) @ part.coefficients, atol=1e-6
    )


def test_it_goes_on_from_where_it_was(X, labels):
    source = rows_of(X)
    small = smo(duals.classification(labels, 1.0), source)
    dual = duals.classification(labels, 2.0)
    cold = smo(dual, source)
    warm = smo(dual, source, start=(small.variables, small.images))
    again = smo(dual, source, start=(cold.variables, None))
    assert warm.steps < cold.steps
    assert again.steps <= 10
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)


def test_a_false_gradient_at_the_start_is_found_out(X, labels):
    dual, source = duals.classification(labels, 1.0), rows_of(X)
    best = smo(dual, source)
    wrong = smo(dual, source, start=(best.variables, best.images + 0.3 * labels))
    assert wrong.converged
    assert violation(dual, KERNEL(X), wrong.variables) < 1e-3


def test_a_start_outside_of_the_box_is_refused(X, labels):
    dual = duals.classification(labels, 1.0)
    with pytest.raises(InvalidParameter, match="not feasible"):
        smo(dual, rows_of(X), start=(np.full(400, 2.0), None))


def test_the_same_problem_has_the_same_solution_for_any_threads(X, labels):
    dual, batch = duals.classification(labels, 10.0), KERNEL.domain.encode(X)
    found = [
        smo(dual, KernelRows(KERNEL, batch, Plan(threads=threads, memory="1 GB")))
        for threads in (1, 2, 3, 2)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].variables, other.variables)
        assert found[0].offset == other.offset


def test_more_variables_than_a_working_set(rng, monkeypatch):
    X = rng.normal(size=(900, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=900))
    dual = duals.classification(y, 1.0)
    whole = smo(dual, rows_of(X), tolerance=1e-5)
    monkeypatch.setattr("mercer.solvers.smo_state.WHOLE", 32)
    monkeypatch.setattr("mercer.solvers.smo_state.SIZE", 64)
    parts = smo(dual, rows_of(X), tolerance=1e-5)
    assert parts.converged
    assert parts.objective == pytest.approx(whole.objective, rel=1e-8)
    np.testing.assert_allclose(parts.images, whole.images, atol=1e-4)
    nu = duals.regression_by_share(X[:, 2], 1.0, 0.3)
    assert smo(nu, rows_of(X)).converged


# Data chosen to hurt


def test_equal_rows_share_one_value_and_conflicts_end_at_the_bound(rng):
    X = np.repeat(rng.normal(size=(20, 2)), 5, axis=0)
    y = np.where(rng.random(100) < 0.5, 1.0, -1.0)
    dual = duals.classification(y, 1e3)
    found = smo(dual, rows_of(X))
    assert found.converged
    np.testing.assert_allclose(found.images.reshape(20, 5).std(axis=1), 0, atol=1e-6)


def test_kernels_that_are_none_end_at_a_stationary_point(rng, X, labels):
    K = np.tanh(0.5 * X @ X.T - 1)
    assert np.linalg.eigvalsh(K)[0] < -1
    dual = duals.classification(labels, 1.0)
    found = smo(dual, MatrixRows(K, 1), max_steps=200_000)
    assert found.converged
    assert violation(dual, K, found.variables) < 1e-3


@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
def test_a_large_bound_is_reached_to_the_gap(rng, C):
    X = rng.normal(size=(200, 2))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1])
    y[rng.random(200) < 0.1] *= -1
    kernel = mc.Gaussian(scale=0.5)
    dual = duals.classification(y, C)
    found = smo(dual, rows_of(X, kernel))
    assert found.converged
    # The product with variables as large as C is rounded to n units of C.
    assert violation(dual, kernel(X), found.variables) < 1e-3 + 200 * 2.3e-16 * C
    machine = SVC(C=C, gamma=2.0, tol=1e-3, max_iter=300_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it gives up where we do not
        machine.fit(X, y)
    b = np.zeros(200)
    b[machine.support_] = machine.dual_coef_[0]
    theirs = 0.5 * b @ kernel(X) @ b - np.abs(b).sum()
    assert found.objective <= theirs + 1e-4 * abs(theirs)


@pytest.mark.parametrize("gamma", [1e3, 1e-7])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_matrices_near_the_identity_and_near_a_constant(X, labels, gamma, C):
    kernel = mc.Gaussian(scale=(2 * gamma) ** -0.5)
    found = smo(duals.classification(labels, C), rows_of(X, kernel))
    assert found.converged
    dual = duals.classification(labels, C)
    assert violation(dual, kernel(X), found.variables) < 1e-3 + 1e-12 * C


def test_one_row_in_a_thousand(rng):
    X = rng.normal(size=(2_000, 2))
    y = -np.ones(2_000)
    y[:2], X[:2] = 1.0, X[:2] + 2
    dual = duals.classification(y, 1.0)
    found = smo(dual, rows_of(X))
    machine = SVC(C=1.0, gamma=GAMMA, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(
        found.images + found.offset, machine.decision_function(X), atol=3e-3
    )


def test_one_class_alone_ends_at_once(X):
    found = smo(duals.classification(np.ones(400), 1.0), rows_of(X))
    assert found.converged
    assert found.steps == 0
    assert not found.coefficients.any()


def test_single_precision_does_not_spoil_the_result(rng):
    # Values that differ in the seventh digit only: float32 sees hardly any difference.
    X = rng.normal(size=(150, 2))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1])
    kernel = mc.Gaussian(scale=1e3)
    dual = duals.classification(y, 1e5)
    found = smo(dual, rows_of(X, kernel))
    assert found.converged
    assert found.checks > 0
    assert violation(dual, kernel(X), found.variables) < 1e-3 + 1e-9


def test_values_that_are_not_finite_are_refused(labels):
    K = np.eye(400)
    K[3, 5] = K[5, 3] = np.nan
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        smo(duals.classification(labels, 1.0), MatrixRows(K, 1))


def test_rows_of_other_points_are_refused(X, labels):
    with pytest.raises(InvalidInput, match="have to be the same"):
        smo(duals.classification(labels[:7], 1.0), rows_of(X))


def test_steps_are_limited_and_it_says_so(X, labels):
    found = smo(duals.classification(labels, 1e3), rows_of(X), max_steps=50)
    assert found.steps == 50
    assert not found.converged
    assert "not converged" in repr(found)


def test_progress_is_told_and_can_be_stopped(X, labels):
    told = []

    def watch(steps, objective, violation):
        told.append((steps, objective, violation))
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        smo(duals.classification(labels, 1e3), rows_of(X), tolerance=1e-9, watch=watch)
    assert told[0][:2] == (0, 0.0)
    assert told[1][1] < 0


# The hard margin


def separable(rng, gap=0.3):
    X = rng.normal(size=(200, 2))
    y = np.sign(X[:, 0] + X[:, 1])
    return X + gap * y[:, None], y


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Gaussian()])
def test_the_hard_margin_is_that_of_a_huge_bound(rng, kernel):
    X, y = separable(rng)
    found = smo(duals.classification(y, np.inf), rows_of(X, kernel), tolerance=1e-5)
    soft = smo(duals.classification(y, 1e7), rows_of(X, kernel), tolerance=1e-7)
    assert found.converged
    assert found.objective == pytest.approx(soft.objective, rel=1e-4)
    assert found.bound <= soft.objective * (1 - 1e-6)
    values = found.images + found.offset
    np.testing.assert_allclose(values, soft.images + soft.offset, atol=1e-3)
    np.testing.assert_allclose(kernel(X) @ found.coefficients + found.offset, values, atol=1e-6)
    assert (y * values).min() == pytest.approx(1, abs=1e-4)


def test_classes_that_touch_have_barycentres_in_common(rng):
    X, _ = separable(rng)
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    with pytest.raises(NotSeparable, match="barycentres") as caught:
        smo(duals.classification(y, np.inf), rows_of(X, mc.Linear()))
    weights = caught.value.certificate
    assert (weights >= 0).all()
    for sign in (1.0, -1.0):
        assert weights[y == sign].sum() == pytest.approx(1, abs=1e-12)
    gap = np.linalg.norm((y * weights) @ X)
    assert gap == pytest.approx(caught.value.distance, abs=1e-7)
    assert gap <= 1e-5 * np.linalg.norm(X, axis=1).max()


def test_one_point_with_two_labels_cannot_be_separated(rng):
    X, y = separable(rng)
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    with pytest.raises(NotSeparable) as caught:
        smo(duals.classification(y, np.inf), rows_of(X))
    assert np.flatnonzero(caught.value.certificate > 0.5).tolist() == [0, 200]


def test_a_hard_margin_needs_two_classes(X):
    with pytest.raises(InvalidParameter, match="two classes"):
        smo(duals.classification(np.ones(400), np.inf), rows_of(X))


# Parts


def test_polishing_ends_where_a_dense_solver_does(rng):
    n = 30
    root = rng.normal(size=(n, n))
    K = root @ root.T + np.eye(n)
    pull, at = rng.normal(size=n), np.zeros(n)
    low, high = np.full(n, -1e3), np.full(n, 1e3)
    found = polish(K, pull, at, low, high, np.ones((n, 1)), 1e-10, 1e9)
    whole = np.block([[K, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    exact = np.linalg.solve(whole, np.append(-pull, 0))[:n]
    np.testing.assert_allclose(found, exact, atol=1e-9)


def test_polishing_stays_in_the_box_and_lowers_the_objective(rng):
    n = 40
    root = rng.normal(size=(n, 5))
    K, pull = root @ root.T + 1e-6 * np.eye(n), rng.normal(size=n)
    at, low, high = np.full(n, 0.5), np.zeros(n), np.ones(n)
    found = polish(K, pull + K @ at, at, low, high, np.ones((n, 1)), 1e-8, 1e9)
    assert (found >= low).all()
    assert (found <= high).all()
    assert found.sum() == pytest.approx(at.sum(), rel=1e-10)
    assert 0.5 * found @ K @ found + pull @ found < 0.5 * at @ K @ at + pull @ at


def test_equal_values_are_taken_evenly():
    assert least_of(np.zeros(100), 4).tolist() == [0, 25, 50, 75]
    assert sorted(least_of(np.array([3.0, 1.0, 2.0, 0.0]), 2).tolist()) == [1, 3]
    assert least_of(np.array([2.0, 1.0]), 5).tolist() == [0, 1]
    assert least_of(np.array([2.0, 1.0]), 0).tolist() == []
