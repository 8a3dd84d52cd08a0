import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import Categories
from mercer.domains.reading import is_missing
from mercer.errors import InvalidInput, InvalidType

encode = Categories().encode
labels = st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=1) | st.floats()
columns = st.lists(labels, min_size=1, max_size=15)


def known(value):
    return None if is_missing(value) else value


@given(columns, st.data())
def test_slicing_commutes_with_encoding(column, data):
    chosen = data.draw(st.lists(st.integers(0, len(column) - 1), min_size=1))
    picked = [column[at] for at in chosen]
    late, early = encode(column)[np.array(chosen)], encode(picked)
    assert late.raw() == early.raw() == [known(value) for value in picked]
    assert late.identify()[0].tolist() == early.identify()[0].tolist()


@given(columns, st.data())
def test_labels_depend_on_the_values_alone(column, data):
    order = data.draw(st.permutations(range(len(column))))
    moved = [column[at] for at in [*order, order[0]]]
    (plain,) = encode(column).identify()
    left, right = encode(column).identify(encode(moved))
    assert left.tolist() == plain.tolist()
    assert right.tolist() == plain[[*order, order[0]]].tolist()
    for i, a in enumerate(map(known, column)):
        for j, b in enumerate(map(known, column)):
            assert (plain[i] == plain[j]) == (a == b)


@pytest.mark.parametrize(
    "raw",
    [
        ["b", "a", None, "b"],
        np.array(["b", "a", None, "b"], dtype=object),
        np.array([["b"], ["a"], [None], ["b"]], dtype=object),
        [["b"], ["a"], [None], ["b"]],
        pd.Series(["b", "a", None, "b"]),
        pd.Series(pd.Categorical(["b", "a", None, "b"])),
        pd.Categorical(["b", "a", None, "b"]),
        pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["b", "c", "a"])),
        pl.DataFrame({"x": ["b", "a", None, "b"]}),
    ],
)
def test_columns_of_words(raw):
    batch = encode(raw)
    assert batch.levels == (None, "a", "b")
    assert batch.codes.tolist() == [2, 1, 0, 2]
    assert batch.codes.dtype == np.int64


@pytest.mark.parametrize(
    "raw",
    [
        [3, 1, 3],
        np.array([3, 1, 3], dtype=np.uint8),
        np.array([[3.0], [1.0], [3.0]]),
        pd.Series([3, 1, 3]),
        pd.Series(pd.Categorical([3, 1, 3])),
        pl.Series([3, 1, 3]),
    ],
)
def test_columns_of_numbers(raw):
    batch = encode(raw)
    assert batch.levels == (1, 3)
    assert batch.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "raw",
    [
        [1.0, np.nan],
        np.array([1.0, np.nan]),
        pd.Series([1, None]),
        pd.Series([1, None], dtype="Int64"),
        pl.Series([1, None]),
        [1, pd.NA],
        [1, pd.NaT],
    ],
)
def test_missing_is_a_label_that_equals_itself(raw):
    first, second = encode(raw).identify(encode([None, 1]))
    assert first.tolist() == second.tolist()[::-1]


def test_booleans():
    assert encode([True, False]).levels == (False, True)
    assert encode(np.array([True, False])).codes.tolist() == [1, 0]
    assert encode(pl.Series([True, None])).levels == (None, True)


def test_dates():
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02"]))
    assert encode(days).identify()[0].tolist() in ([1, 0, 1], [0, 1, 0])
    assert len(encode(days.to_numpy()).levels) == 2


def test_codes_in_other_levels():
    batch = encode(["b", "a", "c"])
    assert batch.codes_in(("c", "b")).tolist() == [1, -1, 0]
    assert batch.codes_in(batch.levels) is batch.codes


def test_a_batch_is_returned():
    batch = encode(["a"])
    assert encode(batch) is batch
    assert Categories().name == "categories"


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        ([["a", "b"]], InvalidType, "row 0 holds a list, which cannot be a label"),
        (["a", {}], InvalidType, "row 1 holds a dict, which cannot be a label"),
        (np.ones((3, 2)), InvalidInput, "the points have 2 columns"),
        (pl.DataFrame({"a": [1], "b": [2]}), InvalidInput, "the points have 2 columns"),
        ("abc", InvalidType, "a str is not a list of points"),
        ([], InvalidInput, r"0 sample\(s\)"),
        (np.empty(0), InvalidInput, r"0 sample\(s\)"),
        (np.array(5), InvalidType, "not a list of points"),
    ],
)
def test_what_is_no_label(raw, error, message):
    with pytest.raises(error, match=message):
        encode(raw)
