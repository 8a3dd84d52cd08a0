"""The finite Aronszajn map, and random functions drawn with it."""

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidParameter, NotPositiveDefinite


def test_every_kernel_is_an_inner_product_of_vectors(case, rng):
    kernel, points = case
    X = points(rng, 12)
    features, K = mc.embed(kernel, X), kernel(X)
    # What is left out and what is rounded is below the promise, 2^-38 of the trace.
    np.testing.assert_allclose(features @ features.T, K, rtol=0, atol=2.0**-38 * np.trace(K))


def test_distances_between_the_vectors_are_those_of_the_kernel(case, rng):
    kernel, points = case
    X = points(rng, 10)
    features, K = mc.embed(kernel, X), kernel(X)
    apart = np.linalg.norm(features[:, None] - features, axis=-1)
    np.testing.assert_allclose(
        apart, kernel.distance(X), rtol=0, atol=2.0**-18 * np.sqrt(np.trace(K))
    )


@pytest.mark.parametrize(
    ("kernel", "rank"),
    [(mc.Linear(), 2), (mc.Polynomial(2), 6), (mc.Polynomial(2, offset=0), 3)],
)
def test_as_many_columns_as_the_space_has_dimensions(kernel, rank, rng):
    features = mc.embed(kernel, rng.normal(size=(30, 2)))
    assert features.shape == (30, rank)


def test_columns_are_orthogonal_and_the_longest_comes_first(rng):
    X = np.repeat(rng.normal(size=(5, 2)), [1, 2, 3, 1, 1], axis=0)
    K = mc.Gaussian()(X)
    features = mc.embed(mc.Gaussian(), X)
    products = features.T @ features
    expected = np.sort(np.linalg.eigvalsh(K))[::-1][:5]
    # The decomposition is right to 8 * 2^-53 of the largest eigenvalue, which is below 8.
    np.testing.assert_allclose(products, np.diag(expected), rtol=0, atol=1e-13)


def test_equal_points_have_equal_rows_whatever_their_order(rng):
    X = rng.normal(size=(6, 2))[[0, 1, 0, 2, 1, 3, 4, 5]]
    features = mc.embed(mc.Gaussian(), X)
    np.testing.assert_array_equal(features[0], features[2])
    np.testing.assert_array_equal(features[1], features[4])
    order = rng.permutation(8)
    np.testing.assert_array_equal(mc.embed(mc.Gaussian(), X[order]), features[order])


def test_the_zero_kernel_needs_no_vector():
    assert mc.embed(mc.Linear(), [[0.0], [0.0]]).shape == (2, 0)


def test_single_precision(rng):
    X = rng.normal(size=(20, 2)).astype(np.float32)
    features = mc.embed(mc.Gaussian(), X)
    # Entries are right to a few 2^-24, and eigenvalues below 20 * 2^-23 of the largest, which
    # is at most 20, are dropped.
    np.testing.assert_allclose(features @ features.T, mc.Gaussian()(X), rtol=0, atol=1e-4)


def test_what_is_no_kernel_has_no_map():
    for function in (lambda x, y: float(max(x, y)), lambda x, y: np.cos(x + y)):
        with pytest.raises(NotPositiveDefinite, match="eigenvalue -"):
            mc.embed(mc.from_function(function), [0.5, 1.0, 2.0])


# Random functions


def test_draws_have_the_covariance_of_the_kernel(case, rng):
    kernel, points = case
    X, draws = points(rng, 6), 20_000
    values = mc.sample(kernel, X, draws, random_state=1)
    K = kernel(X)
    assert values.shape == (draws, 6)
    # A mean has the variance k / N, and an entry of the covariance (k_ii k_jj + k_ij^2) / N:
    # six standard deviations, so that 36 entries for 8 kernels fail once in 10^6.
    own = np.diagonal(K)
    assert (np.abs(values.mean(axis=0)) <= 6 * np.sqrt(own / draws)).all()
    apart = np.abs(values.T @ values / draws - K)
    assert (apart <= 6 * np.sqrt((np.outer(own, own) + K**2) / draws)).all()


def test_the_same_seed_draws_the_same_functions(rng):
    X = rng.normal(size=(7, 2))[[0, 1, 2, 3, 4, 5, 6, 0]]
    first = mc.sample(mc.Gaussian(), X, 3, random_state=5)
    np.testing.assert_array_equal(mc.sample(mc.Gaussian(), X, 3, random_state=5), first)
    assert (mc.sample(mc.Gaussian(), X, 3, random_state=6) != first).all()
    np.testing.assert_array_equal(first[:, 0], first[:, 7])
    order = rng.permutation(8)
    np.testing.assert_array_equal(
        mc.sample(mc.Gaussian(), X[order], 3, random_state=5), first[:, order]
    )


def test_any_source_of_chance():
    X = [[0.0], [1.0]]
    for chance in (None, 3, np.random.default_rng(3), np.random.RandomState(3)):
        assert np.isfinite(mc.sample(mc.Gaussian(), X, random_state=chance)).all()

    with pytest.raises(InvalidParameter, match="random_state"):
        mc.sample(mc.Gaussian(), X, random_state="dice")


@pytest.mark.parametrize("draws", [0, -1, 1.5, True, "2"])
def test_draws_are_counted(draws):
    with pytest.raises(InvalidParameter, match="draws"):
        mc.sample(mc.Gaussian(), [[0.0]], draws)
