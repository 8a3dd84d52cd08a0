"""Raw data as a measure: equal rows are one, weight zero is none, the order is nothing."""

import numpy as np
import pytest

import mercer as mc
from mercer.domains.samples import as_sample
from mercer.errors import InvalidInput


def points(values):
    return mc.Gaussian().domain.encode(np.asarray(values, float).reshape(len(values), -1))


def test_equal_rows_are_one_with_the_sum_of_their_weights():
    found = as_sample(points([1, 2, 1, 1]), np.array([5.0, 6, 5, 7]), [1, 2, 3, 4])
    seen = {
        (float(x), float(y), float(w))
        for (x,), (y,), w in zip(found.points.values, found.targets, found.weights, strict=True)
    }
    # The same point with another target is another row.
    assert seen == {(1.0, 5.0, 4.0), (2.0, 6.0, 2.0), (1.0, 7.0, 4.0)}
    np.testing.assert_allclose(found.shares, [0.25, 1, 0.75, 1])


def test_the_order_of_rows_is_nothing(rng):
    X, y, w = rng.integers(0, 4, (60, 2)), rng.integers(0, 2, 60) * 1.0, rng.integers(0, 3, 60)
    first = as_sample(points(X), y, w)
    for _ in range(5):
        order = rng.permutation(60)
        other = as_sample(points(X[order]), y[order], w[order])
        np.testing.assert_array_equal(first.points.values, other.points.values)
        np.testing.assert_array_equal(first.targets, other.targets)
        np.testing.assert_array_equal(first.weights, other.weights)


def test_numbers_are_told_for_the_rows_as_they_came():
    found = as_sample(points([3, 1, 3, 2]), np.array([0.0, 1, 0, 1]), [1, 1, 3, 0])
    told = found.as_they_came(found.points.values)
    np.testing.assert_array_equal(told[:, 0], [3, 1, 3, 0])  # weight zero: no row
    shared = found.as_they_came(np.full((2, 1), 8.0), share=True)
    np.testing.assert_array_equal(shared[:, 0], [2, 8, 6, 0])


def test_no_targets():
    found = as_sample(points([1, 1, 2]), None, None)
    assert found.targets.shape == (2, 0)
    np.testing.assert_array_equal(np.sort(found.weights), [1, 2])
    assert len(found) == 2


def test_objects_that_nothing_tells_apart_are_rows_of_their_own():
    class Thing:
        __hash__ = None

    kernel = mc.from_function(lambda a, b: 1.0)
    batch = kernel.domain.encode([Thing(), Thing(), Thing()])
    found = as_sample(batch, np.array([1.0, 2.0, 3.0]), [1.0, 0.0, 2.0])
    np.testing.assert_array_equal(found.weights, [1, 2])
    np.testing.assert_array_equal(found.targets[:, 0], [1, 3])
    np.testing.assert_array_equal(found.labels, [0, -1, 1])
    with pytest.raises(InvalidInput, match="all weights are zero"):
        as_sample(batch, None, [0, 0, 0])


def test_one_weight_for_all():
    np.testing.assert_array_equal(as_sample(points([1, 2]), None, 3.0).weights, [3, 3])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, -1, 1], "row 1 has -1"),
        ([1, 1, np.nan], "row 2 has nan"),
        ([np.inf, 1, 1], "row 0 has inf"),
        ([1, 1], r"expected \(3,\)"),
        ([0, 0, 0], "all weights are zero"),
        (-2.0, "not negative"),
        (0.0, "all weights are zero"),
    ],
)
def test_weights_that_mean_nothing(weights, said):
    with pytest.raises(InvalidInput, match=said):
        as_sample(points([1, 2, 3]), None, weights)
