"""Grids of support vector machines, against scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.svm import SVC, SVR, OneClassSVM

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter
from mercer.selection import one_class_path, svm_path, svr_path

GAMMAS, COSTS = (0.02, 0.2, 2.0), (0.1, 1.0, 30.0)
KERNELS = [mc.Gaussian((2 * gamma) ** -0.5) for gamma in GAMMAS]


def rings(rng, rows=150):
    X = rng.normal(size=(rows, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, np.where(rng.random(rows) < 0.1, f < 0, f > 0)


def peer(machine, X, y, folds, costs=COSTS, **fit):
    """The scores of scikit-learn's grid, in the shape of ours."""
    grid = {"gamma": list(GAMMAS), "C": list(costs)}
    search = GridSearchCV(machine, grid, cv=folds).fit(X, y, **fit)
    scores = np.empty((len(GAMMAS), len(costs), len(folds)))
    for at, chosen in enumerate(search.cv_results_["params"]):
        place = GAMMAS.index(chosen["gamma"]), costs.index(chosen["C"])
        for fold in range(len(folds)):
            scores[(*place, fold)] = search.cv_results_[f"split{fold}_test_score"][at]
    return scores, search.best_params_


# A tolerance of 1e-6 leaves decisions that differ by some 1e-6, and no row here is so near.
@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_those_of_a_grid_search(rng, classes):
    X, y = rings(rng)
    if classes == 4:
        y = 2 * y + (X[:, 0] > 0)
    folds = list(StratifiedKFold(4).split(X, y))
    found = svm_path(X, y, COSTS, KERNELS, folds, tol=1e-6)
    expected, best = peer(SVC(tol=1e-6), X, y, folds)
    assert np.array_equal(found.scores, expected)
    kernel, cost = found.best
    means = expected.mean(axis=2)
    assert means[KERNELS.index(kernel), COSTS.index(cost)] == means.max()
    assert cost <= best["C"]


def test_folds_that_overlap_are_no_trouble(rng):
    X, y = rings(rng)
    folds = list(ShuffleSplit(3, train_size=0.5, test_size=0.4, random_state=0).split(X))
    found = svm_path(X, y, COSTS, KERNELS, folds, tol=1e-6)
    assert np.array_equal(found.scores, peer(SVC(tol=1e-6), X, y, folds)[0])


def test_sparse_points(rng):
    X, y = rings(rng)
    X[rng.random(X.shape) < 0.5] = 0
    folds = list(StratifiedKFold(4).split(X, y))
    found = svm_path(sp.csr_array(X), y, COSTS, KERNELS, folds, tol=1e-6)
    assert np.array_equal(found.scores, peer(SVC(tol=1e-6), X, y, folds)[0])


def test_weights_count_in_the_fit(rng):
    X, y = rings(rng)
    weights = rng.uniform(0.2, 3, len(y))
    folds = list(StratifiedKFold(4).split(X, y))
    found = svm_path(X, y, COSTS, KERNELS, folds, sample_weight=weights, tol=1e-6)
    for fold, (train, test) in enumerate(folds):
        for row, gamma in enumerate(GAMMAS):
            for column, cost in enumerate(COSTS):
                machine = SVC(C=cost, gamma=gamma, tol=1e-6)
                machine.fit(X[train], y[train], sample_weight=weights[train])
                own = machine.score(X[test], y[test], sample_weight=weights[test])
                assert found.scores[row, column, fold] == pytest.approx(own, abs=1e-12)


def test_regression_scores_are_those_of_a_grid_search(rng):
    X, _ = rings(rng)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))
    folds = list(KFold(4).split(X))
    found = svr_path(X, y, COSTS, KERNELS, folds, epsilon=0.05, tol=1e-8)
    expected, best = peer(SVR(epsilon=0.05, tol=1e-8), X, y, folds)
    # Values that differ by 1e-7 in units of y, of which R2 has about twice.
    assert np.allclose(found.scores, expected, atol=1e-6)
    assert found.best == (KERNELS[GAMMAS.index(best["gamma"])], best["C"])


def test_the_share_outside_is_that_of_the_points_held_out(rng):
    X, _ = rings(rng)
    folds = list(KFold(4).split(X))
    nus = [0.1, 0.4]
    found = one_class_path(X, nus, KERNELS, folds, tol=1e-8)
    for fold, (train, test) in enumerate(folds):
        for row, gamma in enumerate(GAMMAS):
            for column, nu in enumerate(nus):
                machine = OneClassSVM(nu=nu, gamma=gamma, tol=1e-8).fit(X[train])
                outside = (machine.decision_function(X[test]) < 0).mean()
                assert found.scores[row, column, fold] == pytest.approx(-abs(outside - nu))


def test_the_grid_is_the_same_for_any_threads_and_under_a_small_budget(rng):
    X, y = rings(rng, 120)
    y = y + 2 * (X[:, 0] > 0.5)
    one = svm_path(X, y, COSTS, KERNELS, 3, tol=1e-6, plan=mc.Plan(threads=1))
    two = svm_path(X, y, COSTS, KERNELS, 3, tol=1e-6, plan=mc.Plan(threads=2))
    # 120 rows of 120 numbers are 115 kB: neither several matrices fit then, nor one.
    for memory in (150_000, 50_000):
        low = svm_path(X, y, COSTS, KERNELS, 3, tol=1e-6, plan=mc.Plan(memory=memory))
        assert np.array_equal(one.scores, low.scores)
    assert np.array_equal(one.scores, two.scores)


def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter(rng):
    X, y = rings(rng, 80)
    weights = rng.integers(0, 4, 80)
    times = rng.permutation(np.repeat(np.arange(80), weights))
    once = svm_path(X, y, COSTS, KERNELS, 4, sample_weight=weights)
    assert np.allclose(once.scores, svm_path(X[times], y[times], COSTS, KERNELS, 4).scores)


def test_everything_is_found_when_nothing_is_given(rng):
    X, y = rings(rng)
    path = svm_path(X * [1, 100, 0.01], y)
    assert path.scores.shape == (5, 9, 5)
    assert path.means.max() > 0.7
    told = repr(path)
    assert told.startswith("accuracy of 5 folds, the best with gaussian(")
    assert len(told.splitlines()) == 7
    assert svr_path(X, X[:, 0]).means.max() > 0.8
    assert one_class_path(X).means.max() > -0.1


def test_sets_and_texts_of_kernels(rng):
    sets = [frozenset(rng.integers(0, 12, 4).tolist()) for _ in range(60)]
    y = [3 in each for each in sets]
    path = svm_path(sets, y, [1.0], ["jaccard", "set_intersection"], 3)
    assert path.means.max() > 0.9


def test_the_least_cost_is_the_best_of_equals():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    path = svm_path(X, [0, 0, 1, 1], [10, 1, 100], "gaussian(1)", 2)
    assert path.Cs.tolist() == [1, 10, 100]
    assert path.best[1] == 1


def test_a_fold_that_takes_all_of_a_class_away_is_scored(rng):
    X, y = rng.normal(size=(20, 2)), np.r_[np.zeros(18), 1, 1]
    found = svm_path(X, y, [1.0], "gaussian(1)", [(np.arange(18), [18, 19])])
    assert found.scores.ravel().tolist() == [0.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Cs": [0.0, 1.0]}, "Cs are finite numbers > 0"),
        ({"Cs": [np.inf]}, "Cs are finite numbers > 0"),
        ({"Cs": []}, "Cs are finite numbers > 0"),
        ({"Cs": "many"}, "Cs are finite numbers > 0"),
        ({"kernels": []}, "kernels are empty"),
        ({"folds": 1}, "folds is a number from 2"),
        ({"y": np.zeros(30)}, "tells classes apart"),
        ({"y": np.zeros(29)}, "inconsistent numbers of samples"),
        ({"sample_weight": -np.ones(30)}, "weights are finite and not negative"),
    ],
)
def test_what_makes_no_sense_is_named(rng, changes, words):
    given = {"X": rng.normal(size=(30, 2)), "y": np.arange(30) % 2, "kernels": KERNELS}
    with pytest.raises((InvalidParameter, InvalidInput, ValueError), match=words):
        svm_path(**(given | changes))


def test_shares_above_one_and_widths_below_zero_are_refused(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(InvalidParameter, match="nus are shares"):
        one_class_path(X, [0.5, 1.5])
    with pytest.raises(InvalidParameter, match="epsilon"):
        svr_path(X, X[:, 0], epsilon=-1)
    with pytest.raises(InvalidInput, match="need as many numbers"):
        svr_path(X, X)


def test_equal_points_with_different_targets_and_large_costs(rng):
    X = rng.uniform(size=(40, 3))
    X[X < 0.6] = 0
    y = np.floor(4 * rng.uniform(size=40))
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    costs = (1.0, 100.0, 1000.0)
    found = svr_path(sp.csr_array(X), y, costs, KERNELS, folds, tol=1e-6)
    expected, _ = peer(SVR(tol=1e-6), X, y, folds, costs)
    # Values of some 1e3 times the tolerance, where the curvature is small.
    assert np.allclose(found.scores, expected, rtol=1e-3, atol=1e-3)
