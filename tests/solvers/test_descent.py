"""The dual problems over features: against pairs on F F', scikit-learn, and conditions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotSeparable
from mercer.gram.features import FeatureRows, projected
from mercer.gram.rows import KernelRows, MatrixRows
from mercer.plan import Plan
from mercer.problems import duals
from mercer.solvers.descent import Descent, descent, solved
from mercer.solvers.landmarks import whitening
from mercer.solvers.smo import smo

ROWS, WIDTH = 400, 12


@pytest.fixture
def F(rng):
    return rng.normal(size=(ROWS, WIDTH)) / WIDTH**0.5


@pytest.fixture
def labels(rng, F):
    return np.sign(F[:, 0] + F[:, 1] * F[:, 2] + 0.3 * rng.normal(size=ROWS))


@pytest.fixture
def targets(rng, F):
    return 2 * F[:, 0] + F[:, 1] + 0.3 * rng.normal(size=ROWS)


PROBLEMS = {
    "svc": lambda y, t, C: duals.classification(y, C),
    "svr": lambda y, t, C: duals.regression(t, C, 0.1),
    "one": lambda y, t, C: duals.one_class(C, 0.2, len(y)),
    "nusvc": lambda y, t, C: duals.classification_by_share(y, C, 0.7),
    "nusvr": lambda y, t, C: duals.regression_by_share(t, C, 0.4),
}


def violation(dual, K, a):
    """m(a) - M(a), from scratch."""
    b = dual.signs * a
    h = dual.slopes(K @ dual.combined(b))
    found = []
    for group in dual.groups:
        up, down = (b < dual.high)[group], (b > dual.low)[group]
        found.append(h[group][down].max(initial=-np.inf) - h[group][up].min(initial=np.inf))
    return max(found)


def check(found, dual, F, tolerance):
    """The conditions, and the distance to what pairs find on the matrix F F'."""
    F = F.astype(np.float64)
    K = F @ F.T
    dual.check(found.variables)
    assert found.converged
    size = np.abs(found.variables).sum() * K.max()
    rounding = 100 * np.finfo(float).eps * size
    assert violation(dual, K, found.variables) < tolerance + rounding
    np.testing.assert_allclose(found.weights, F.T @ found.coefficients, atol=rounding + 1e-12)
    peer = smo(dual, MatrixRows(K, 1), tolerance=tolerance)
    # Half of the squared distance of two weights is no more than what both objectives lack.
    gaps = [max(one.objective - one.bound, 0.0) + rounding for one in (found, peer)]
    near = sum((2 * gap) ** 0.5 for gap in gaps) * np.linalg.norm(F, axis=1)
    assert (np.abs(found.images - peer.images) <= near + 1e-9).all()
    assert abs(found.objective - peer.objective) <= sum(gaps)
    return peer


@pytest.mark.parametrize("C", [0.01, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("which", list(PROBLEMS))
def test_solutions_are_those_of_pairs_on_the_matrix(F, labels, targets, which, C):
    dual = PROBLEMS[which](labels, targets, C)
    for tolerance in (1e-3, 1e-6):
        found = descent(dual, FeatureRows(F, 2), tolerance=tolerance)
        check(found, dual, F, tolerance)
        assert found.method == "descent"
        assert found.residual < tolerance


@pytest.mark.parametrize("which", list(PROBLEMS))
def test_features_in_single_precision_are_taken_as_they_are(F, labels, targets, which):
    rows = FeatureRows(F.astype(np.float32), 2)
    dual = PROBLEMS[which](labels, targets, 10.0)
    check(descent(dual, rows, tolerance=1e-5), dual, rows.features, 1e-5)


@pytest.mark.parametrize("which", list(PROBLEMS))
def test_weights_of_rows_and_empty_boxes(rng, F, labels, targets, which):
    C = rng.uniform(0.1, 5, ROWS) * (rng.random(ROWS) < 0.8)
    dual = PROBLEMS[which](labels, targets, C)
    found = descent(dual, FeatureRows(F, 1), tolerance=1e-6)
    check(found, dual, F, 1e-6)
    assert not found.variables[dual.upper == 0].any()


MACHINES = {
    "svc": lambda C, **more: SVC(C=C, **more),
    "svr": lambda C, **more: SVR(C=C, epsilon=0.1, **more),
    "one": lambda C, **more: OneClassSVM(nu=0.2, **more),
    "nusvc": lambda C, **more: NuSVC(nu=0.7, **more),
    "nusvr": lambda C, **more: NuSVR(nu=0.4, C=C, **more),
}


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("C", [0.1, 50.0])
@pytest.mark.parametrize("which", list(MACHINES))
def test_decisions_are_those_of_scikit_learn(F, labels, targets, which, C, kernel):
    F = F + (which == "one")  # around 0 its best function vanishes, and LIBSVM takes forever
    bound = C if which in ("svc", "svr", "nusvr") else 1.0
    found = descent(PROBLEMS[which](labels, targets, bound), FeatureRows(F, 2), tolerance=1e-7)
    machine = MACHINES[which](C, kernel=kernel, tol=1e-7)
    given = F if kernel == "linear" else F @ F.T
    machine.fit(given, targets if which.endswith("svr") else labels)
    values = found.images * found.scale + found.offset
    theirs = (
        machine.predict(given) if which.endswith("svr") else machine.decision_function(given)
    )
    # LIBSVM keeps its matrix in float32: six digits of values that are added up.
    size = np.abs(machine.dual_coef_).sum() * np.finfo(np.float32).eps
    np.testing.assert_allclose(values, theirs, atol=size + 1e-5)


def test_all_points_as_landmarks_are_the_exact_problem(rng):
    X = rng.normal(size=(200, 3))
    y = np.sign(np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=200))
    kernel, plan = mc.Gaussian(), Plan(threads=2)
    points = kernel.domain.encode(X)
    turn = whitening(kernel.square(points))
    rows = projected(kernel, points, points, turn, np.float64, plan)
    dual = duals.classification(y, 10.0)
    found = descent(dual, rows, tolerance=1e-7)
    exact = smo(dual, KernelRows(kernel, points, plan), tolerance=1e-7, exact=True)
    # What whitening leaves out are eigenvalues of n roundings of the largest, times C.
    np.testing.assert_allclose(found.images, exact.images, atol=1e-5)
    np.testing.assert_allclose(found.offset, exact.offset, atol=1e-5)
    assert found.approximation.missed < 1e-10


def test_equal_rows_and_conflicts(rng):
    F = np.repeat(rng.normal(size=(30, 4)), 5, axis=0)
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    for C in (0.1, 1e3):
        dual = duals.classification(y, C)
        check(descent(dual, FeatureRows(F, 1), tolerance=1e-5), dual, F, 1e-5)


def test_one_class_alone_and_one_row_of_the_other(rng):
    F = rng.normal(size=(80, 5))
    found = descent(duals.classification(np.ones(80), 1.0), FeatureRows(F, 1))
    assert found.converged
    assert not found.coefficients.any()
    y = np.ones(80)
    y[7] = -1
    dual = duals.classification(y, 10.0)
    check(descent(dual, FeatureRows(F, 1), tolerance=1e-6), dual, F, 1e-6)


def test_features_that_are_zero_or_none():
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    for F in (np.zeros((5, 2)), np.zeros((5, 0))):
        found = descent(duals.classification(y, 1.0), FeatureRows(F, 1))
        assert found.converged
        assert not found.images.any()
        # The majority decides, and each row of the minority costs two.
        assert found.objective == pytest.approx(-4.0)


def test_rows_of_all_sizes(rng):
    F = rng.normal(size=(300, 6)) * 10.0 ** rng.uniform(-4, 3, 300)[:, None]
    y = np.sign(F[:, 0] + 1e-3)
    dual = duals.classification(y, 1.0)
    check(descent(dual, FeatureRows(F, 2)), dual, F, 1e-3)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    which=st.sampled_from(list(PROBLEMS)),
    n=st.integers(4, 60),
    width=st.integers(1, 8),
    scale=st.sampled_from([1e-2, 1.0, 30.0]),
    C=st.sampled_from([1e-2, 1.0, 1e2]),
)
def test_every_small_problem_is_solved_to_its_conditions(seed, which, n, width, scale, C):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, width)) * scale
    y = rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0))
    dual = PROBLEMS[which](y, scale * rng.normal(size=n), C)
    if which == "nusvc":
        dual = duals.classification_by_share(y, C, (n - 1) / n * 2 * (n // 2) / n)
    found = descent(dual, FeatureRows(F, 1), tolerance=1e-4)
    dual.check(found.variables)
    size = np.abs(found.variables).sum() * np.abs(F @ F.T).max()
    assert found.converged
    assert violation(dual, F @ F.T, found.variables) < 1e-4 + 100 * 2.3e-16 * size
    assert found.bound <= found.objective + 1e-12 * size


def test_the_same_for_any_number_of_threads(rng):
    F = rng.normal(size=(3_000, 120)).astype(np.float32)
    y = np.sign(F[:, 0] + F[:, 1] + rng.normal(size=3_000))
    for C in (0.01, 10.0):
        dual = duals.classification(y, C)
        found = [descent(dual, FeatureRows(F, threads)) for threads in (1, 2, 3, 2)]
        for other in found[1:]:
            np.testing.assert_array_equal(found[0].variables, other.variables)
            np.testing.assert_array_equal(found[0].weights, other.weights)


def test_part_of_the_rows_is_a_problem_of_its_own(F, labels):
    places = np.flatnonzero(np.arange(ROWS) % 3)
    dual = duals.classification(labels[places], 3.0)
    part = FeatureRows(F, 2).part(places, Plan(threads=1))
    found = descent(dual, part, tolerance=1e-6)
    alone = descent(dual, FeatureRows(F[places], 1), tolerance=1e-6)
    np.testing.assert_array_equal(found.variables, alone.variables)


def test_any_rows_are_solved_over(F, labels):
    dual = duals.classification(labels, 1.0)
    over = solved(dual, FeatureRows(F, 1), tolerance=1e-6)
    pairs = solved(dual, MatrixRows(F @ F.T, 1), tolerance=1e-6)
    assert (over.method, pairs.method) == ("descent", "smo")
    assert over.objective == pytest.approx(pairs.objective, rel=1e-6)
    assert pairs.weights is None


# The hard margin


def test_the_hard_margin_over_features(rng):
    F = rng.normal(size=(150, 3))
    y = np.sign(F[:, 0])
    F[:, 0] += 0.3 * y
    hard = descent(duals.classification(y, np.inf), FeatureRows(F, 1), tolerance=1e-6)
    soft = descent(duals.classification(y, 1e6), FeatureRows(F, 1), tolerance=1e-6)
    assert hard.converged
    assert (y * (F @ hard.weights + hard.offset)).min() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(hard.weights, soft.weights, atol=1e-4)
    with pytest.raises(NotSeparable):
        descent(duals.classification(rng.permutation(y), np.inf), FeatureRows(F, 1))


def test_regression_without_bounds(rng):
    F = rng.normal(size=(40, 3))
    t = F @ [1.0, -2.0, 0.5] + rng.uniform(-0.05, 0.05, 40)
    found = descent(duals.regression(t, np.inf, 0.1), FeatureRows(F, 1), tolerance=1e-6)
    assert found.converged
    assert np.abs(F @ found.weights + found.offset - t).max() < 0.1 + 1e-6


# Limits, and what is refused


def test_moves_are_limited_and_it_says_so(F, labels):
    dual = duals.classification(labels, 100.0)
    for most in (0, 1, 150, 1_000):
        found = descent(dual, FeatureRows(F, 1), max_steps=most)
        assert found.steps <= most
        assert not found.converged
        dual.check(found.variables)


def test_progress_is_told_and_can_be_stopped(F, labels):
    told = []

    def watch(moves, objective, violation):
        told.append((moves, objective, violation))
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        descent(duals.classification(labels, 1e3), FeatureRows(F, 2), watch=watch)
    assert told[0][0] < told[2][0]
    assert told[2][1] < told[0][1] < 0


def test_features_that_are_not_finite_are_refused(F):
    F[3, 5] = np.nan
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        FeatureRows(F, 1)


def test_features_of_other_points_are_refused(F, labels):
    with pytest.raises(InvalidInput, match="have to be the same"):
        descent(duals.classification(labels[:9], 1.0), FeatureRows(F, 1))


def test_an_infeasible_share_is_refused_before(labels):
    with pytest.raises(InvalidParameter, match="infeasible"):
        duals.classification_by_share(np.where(np.arange(50) < 5, 1.0, -1.0), 1.0, 0.5)


# Parts


def test_sums_are_mended_without_leaving_bounds(rng, F, labels):
    dual = duals.classification(labels, 1.0)
    near = Descent(dual, FeatureRows(F, 1), None, None)
    order = rng.permutation(ROWS)
    up, down = order[labels[order] > 0], order[labels[order] < 0]
    near.signed = np.zeros(ROWS)
    near.signed[up[:50]], near.signed[down[:50]] = 1.0, -1.0
    inside = np.isin(np.arange(ROWS), [*up[50:70], *down[50:60]])
    near.signed[inside] = 0.5 * labels[inside]
    mended = near._mended()
    assert abs(mended.sum()) <= 1e-12 * np.abs(mended).sum()
    # Those inside have room enough, so no other moves.
    np.testing.assert_array_equal(mended[~inside], near.signed[~inside])
    near.signed = dual.high.copy()
    assert near._mended().sum() == pytest.approx(0, abs=1e-10)
    # A rounding error is none that a variable would leave its bound for.
    near.signed = np.zeros(ROWS)
    near.signed[up[:50]], near.signed[down[:50]], near.signed[up[50]] = 1.0, -1.0, 1e-15
    np.testing.assert_array_equal(near._mended(), near.signed)


def test_large_bounds_take_hardly_longer(F, labels):
    # Where variables have to go far, their number of moves must not grow with the bound.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = [
            descent(duals.classification(labels, C), FeatureRows(F, 1)).steps
            for C in (1e2, 1e4, 1e6)
        ]
    assert max(steps) < 20 * min(steps)
