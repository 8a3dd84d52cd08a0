"""K @ V without K: the same numbers as with it."""

import numpy as np
import pytest

from mercer.loops import DOT, Blocks, Pairwise, Profile, Stored, dense, multiply, product
from mercer.loops.tiles import COLUMNS, ROWS

SIZES = [
    1,
    2,
    5,
    ROWS - 1,
    ROWS,
    ROWS + 1,
    2 * ROWS + 3,
    COLUMNS - 1,
    COLUMNS + 1,
    33 * ROWS + 7,
]


def bound(K, V, dtype):
    """The error of sums: at most a piece of 1152 terms is added up in the type of K."""
    units = min(max(K.shape), COLUMNS) + 3
    return units * np.finfo(dtype).eps * (np.abs(K) @ np.abs(V)) + np.finfo(dtype).tiny


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("width", [1, 3])
def test_symmetric_products(rng, rows, width, dtype):
    X = rng.normal(size=(rows, 3)).astype(dtype)
    tiles = Pairwise(X, X, DOT, Profile())
    V = rng.normal(size=(rows, width)).astype(dtype)
    K = dense(tiles).astype(float)
    for symmetric in (True, False):
        found = multiply(tiles, V, is_symmetric=symmetric, threads=2)
        assert found.dtype == np.float64
        assert found.shape == V.shape
        assert np.all(np.abs(found - K @ V.astype(float)) <= bound(K, V, dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 700), (700, 1), (145, 1153), (300, 40)])
def test_products_with_a_block(rng, shape, dtype):
    K = rng.normal(size=shape).astype(dtype)
    V = rng.normal(size=(shape[1], 4)).astype(dtype)
    found = multiply(Stored(K), V, is_symmetric=False)
    exact = K.astype(float) @ V.astype(float)
    assert np.all(np.abs(found - exact) <= bound(K.astype(float), V, dtype))


@pytest.mark.parametrize("symmetric", [True, False])
def test_bitwise_the_same_for_any_number_of_threads(rng, symmetric):
    X = rng.normal(size=(1500, 4))
    tiles, V = Pairwise(X, X, DOT, Profile()), rng.normal(size=(1500, 5))
    wanted = multiply(tiles, V, is_symmetric=symmetric, threads=1)
    for threads in (2, 3, 5):
        found = multiply(tiles, V, is_symmetric=symmetric, threads=threads)
        np.testing.assert_array_equal(found, wanted)


def test_symmetry_fills_each_pair_once(rng):
    K = rng.normal(size=(1400, 1400))
    K += K.T
    filled = np.zeros(K.shape, int)

    def block(rows, columns):
        filled[rows, columns] += 1
        return K[rows, columns]

    V = rng.normal(size=(1400, 2))
    found = multiply(Blocks(K.shape, K.dtype, block), V, is_symmetric=True, threads=1)
    np.testing.assert_allclose(found, K @ V, rtol=1e-10, atol=1e-10)
    upper = np.triu(filled, 1) + np.tril(filled, -1).T
    assert upper[np.triu_indices(1400, 1)].max() <= 2  # twice only beside the diagonal
    assert filled.sum() < 0.6 * filled.size


def test_many_right_hand_sides_take_each_entry_twice_instead_of_memory(rng, monkeypatch):
    X = rng.normal(size=(600, 3))
    tiles, V = Pairwise(X, X, DOT, Profile()), rng.normal(size=(600, 8))
    wanted = multiply(tiles, V, is_symmetric=True, threads=1)
    for scratch in (0, product.GROUPS * 600 * 8 * 8 - 1):
        monkeypatch.setattr(product, "SCRATCH", scratch)
        for threads in (1, 3):
            found = multiply(tiles, V, is_symmetric=True, threads=threads)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(product, "SCRATCH", product.GROUPS * 600 * 8 * 8)
    np.testing.assert_array_equal(multiply(tiles, V, is_symmetric=True), wanted)


def test_a_column_does_not_depend_on_its_neighbours(rng):
    X = rng.normal(size=(300, 3))
    tiles, V = Pairwise(X, X, DOT, Profile()), rng.normal(size=(300, 5))
    together = multiply(tiles, V, is_symmetric=True)
    for c in range(5):
        alone = multiply(tiles, V[:, [c]], is_symmetric=True)
        np.testing.assert_array_equal(together[:, [c]], alone)


def test_nan_is_not_hidden(rng):
    K = np.eye(300)
    K[7, 200] = K[200, 7] = np.nan
    for symmetric in (True, False):
        found = multiply(Stored(K), np.ones((300, 2)), is_symmetric=symmetric)
        assert np.flatnonzero(np.isnan(found[:, 0])).tolist() == [7, 200]


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1.0, 1e30, 1e300])
def test_float32_bears_right_hand_sides_of_any_size(rng, size):
    X = rng.normal(size=(300, 3)).astype(np.float32)
    tiles, V = Pairwise(X, X, DOT, Profile()), rng.normal(size=(300, 2))
    exact = dense(tiles).astype(float) @ V
    for symmetric in (True, False):
        found = multiply(tiles, V * [size, 1], is_symmetric=symmetric)
        np.testing.assert_allclose(found / [size, 1], exact, rtol=1e-4, atol=1e-4)


def test_less_scratch_gives_the_same_product(rng):
    X = rng.normal(size=(600, 3))
    tiles, V = Pairwise(X, X, DOT, Profile()), rng.normal(size=(600, 8))
    wanted = multiply(tiles, V, is_symmetric=True)
    enough = product.GROUPS * 600 * 8 * 8
    np.testing.assert_array_equal(multiply(tiles, V, is_symmetric=True, scratch=enough), wanted)
    for scratch in (0, enough - 1):
        found = multiply(tiles, V, is_symmetric=True, scratch=scratch)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
