"""Products with several columns at once: the same numbers as one column at a time."""

import numpy as np
import pytest

from mercer.loops import DOT, Pairwise, Profile, Stored, dense
from mercer.loops.product import multiply
from mercer.loops.thin import CHUNK, FEW, SEVERAL, is_thin, multiply_thin
from mercer.loops.tiles import COLUMNS
from mercer.loops.tiles import ROWS as TILE_ROWS
from mercer.loops.vector import ROWS, wide


def bound(K, V, dtype):
    """At most CHUNK terms are added up in the type of K, and pieces of them in float64."""
    pieces = K.shape[1] * np.finfo(float).eps
    units = (min(K.shape[1], CHUNK) + 2) * np.finfo(dtype).eps + pieces
    return units * (np.abs(K).astype(float) @ np.abs(V).astype(float))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape",
    [(ROWS, 1), (ROWS + 1, 5), (TILE_ROWS + 1, CHUNK + 1), (2 * TILE_ROWS + 3, COLUMNS + 7)],
)
def test_a_stored_matrix_times_columns_is_the_product(rng, shape, dtype):
    K = rng.normal(size=shape).astype(dtype)
    for count in (1, FEW, wide(K.dtype), wide(K.dtype) + 1):
        V = rng.normal(size=(shape[1], count)).astype(dtype)
        found = multiply_thin(Stored(K), np.ascontiguousarray(V.T))
        exact = K.astype(float) @ V.astype(float)
        assert found.dtype == np.float64
        assert (np.abs(found - exact) <= bound(K, V, dtype)).all()


def test_a_part_of_a_wider_matrix_and_a_transposed_one(rng):
    K = rng.normal(size=(3 * TILE_ROWS, 2 * TILE_ROWS + 5))
    for part in (K[:, 3:-2], K.T, K[::2]):
        V = rng.normal(size=(part.shape[1], SEVERAL))
        found = multiply_thin(Stored(part), np.ascontiguousarray(V.T))
        assert (np.abs(found - part @ V) <= bound(part, V, float)).all()


def test_tiles_that_are_filled_for_it_give_what_the_stored_matrix_gives(rng):
    X = rng.normal(size=(2 * TILE_ROWS + 11, 3))
    tiles = Pairwise(X, X, DOT, Profile())
    V = rng.normal(size=(len(X), SEVERAL))
    assert is_thin(tiles, SEVERAL, is_symmetric=True)
    found = multiply(tiles, V, is_symmetric=True)
    K = dense(tiles)
    assert (np.abs(found - K @ V) <= bound(K, V, float)).all()


def test_the_number_of_threads_changes_no_bit(rng):
    K = rng.normal(size=(5 * TILE_ROWS + 1, 900))
    V = np.ascontiguousarray(rng.normal(size=(900, 9)).T)
    one, two = (multiply_thin(Stored(K), V, threads=t) for t in (1, 2))
    assert np.array_equal(one, two)


def test_a_nan_stays_in_its_row(rng):
    K = rng.normal(size=(40, 30))
    K[7, 3] = np.nan
    found = multiply_thin(Stored(K), rng.normal(size=(5, 30)))
    assert np.isnan(found[7]).all()
    assert np.isfinite(np.delete(found, 7, axis=0)).all()


def test_numbers_beyond_single_precision_survive_a_single_matrix(rng):
    K = rng.normal(size=(50, 50)).astype(np.float32)
    V = rng.normal(size=(50, 8)) * np.logspace(-60, 60, 8)
    found = multiply(Stored(K), V, is_symmetric=False)
    units = (50 + 4) * np.finfo(np.float32).eps
    assert (np.abs(found - K @ V) <= units * (np.abs(K) @ np.abs(V))).all()


def test_few_rows_and_few_columns_go_another_way():
    small, large = Stored(np.ones((ROWS - 1, 9))), Stored(np.ones((ROWS, 9)))
    assert not is_thin(small, 99, is_symmetric=False)
    assert not is_thin(large, FEW - 1, is_symmetric=False)
    assert is_thin(large, FEW, is_symmetric=False)
