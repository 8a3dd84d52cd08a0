import decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.domains.reading import as_table, floats_in, is_missing
from mercer.errors import InvalidInput, InvalidType

MISSING = [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]


@pytest.mark.parametrize("value", [*MISSING, decimal.Decimal("NaN"), decimal.Decimal("sNaN")])
def test_what_is_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, 0.0, "", "nan", False, (), np.inf, np.datetime64("2020")])
def test_what_is_there(value):
    assert not is_missing(value)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_any_library(library):
    values, columns = floats_in(library({"a": [1, 2], "b": [0.5, None], "c": [True, False]}))
    np.testing.assert_array_equal(values, [[1, 0.5, 1], [2, np.nan, 0]])
    assert columns == ("a", "b", "c")
    assert values.dtype == np.float64
    assert values.flags.c_contiguous


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_single_precision_survives_a_frame(library):
    values, _ = floats_in(library({"a": np.ones(2, np.float32), "b": np.zeros(2, np.float32)}))
    assert values.dtype == np.float32


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float32", "UInt8"])
def test_nullable_columns_of_pandas(dtype):
    values, _ = floats_in(pd.DataFrame({"a": pd.array([1, None], dtype=dtype)}))
    np.testing.assert_array_equal(values, [[1], [np.nan]])


def test_objects_that_are_numbers():
    mixed = pd.DataFrame({"a": np.array([1, decimal.Decimal("0.5"), None], dtype=object)})
    np.testing.assert_array_equal(floats_in(mixed)[0], [[1], [0.5], [np.nan]])
    assert floats_in(np.array([[1, 2.5]], dtype=object))[0].tolist() == [[1.0, 2.5]]


def test_columns_named_by_numbers_have_no_names():
    assert floats_in(pd.DataFrame([[1, 2]]))[1] is None


def test_series_and_other_data():
    assert floats_in(pl.Series([1, 2]))[0].tolist() == [1.0, 2.0]
    assert isinstance(as_table(pd.Series([1])), nw.Series)
    assert as_table([1, 2]) is None


def test_nothing_is_copied_without_need():
    X = np.ones((3, 2))
    assert floats_in(X)[0] is X
    assert type(floats_in(X.view(Subclass))[0]) is np.ndarray
    assert floats_in(np.ma.masked_array(X))[0].shape == (3, 2)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_of_numpy():
    assert type(floats_in(np.asmatrix(np.ones((3, 2))))[0]) is np.ndarray


@pytest.mark.parametrize("kind", ["f2", "i1", "u8", "?", ">f8", "g"])
def test_other_numbers_become_double(kind):
    assert floats_in(np.ones((2, 2), dtype=kind))[0].dtype == np.float64


def test_foreign_byte_order_stays_single():
    values = floats_in(np.ones((2, 2), dtype=">f4"))[0]
    assert values.dtype == np.dtype(np.float32)
    assert values.dtype.isnative


class Subclass(np.ndarray):
    pass


class Tensor:
    """Behaves as a tensor that NumPy can or cannot read."""

    def __init__(self, error=None):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        if self.error:
            raise self.error
        return np.ones((2, 2), dtype=np.float32)


def test_tensors():
    assert floats_in(Tensor())[0].dtype == np.float32


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (pl.LazyFrame({"a": [1]}), InvalidType, r"Call .collect\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), InvalidInput, "several columns of one"),
        (
            pa.table([pa.array([1])] * 2, names=["a", "a"]),
            InvalidInput,
            "several columns of one",
        ),
        (pl.DataFrame({"city": ["Rome"]}), InvalidInput, "column 'city' holds String"),
        (pl.Series(["Rome"]), InvalidInput, "the series holds String"),
        (
            pd.DataFrame({"d": pd.to_datetime(["2020-01-01"])}),
            InvalidInput,
            "'d' holds Datetime",
        ),
        (
            np.ma.masked_array([[1.0, 2.0]], [[0, 1]]),
            InvalidInput,
            "1 of the 2 entries are masked",
        ),
        ([[1, 2], [3]], InvalidInput, "rows have different lengths"),
        (["a", "b"], InvalidInput, "hold text"),
        ([[b"a"]], InvalidInput, "hold text"),
        (np.array([["1", 2]], dtype=object), InvalidInput, "hold text"),
        ("abc", InvalidInput, "hold text"),
        ([[1j]], InvalidInput, "Complex data not supported"),
        (np.array([[1j, None]], dtype=object), InvalidInput, "Complex data not supported"),
        (np.array(["2020"], dtype="M8[D]"), InvalidInput, "dates or durations"),
        (np.zeros(2, dtype=[("a", "f8")]), InvalidInput, "a structured array is a table"),
        (
            [[{"foo": 1}, 2]],
            InvalidType,
            r"row 0, column 0 holds a dict.*argument must be a str",
        ),
        (object(), InvalidType, "this holds a object"),
        (np.array([np.ones(1), None], dtype=object), InvalidType, "holds a ndarray"),
        ({"a": [1]}, InvalidType, "a dict has no rows"),
        ({1, 2}, InvalidType, "a set has no rows"),
        (iter([1]), InvalidType, "a list_iterator has no rows"),
        (Tensor(TypeError("on cuda:0")), InvalidType, "on cuda:0\nMove the data to the CPU"),
        (Tensor(RuntimeError("requires grad")), InvalidType, r"tensor.detach\(\)"),
        (Tensor(ValueError("odd")), InvalidInput, "cannot be read as numbers: odd"),
    ],
)
def test_what_cannot_be_read(raw, error, message):
    with pytest.raises(error, match=message):
        floats_in(raw)


def test_numbers_beyond_the_floats():
    with pytest.raises(InvalidInput, match=r"row 1, column 0 holds a number beyond 1e308"):
        floats_in([[1, 2], [10**400, 3]])


def test_long_doubles_beyond_the_floats_are_infinite():
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long double is double here")
    assert np.isinf(floats_in(np.array([np.longdouble("1e400")]))[0]).all()


def test_rows_with_masks():
    whole = np.ma.array([1.0, 2.0])
    assert floats_in([whole, whole])[0].tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(InvalidInput, match="masked"):
        floats_in([whole, np.ma.array([1.0, 2.0], mask=[False, True])])
