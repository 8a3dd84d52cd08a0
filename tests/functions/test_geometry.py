"""Angles, barycentres and distances, against the formulas of the lectures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mercer as mc
from mercer.errors import InvalidInput, NotPositiveDefinite
from mercer.functions import gap

LINE = np.array([2.0, 3.0])[:, None]
TRIANGLE = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0]])

# The square of a distance is right to about 1e-15, so the distance itself, near zero, to 3e-8.
NEAR = 1e-7


# Angles


def test_angles_of_the_linear_kernel_are_those_of_the_plane():
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0], [-2.0, 0.0]])
    expected = np.array([0.0, np.pi / 4, np.pi / 2, np.pi])
    np.testing.assert_allclose(mc.angle(mc.Linear(), X[:1], X)[0], expected, rtol=0, atol=NEAR)


def test_angles_of_the_gaussian_are_below_a_right_one(rng):
    X = rng.normal(size=(20, 3))
    angles = mc.angle(mc.Gaussian(), X)
    assert (np.diagonal(angles) == 0).all()
    assert (angles < np.pi / 2).all()
    np.testing.assert_array_equal(angles, angles.T)
    np.testing.assert_allclose(np.cos(angles), mc.Gaussian()(X), rtol=0, atol=1e-14)


def test_angles_obey_the_triangle_inequality(case, rng):
    kernel, points = case
    angles = mc.angle(kernel, points(rng, 8))
    around = (angles[:, :, None] + angles[None, :, :]).min(axis=1)
    assert (angles <= around + NEAR).all()


def test_a_point_without_direction_has_an_angle_all_the_same():
    angles = mc.angle(mc.Linear(), [[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(angles, [[0.0, np.pi / 2], [np.pi / 2, 0.0]])


@given(hnp.arrays(float, (5, 2), elements=st.floats(-1e6, 1e6)))
def test_angles_and_distances_are_never_nan(X):
    for k in (mc.Linear(), mc.Gaussian(), mc.Polynomial(2)):
        assert np.isfinite(mc.angle(k, X)).all()
        assert np.isfinite(mc.distance_to_set(k, X, X[:3])).all()
        assert np.isfinite(mc.distance_to_span(k, X, X[:3])).all()


# Barycentres


def test_barycentre_is_the_mean_of_the_sections(case, rng):
    kernel, points = case
    S, X = points(rng, 7), points(rng, 4)
    mu = mc.barycenter(kernel, S)
    # Seven terms, in another order.
    np.testing.assert_allclose(mu(X), kernel(X, S).mean(axis=1), rtol=1e-13, atol=1e-13)
    f = mc.Function(kernel, X, rng.normal(size=4))
    assert f @ mu == pytest.approx(f(S).mean(), rel=1e-12, abs=1e-12)


def test_weights_are_repetition(rng):
    S = rng.normal(size=(4, 2))
    once = mc.barycenter(mc.Gaussian(), S, weights=[2, 0, 1, 1])
    again = mc.barycenter(mc.Gaussian(), S[[2, 0, 3, 0]])
    np.testing.assert_array_equal(once.coefficients, again.coefficients)
    np.testing.assert_array_equal(once.anchors.values, again.anchors.values)
    with pytest.raises(InvalidInput, match="negative"):
        mc.barycenter(mc.Gaussian(), S, weights=[1, -1, 1, 1])


# Distance to a set: the pictures of the lectures


def test_distance_on_the_line_to_two_points_by_the_linear_kernel():
    x = np.linspace(0, 5, 41)
    found = mc.distance_to_set(mc.Linear(), x[:, None], LINE)
    np.testing.assert_allclose(found, np.abs(x - 2.5), rtol=0, atol=NEAR)


@pytest.mark.parametrize("sigma", [1.0, 0.2])
def test_distance_on_the_line_by_the_gaussian(sigma):
    x = np.linspace(0, 5, 41)
    k = mc.Gaussian(sigma)
    bump = np.exp(-((x[:, None] - [2.0, 3.0]) ** 2) / (2 * sigma**2))
    # d(x, S)^2 = C - (2/n) sum_i K(x_i, x), with C = 1 + the mean of K over S x S.
    C = 1 + (1 + np.exp(-1 / (2 * sigma**2))) / 2
    expected = np.sqrt(C - bump.sum(axis=1))
    np.testing.assert_allclose(mc.distance_to_set(k, x[:, None], LINE), expected, rtol=1e-12)


def test_a_wide_gaussian_sees_one_cluster_and_a_narrow_one_two_points():
    x = np.array([[2.0], [2.5], [3.0]])
    wide = mc.distance_to_set(mc.Gaussian(1.0), x, LINE)
    narrow = mc.distance_to_set(mc.Gaussian(0.2), x, LINE)
    assert wide[1] < wide[0] == pytest.approx(wide[2])
    assert narrow[1] > narrow[0] == pytest.approx(narrow[2])


@pytest.mark.parametrize(
    "kernel", [mc.Linear(), mc.Gaussian(1.0), mc.Gaussian(0.2), mc.Polynomial(3)]
)
def test_distance_in_the_plane_by_plain_loops(kernel, rng):
    X = rng.uniform(0, 3, (10, 2))
    n = len(TRIANGLE)
    for x, found in zip(X, mc.distance_to_set(kernel, X, TRIANGLE), strict=True):
        own = kernel.pair(x, x)
        cross = sum(kernel.pair(x, s) for s in TRIANGLE)
        among = sum(kernel.pair(s, t) for s in TRIANGLE for t in TRIANGLE)
        # The square is a sum of a dozen terms of at most this size.
        error = 1e-14 * (own + abs(cross) + among)
        assert abs(found**2 - (own - 2 / n * cross + among / n**2)) <= error


def test_the_distance_in_the_plane_by_the_linear_kernel_is_that_to_the_mean(rng):
    X = rng.uniform(0, 3, (10, 2))
    expected = np.linalg.norm(X - TRIANGLE.mean(axis=0), axis=1)
    np.testing.assert_allclose(
        mc.distance_to_set(mc.Linear(), X, TRIANGLE), expected, rtol=1e-12
    )


def test_distance_to_a_set_of_one_point_is_the_distance(case, rng):
    kernel, points = case
    X, s = points(rng, 6), points(rng, 1)
    scale = np.sqrt(kernel.diagonal(X) + kernel.diagonal(s))
    found = mc.distance_to_set(kernel, X, s)
    assert (np.abs(found - kernel.distance(X, s)[:, 0]) <= NEAR * (1 + scale)).all()


def test_a_weighted_set(rng):
    X, S = rng.normal(size=(5, 2)), rng.normal(size=(3, 2))
    found = mc.distance_to_set(mc.Linear(), X, S, weights=[1, 2, 5])
    expected = np.linalg.norm(X - np.average(S, axis=0, weights=[1, 2, 5]), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_kernel_that_is_none_measures_no_distance():
    wrong = mc.from_function(lambda x, y: float(max(x, y)))
    with pytest.raises(NotPositiveDefinite):
        mc.distance_to_set(wrong, [1.0], [2.0])


# Discrimination between two sets

FIRST = np.array([[1.0, 1.0], [1.0, 2.0]])
SECOND = np.array([[1.0, 3.0], [2.0, 2.0]])


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Gaussian(1.0), mc.Gaussian(0.2)])
def test_the_gap_is_the_difference_of_squared_distances(kernel, rng):
    X = rng.uniform(0, 4, (20, 2))
    apart = [mc.distance_to_set(kernel, X, S) ** 2 for S in (FIRST, SECOND)]
    # Squared distances below 50, right to a few units in the last place.
    np.testing.assert_allclose(gap(kernel, X, FIRST, SECOND), apart[0] - apart[1], atol=1e-12)


def test_the_linear_gap_is_a_straight_line():
    means = FIRST.mean(axis=0), SECOND.mean(axis=0)
    halfway = (means[0] + means[1]) / 2
    along = np.array([[0.0, -1.0], [1.0, 0.0]]) @ (means[1] - means[0])
    border = halfway + np.linspace(-2, 2, 9)[:, None] * along
    np.testing.assert_allclose(gap(mc.Linear(), border, FIRST, SECOND), 0, atol=1e-14)


# Distance to a span


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(2), mc.Polynomial(3, offset=0)])
def test_distance_to_a_span_is_that_of_least_squares_in_feature_space(kernel, rng):
    X, S = rng.normal(size=(6, 3)), rng.normal(size=(2, 3))
    for features, found in zip(
        kernel.features(X), mc.distance_to_span(kernel, X, S), strict=True
    ):
        basis = kernel.features(S).T
        nearest = basis @ np.linalg.lstsq(basis, features, rcond=None)[0]
        assert found == pytest.approx(np.linalg.norm(features - nearest), rel=1e-9, abs=1e-6)


def test_points_of_the_span_are_at_distance_zero(case, rng):
    kernel, points = case
    S = points(rng, 6)
    length = np.sqrt(kernel.diagonal(S))
    # Squares are right to the promise 2^-38 of k(x, x).
    assert (mc.distance_to_span(kernel, S, S) <= 2.0**-19 * length).all()


def test_the_span_is_at_most_as_far_as_the_barycentre(case, rng):
    kernel, points = case
    X, S = points(rng, 8), points(rng, 4)
    room = 2.0**-18 * np.sqrt(kernel.diagonal(X))
    assert (mc.distance_to_span(kernel, X, S) <= mc.distance_to_set(kernel, X, S) + room).all()


def test_the_span_of_points_and_their_copies_is_the_same(rng):
    X, S = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    once = mc.distance_to_span(mc.Gaussian(), X, S)
    twice = mc.distance_to_span(mc.Gaussian(), X, np.concatenate([S, S]))
    # Four scattered points: the least eigenvalue is above 1e-4.
    np.testing.assert_allclose(once, twice, rtol=0, atol=1e-6)


# Centring


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(2), mc.Gaussian()])
@pytest.mark.parametrize("weights", [None, "some"])
def test_centring_is_that_of_explicit_features(kernel, weights, rng):
    X, new = rng.normal(size=(8, 2)), rng.normal(size=(5, 2))
    w = None if weights is None else rng.random(8)
    # A finite map of the Gaussian on all thirteen points.
    features = mc.embed(kernel, np.concatenate([X, new]))
    train, test = features[:8], features[8:]
    mean = np.average(train, axis=0, weights=w)
    # Kernel values below 400, right to some units in the last place, a few of them added.
    close = {"rtol": 0, "atol": 1e-11}
    np.testing.assert_allclose(
        mc.center(kernel(X), weights=w), (train - mean) @ (train - mean).T, **close
    )
    np.testing.assert_allclose(
        mc.center(kernel(X), kernel(new, X), w), (test - mean) @ (train - mean).T, **close
    )


def test_centring_is_the_product_of_three_matrices(rng):
    n = 7
    K = mc.Gaussian()(rng.normal(size=(n, 2)))
    H = np.eye(n) - np.ones((n, n)) / n
    centred = mc.center(K)
    # Sums of 49 numbers below 1, each right to 2^-53.
    np.testing.assert_allclose(centred, H @ K @ H, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(centred, centred.T)
    np.testing.assert_allclose(centred.sum(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(mc.center(centred), centred, rtol=0, atol=1e-14)
    np.testing.assert_allclose(mc.center(K, K), centred, rtol=0, atol=1e-14)
    # Symmetry is enough, and rounding may spoil it: each side has a mean of its own.
    A = rng.normal(size=(n, n))
    A = A + A.T + 1e-6 * A
    np.testing.assert_allclose(mc.center(A), H @ A @ H, rtol=0, atol=1e-13)


def test_centring_agrees_with_scikit_learn(rng):
    centerer = pytest.importorskip("sklearn.preprocessing").KernelCenterer
    X, new = rng.normal(size=(9, 3)), rng.normal(size=(4, 3))
    k = mc.Polynomial(2)
    peer = centerer().fit(k(X))
    # Values below 1e3 and a few roundings.
    np.testing.assert_allclose(mc.center(k(X)), peer.transform(k(X)), rtol=0, atol=1e-11)
    rows = k(new, X)
    np.testing.assert_allclose(mc.center(k(X), rows), peer.transform(rows), rtol=0, atol=1e-11)


def test_centring_keeps_the_type_and_what_it_is_given(rng):
    K = mc.Gaussian()(rng.normal(size=(5, 2)).astype(np.float32))
    before = K.copy()
    assert mc.center(K).dtype == np.float32
    np.testing.assert_array_equal(K, before)
    assert mc.center([[1, 0], [0, 1]]).tolist() == [[0.5, -0.5], [-0.5, 0.5]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0]],), "square"),
        (([1.0],), "matrix"),
        (([[np.nan]],), "NaN"),
        (([["a"]],), "numbers"),
        (([[1.0, 2.0], [3.0, 1.0]],), "is symmetric, and this one is not"),
        (([[1.0]], [[1.0, 2.0]]), "columns"),
        (([[1.0]], None, [1.0, 2.0]), "weights"),
        (([[1.0]], None, [0.0]), "weights"),
    ],
)
def test_what_cannot_be_centred(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        mc.center(*arguments)


def test_a_gram_matrix_may_be_off_by_rounding(rng):
    X = rng.normal(size=(6, 2)).astype(np.float32)
    K = mc.Gaussian()(X, X.copy())
    K[0, 1] += K[0, 1] * np.float32(1e-5)
    U = np.full((6, 6), 1 / 6)
    wanted = (np.eye(6) - U) @ K @ (np.eye(6) - U)
    # Three products in float32, of entries up to one: a few units of 2^-24 each.
    np.testing.assert_allclose(mc.center(K), wanted, atol=2.0**-20)


def test_complex_matrices_are_refused():
    with pytest.raises(InvalidInput, match="must be a matrix of numbers"):
        mc.center(np.eye(2) * 1j)


def test_what_is_no_square_has_no_angle():
    saddle = mc.from_function(lambda x, y: float(x[0] + y[0]))
    for points in ([[[-1.0]], [[1.0]]], [[[1.0]], [[-1.0]]]):
        with pytest.raises(NotPositiveDefinite, match="squared length is not negative"):
            mc.angle(saddle, *points)


def test_distances_beyond_the_range_of_numbers_are_told():
    with pytest.raises(InvalidInput, match="overflows"):
        mc.distance_to_set(mc.Linear(), [[1e154]], [[-1e154]])
