import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis.extra import numpy as hnp

from mercer.domains import DenseBatch, Numbers, SparseBatch, Vectors
from mercer.errors import InvalidInput, InvalidParameter

encode = Vectors().encode


@given(
    hnp.arrays(
        hnp.floating_dtypes(sizes=(32, 64), endianness="=") | hnp.integer_dtypes(),
        hnp.array_shapes(min_dims=2, max_dims=2),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_encoding_keeps_the_values_and_the_users_array(X):
    X.flags.writeable = False
    batch = encode(X)
    single = X.dtype == np.float32
    assert batch.values.dtype == (np.float32 if single else np.float64)
    assert np.array_equal(batch.values, X.astype(batch.values.dtype))
    assert np.shares_memory(batch.values, X) == (X.dtype.kind == "f")


def test_a_memory_map_is_read_in_place(tmp_path):
    X = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(4, 3))
    X[:] = 1.0
    frozen = np.memmap(tmp_path / "x", dtype=np.float32, mode="r", shape=(4, 3))
    batch = encode(frozen)
    assert np.shares_memory(batch.values, frozen)
    assert type(batch[1:3].values) is np.ndarray


@pytest.mark.parametrize("storage", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool])
def test_sparse_matrices_of_any_format(storage, dtype):
    dense = np.array([[0, 1, 0], [1, 0, 1]], dtype=dtype)
    for maker in (sp.coo_matrix, sp.coo_array):
        batch = encode(maker(dense).asformat(storage))
        assert isinstance(batch, SparseBatch)
        assert batch.matrix.has_canonical_format
        assert batch.matrix.dtype == (np.float32 if dtype == np.float32 else np.float64)
        assert np.array_equal(batch.matrix.toarray(), dense)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_give_names(library):
    batch = encode(library({"a": [1, 2], "b": [3.0, 4.0]}))
    assert batch.columns == ("a", "b")
    assert batch.values.tolist() == [[1, 3], [2, 4]]


def test_a_batch_is_checked_and_returned():
    batch = encode([[1.0, -1.0]])
    assert encode(batch) is batch
    with pytest.raises(InvalidInput, match="Negative values in data"):
        Vectors(nonnegative=True).encode(batch)
    with pytest.raises(InvalidInput, match="wider than the 1"):
        Vectors(max_width=1).encode(batch)


def test_sums_that_overflow_are_not_missing():
    assert len(encode(np.full((4, 1), 1e308))) == 4


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([1.0, 2.0], r"one-dimensional.*\nReshape your data: reshape\(-1, 1\)"),
        (3.0, "one thing alone is not a list"),
        (np.ones((2, 2, 2)), r"3 axes \(shape=\(2, 2, 2\)\)"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        ([], r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        (sp.csr_array((3, 0)), r"0 feature\(s\)"),
        ([[1, np.nan], [np.nan, 2]], "2 of 4 values are NaN.*at row 0, column 1.*\nImpute"),
        ([[1, None]], "1 of 2 values is NaN"),
        (pl.DataFrame({"a": [1, None]}), r"row 1, column 0 \('a'\)"),
        (sp.csr_array([[0, 0, 0], [0, 0, np.nan]]), "1 of 6 values is NaN.*row 1, column 2"),
        ([[1, 2], [-np.inf, 2]], r"infinite, the first at row 1, column 0.*inf"),
        ([[1, 2], [3]], "rows have different lengths"),
        ([["a", "b"]], "hold text"),
        ([[1j]], "Complex data not supported"),
    ],
)
def test_what_is_no_vector(raw, message):
    with pytest.raises(InvalidInput, match=message):
        encode(raw)


@pytest.mark.parametrize("storage", [np.array, sp.csr_array, pl.DataFrame])
def test_negative_values_are_shown(storage):
    raw = storage([[1.0, 2.0], [3.0, -4.0]])
    place = "row 0, column 1" if storage is pl.DataFrame else "row 1, column 1"
    if storage is pl.DataFrame:
        raw = pl.DataFrame({"a": [1.0], "b": [-4.0]})
    message = f"Negative values in data: 1 of . values is below zero, the first at {place}"
    with pytest.raises(InvalidInput, match=message):
        Vectors(nonnegative=True).encode(raw)


def test_names_say_what_is_asked_for():
    assert Vectors().name == "vectors"
    assert Vectors(nonnegative=True).name == "non-negative vectors"
    assert Vectors(max_width=1).name == "vectors of at most 1 coordinate"
    assert Vectors(max_width=3).name == "vectors of at most 3 coordinates"
    with pytest.raises(InvalidParameter, match="at least 1"):
        Vectors(max_width=0)


def test_constraints_add_up():
    both = Vectors(nonnegative=True).meet(Vectors(max_width=3)).meet(Vectors(max_width=5))
    assert both == Vectors(nonnegative=True, max_width=3)
    assert Vectors(nonnegative=True).meet(Numbers(high=1)) == Numbers(low=0, high=1)


def test_the_batch_is_dense_for_dense_data():
    assert isinstance(encode([[1, True]]), DenseBatch)


@pytest.mark.parametrize("form", [sp.coo_array, sp.csr_array])
def test_sparse_points_on_a_line(form):
    line = form(np.array([1.0, 0.0, 2.0]))
    with pytest.raises(InvalidInput, match="Reshape"):
        encode(line)
    assert Numbers().encode(line).values.tolist() == [[1.0], [0.0], [2.0]]
