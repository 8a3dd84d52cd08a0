"""What a search for the nearest rows repeats, against NumPy."""

import numpy as np
import pytest

from mercer.loops.candidates import extent, pack

DTYPES = ["float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", DTYPES)
def test_packed_rows_are_moved_stretched_and_followed_by_their_square(rng, dtype, kind):
    size, width = 8, 5
    points = rng.normal(size=(40, width)).astype(dtype)
    rows = rng.permutation(40)[:21]  # two panels, and one with five rows
    centre, factor = rng.normal(size=width), rng.uniform(0.5, 2, size=width)
    packed, squares = np.empty(3 * size * (width + 1), kind), np.empty(21)
    pack(points, rows, centre, factor, size, -2.0, 0.75, packed, squares)
    moved = (points[rows].astype(float) - centre) * factor
    found = packed.reshape(3, width + 1, size).swapaxes(1, 2).reshape(-1, width + 1)[:21]
    # Five squares, each of a number rounded twice, added up in any order.
    np.testing.assert_allclose(squares, np.square(moved).sum(axis=1), rtol=2 * 10 * 2.0**-53)
    np.testing.assert_array_equal(found[:, :-1], (-2 * moved).astype(kind))
    np.testing.assert_array_equal(found[:, -1], (0.75 * squares).astype(kind))
    pack(points, rows, centre, factor, size, 1.0, 0.0, packed, squares)
    assert (packed.reshape(3, width + 1, size)[:2, -1] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_extent_of_some_rows(rng, dtype):
    points = rng.normal(size=(50, 3)).astype(dtype)
    low, high, total = np.empty((3, 3))
    extent(points, 10, 35, low, high, total)
    some = points[10:35].astype(float)
    np.testing.assert_array_equal(low, some.min(axis=0))
    np.testing.assert_array_equal(high, some.max(axis=0))
    # Sums of 25 numbers of size 3, in any order.
    np.testing.assert_allclose(total, some.sum(axis=0), atol=25 * 25 * 3 * 2.0**-53)
