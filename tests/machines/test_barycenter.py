"""The nearest barycentre against distances in the plane and against the geometry of spaces."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc

SEEDS = [[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [2.0, 2.0]]
SIDES = ["one", "one", "two", "two"]


# scikit-learn itself casts infinite labels to whole numbers, before it refuses them.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        mc.NearestBarycenter("gaussian"),
        mc.NearestBarycenter("linear", shrinkage="auto"),
        mc.NearestBarycenter("precomputed"),
    ]
)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Gaussian(1.0), mc.Gaussian(0.2)])
def test_it_decides_as_the_seeds_do(rng, kernel):
    # f(x) = d(x, S1)^2 - d(x, S2)^2 for the two sets of the lecture.
    model = mc.NearestBarycenter(kernel).fit(SEEDS, SIDES)
    new = rng.uniform(0, 4, size=(50, 2))
    first, second = (mc.distance_to_set(kernel, new, SEEDS[i : i + 2]) for i in (0, 2))
    # Squares of at most 20 are sums of a few terms, each off by some units of 2^-53.
    np.testing.assert_allclose(model.decision_function(new), first**2 - second**2, atol=1e-12)
    np.testing.assert_allclose(model.distances(new), np.column_stack([first, second]),
                               atol=1e-6)  # fmt: skip
    np.testing.assert_array_equal(model.predict(new), np.where(first > second, "two", "one"))


def test_the_linear_one_is_the_nearest_centroid(rng):
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 4, size=80)
    new = rng.normal(size=(200, 3))
    peer, model = NearestCentroid().fit(X, y), mc.NearestBarycenter("linear").fit(X, y)
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))
    np.testing.assert_allclose(model.barycenters_.to_features().T, peer.centroids_, rtol=1e-12)


def test_several_classes_are_decided_by_distances_of_any_kernel(rng):
    X, y, new = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60), rng.normal(size=(40, 2))
    model = mc.NearestBarycenter(mc.Gaussian(0.7)).fit(X, y)
    K, across = mc.Gaussian(0.7)(X), mc.Gaussian(0.7)(new, X)
    squared = np.column_stack(
        [
            1 - 2 * across[:, y == c].mean(axis=1) + K[np.ix_(y == c, y == c)].mean()
            for c in range(3)
        ]
    )
    np.testing.assert_allclose(model.distances(new), np.sqrt(squared), rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(new), 1 - squared, atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), squared.argmin(axis=1))


def test_the_order_of_rows_and_repetition_change_nothing(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, size=30)
    new, weights = rng.normal(size=(20, 2)), rng.integers(0, 4, size=30).astype(float)
    for shrinkage in (0.0, 0.4, "auto"):
        model = mc.NearestBarycenter("gaussian", shrinkage=shrinkage)
        weighted = model.fit(X, y, weights).decision_function(new)
        rows = rng.permutation(np.repeat(np.arange(30), weights.astype(int)))
        np.testing.assert_array_equal(model.fit(X[rows], y[rows]).decision_function(new),
                                      weighted)  # fmt: skip


def test_a_class_without_weight_is_no_class():
    model = mc.NearestBarycenter("linear").fit([[0.0], [1.0], [5.0]], [1, 2, 3], [1, 1, 0])
    assert list(model.classes_) == [1, 2]
    with pytest.raises(mc.errors.InvalidInput, match="class"):
        model.fit([[0.0], [1.0]], [1, 2], [1, 0])


def test_shrinkage_moves_each_barycentre_towards_that_of_all(rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, size=30)
    model = mc.NearestBarycenter("linear", shrinkage=0.25).fit(X, y)
    centroids = np.array([X[y == c].mean(axis=0) for c in range(3)])
    found = model.barycenters_.to_features().T
    np.testing.assert_allclose(found, 0.75 * centroids + 0.25 * X.mean(axis=0), atol=1e-13)
    gaps = np.linalg.norm(X[:, None] - found, axis=2)
    np.testing.assert_allclose(model.distances(X), gaps, atol=1e-6)


def test_the_automatic_share_is_that_of_the_noise(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1, 2], [3, 7, 30])
    X += 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    model = mc.NearestBarycenter("linear", shrinkage="auto").fit(X, y)
    for c in range(3):
        mine = X[y == c]
        # The variance of a mean, in all directions, from its rows.
        noise = mine.var(axis=0, ddof=1).sum() / len(mine)
        away = np.square(mine.mean(axis=0) - X.mean(axis=0)).sum()
        np.testing.assert_allclose(model.shrinkages_[c], noise / (noise + away), rtol=1e-9)


def test_shrinkage_helps_where_classes_are_noise(rng):
    # Many small classes around one point in many directions: barycentres closer to all.
    truth = 0.3 * rng.normal(size=(20, 30))
    y = np.repeat(np.arange(20), 3)
    X = truth[y] + rng.normal(size=(60, 30))
    errors = []
    for shrinkage in (0.0, "auto"):
        model = mc.NearestBarycenter("linear", shrinkage=shrinkage).fit(X, y)
        errors.append(np.square(model.barycenters_.to_features().T - truth).sum())
    assert errors[1] < 0.7 * errors[0]


def test_one_row_a_class_has_a_share_too():
    model = mc.NearestBarycenter("linear", shrinkage="auto").fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.shrinkages_, [0.0, 0.0])  # no spread is known
    same = mc.NearestBarycenter("linear", shrinkage="auto").fit([[1.0], [1.0]], [0, 1])
    assert np.isfinite(same.decision_function([[3.0]])).all()


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_clusters_far_away_are_told_apart(rng, offset):
    X = offset + 1e-2 * rng.normal(size=(40, 2))
    y = X[:, 0] > offset
    model = mc.NearestBarycenter(mc.Gaussian(0.01)).fit(X, y)
    assert model.score(X, y) > 0.9


def test_its_function_is_an_element_of_the_space(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, size=30)
    model = mc.NearestBarycenter("gaussian").fit(X, y)
    f = model.function_
    np.testing.assert_allclose(f(X) + model.intercept_, model.decision_function(X))
    # ||2 (mu_1 - mu_0)|| is twice the maximum mean discrepancy.
    np.testing.assert_allclose(f.norm(), 2 * mc.mmd("gaussian", X[y == 0], X[y == 1]))
    assert f.gradient(X).shape == X.shape


def test_sets_records_and_functions_of_two_points_are_points():
    baskets = [{"milk"}, {"milk", "bread"}, {"nails"}, {"nails", "glue"}]
    kind = ["food", "food", "tools", "tools"]
    for kernel in ("jaccard", lambda a, b: float(len(a & b))):
        model = mc.NearestBarycenter(kernel).fit(baskets, kind)
        assert list(model.predict([{"bread"}, {"glue"}])) == ["food", "tools"]
    kernel = mc.Gaussian(10.0).on("age") + mc.Delta().on("city")
    table = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0], "city": list("abab")})
    model = mc.NearestBarycenter(kernel).fit(table, [True, True, False, False])
    assert list(model.predict(table)) == [True, True, False, False]
    assert list(model.feature_names_in_) == ["age", "city"]


def test_kernel_values_are_enough_to_decide(rng):
    X, y, new = rng.normal(size=(30, 2)), rng.integers(0, 3, size=30), rng.normal(size=(9, 2))
    k = mc.Gaussian()
    values = mc.NearestBarycenter("precomputed").fit(k(X), y)
    points = mc.NearestBarycenter(k).fit(X, y)
    np.testing.assert_array_equal(values.predict(k(new, X)), points.predict(new))
    with pytest.raises(mc.errors.InvalidParameter, match="precomputed"):
        values.distances(k(new, X))


def test_it_lives_among_the_tools_of_scikit_learn(rng):
    X = rng.normal(size=(90, 2))
    y = np.where(np.square(X).sum(axis=1) > 1.4, "out", "in")
    pipe = make_pipeline(StandardScaler(), mc.NearestBarycenter(mc.Gaussian()))
    grid = {"nearestbarycenter__kernel__scale": [0.5, 1.0, 50.0]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["nearestbarycenter__kernel__scale"] < 50
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_a_kernel_is_found_where_none_is_given(rng):
    X = rng.normal(size=(60, 2)) * [1.0, 1e3]
    y = np.where(X[:, 0] > 0, "right", "left")
    assert mc.NearestBarycenter().fit(X, y).score(X, y) > 0.9
    sets = mc.NearestBarycenter().fit([{1}, {1, 2}, {3}], [0, 0, 1])
    assert sets.kernel_ == mc.Jaccard()


@pytest.mark.parametrize("wrong", [-0.1, 1.0, "much", None])
def test_shares_that_mean_nothing_are_refused(wrong):
    with pytest.raises(mc.errors.InvalidParameter, match="shrinkage"):
        mc.NearestBarycenter("linear", shrinkage=wrong).fit([[0.0], [1.0]], [0, 1])
