"""Distances in feature space from Euclidean ones, against the kernel itself."""

import numpy as np
import pytest

import mercer as mc
from mercer.machines.euclidean import euclidean, neighbours_by_distance

METRIC = [[2.0, 0.5], [0.5, 1.0]]

KERNELS = [
    mc.Linear(),
    mc.Linear(metric=METRIC),
    mc.Gaussian(0.7),
    mc.Gaussian(scale=(0.5, 2.0)),
    mc.Gaussian(metric=METRIC),
    mc.Exponential(2.0),
    mc.Matern(nu=1.5, scale=0.5),
    mc.Matern(nu=0.3),
    mc.RationalQuadratic(scale=2.0, alpha=0.3),
    3 * mc.Gaussian(),
    mc.Linear() + 5,
    mc.Gaussian() + mc.Exponential(3.0),
    mc.Linear() + 2 * mc.Gaussian(0.4),
    mc.Gaussian() * mc.RationalQuadratic(),
    (2 * mc.Gaussian() + 1) * (3 * mc.Bias()),
    2 * mc.Gaussian() * (0.5 * mc.Exponential()),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_distance_follows_from_the_euclidean_one_and_grows_with_it(rng, kernel):
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2))
    A, B = kernel.domain.encode(X), kernel.domain.encode(Y)
    view = neighbours_by_distance(kernel, A, B)
    P, Q = view.points(A) * view.factor(2), view.points(B) * view.factor(2)
    r = np.linalg.norm(P[:, None] - Q, axis=2)
    # Squares are off by some units of 2^-53 of the values, at most about 20.
    np.testing.assert_allclose(view.distances(r) ** 2, kernel.distance(X, Y) ** 2, atol=1e-12)
    order = np.argsort(r, axis=None)
    assert (np.diff(view.distances(r).ravel()[order]) >= 0).all()


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Polynomial(degree=2),
        mc.Laplacian(),
        mc.Cosine(),
        mc.Wendland(),  # all distances beyond its reach are equal
        mc.Gaussian(scale=(1.0, 2.0)) + mc.Gaussian(),
        mc.Linear() * mc.Gaussian(),
        mc.Linear() * 0,
        mc.Gaussian() + mc.Polynomial(degree=2),
    ],
    ids=str,
)
def test_no_euclidean_distance_is_claimed_for_other_kernels(kernel):
    assert euclidean(kernel) is None


def test_near_points_keep_the_digits_of_their_distance():
    # 2 - 2 exp(-r^2 / 2) is r^2 (1 - r^2 / 4 + ...), and would be 0 if it were subtracted.
    r = np.array([1e-12])
    np.testing.assert_allclose(euclidean(mc.Gaussian()).distances(r), r, rtol=1e-12)


def test_wide_sparse_points_are_not_written_out(monkeypatch, rng):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random_array((20, 50), density=0.1, rng=rng, format="csr")
    A = mc.Linear().domain.encode(X)
    assert neighbours_by_distance(mc.Linear(), A, A) is not None
    monkeypatch.setattr("mercer.machines.euclidean.DENSE", 999)
    assert neighbours_by_distance(mc.Linear(), A, A) is None
