import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains.contents import content, object_labels, ordered, rank_key
from mercer.errors import InvalidInput, InvalidType

numbers = st.integers() | st.floats(allow_nan=False)
leaves = st.none() | st.booleans() | numbers | st.text(max_size=3)
hashables = st.recursive(
    leaves,
    lambda s: st.lists(s, max_size=3).map(tuple) | st.frozensets(s, max_size=3),
    max_leaves=6,
)


@given(hashables, hashables)
def test_contents_are_equal_when_the_values_are(a, b):
    assert (content(a) == content(b)) == (a == b)


@given(st.lists(hashables, min_size=1), st.randoms(use_true_random=False))
def test_labels_follow_the_values_and_not_the_rows(values, random):
    order = random.sample(range(len(values)), len(values))
    labels = object_labels(values)
    moved = object_labels([values[at] for at in order])
    assert moved.tolist() == labels[order].tolist()


@given(st.lists(hashables))
def test_ordered_keeps_each_value_once(values):
    assert set(ordered(values)) == set(values)
    assert len(ordered(values)) == len(set(values))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, [2.0]], [1.0, [2]]),
        ({"a": [1], "b": 2}, {"b": 2, "a": [1]}),
        ({1, 2}, frozenset({2, 1})),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([1, 2.5, None], dtype=object), np.array([1, 2.5, np.nan])),
        (np.array([np.int64(1), True], dtype=object), np.array([1, 1])),
        (np.array(["a", "b"]), np.array(["a", "b"])),
        (float("nan"), None),
        (("x", float("nan")), ("x", float("nan"))),
        (np.int64(3), 3),
        (bytearray(b"a"), bytearray(b"a")),
    ],
)
def test_equal_values(a, b):
    assert content(a) == content(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1], (1,)),
        (np.array([1, 2]), np.array([[1, 2]])),
        (np.array([2**60]), np.array([2**60 + 1])),
        (np.array([2**60], dtype=object), np.array([2**60 + 1], dtype=object)),
        (np.array([1, "1"], dtype=object), np.array([1, 1], dtype=object)),
        (np.array([1]), [1]),
        ("1", 1),
        (b"1", "1"),
    ],
)
def test_different_values(a, b):
    assert content(a) != content(b)


def test_a_pickle_does_not_depend_on_which_parts_are_one_object():
    one, two = "ab" * 2, "ab" * int("2")
    assert content(_Unhashable(one, one)) == content(_Unhashable(one, two))


class _Unhashable:
    __hash__ = None

    def __init__(self, *parts):
        self.parts = parts


def test_what_can_be_neither_hashed_nor_pickled():
    with pytest.raises(InvalidType, match="neither hashed nor pickled"):
        content(_Unhashable(lambda: 0))


def test_values_are_sorted_by_type_then_value():
    day = dt.date(2020, 1, 1)
    values = ["b", 2, None, ("z", 1), b"x", 1.5, "a", day, True, Decimal(3), frozenset("ba")]
    kinds = [rank_key(content(value))[0] for value in ordered(values)]
    assert kinds == sorted(kinds)
    assert [v for v in ordered(values) if isinstance(v, int | float)] == [True, 1.5, 2]


def test_objects_that_nothing_orders_stay_as_they_came():
    class Local:
        pass

    values = [Local(), Local()]
    assert ordered(values) == values


class Tensor:
    """Equal by identity and hashed by place, as torch's tensors are."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_tensors_are_compared_by_what_they_hold():
    assert content(Tensor([1.0, 2.0])) == content(np.array([1, 2]))
    assert content(Tensor(3)) == content(3) == content(np.array(3))
    assert content(Tensor(np.nan)) is None


def test_the_order_of_numbers_of_two_precisions():
    pair = [0.1, np.float32(0.1)]  # equal for NumPy, but not for their hashes
    assert object_labels(pair).tolist() == object_labels(pair[::-1])[::-1].tolist() == [0, 1]
    assert ordered(pair) == ordered(pair[::-1])


def test_masked_rows_are_no_content():
    with pytest.raises(InvalidInput, match="masked"):
        content(np.ma.array([1, 2], mask=[False, True]))


def test_a_signalling_nan_is_missing():
    assert content(Decimal("sNaN")) is None
