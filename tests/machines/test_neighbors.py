"""Neighbours in feature space, against scikit-learn and against all distances."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc

CHECKED = [
    mc.KernelNeighborsClassifier(n_neighbors=3),
    mc.KernelNeighborsClassifier("polynomial(2)", weights="distance"),
    mc.KernelNeighborsClassifier("precomputed", n_neighbors=3),
    mc.KernelNeighborsRegressor(n_neighbors=3),
    mc.KernelNeighborsRegressor("linear", weights="distance"),
    mc.KernelNeighborsRegressor("precomputed", n_neighbors=3),
]


# scikit-learn itself casts infinite labels to whole numbers, before it refuses them.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(CHECKED)
def test_they_are_estimators_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weights", ["uniform", "distance", np.exp])
def test_the_linear_kernel_has_the_neighbours_of_scikit_learn(rng, dtype, weights):
    X, new = (rng.normal(size=(n, 4)).astype(dtype) for n in (300, 50))
    y, labels = rng.normal(size=(300, 2)), rng.integers(0, 3, size=300)
    peer = KNeighborsRegressor(7, weights=weights, algorithm="brute").fit(X, y)
    model = mc.KernelNeighborsRegressor("linear", 7, weights=weights).fit(X, y)
    np.testing.assert_allclose(model.predict(new), peer.predict(new), atol=1e-5)
    distances, rows = model.kneighbors(new)
    expected, order = peer.kneighbors(new)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_allclose(distances, expected, rtol=1e-5)
    peer = KNeighborsClassifier(7, weights=weights, algorithm="brute").fit(X, labels)
    model = mc.KernelNeighborsClassifier("linear", 7, weights=weights).fit(X, labels)
    np.testing.assert_allclose(model.predict_proba(new), peer.predict_proba(new), atol=1e-5)
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))


def all_distances(kernel, new, X, count):
    """Igel's Algorithm 2: again and again the nearest of those that are left."""
    squared = kernel.distance(new, X) ** 2
    order = np.argsort(squared, axis=1, kind="stable")[:, :count]
    return np.sqrt(np.take_along_axis(squared, order, axis=1)), order


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Gaussian(0.8),
        mc.Laplacian(),
        mc.Polynomial(degree=3),
        mc.Cosine(),
        mc.Matern(nu=2.5) + mc.Linear(),
        mc.Wendland(scale=0.7),
    ],
    ids=str,
)
@pytest.mark.parametrize("plan", ["auto", "blocked"])
def test_neighbours_are_those_of_all_distances(rng, kernel, plan):
    X, new = rng.normal(size=(200, 3)), rng.normal(size=(30, 3))
    model = mc.KernelNeighborsRegressor(kernel, 6, plan=plan).fit(X, np.arange(200.0))
    distances, rows = model.kneighbors(new)
    expected, order = all_distances(kernel, new, X, 6)
    np.testing.assert_array_equal(rows, order)
    # The square root doubles the digits that are lost in a small difference of values.
    size = np.sqrt(kernel.diagonal(np.vstack([X, new])).max())
    np.testing.assert_allclose(distances, expected, atol=1e-7 * size)
    np.testing.assert_allclose(model.predict(new), order.mean(axis=1))


def test_a_gaussian_whose_values_have_all_become_zero_still_has_neighbours(rng):
    X, new = 100 * rng.normal(size=(50, 2)), 100 * rng.normal(size=(10, 2))
    model = mc.KernelNeighborsRegressor(mc.Gaussian(1e-3), 1).fit(X, np.arange(50.0))
    assert not mc.Gaussian(1e-3)(new, X).any()
    gaps = np.linalg.norm(new[:, None] - X, axis=2)
    np.testing.assert_array_equal(model.predict(new), gaps.argmin(axis=1))


def test_equal_rows_are_neighbours_in_their_order():
    X = np.array([[1.0], [0.0], [1.0], [0.0], [1.0]])
    for kernel in ("linear", "polynomial(2)", "gaussian", mc.from_function(np.dot)):
        model = mc.KernelNeighborsClassifier(kernel, 2).fit(X, [1, 1, 0, 0, 0])
        rows = model.kneighbors([[1.0]] * 9, return_distance=False)
        assert (rows == [0, 2]).all()
        # Two classes with a vote each: the first of them.
        assert model.predict([[1.0]]) == [0]


def test_a_training_point_is_no_neighbour_of_itself(rng):
    X = rng.normal(size=(40, 3))
    X[7] = X[3]
    model = mc.KernelNeighborsClassifier("linear", 4).fit(X, np.arange(40) % 2)
    distances, rows = model.kneighbors()
    expected, order = NearestNeighbors(n_neighbors=4).fit(X).kneighbors()
    assert (rows != np.arange(40)[:, None]).all()
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_allclose(distances, expected, atol=1e-14)


def test_points_at_distance_zero_decide_alone():
    X, y = [[0.0], [0.0], [1.0], [2.0]], [1.0, 3.0, 10.0, 10.0]
    for kernel in ("linear", "gaussian", "polynomial(2)"):
        model = mc.KernelNeighborsRegressor(kernel, 4, weights="distance").fit(X, y)
        np.testing.assert_array_equal(model.predict([[0.0]]), [2.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["linear", mc.Gaussian(1e-2)], ids=str)
def test_clusters_far_away_keep_their_neighbours(rng, kernel, dtype):
    X = (1e4 + 1e-1 * rng.normal(size=(300, 2))).astype(dtype)
    exact = X.astype(float)
    gaps = np.linalg.norm(exact[:40, None] - exact, axis=2)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :5]
    model = mc.KernelNeighborsRegressor(kernel, 5).fit(X, np.arange(300.0))
    np.testing.assert_array_equal(model.kneighbors(X[:40], return_distance=False), order)


def test_sparse_points_have_the_neighbours_of_dense_ones(rng, monkeypatch):
    X = sparse.random_array((120, 30), density=0.2, rng=rng, format="csr")
    y = rng.integers(0, 2, size=120)
    for kernel in ("linear", "gaussian", "polynomial(2)"):
        dense = mc.KernelNeighborsClassifier(kernel, 3).fit(X.toarray(), y)
        thin = mc.KernelNeighborsClassifier(kernel, 3).fit(X, y)
        expected = dense.kneighbors(X.toarray())
        for found in (thin.kneighbors(X), thin.kneighbors(X.toarray()), dense.kneighbors(X)):
            np.testing.assert_array_equal(found[1], expected[1])
            np.testing.assert_allclose(found[0], expected[0], atol=1e-6)
    monkeypatch.setattr("mercer.machines.euclidean.DENSE", 10)
    wide = mc.KernelNeighborsClassifier("linear", 3).fit(X, y)
    assert wide.plan_.method == "blocked"
    expected = NearestNeighbors(n_neighbors=3).fit(X).kneighbors(X[:20])[0]
    np.testing.assert_allclose(wide.kneighbors(X[:20])[0], expected, atol=1e-7)


def test_sets_records_and_functions_of_two_points_are_points():
    baskets = [{"milk"}, {"milk", "bread"}, {"nails"}, {"nails", "glue"}]
    kind = ["food", "food", "tools", "tools"]
    for kernel in ("auto", "jaccard", lambda a, b: float(len(a & b))):
        model = mc.KernelNeighborsClassifier(kernel, 1, weights="distance").fit(baskets, kind)
        assert list(model.predict([{"bread"}, {"glue"}])) == ["food", "tools"]
    kernel = mc.Gaussian(10.0).on("age") + mc.Delta().on("city")
    table = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0], "city": list("abab")})
    model = mc.KernelNeighborsRegressor(kernel, 2).fit(table, [1.0, 2.0, 3.0, 4.0])
    # Ages 40 apart differ by less, 2 - 2 exp(-8), than cities do.
    np.testing.assert_array_equal(model.predict(table), [2.0, 3.0, 2.0, 3.0])
    assert list(model.feature_names_in_) == ["age", "city"]
    plain = mc.KernelNeighborsRegressor(kernel, 2).fit(table.to_dict("list"), [1, 2, 3, 4])
    np.testing.assert_array_equal(plain.predict(table.to_dict("list")), model.predict(table))


def test_kernel_values_are_enough_for_equal_votes(rng):
    X, y, new = rng.normal(size=(50, 2)), rng.integers(0, 3, size=50), rng.normal(size=(9, 2))
    k = mc.Polynomial(degree=2)
    values = mc.KernelNeighborsClassifier("precomputed", 4).fit(k(X), y)
    points = mc.KernelNeighborsClassifier(k, 4).fit(X, y)
    np.testing.assert_array_equal(values.predict(k(new, X)), points.predict(new))
    np.testing.assert_array_equal(values.kneighbors()[1], points.kneighbors()[1])
    with pytest.raises(mc.errors.InvalidParameter, match="precomputed"):
        values.kneighbors(k(new, X))


def test_they_live_among_the_tools_of_scikit_learn(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "right", "left")
    pipe = make_pipeline(StandardScaler(), mc.KernelNeighborsClassifier(mc.Gaussian()))
    name = "kernelneighborsclassifier__"
    grid = {name + "kernel__scale": [(1.0, 1e3), (1e3, 1.0)], name + "n_neighbors": [1, 5]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_[name + "kernel__scale"] == (1.0, 1e3)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_the_plan_says_how_neighbours_are_found(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    assert "euclidean" in str(mc.KernelNeighborsClassifier("gaussian").fit(X, y).plan_)
    assert "blocked" in str(mc.KernelNeighborsClassifier("polynomial(2)").fit(X, y).plan_)
    with pytest.raises(mc.errors.InvalidParameter, match="plan"):
        mc.KernelNeighborsClassifier("linear", plan="cholesky").fit(X, y)


def peak(work):
    """The memory that work takes beyond what it returns."""
    work()  # once before, to compile
    tracemalloc.start()
    found = work()
    now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 2
    return most - now


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float64", "float64"),
                                    ("float32", "float64")])  # fmt: skip
def test_a_search_takes_what_the_plan_says_and_no_copy_of_the_points(rng, dtypes):
    X, new = (
        rng.normal(size=(n, 16)).astype(t) for n, t in zip((200_000, 800), dtypes, strict=True)
    )
    plan = mc.Plan(threads=2)
    model = mc.KernelNeighborsClassifier("gaussian(2)", 5, plan=plan).fit(
        X, np.arange(200_000) % 2
    )
    taken = peak(lambda: model.kneighbors(new))
    # What is told is for many queries; each has a few numbers more.
    assert taken <= model.plan_.memory + 48 * 800 + 50_000
    assert model.plan_.memory < X.nbytes / 10


def test_neighbours_by_kernel_values_store_no_matrix(rng):
    X, new = rng.normal(size=(8000, 3)), rng.normal(size=(4000, 3))
    plan = mc.Plan(method="blocked", threads=2)
    model = mc.KernelNeighborsRegressor("polynomial(2)", 5, plan=plan).fit(X, np.arange(8000.0))
    # Beside the tiles the points, scaled and packed, and a few numbers of each query and row.
    rest = 3 * (X.nbytes + new.nbytes) + 8 * (12 * 8000 + 5 * 12 * 4000)
    assert peak(lambda: model.kneighbors(new)) <= model.plan_.memory + rest
    assert model.plan_.memory + rest < 8 * 8000 * 4000 / 20


def test_the_threads_change_nothing(rng):
    X, new, y = rng.normal(size=(500, 5)), rng.normal(size=(700, 5)), rng.normal(size=500)
    for kernel in ("linear", "polynomial(2)"):
        found = [
            mc.KernelNeighborsRegressor(kernel, plan=mc.Plan(threads=t)).fit(X, y).predict(new)
            for t in (1, 2)
        ]
        np.testing.assert_array_equal(*found)


def test_what_means_nothing_is_refused(rng):
    X, y = rng.normal(size=(5, 2)), [0.0, 1.0, 2.0, 3.0, 4.0]
    for wrong in ({"n_neighbors": 0}, {"n_neighbors": 2.5}, {"weights": "far"}):
        with pytest.raises(mc.errors.InvalidParameter, match=next(iter(wrong))):
            mc.KernelNeighborsRegressor("linear", **wrong).fit(X, y)
    with pytest.raises(mc.errors.InvalidParameter, match="n_samples_fit = 5"):
        mc.KernelNeighborsRegressor("linear", 6).fit(X, y).predict(X)
    for weights in (lambda d: d[:, :1], lambda d: -d, lambda d: 0 * d):
        with pytest.raises(mc.errors.InvalidParameter, match="weights"):
            mc.KernelNeighborsRegressor("linear", 2, weights=weights).fit(X, y).predict(X + 1)
    with pytest.raises(mc.errors.InvalidInput, match="overflow"):
        mc.KernelNeighborsRegressor("gaussian", 2).fit(X, y).predict(np.full((6, 2), 1e250))


def test_a_kernel_that_is_none_has_no_distances():
    model = mc.KernelNeighborsClassifier(mc.from_function(lambda a, b: -float(np.dot(a, b))), 1)
    with pytest.raises(mc.errors.NotPositiveDefinite):
        model.fit([[1.0], [2.0]], [0, 1]).kneighbors([[3.0]])
