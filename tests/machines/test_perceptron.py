"""The kernel perceptron against its algorithm, line by line, and against the theory."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc


# scikit-learn itself casts infinite labels to whole numbers, before it refuses them.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        mc.KernelPerceptron("gaussian", passes=10),
        mc.KernelPerceptron("linear", averaged=True, passes=10),
        mc.KernelPerceptron("gaussian", averaged="votes", passes=10),
        mc.KernelPerceptron("precomputed", passes=10),
    ]
)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


def algorithm(K, signs, passes):
    """Igel's Algorithm 1 as it is written."""
    counts, mistakes = np.zeros(len(signs)), []
    for _ in range(passes):
        mistakes.append(0)
        for i in range(len(signs)):
            if signs[i] * sum(counts * signs * K[:, i]) <= 0:
                counts[i] += 1
                mistakes[-1] += 1
        if not mistakes[-1]:
            break
    return counts, mistakes


def kesler(K, codes, classes, passes):
    """The same for several classes: the row goes to its class, from the best other one."""
    counts, mistakes = np.zeros((len(codes), classes)), []
    for _ in range(passes):
        mistakes.append(0)
        for i, own in enumerate(codes):
            values = K[i] @ counts
            others = np.where(np.arange(classes) == own, -np.inf, values)
            if values[own] <= others.max():
                counts[i, own] += 1
                counts[i, others.argmax()] -= 1
                mistakes[-1] += 1
        if not mistakes[-1]:
            break
    return counts, mistakes


def coefficients(model, rows):
    found = np.zeros((rows, *model.dual_coef_.shape[1:]))
    found[model.support_] = model.dual_coef_
    return found


@pytest.mark.parametrize("plan", ["dense", "blocked", "primal"])
@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Linear() + 1, mc.Linear() + 4])
def test_every_form_makes_the_decisions_of_the_algorithm(rng, kernel, plan):
    # Whole numbers: every value of the function is exact, and so is every decision at 0.
    X = rng.integers(-3, 4, size=(60, 3)).astype(float)
    y = np.where(X[:, 0] * X[:, 1] > 0.5, 1, -1)
    model = mc.KernelPerceptron(kernel, passes=20, plan=plan).fit(X, y)
    counts, mistakes = algorithm(kernel(X), y, 20)
    np.testing.assert_array_equal(coefficients(model, 60), counts * y)
    assert model.mistakes_ == mistakes
    assert (model.dual_coef_ != 0).all()  # support vectors alone are kept


@pytest.mark.parametrize("plan", ["dense", "blocked"])
def test_kernels_without_features_make_the_decisions_of_the_algorithm(rng, plan):
    X = rng.normal(size=(80, 2))
    y = np.where(np.sin(3 * X[:, 0]) > X[:, 1], 1, -1)
    model = mc.KernelPerceptron(mc.Gaussian(0.5), passes=30, plan=plan).fit(X, y)
    counts, mistakes = algorithm(mc.Gaussian(0.5)(X), y, 30)
    np.testing.assert_array_equal(coefficients(model, 80), counts * y)
    assert model.mistakes_ == mistakes


@pytest.mark.parametrize("plan", ["dense", "blocked", "primal"])
def test_several_classes_make_the_decisions_of_the_algorithm(rng, plan):
    X = rng.integers(-4, 5, size=(50, 2)).astype(float)
    y = rng.integers(0, 3, size=50)
    model = mc.KernelPerceptron(mc.Linear() + 1, passes=10, plan=plan).fit(X, y)
    counts, mistakes = kesler((mc.Linear() + 1)(X), y, 3, 10)
    np.testing.assert_array_equal(coefficients(model, 50), counts)
    assert model.mistakes_ == mistakes


def test_the_linear_one_is_that_of_scikit_learn(rng):
    # There the rate is 1, the order that of the data, and a value of 0 a mistake as well.
    X = rng.integers(-3, 4, size=(40, 3)).astype(float)
    y = np.where(X @ [1.0, -2.0, 0.5] > 0.2, 1, -1)
    peer = Perceptron(fit_intercept=False, shuffle=False, max_iter=7, tol=None).fit(X, y)
    model = mc.KernelPerceptron("linear", passes=7).fit(X, y)
    np.testing.assert_array_equal(model.function_.to_features(), peer.coef_[0])


def test_primal_and_dual_are_one_function_at_other_costs(rng):
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] ** 2 > X[:, 1], "in", "out")
    kernel = mc.Polynomial(degree=2)
    dual, blocked, primal = (
        mc.KernelPerceptron(kernel, plan=plan, passes=50).fit(X, y)
        for plan in ("dense", "blocked", "primal")
    )
    np.testing.assert_array_equal(dual.dual_coef_, primal.dual_coef_)
    np.testing.assert_array_equal(dual.dual_coef_, blocked.dual_coef_)
    width = kernel.features(X).shape[1]
    visits, mistakes = 200 * dual.n_iter_, sum(dual.mistakes_)
    for model in (dual, blocked, primal):
        assert model.operations_.visits == visits
        assert model.operations_.mistakes == mistakes
    # Dual: a mistake adds a column to all values. Primal: a visit is an inner product.
    assert dual.operations_.multiplications == 200 * mistakes
    assert dual.operations_.kernel_values == 200**2
    assert blocked.operations_.kernel_values % 200 == 0
    assert blocked.operations_.kernel_values <= 200**2
    assert primal.operations_.multiplications == width * (visits + mistakes)
    assert primal.operations_.kernel_values == 0


def test_the_plan_takes_the_primal_form_where_features_are_few(rng):
    X = rng.normal(size=(100, 2))
    y = X[:, 0] > 0
    assert mc.KernelPerceptron("linear").fit(X, y).plan_.method == "primal"
    assert mc.KernelPerceptron("gaussian").fit(X, y).plan_.method == "dense"
    tight = mc.KernelPerceptron("gaussian", plan=mc.Plan(memory="60 KB")).fit(X, y)
    assert tight.plan_.method == "blocked"
    with pytest.raises(mc.errors.BudgetExceeded, match="blocked"):
        tight.set_params(plan__method="dense").fit(X, y)


@pytest.mark.parametrize("rate", [0.1, 0.3, 7.0])
def test_the_rate_scales_the_function_and_changes_no_decision(rng, rate):
    # The second lecture: a_d += rate where o_d t_d <= 0; at 0 too, or it would never start.
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] > 0.1, 1, -1)
    kernel = mc.Linear() + 1
    model = mc.KernelPerceptron(kernel, rate=rate).fit(X, y)
    one = mc.KernelPerceptron(kernel).fit(X, y)
    assert model.mistakes_ == one.mistakes_
    np.testing.assert_allclose(model.dual_coef_, rate * one.dual_coef_, rtol=2.0**-52)
    K, a = kernel(X), np.zeros(50)
    for _ in range(model.n_iter_):
        for d in range(50):
            if np.sign(a * y @ K[:, d]) * y[d] <= 0:
                a[d] += rate
    np.testing.assert_allclose(coefficients(model, 50), a * y, rtol=1e-12)


def margin(K, signs):
    """The largest margin without an offset: a hard-margin machine on the data and their
    mirror images, between which an offset has no place.
    """
    both = np.block([[K, -K], [-K, K]])
    labels = np.concatenate([signs, -signs])
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-8).fit(both, labels)
    a = np.zeros(len(labels))
    a[machine.support_] = machine.dual_coef_[0]
    return 1 / np.sqrt(a @ both @ a)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.05, 1.0))
def test_it_converges_within_the_bound_of_novikoff(seed, gap):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    side = X @ [0.8, -0.6] + 0.3
    X, side = X[np.abs(side) > gap], side[np.abs(side) > gap]
    if len(X) < 2 or (np.sign(side) == np.sign(side[0])).all():
        return
    signs, kernel = np.sign(side), mc.Linear() + 1
    K = kernel(X)
    bound = K.diagonal().max() / margin(K, signs) ** 2
    model = mc.KernelPerceptron(kernel, passes=int(bound) + 2).fit(X, signs)
    assert model.solution_.converged
    assert model.mistakes_[-1] == 0
    # A margin with an error of 1e-4, relative, is safe for the tolerance of the solver.
    assert sum(model.mistakes_) <= bound * (1 + 1e-3)
    assert (model.predict(X) == signs).all()


def test_a_strict_kernel_separates_everything(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    kernel = mc.Gaussian(0.3)
    model = mc.KernelPerceptron(kernel, passes=10_000).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    assert model.solution_.converged
    assert sum(model.mistakes_) <= 1.001 / margin(kernel(X), signs) ** 2
    assert (model.predict(X) == y).all()


def test_it_is_about_order_and_repetition(rng):
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=30) > 0
    model = mc.KernelPerceptron("gaussian", passes=1)
    forward = coefficients(model.fit(X, y), 30)
    backward = coefficients(clone(model).fit(X[::-1], y[::-1]), 30)[::-1]
    assert (forward != backward).any()
    twice = coefficients(clone(model).fit(np.tile(X, (2, 1)), np.tile(y, 2)), 60)
    np.testing.assert_array_equal(twice[:30], forward)
    assert twice[30:].any()  # a second pass


def walk(K, signs, passes):
    """The function after each visit, by the algorithm: a row of coefficients each."""
    counts, path = np.zeros(len(signs)), []
    for _ in range(passes):
        for i in range(len(signs)):
            if signs[i] * (counts @ K[:, i]) <= 0:
                counts[i] += signs[i]
            path.append(counts.copy())
    return np.array(path)


@pytest.mark.parametrize("plan", ["dense", "primal"])
def test_the_mean_is_that_of_the_functions_after_each_visit(rng, plan):
    X = rng.integers(-3, 4, size=(40, 2)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    model = mc.KernelPerceptron(mc.Linear() + 1, averaged=True, passes=3, plan=plan).fit(X, y)
    path = walk((mc.Linear() + 1)(X), y, model.n_iter_)
    # A sum of at most 120 changes, each of a size of at most 120.
    np.testing.assert_allclose(coefficients(model, 40), path.mean(axis=0), atol=1e-11)


def test_votes_are_those_of_the_functions_after_each_visit(rng):
    X = rng.integers(-3, 4, size=(40, 2)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    kernel = mc.Linear() + 1
    model = mc.KernelPerceptron(kernel, averaged="votes", passes=3).fit(X, y)
    new = rng.integers(-3, 4, size=(25, 2)).astype(float)
    path = walk(kernel(X), y, model.n_iter_)
    expected = np.sign(kernel(new, X) @ path.T).mean(axis=1)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-13)
    np.testing.assert_array_equal(model.predict(new), np.where(expected > 0, 1, -1))


def test_votes_for_several_classes_are_shares(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60)
    model = mc.KernelPerceptron("gaussian", averaged="votes", passes=2).fit(X, y)
    shares = model.decision_function(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert (shares >= 0).all()


@pytest.mark.parametrize("averaged", [False, True, "votes"])
@pytest.mark.parametrize("classes", [2, 3])
def test_going_on_with_the_same_rows_is_another_pass(rng, averaged, classes):
    X = rng.integers(-3, 4, size=(30, 2)).astype(float)
    y = rng.integers(0, classes, size=30)
    kernel = mc.Linear() + 1
    whole = mc.KernelPerceptron(kernel, averaged=averaged, passes=4, plan="dense").fit(X, y)
    parts = mc.KernelPerceptron(kernel, averaged=averaged)
    for _ in range(4):
        parts.partial_fit(X, y)
    assert parts.mistakes_ == whole.mistakes_
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-10
    )
    assert len(parts.function_.anchors) <= len(whole.function_.anchors)


def test_one_pass_may_come_in_pieces(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60)
    whole = mc.KernelPerceptron("gaussian", passes=1).fit(X, y)
    parts = mc.KernelPerceptron("gaussian")
    for start in range(0, 60, 13):
        rows = slice(start, start + 13)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert sum(parts.mistakes_) == sum(whole.mistakes_)
    assert parts.operations_.visits == whole.operations_.visits == 60
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=1e-12
    )
    with pytest.raises(mc.errors.InvalidInput, match="classes"):
        parts.partial_fit(X[:2], [7, 8])


@pytest.mark.parametrize("averaged", [False, True, "votes"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_budget_is_kept(rng, classes, averaged):
    X, y = rng.normal(size=(80, 2)), rng.integers(0, classes, size=80)
    model = mc.KernelPerceptron("gaussian", budget=9, passes=3, averaged=averaged).fit(X, y)
    assert (model._state.counts.any(axis=1)).sum() <= 9
    if averaged is not True:  # the mean remembers those that went
        assert len(model.support_) <= 9
    model.partial_fit(X, y)
    assert (model._state.counts.any(axis=1)).sum() <= 9


def test_a_budget_forgets_the_row_that_needs_itself_least():
    # Three rows of one class and one of the other; the one that others support best goes.
    X = np.array([[1.0, 0.0], [-1.0, 0.1], [0.0, 5.0], [0.0, -3.0], [9.0, -9.0]])
    y = np.array([1, -1, 1, -1, 1])
    kernel, signs = mc.Linear(), y
    K, counts = kernel(X), np.zeros(5)
    for i in range(5):
        if signs[i] * (counts @ K[:, i]) <= 0:
            counts[i] += signs[i]
            while np.count_nonzero(counts) > 2:
                kept = np.flatnonzero(counts)
                without = [signs[j] * (counts @ K[:, j] - counts[j] * K[j, j]) for j in kept]
                counts[kept[int(np.argmax(without))]] = 0
    model = mc.KernelPerceptron(kernel, budget=2, passes=1).fit(X, y)
    np.testing.assert_array_equal(coefficients(model, 5), counts)


def test_its_function_is_an_element_of_the_space(rng):
    X = rng.normal(size=(40, 2))
    model = mc.KernelPerceptron("gaussian").fit(X, X[:, 0] > 0)
    f = model.function_
    assert isinstance(f, mc.Function)
    np.testing.assert_array_equal(f(X), model.decision_function(X))
    K = mc.Gaussian()(X[model.support_])
    np.testing.assert_allclose(f.norm() ** 2, model.dual_coef_ @ K @ model.dual_coef_)
    assert f.lipschitz() > 0
    assert f.gradient(X).shape == X.shape


def test_sets_records_and_functions_of_two_points_are_points():
    baskets = [{"milk"}, {"milk", "bread"}, {"nails"}, {"nails", "glue"}, {"bread"}, {"glue"}]
    kind = ["food", "food", "tools", "tools", "food", "tools"]
    for kernel in ("set_intersection", "jaccard", lambda a, b: float(len(a & b))):
        model = mc.KernelPerceptron(kernel).fit(baskets, kind)
        assert list(model.predict(baskets)) == kind
    parts = mc.KernelPerceptron("jaccard").partial_fit(baskets[:3], kind[:3])
    parts.partial_fit(baskets[3:], kind[3:])
    assert list(parts.predict([{"milk"}, {"glue"}])) == ["food", "tools"]
    kernel = mc.Gaussian(10.0).on("age") + mc.Delta().on("city")
    table = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0], "city": list("abab")})
    model = mc.KernelPerceptron(kernel).fit(table, [True, True, False, False])
    assert list(model.predict(table)) == [True, True, False, False]
    assert list(model.feature_names_in_) == ["age", "city"]
    plain = mc.KernelPerceptron(kernel).fit(table.to_dict("list"), [1, 1, 0, 0])
    assert list(plain.predict(table.to_dict("list"))) == [1, 1, 0, 0]


def test_it_lives_among_the_tools_of_scikit_learn(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    pipe = make_pipeline(StandardScaler(), mc.KernelPerceptron(mc.Gaussian()))
    grid = {"kernelperceptron__kernel__scale": [0.3, 1.0, 100.0]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["kernelperceptron__kernel__scale"] < 100
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0.0},
        {"rate": "fast"},
        {"passes": 0},
        {"passes": 1.5},
        {"averaged": "mean"},
        {"budget": 0},
        {"plan": "spectral"},
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(mc.errors.InvalidParameter, match=next(iter(wrong))):
        mc.KernelPerceptron("linear", **wrong).fit([[0.0], [1.0]], [0, 1])


def test_a_kernel_is_found_where_none_is_given(rng):
    X = rng.normal(size=(60, 2)) * [1.0, 1e3]
    y = np.where(X[:, 0] > 0, "right", "left")
    model = mc.KernelPerceptron().fit(X, y)
    assert model.solution_.converged
    assert model.score(X, y) == 1
    sets = mc.KernelPerceptron().fit([{1}, {1, 2}, {3}], [0, 0, 1])
    assert sets.kernel_ == mc.Jaccard()


def test_one_class_is_refused():
    with pytest.raises(mc.errors.InvalidInput, match="class"):
        mc.KernelPerceptron("linear").fit([[0.0], [1.0]], [1, 1])


def test_kernel_values_have_no_partial_fit():
    assert not hasattr(mc.KernelPerceptron("precomputed"), "partial_fit")
    assert hasattr(mc.KernelPerceptron("linear"), "partial_fit")
