import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from mercer.domains import (
    Categories,
    CategoryBatch,
    DenseBatch,
    ObjectBatch,
    SetBatch,
    SparseBatch,
)
from mercer.domains.tables import encode_columns
from mercer.errors import InvalidInput, InvalidType

PLAIN = {"age": [1.5, None], "city": ["Rome", None], "yes": [True, False]}
ROWS = [{"age": 1.5, "city": "Rome", "yes": True}, {"yes": False}]
STRUCTURED = np.array(
    [(1.5, "Rome", True), (np.nan, "", False)],
    dtype=[("age", "f8"), ("city", "U4"), ("yes", "?")],
)


@pytest.mark.parametrize(
    "raw",
    [PLAIN, pd.DataFrame(PLAIN), pl.DataFrame(PLAIN), pa.table(PLAIN), ROWS, STRUCTURED],
    ids=lambda raw: type(raw).__module__,
)
def test_tables_of_any_kind(raw):
    parts = encode_columns(raw)
    assert list(parts) == ["age", "city", "yes"]
    np.testing.assert_array_equal(parts["age"].values, [[1.5], [np.nan]])
    assert parts["city"].raw() == ["Rome", "" if raw is STRUCTURED else None]
    assert parts["yes"].levels == (False, True)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1, 2], DenseBatch),
        (np.ones((2, 3)), DenseBatch),
        (np.array([1, None], dtype=object), DenseBatch),
        (pd.Series([1, None], dtype="Int64"), DenseBatch),
        (["a", 1], CategoryBatch),
        ([None, None], CategoryBatch),
        (np.array(["a", "b"]), CategoryBatch),
        (pd.Series(["a", "b"], dtype="category"), CategoryBatch),
        (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), CategoryBatch),
        ([{1}, set()], SetBatch),
        ([{1}, None], ObjectBatch),
        ([(1, 2), (3,)], ObjectBatch),
        (pl.Series([[1], [2, 3]]), ObjectBatch),
        (pd.Series(pd.to_datetime(["2020-01-01", None])), ObjectBatch),
        (np.array(["2020", "2021"], dtype="M8[Y]"), ObjectBatch),
        (sp.eye_array(2), SparseBatch),
        (Categories().encode(["a", "b"]), CategoryBatch),
    ],
)
def test_a_column_is_encoded_by_what_it_holds(column, kind):
    (batch,) = encode_columns({"x": column}).values()
    assert type(batch) is kind
    assert len(batch) == 2


def test_single_precision_is_kept():
    ones = np.ones(2, dtype=np.float32)
    for raw in ({"x": ones}, pl.DataFrame({"x": ones}), pd.DataFrame({"x": ones})):
        assert encode_columns(raw)["x"].values.dtype == np.float32


def test_an_array_has_columns_with_numbers():
    parts = encode_columns(np.array([[1, "a"], [2, "b"]], dtype=object))
    assert list(parts) == [0, 1]
    assert parts[0].values.tolist() == [[1.0], [2.0]]
    assert parts[1].levels == ("a", "b")


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            InvalidInput,
            "several columns of one name",
        ),
        (pl.Series("a", [1]), InvalidInput, r"a Series \(name 'a'\) is one column"),
        (sp.eye_array(2), InvalidType, "a sparse matrix has no columns of different kinds"),
        ([1, 2], InvalidInput, r"data of shape \(2,\) have no columns"),
        ({}, InvalidInput, "the table has no columns"),
        (pl.DataFrame(), InvalidInput, "the table has no columns"),
        ({"a": [1], "b": [1, 2]}, InvalidInput, "'a' has 1 rows and column 'b' has 2"),
        (
            pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Int8, "b": pl.Int8}),
            InvalidInput,
            r"0 sample\(s\)",
        ),
        ({"a": []}, InvalidInput, r"column 'a': 0 sample\(s\)"),
        ({"a": 5}, InvalidType, "column 'a': a int is not a list of points"),
    ],
)
def test_what_is_no_table(raw, error, message):
    with pytest.raises(error, match=message):
        encode_columns(raw)


BIG = 2**53


@pytest.mark.parametrize(
    "ids",
    [
        [BIG, BIG + 1],
        np.array([BIG, BIG + 1]),
        np.array([2**64 - 2, 2**64 - 1], np.uint64),
        np.array([-(2**63), -(2**63) + 1]),
        pd.Series([BIG, BIG + 1, None], dtype="Int64"),
        pd.Series([BIG, BIG + 1]),
        pl.Series([-(2**63), -(2**63) + 1]),
        pa.chunked_array([[BIG, None, BIG + 1]]),
        [10**30, 10**30 + 1],
        list(np.array([BIG, BIG + 1])),
    ],
)
def test_whole_numbers_that_floats_merge_are_labels(ids):
    column = encode_columns({"id": ids})["id"]
    assert isinstance(column, CategoryBatch)
    assert len(set(column.identify()[0])) == len(ids)


def test_whole_numbers_that_floats_tell_apart_are_numbers():
    for ids in ([BIG, 1], np.array([-BIG, 1]), pl.Series([None, BIG]), pl.Series([None, 1.0])):
        assert isinstance(encode_columns({"id": ids})["id"], DenseBatch)


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.array(1.0), "one thing alone"), (np.zeros((2, 0)), r"0 feature\(s\)")],
)
def test_arrays_that_are_no_column(values, words):
    with pytest.raises(InvalidInput, match=words):
        encode_columns({"a": values})


def test_a_matrix_of_yes_and_no_is_numbers():
    column = encode_columns({"a": np.eye(2, dtype=bool)})["a"]
    assert isinstance(column, DenseBatch)
    assert column.values.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_rows_of_a_frame_are_records():
    frame = pd.DataFrame({"age": [31, 45], "city": ["Rome", "Oslo"]})
    table = encode_columns([frame.iloc[1], {"age": 3}, frame.iloc[0]])
    assert table["age"].values.ravel().tolist() == [45, 3, 31]
    assert table["city"].raw() == ["Oslo", None, "Rome"]
    with pytest.raises(InvalidInput, match=r"pass \[row\]"):
        encode_columns(frame.iloc[0])
    with pytest.raises(InvalidInput, match="several parts of one name"):
        encode_columns([pd.Series([1, 2], index=["a", "a"])])
