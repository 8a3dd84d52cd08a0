import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer.domains.order import DenseRows, SparseRows, float_keys, parted, row_labels, stacked

matrices = hnp.arrays(
    float,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, -1e300, 1e-300]),
)


def twin(X):
    """The same by plain Python."""
    rows = [tuple(row + 0.0) for row in X]
    ranks = {row: at for at, row in enumerate(sorted(set(rows)))}
    return [ranks[row] for row in rows]


@given(matrices)
def test_dense_rows_are_ranked_lexicographically(X):
    assert row_labels(DenseRows(X)).tolist() == twin(X)


@given(matrices)
def test_sparse_rows_have_the_order_of_dense_ones(X):
    assert row_labels(SparseRows(sp.csr_array(X))).tolist() == twin(X)


@given(st.lists(st.floats(), min_size=2))
def test_keys_order_as_floats_do(values):
    x = np.array(values)
    keys = float_keys(x)
    known = np.flatnonzero(~np.isnan(x))
    assert np.array_equal(keys[known][:, None] < keys[known], x[known][:, None] < x[known])
    assert np.array_equal(keys[known][:, None] == keys[known], x[known][:, None] == x[known])
    assert (keys[np.isnan(x)] == float_keys(np.array([np.nan]))[0]).all()


def test_nan_is_one_value_and_the_last():
    X = np.array([[np.nan], [np.inf], [-np.nan], [0.0]])
    assert row_labels(DenseRows(X)).tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize("storage", [DenseRows, lambda X: SparseRows(sp.csr_array(X))])
def test_a_collision_of_hashes_does_no_harm(storage, monkeypatch):
    X = np.random.default_rng(1).integers(-1, 2, size=(50, 3)).astype(float)
    rows = storage(X)
    monkeypatch.setattr(type(rows), "digest", lambda _: np.zeros(50, dtype=np.uint64))
    assert row_labels(rows).tolist() == twin(X)


def test_many_columns_are_hashed_in_blocks(monkeypatch):
    monkeypatch.setattr("mercer.domains.order.BLOCK", 8)
    X = np.random.default_rng(2).integers(0, 2, size=(40, 4)).astype(float)
    assert row_labels(DenseRows(X)).tolist() == twin(X)


def test_no_rows_have_no_labels():
    assert row_labels(DenseRows(np.empty((0, 3)))).tolist() == []
    assert row_labels(SparseRows(sp.csr_array((0, 3)))).tolist() == []


def test_labels_are_parted_and_stacked():
    a, b = parted(np.arange(5), [2, 3])
    assert (a.tolist(), b.tolist()) == ([0, 1], [2, 3, 4])
    assert stacked([a, a]).tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_missing_entries_of_sparse_rows_are_one_value():
    X = np.array([[1.0, np.nan], [1.0, 2.0], [1.0, np.nan], [0.0, np.nan]])
    sparse = row_labels(SparseRows(sp.csr_array(X)))
    assert sparse.tolist() == row_labels(DenseRows(X)).tolist() == [2, 1, 2, 0]
