import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import Anything, ObjectBatch, Sets, SparseBatch
from mercer.domains.objects import same_columns
from mercer.errors import InvalidInput, InvalidType

encode = Anything().encode
points = st.lists(
    st.integers(0, 3) | st.text(max_size=1) | st.lists(st.integers(0, 1), max_size=2),
    min_size=1,
)


@given(points, st.data())
def test_slicing_commutes_with_encoding(items, data):
    n = len(items)
    chosen = data.draw(st.lists(st.integers(0, n - 1), min_size=1))
    assert encode(items)[np.array(chosen)].items == tuple(items[at] for at in chosen)
    mask = np.arange(n) % 2 == 0
    assert encode(items)[mask].items == encode(items)[::2].items == tuple(items[::2])


@given(points, st.data())
def test_labels_depend_on_the_values_alone(items, data):
    order = data.draw(st.permutations(range(len(items))))
    moved = [items[at] for at in [*order, order[0]]]
    (plain,) = encode(items).identify()
    (again,) = encode(moved).identify()
    assert again.tolist() == plain[[*order, order[0]]].tolist()
    left, right = encode(items).identify(encode(moved))
    assert left.tolist() == plain.tolist()
    assert right.tolist() == again.tolist()
    for i, a in enumerate(items):
        for j, b in enumerate(items):
            assert (plain[i] == plain[j]) == (a == b)


@pytest.mark.parametrize(
    ("raw", "items"),
    [
        (["a", 1], ("a", 1)),
        (("a", None), ("a", None)),
        (np.array([1, 2]), (1, 2)),
        (pd.Series(["a", "b"]), ("a", "b")),
        (pl.Series([[1], [2]]), ([1], [2])),
        (pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), ((1, "x"), (2, "y"))),
    ],
)
def test_sequences_of_any_kind(raw, items):
    batch = encode(raw)
    assert batch.items == items
    assert batch.raw() == items


def test_rows_of_an_array():
    batch = encode(np.array([[1, 2], [3, 4], [1, 2]]))
    assert len(batch) == 3
    assert batch.identify()[0].tolist() == [0, 1, 0]
    dates = encode(np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"))
    assert isinstance(dates.items[0], np.datetime64)


def test_what_is_encoded_stays():
    sets = Sets().encode([{1}])
    assert encode(sets) is sets
    assert isinstance(encode(sp.eye_array(2)), SparseBatch)
    assert isinstance(encode([1]), ObjectBatch)


@pytest.mark.parametrize("raw", ["abc", {"a": 1}, {1, 2}, iter([1]), 5, np.array(5), None])
def test_what_is_no_list_of_points(raw):
    with pytest.raises(InvalidType, match="is not a list of points"):
        encode(raw)


@pytest.mark.parametrize("raw", [[], np.array([]), pl.Series([], dtype=pl.String)])
def test_no_points(raw):
    with pytest.raises(InvalidInput, match=r"0 sample\(s\)"):
        encode(raw)


def test_any_domain_lies_in_anything():
    assert Anything().meet(Sets()) == Sets()
    assert Anything().name == "anything"


def test_arrow_arrays_hold_python_values():
    words = encode(pa.array(["a", None, "b"]))
    assert words.items == ("a", None, "b")
    left, right = words.identify(encode(["b", "a", None]))
    assert (left[0], left[1], left[2]) == (right[1], right[2], right[0])


def test_rows_of_a_table_keep_the_names_of_its_columns():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    batch = Anything().encode(frame)
    assert batch.columns == batch[1:].columns == batch[np.array([0])].columns == ("a", "b")
    assert Anything().encode(frame.to_numpy()).columns is None
    with pytest.raises(InvalidInput, match="'a' in one table and 'b' in the other"):
        batch.identify(Anything().encode(frame[["b", "a"]]))
    with pytest.raises(InvalidInput, match="rows of 2 and of 1 columns"):
        same_columns(batch, Anything().encode(frame[["a"]]))
    same_columns(batch, Anything().encode([(1, "x")]))
