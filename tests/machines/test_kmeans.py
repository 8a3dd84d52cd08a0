"""Kernel k-means, against scikit-learn's k-means, a plain double loop and brute force."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter
from mercer.machines.kmeans import lloyd

MACHINES = [
    mc.KernelKMeans(),
    mc.KernelKMeans(3, kernel=mc.Gaussian(), n_init=2),
    mc.KernelKMeans(2, kernel=mc.Linear(), plan="blocked"),
]


@parametrize_with_checks(MACHINES)
def test_it_is_a_citizen_of_scikit_learn(estimator, check):
    check(estimator)


def plain(K, weights, labels):
    """The sum that is minimised, by its definition: barycentres, one after the other."""
    total = 0.0
    for cluster in np.unique(labels):
        mine = np.flatnonzero(labels == cluster)
        share = weights[mine] / weights[mine].sum()
        for i in mine:
            inner = K[i, i] - 2 * share @ K[mine, i] + share @ K[np.ix_(mine, mine)] @ share
            total += weights[i] * inner
    return total


def test_the_linear_kernel_gives_k_means():
    X, _ = make_blobs(200, centers=4, random_state=3)
    mine = mc.KernelKMeans(4, kernel=mc.Linear(), random_state=0).fit(X)
    peer = KMeans(4, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(mine.labels_, peer.labels_) == 1
    assert np.isclose(mine.inertia_, peer.inertia_, rtol=1e-9)
    # The barycentres are the means: their values at unit vectors are the coordinates.
    means = mine.centers_(np.eye(2)).T
    order, other = np.argsort(means[:, 0]), np.argsort(peer.cluster_centers_[:, 0])
    assert np.allclose(means[order], peer.cluster_centers_[other], atol=1e-3)


def test_the_gaussian_kernel_parts_what_no_line_can():
    X, y = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    linear = mc.KernelKMeans(2, kernel=mc.Linear(), random_state=0).fit_predict(X)
    squares = mc.KernelKMeans(2, kernel=mc.Linear() ** 2 + mc.Linear(), random_state=0)
    radial = mc.Polynomial(degree=1).map(lambda x: (x**2).sum(axis=-1, keepdims=True))
    found = mc.KernelKMeans(2, kernel=radial, random_state=0).fit_predict(X)
    assert adjusted_rand_score(found, y) == 1
    assert adjusted_rand_score(linear, y) < 0.2
    assert squares.fit(X).inertia_ > 0


def _emptied(X, weights, means):
    """Whether a cluster loses all its points on the way: there is no one rule for that."""
    labels = None
    while True:
        found = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        if (np.bincount(found, minlength=len(means)) == 0).any():
            return True
        if np.array_equal(found, labels):
            return False
        labels = found
        means = np.stack(
            [
                np.average(X[labels == c], axis=0, weights=weights[labels == c])
                for c in range(len(means))
            ]
        )


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 5))
@example(1536, 5)
def test_the_steps_are_those_of_k_means_on_an_embedding(seed, clusters):
    chance = np.random.default_rng(seed)
    X, weights = chance.normal(size=(40, 2)), chance.integers(1, 4, size=40).astype(float)
    kernel = mc.Gaussian()
    start = np.r_[np.arange(clusters), chance.integers(0, clusters, 40 - clusters)]
    mine = lloyd(mc.operator(kernel, X), weights, start[None], clusters, 300)
    K = kernel(X)
    assert np.isclose(plain(K, weights, mine.labels), mine.inertia, rtol=1e-9)
    # K = Phi Phi': k-means of the rows of Phi, from the same barycentres.
    Phi = mc.embed(kernel, X)
    means = np.stack(
        [
            np.average(Phi[start == c], axis=0, weights=weights[start == c])
            for c in range(clusters)
        ]
    )
    peer = KMeans(clusters, init=means, n_init=1, tol=0).fit(Phi, sample_weight=weights)
    if not _emptied(Phi, weights, means) and peer.n_iter_ < 300:
        assert np.isclose(mine.inertia, peer.inertia_, rtol=1e-9)
        assert np.array_equal(mine.labels, peer.labels_)


def test_each_point_is_in_the_cluster_of_its_nearest_barycentre(rng):
    X = rng.normal(size=(120, 3))
    kernel = mc.Laplacian(scale=2.0)
    machine = mc.KernelKMeans(5, kernel=kernel, random_state=0).fit(X)
    sets = [X[machine.labels_ == c] for c in range(5)]
    distances = np.column_stack([mc.distance_to_set(kernel, X, S) for S in sets])
    assert np.array_equal(distances.argmin(axis=1), machine.labels_)
    assert np.isclose((distances.min(axis=1) ** 2).sum(), machine.inertia_)
    new = rng.normal(size=(40, 3))
    expected = np.column_stack([mc.distance_to_set(kernel, new, S) for S in sets])
    assert np.array_equal(machine.predict(new), expected.argmin(axis=1))
    assert np.array_equal(machine.predict(X), machine.labels_)


def test_more_steps_never_raise_the_sum(rng):
    X = rng.normal(size=(150, 2))
    sums = [
        mc.KernelKMeans(6, kernel=mc.Gaussian(), n_init=1, max_iter=m, random_state=4)
        .fit(X)
        .inertia_
        for m in range(1, 12)
    ]
    assert (np.diff(sums) <= 1e-9).all()
    assert sums[-1] < sums[0]


def test_weights_are_repetitions_and_the_order_does_not_matter(rng):
    X = rng.normal(size=(60, 2))
    weights = rng.integers(0, 4, size=60)
    rows = rng.permutation(np.repeat(np.arange(60), weights))
    one = mc.KernelKMeans(4, random_state=0).fit(X, sample_weight=weights)
    other = mc.KernelKMeans(4, random_state=0).fit(X[rows])
    assert np.array_equal(one.labels_[rows], other.labels_)
    assert np.array_equal(one.predict(X), one.labels_)  # rows of weight zero as well
    assert np.isclose(one.inertia_, other.inertia_)


@pytest.mark.parametrize("plan", ["dense", "blocked", mc.Plan(threads=1)])
def test_how_it_is_computed_changes_nothing(rng, plan):
    X = rng.normal(size=(300, 3))
    one = mc.KernelKMeans(3, kernel=mc.Gaussian(), random_state=0).fit(X)
    other = mc.KernelKMeans(3, kernel=mc.Gaussian(), random_state=0, plan=plan).fit(X)
    assert np.array_equal(one.labels_, other.labels_)


def test_many_rows_take_no_square_matrix(rng):
    X = np.concatenate([rng.normal(size=(3000, 2)), rng.normal(size=(3000, 2)) + 6])
    plan = mc.Plan(memory="40 MB")  # the matrix takes 288 MB
    machine = mc.KernelKMeans(2, kernel=mc.Gaussian(scale=3.0), plan=plan, n_init=2)
    machine.set_params(random_state=0).fit(X)
    assert machine.plan_.method == "blocked"
    assert adjusted_rand_score(machine.labels_, np.arange(6000) // 3000) > 0.99


def test_precomputed_values_sets_records_and_sparse_rows(rng):
    X = rng.normal(size=(40, 3))
    kernel = mc.Gaussian()
    one = mc.KernelKMeans(3, kernel=kernel, random_state=0).fit(X)
    other = mc.KernelKMeans(3, kernel="precomputed", random_state=0).fit(kernel(X))
    new = rng.normal(size=(9, 3))
    # The order of rows is not that of their values here, so labels may be named otherwise.
    assert np.isclose(one.inertia_, other.inertia_, rtol=0.1)
    assert other.predict(kernel(new, X)).shape == (9,)
    assert np.array_equal(other.predict(kernel(X)), other.labels_)
    sets = [set("abc"), set("bcd"), set("abd"), set("xyz"), set("xyw"), set("zwx")]
    labels = mc.KernelKMeans(2, random_state=0).fit_predict(sets)
    assert adjusted_rand_score(labels, [0, 0, 0, 1, 1, 1]) == 1
    table = {"age": np.r_[np.zeros(5), np.full(5, 9.0)], "city": ["a"] * 5 + ["b"] * 5}
    mixed = mc.Gaussian().on("age") + mc.Delta().on("city")
    for data in (table, pd.DataFrame(table)):
        machine = mc.KernelKMeans(2, kernel=mixed, random_state=0).fit(data)
        assert adjusted_rand_score(machine.predict(data), np.arange(10) // 5) == 1
    rows = sp.csr_array(X * (np.abs(X) > 0.5))
    dense = mc.KernelKMeans(3, kernel=kernel, random_state=0).fit(rows.toarray())
    sparse = mc.KernelKMeans(3, kernel=kernel, random_state=0).fit(rows)
    assert np.array_equal(dense.labels_, sparse.labels_)


def test_fewer_distinct_rows_than_clusters_are_a_cluster_each():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    machine = mc.KernelKMeans(8, kernel=mc.Gaussian(), random_state=0).fit(X)
    assert sorted(np.unique(machine.labels_)) == [0, 1, 2]
    assert machine.inertia_ == 0
    with pytest.raises(InvalidInput, match="n_samples=3 should be >= n_clusters=8"):
        mc.KernelKMeans(8).fit(X[::4])


def test_points_that_coincide_in_feature_space_leave_no_cluster_empty(rng):
    X = rng.normal(size=(9, 1))
    machine = mc.KernelKMeans(3, kernel=mc.Bias(), random_state=0).fit(X)
    assert sorted(np.unique(machine.labels_)) == [0, 1, 2]
    assert machine.inertia_ <= 100 * np.finfo(float).eps  # nine values of one, added up


def test_copies_pipelines_and_seeds(rng):
    X = rng.normal(size=(80, 3)) * 100
    pipe = make_pipeline(StandardScaler(), mc.KernelKMeans(3, random_state=0)).fit(X)
    assert pipe.predict(X).shape == (80,)
    machine = mc.KernelKMeans(3, kernel=mc.Gaussian(), random_state=7).fit(X)
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.predict(X), machine.labels_)
    assert np.array_equal(clone(machine).fit(X).labels_, machine.labels_)
    machine.set_params(kernel__scale=3.0)
    assert machine.kernel.scale == 3.0


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.0},
        {"n_init": 0},
        {"max_iter": 0},
        {"plan": "primal"},
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters):
    with pytest.raises(InvalidParameter):
        mc.KernelKMeans(**parameters).fit(np.arange(20.0)[:, None])
