"""The lowest numbers of each row, against a stable sort."""

import numpy as np
import pytest

from mercer.loops import Blocks
from mercer.loops.heaps import lowest


@pytest.mark.parametrize("count", [1, 3, 40])
def test_the_lowest_values_of_a_matrix_are_those_of_a_stable_sort(rng, count):
    matrix = rng.integers(0, 5, size=(200, 40)).astype(float)
    own = rng.integers(0, 3, size=40).astype(float)
    tiles = Blocks(matrix.shape, matrix.dtype, lambda i, j: matrix[i, j])
    best, where = lowest(tiles, own, count)
    values = own - 2 * matrix
    order = np.argsort(values, axis=1, kind="stable")[:, :count]
    np.testing.assert_array_equal(where, order)
    np.testing.assert_array_equal(best, np.take_along_axis(values, order, axis=1))
