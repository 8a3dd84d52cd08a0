import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import Sets, align
from mercer.errors import InvalidInput, InvalidType

encode = Sets().encode
points = st.lists(
    st.frozensets(st.integers(-2, 2) | st.sampled_from("ab"), max_size=4),
    min_size=1,
    max_size=8,
)


@given(points, st.data())
def test_slicing_commutes_with_encoding(sets, data):
    chosen = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=1))
    picked = [sets[at] for at in chosen]
    assert encode(sets)[np.array(chosen)].raw() == encode(picked).raw() == picked


@given(points, points, st.data())
def test_labels_depend_on_the_values_alone(sets, others, data):
    order = data.draw(st.permutations(range(len(sets))))
    moved = [sets[at] for at in [*order, order[0]]]
    (plain,) = encode(sets).identify()
    (again,) = encode(moved).identify()
    assert again.tolist() == plain[[*order, order[0]]].tolist()
    left, right = encode(sets).identify(encode(others))
    for i, a in zip(left, sets, strict=True):
        for j, b in zip(right, others, strict=True):
            assert (i == j) == (a == b)


@given(points, points)
def test_aligned_sets_meet_in_common_items(sets, others):
    A, B = align(encode(sets), encode(others))
    common = (A @ B.T).toarray()
    assert common.tolist() == [[len(a & b) for b in others] for a in sets]
    assert A.has_canonical_format
    assert B.has_canonical_format
    assert A.shape[1] == B.shape[1]


def test_a_batch_aligned_with_itself_is_itself():
    batch = encode([{1}, {2}])
    A, B = align(batch, batch)
    assert A is B is batch.members


INDICATOR = np.array([[1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    "raw",
    [
        INDICATOR,
        INDICATOR.astype(bool),
        INDICATOR.astype(np.float32),
        sp.csc_matrix(INDICATOR),
        sp.coo_array(INDICATOR.astype(bool)),
        pd.DataFrame(INDICATOR),
    ],
)
def test_indicator_matrices(raw):
    batch = encode(raw)
    assert batch.items is None
    assert batch.members.toarray().tolist() == INDICATOR.tolist()
    assert batch.members.dtype == np.float64
    assert batch.raw() == [{0, 2}, set()]


def test_columns_with_names_are_items():
    batch = encode(pl.DataFrame({"milk": [1, 0], "bread": [True, True]}))
    assert batch.items == ("bread", "milk")
    assert batch.raw() == [{"milk", "bread"}, {"bread"}]


def test_indicators_meet_sets_of_their_column_numbers():
    matrix, sets = encode(INDICATOR), encode([{2, 0}, {7}])
    left, right = matrix.identify(sets)
    assert left[0] == right[0]
    assert align(matrix, sets)[0].shape[1] == 4


@pytest.mark.parametrize(
    "raw",
    [
        [{"a"}, set()],
        [frozenset("a"), frozenset()],
        ({"a": 1}.keys(), set()),
        pd.Series([{"a"}, set()]),
        pd.DataFrame({"basket": [{"a"}, set()]}),
        pl.Series([{"a"}, set()], dtype=pl.Object),
    ],
)
def test_lists_of_sets(raw):
    batch = encode(raw)
    assert batch.items == ("a",)
    assert batch.raw() == [{"a"}, set()]
    assert encode(batch) is batch


def test_only_empty_sets():
    batch = encode([set(), set()])
    assert batch.identify()[0].tolist() == [0, 0]
    assert batch.identify(encode([{1}]))[1].tolist() == [1]


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (["abc"], InvalidType, r"a string is not a set of letters here.\nWrite set\(text\)"),
        ([[1, 2]], InvalidType, r"row 0 holds a list.*\nWrap it in set"),
        ([{1}, (1, 2)], InvalidType, "row 1 holds a tuple"),
        ([{1}, {"a": 1}], InvalidType, "row 1 holds a dict, which is not a set"),
        ([1, 2], InvalidType, "row 0 holds a int, which is not a set"),
        (np.array([0, 1]), InvalidType, "which is not a set"),
        ({1, 2}, InvalidType, "one set is one point"),
        ("abc", InvalidType, "not a list of points"),
        ([], InvalidInput, r"0 sample\(s\)"),
        (np.empty((0, 2)), InvalidInput, r"0 sample\(s\)"),
        (np.array([[0, 1], [1, 2]]), InvalidInput, "row 1, column 1 is 2,"),
        (sp.csr_array([[0, 1], [-1, 0]]), InvalidInput, "row 1, column 0 is -1,"),
        (np.array([[0, np.nan]]), InvalidInput, "NaN"),
    ],
)
def test_what_is_no_set(raw, error, message):
    with pytest.raises(error, match=message):
        encode(raw)


def test_indicators_of_different_widths():
    with pytest.raises(InvalidInput, match="indicator matrices of 2 and of 3 columns"):
        align(encode(np.eye(2)), encode(np.eye(3)))


def test_missing_items_are_one_item():
    batch = encode([{float("nan"), 1}, {float("nan"), None, 1}, {None, 1}])
    assert batch.items == (None, 1)
    assert batch.members.toarray().tolist() == [[1.0, 1.0]] * 3
    assert batch.identify()[0].tolist() == [0, 0, 0]


def test_columns_named_by_any_values_are_items():
    batch = encode(pd.DataFrame([[1, 0], [1, 1]], columns=[7, 3]))
    assert batch.raw() == [{7}, {7, 3}]
    left, right = batch.identify(encode([{7, 3}, {7}]))
    assert left.tolist() == right[::-1].tolist()


class Tensor:
    """An array of another library."""

    ndim = 2

    def __array__(self, dtype=None, copy=None):
        return INDICATOR


def test_indicators_of_other_libraries():
    assert encode(Tensor()).raw() == [{0, 2}, set()]


@pytest.mark.parametrize("named", [[{"milk"}], pd.DataFrame({"milk": [1], "bread": [0]})])
def test_words_are_no_column_numbers(named):
    for pair in ((named, INDICATOR), (INDICATOR, named)):
        with pytest.raises(InvalidInput, match="no item is in both"):
            align(*map(encode, pair))
    align(encode([set()]), encode(INDICATOR))


@pytest.mark.parametrize("form", [sp.coo_array, sp.csr_array])
def test_one_axis_is_no_matrix(form):
    with pytest.raises(InvalidInput, match="one-dimensional"):
        encode(form(np.array([1.0, 0.0])))
