"""Tiles: any way to cut a matrix gives the same matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InvalidParameter
from mercer.loops import (
    DOT,
    Applied,
    Blocks,
    Combined,
    Narrowed,
    Pairwise,
    Profile,
    SparsePairwise,
    Stored,
    Workspace,
    dense,
    pieces,
    symmetric,
)
from mercer.loops.tiles import COLUMNS, ROWS, flatten, target

SIZES = [(1, 1), (1, 5), (143, 1151), (144, 1152), (145, 1153), (289, 1160), (2, 2400)]


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threads", [1, 3])
def test_dense_writes_every_entry(rng, shape, dtype, threads):
    matrix = rng.normal(size=shape).astype(dtype)
    cut = Blocks(shape, matrix.dtype, lambda rows, columns: matrix[rows, columns])
    for tiles in (Stored(matrix), cut):
        out = np.full(shape, np.nan, dtype)
        assert dense(tiles, out, threads) is out
        np.testing.assert_array_equal(out, matrix)
        np.testing.assert_array_equal(dense(tiles, threads=threads), matrix)


@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 143, 144, 145, 288, 300, 1151, 1153, 1300])
@pytest.mark.parametrize("threads", [1, 2])
def test_symmetric_mirrors_the_upper_half(rng, count, threads):
    matrix = rng.normal(size=(count, count))
    found = symmetric(Stored(matrix), threads=threads)
    upper = np.triu(matrix)
    np.testing.assert_array_equal(found, upper + np.triu(matrix, 1).T)


def test_symmetric_fills_each_tile_once(rng):
    asked = []
    matrix = rng.normal(size=(300, 300))

    def block(rows, columns):
        asked.append((rows.start, rows.stop, columns.start, columns.stop))
        return matrix[rows, columns]

    symmetric(Blocks((300, 300), matrix.dtype, block), threads=1)
    assert asked == [(0, 144, 0, 300), (144, 288, 144, 300), (288, 300, 288, 300)]


def test_some_rows_of_a_combination_are_a_combination_of_some_rows(rng):
    X = rng.uniform(size=(40, 3))
    S = sp.csr_array(np.where(rng.random((40, 9)) < 0.3, rng.uniform(size=(40, 9)), 0))
    both = Combined(Pairwise(X, X, DOT, Profile()), SparsePairwise(S, S, Profile()), np.add)
    rows, columns = rng.integers(0, 40, 25), rng.integers(0, 40, 33)
    wanted = (X @ X.T + (S @ S.T).toarray())[rows]
    # Sums of twelve products below 1.
    bound = 24 * 2.0**-53 * 12
    np.testing.assert_allclose(dense(both.picked(rows)), wanted, atol=bound)
    found = dense(Narrowed(both, np.dtype(np.float32)).picked(rows, columns))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted[:, columns], rtol=2.0**-23)
    symmetrical = dense(both.picked(rows, rows))
    np.testing.assert_allclose(symmetrical, wanted[:, rows], atol=bound)


def test_what_is_not_prepared_is_not_picked(rng):
    whole = Stored(rng.normal(size=(5, 5)))
    assert whole.picked(np.arange(2)) is None
    cut = Pairwise(np.ones((5, 2)), np.ones((5, 2)), DOT, Profile())
    assert Combined(cut, whole, np.add).picked(np.arange(2)) is None
    assert Narrowed(whole, np.dtype(np.float32)).picked(np.arange(2)) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_combinations_work_tile_by_tile(rng, threads):
    shape = 300, 1300
    left, right = (rng.normal(size=shape) for _ in range(2))

    def add_places(tile, rows, columns):
        tile += np.arange(rows.start, rows.stop)[:, None] * np.arange(
            columns.start, columns.stop
        )

    both = Applied(Combined(Stored(left), Stored(right), np.multiply), add_places)
    wanted = left * right + np.outer(*map(np.arange, shape))
    np.testing.assert_array_equal(dense(both, threads=threads), wanted)


def test_combining_two_types_gives_the_wider(rng):
    left, right = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(3, 4))
    for first, second in ((left, right), (right, left)):
        both = Combined(Stored(first), Stored(second), np.add)
        assert both.dtype == np.float64
        np.testing.assert_array_equal(dense(both), first + second)


def test_deep_combinations(rng):
    # Scratch tiles are lent again: none may be in use twice.
    parts = [rng.normal(size=(150, 1200)).astype(t) for t in [np.float32, float] * 3]
    tiles = Stored(parts[0])
    for part in parts[1:]:
        tiles = Combined(Combined(tiles, Stored(part), np.add), Stored(part), np.multiply)
    wanted = parts[0]
    for part in parts[1:]:
        wanted = (wanted + part) * part
    np.testing.assert_array_equal(dense(tiles, threads=2), wanted)


@pytest.mark.parametrize("write", [dense, symmetric])
@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.empty((3, 4)), "shape"),
        (np.empty((3, 3), np.float32), "float32"),
        (np.empty((3, 3), np.int64), "int64"),
        (np.empty((3, 3), order="F"), "contiguous"),
        (np.empty((3, 6))[:, ::2], "contiguous"),
        (np.frombuffer(bytes(72)).reshape(3, 3), "writeable"),
    ],
)
def test_out_that_does_not_fit_is_an_error(write, out, words):
    with pytest.raises(InvalidParameter, match=words):
        write(Stored(np.eye(3)), out)


def test_out_that_is_no_array_is_an_error():
    with pytest.raises(InvalidParameter):
        target(Stored(np.eye(3)), [[0.0] * 3] * 3)


def test_an_exception_in_a_tile_is_raised():
    def broken(rows, columns):
        raise ZeroDivisionError("in a tile")

    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError, match="in a tile"):
            dense(Blocks((600, 600), np.dtype(float), broken), threads=threads)


def test_flat_memory_of_parts(rng):
    matrix = rng.normal(size=(6, 8))
    for part in (matrix, matrix[2:5], matrix[1:4, 2:7], matrix[5:, 7:], matrix[:, :1]):
        flat, stride = flatten(part)
        for i, j in np.ndindex(part.shape):
            assert flat[i * stride + j] == part[i, j]
        assert np.shares_memory(flat, matrix)


def test_pieces_cover_a_range():
    assert list(pieces(10, 4)) == [(0, 4), (4, 8), (8, 10)]
    assert list(pieces(10, 4, start=7)) == [(7, 10)]
    assert list(pieces(4, 4, start=4)) == []


def test_small_work_takes_one_thread():
    tiles = Stored(np.eye(3))
    assert tiles.crew(100, 8) == 1
    assert tiles.crew(1 << 20, 8) == 8
    assert tiles.crew(1 << 20, None) >= 1
    assert tiles.crew(1 << 20, 10_000) == 16
    assert Blocks((3, 3), np.dtype(float), np.ones, serial=True).crew(1 << 20, 8) == 1


def test_scratch_is_lent_again():
    work = Workspace()
    with (
        work.tile((4, 4), np.dtype(float)) as first,
        work.tile((4, 4), np.dtype(float)) as second,
    ):
        assert not np.shares_memory(first, second)
    with work.tile((2, 2), np.dtype(np.float32)) as again:
        assert np.shares_memory(again, first) or np.shares_memory(again, second)
    with work.tile((50, 50), np.dtype(float)) as larger:
        assert larger.shape == (50, 50)


def test_zeros_are_zeros_of_the_type_asked_for():
    work = Workspace()
    for size, dtype in [(4, float), (2, float), (9, np.float32), (9, float)]:
        zeros = work.zeros(size, np.dtype(dtype))
        assert zeros.dtype == dtype
        assert zeros.size >= size
        assert not zeros.any()


@pytest.mark.parametrize("count", [ROWS - 1, ROWS + 1, COLUMNS + 1])
def test_bitwise_the_same_for_any_number_of_threads(rng, count):
    X = rng.normal(size=(count, 7))
    tiles = Pairwise(X, X, DOT, Profile())
    wanted = dense(tiles, threads=1), symmetric(tiles, threads=1)
    for threads in (2, 3, 5):
        np.testing.assert_array_equal(dense(tiles, threads=threads), wanted[0])
        np.testing.assert_array_equal(symmetric(tiles, threads=threads), wanted[1])


@pytest.mark.parametrize("shape", [(1, 7), (7, 1), (300, 40), (150, 1200)])
def test_a_transposed_matrix_is_not_copied(rng, shape):
    matrix, work = rng.normal(size=shape), Workspace()
    turned = Stored(matrix.T)
    np.testing.assert_array_equal(dense(turned), matrix.T)
    rows, columns = (0, min(shape[1], 144)), (0, min(shape[0], 48))
    with turned.part(rows, columns, work) as (flat, stride):
        for i in range(rows[1]):
            np.testing.assert_array_equal(
                flat[i * stride : i * stride + columns[1]], matrix[: columns[1], i]
            )


def test_scratch_is_told_beforehand(rng):
    wide, narrow = (Stored(rng.normal(size=(300, 300)).astype(t)) for t in (float, np.float32))
    square = Pairwise(*[rng.normal(size=(300, 3))] * 2, DOT, Profile())
    called = Blocks((300, 300), np.dtype(float), lambda a, b: np.ones((300, 300))[a, b])
    assert square.scratch(100) == 0
    assert called.scratch(100) == 800
    assert Applied(square, lambda *_: None).scratch(100) == 800
    assert Combined(square, wide, np.add).scratch(100) == 800
    assert Combined(narrow, narrow, np.add).scratch(100) == 400
    assert Combined(narrow, wide, np.add).scratch(100) == 1200
    assert Combined(wide, Combined(wide, wide, np.add), np.add).scratch(100) == 1600
    assert Combined(Combined(wide, wide, np.add), wide, np.add).scratch(100) == 1600
