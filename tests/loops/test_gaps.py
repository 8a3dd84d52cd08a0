"""Sums over pairs of rows."""

import numpy as np
import pytest

from mercer.loops.gaps import gap_sums


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (2, 3), (40, 7)])
def test_the_sums_are_those_of_a_plain_double_loop(rng, rows, width):
    points = rng.normal(size=(rows, width))
    weights = rng.normal(size=(rows, rows))
    weights = weights + weights.T
    wanted = [
        sum(
            weights[i, j] * abs(points[i, c] - points[j, c])
            for i in range(rows)
            for j in range(rows)
        )
        for c in range(width)
    ]
    # Sums of n^2 terms below 20 in another order: n^2 eps times their size, each at most.
    np.testing.assert_allclose(gap_sums(weights, points), wanted, atol=1e-9)


def test_nan_is_not_hidden():
    points = np.array([[0.0, 1.0], [np.nan, 2.0]])
    found = gap_sums(np.ones((2, 2)), points)
    assert np.isnan(found[0])
    assert found[1] == 2
