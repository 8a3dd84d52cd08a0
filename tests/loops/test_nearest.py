"""The nearest rows of a table, against plain differences and a stable sort."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import NearestNeighbors

from mercer.loops import nearest as module
from mercer.loops.nearest import SPAN, STRIP, nearest, scratch


def plain(queries, table, k, factor=None):
    """The twin: all differences, and a sort that leaves equal ones in order."""
    gaps = queries.astype(float)[:, None] - table.astype(float)[None]
    squared = np.square(gaps if factor is None else gaps * factor).sum(axis=-1)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(squared, order, axis=1)), order


def agree(queries, table, k, factor=None):
    given_ = np.ones(table.shape[1]) if factor is None else factor
    distances, rows = nearest(queries, table, k, given_)
    expected, order = plain(queries, table, k, factor)
    np.testing.assert_array_equal(rows, order)
    # Each square is rounded once, and a sum of d of them d - 1 times; the root halves that.
    width = table.shape[1]
    np.testing.assert_allclose(distances, expected, rtol=(width + 4) * 2.0**-53, atol=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(300, 700, 7, 5), (9, 3000, 1, 12), (7, 20, 50, 20)])
def test_the_answer_is_that_of_plain_differences(rng, dtype, shape):
    rows, columns, width, k = shape
    agree(rng.normal(size=(rows, width)).astype(dtype),
          rng.normal(size=(columns, width)).astype(dtype), k)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tiles_spans_and_strips_have_ends(rng, dtype):
    # More than one of each: of the table a tile is some hundred rows, and the last is short.
    queries = rng.normal(size=(2 * STRIP + 11, 40)).astype(dtype)
    table = rng.normal(size=(SPAN + 29, 40)).astype(dtype)
    _, rows = nearest(queries, table, 4, np.ones(40))
    # A tree measures by differences too, and not all of them at once.
    tree = NearestNeighbors(n_neighbors=4, algorithm="kd_tree").fit(table)
    np.testing.assert_array_equal(rows, tree.kneighbors(queries)[1])


def test_the_table_may_be_in_single_and_the_queries_in_double_precision(rng):
    queries, table = rng.normal(size=(60, 5)), rng.normal(size=(300, 5))
    agree(queries, table.astype(np.float32), 4)
    agree(queries.astype(np.float32), table, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", [1.0, 1e-4])
def test_the_memory_does_not_grow_with_the_table(rng, dtype, spread):
    # With a small spread beside two far clusters only the second look, in double, decides.
    width, k = 20, 5

    def beside(rows):
        """What a search takes at most beyond what it returns."""
        table = spread * rng.normal(size=(rows, width)).astype(dtype)
        table[::2, 0] += 10
        queries = table[-1500:].copy()
        tracemalloc.start()
        found = nearest(queries, table, k, np.ones(width), 2)
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found[1]) == 1500
        return peak - now

    few, many = beside(20_000), beside(100_000)
    # A few numbers of each query, and what Python itself keeps for a moment.
    assert many <= scratch(width, k, 2) + 48 * 1500 + 50_000
    assert many <= 1.05 * few


grids = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.integers(1, 3)),
    elements=st.integers(-2, 2).map(float),
)


@given(grids, st.integers(1, 8), st.sampled_from(["float32", "float64"]))
def test_equal_distances_are_in_the_order_of_the_rows(points, k, dtype):
    # On a small grid most distances are equal, and all are exact.
    agree(points.astype(dtype), points[::-1].astype(dtype).copy(), min(k, len(points)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_a_tight_cluster_far_away_keeps_its_neighbours(rng, dtype, offset):
    points = (offset + 1e-3 * rng.normal(size=(400, 5))).astype(dtype)
    agree(points[:50], points, 6)


@pytest.mark.parametrize("apart", [1e4, 1e9])
def test_two_clusters_far_apart_keep_their_neighbours(rng, apart):
    points = rng.normal(size=(300, 4))
    points[::2] += apart
    agree(points[:40], points, 9)


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1e-20, 1e20, 1e150])
def test_huge_and_tiny_points_keep_their_neighbours(rng, size):
    points = rng.normal(size=(200, 3))
    distances, rows = nearest(size * points[:30], size * points, 4, np.ones(3))
    expected, order = plain(points[:30], points, 4)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_allclose(distances, size * expected, rtol=1e-12, atol=1e-308)


@pytest.mark.parametrize("far", [1e15, 1e30, 1e100])
def test_queries_far_from_the_table_are_answered(rng, far):
    table = rng.normal(size=(100, 2))
    queries = np.column_stack([np.full(10, far), rng.normal(size=10)])
    _, rows = nearest(queries, table, 3, np.ones(2))
    np.testing.assert_array_equal(rows, plain(queries, table, 3)[1])


def test_distances_beyond_the_range_of_numbers_are_infinite():
    distances, _ = nearest(np.full((6, 1), 1e200), np.array([[0.0], [1.0]]), 1, np.ones(1))
    assert np.isinf(distances).all()


def test_equal_rows_are_all_found_in_order():
    points = np.ones((1000, 3), np.float32)
    distances, rows = nearest(points[:20], points, 5, np.ones(3))
    assert (distances == 0).all()
    assert (rows == np.arange(5)).all()


def test_coordinates_may_be_stretched(rng):
    factor = np.array([1.0, 1e-3, 50.0])
    agree(rng.normal(size=(60, 3)), rng.normal(size=(200, 3)), 4, factor)


def test_a_table_of_one_row_is_the_nearest():
    distances, rows = nearest(np.array([[3.0]] * 6), np.array([[1.0]]), 1, np.ones(1))
    assert (distances == 2).all()
    assert (rows == 0).all()


def test_the_threads_change_nothing(rng):
    queries = rng.normal(size=(3 * STRIP + 5, 6)).astype(np.float32)
    table = rng.normal(size=(500, 6)).astype(np.float32)
    one, two = (nearest(queries, table, 7, np.ones(6), threads) for threads in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_a_pair_has_one_distance_however_it_was_found(rng):
    table = rng.normal(size=(500, 11))
    queries = rng.normal(size=(20, 11))
    many, _ = nearest(queries, table, 3, np.ones(11))
    one, _ = nearest(queries[:1], table, 3, np.ones(11))
    np.testing.assert_array_equal(many[:1], one)


def test_single_precision_proposes_and_never_decides(rng, monkeypatch):
    # Random points: nearly every query is decided by the first scores.
    decided = []
    propose = module._Scores.propose

    def spy(scores, rows):
        propose(scores, rows)
        decided.append((scores.dtype.name, scores.search.sure[rows].mean()))

    monkeypatch.setattr(module._Scores, "propose", spy)
    agree(rng.normal(size=(100, 20)), rng.normal(size=(2000, 20)), 5)
    assert decided[0][0] == "float32"
    assert decided[0][1] > 0.9
    # Near one another beside their distance from the centre: only double precision decides.
    decided.clear()
    points = 1e-4 * rng.normal(size=(100, 2))
    points[::2] += 1e3
    agree(points, points, 5)
    assert decided[0][1] < 0.1
    assert decided[-1][0] == "float64"
