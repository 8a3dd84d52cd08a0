import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import (
    NATURALS,
    NONNEGATIVE,
    POSITIVE,
    REALS,
    Numbers,
    Vectors,
    interval,
)
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter

bounds = st.none() | st.integers(-3, 3).map(float)


@pytest.mark.parametrize(
    "raw",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2]),
        [[1], [2]],
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pl.DataFrame({"x": [1, 2]}),
        sp.csr_array([[1.0], [2.0]]),
    ],
    ids=lambda raw: type(raw).__module__.split(".")[0],
)
def test_points_on_the_line(raw):
    assert REALS.encode(raw).values.tolist() == [[1.0], [2.0]]


def test_single_precision_and_memory_are_kept():
    x = np.ones(3, dtype=np.float32)
    batch = REALS.encode(x)
    assert batch.values.dtype == np.float32
    assert np.shares_memory(batch.values, x)


def test_a_batch_is_checked_and_returned():
    batch = REALS.encode([-1.0])
    assert REALS.encode(batch) is batch
    with pytest.raises(InvalidInput, match="outside the domain"):
        NONNEGATIVE.encode(batch)
    assert REALS.encode(Vectors().encode(sp.csr_array([[2.0]]))).values.tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("domain", "raw", "message"),
    [
        (NONNEGATIVE, [1, 2, -3.5], "number -3.5 at row 2 is outside the domain: numbers >= 0"),
        (POSITIVE, [0.0], "numbers > 0 are asked for"),
        (interval(-1, 1), [0, 1.0], r"number 1.0 at row 1.*numbers in \(-1, 1\)"),
        (NATURALS, [1, 2.5], "2.5 at row 1 is not whole"),
        (NATURALS, [0], "whole numbers >= 1"),
        (NATURALS, [2**53 + 1], "too large to be told apart in float64"),
        (NATURALS, np.array([2**24 + 2], np.float32), "too large to be told apart in float32"),
        (Numbers(high=1), [2], "numbers <= 1"),
        (REALS, [[1, 2]], "the points have 2 columns"),
        (REALS, [1, np.nan], "1 of 2 values is NaN"),
        (REALS, [1, -np.inf], "infinite"),
        (REALS, [], r"0 sample\(s\)"),
        (REALS, ["a"], "hold text"),
        (REALS, Vectors().encode([[1, 2]]), "the points have 2 columns"),
    ],
)
def test_what_is_no_point(domain, raw, message):
    with pytest.raises(InvalidInput, match=message):
        domain.encode(raw)


@given(bounds, bounds, st.booleans(), st.booleans(), st.booleans(), bounds, bounds)
def test_the_meet_holds_the_common_points(low, high, open_low, open_high, whole, a, b):
    grid = np.arange(-4, 4.5, 0.5)

    def inside(domain):
        out = set()
        for x in grid:
            try:
                domain.encode([x])
            except InvalidInput:
                continue
            out.add(x)
        return out

    try:
        one, two = Numbers(low, high, open_low, open_high, whole), Numbers(a, b)
    except InvalidParameter:
        return
    common = inside(one) & inside(two)
    try:
        assert inside(one.meet(two)) == common
        assert one.meet(two) == two.meet(one)
    except DomainMismatch:
        assert not common


def test_no_common_number():
    with pytest.raises(DomainMismatch, match="no number belongs to both"):
        Numbers(low=1).meet(Numbers(high=0))
    with pytest.raises(DomainMismatch, match="no number belongs to both"):
        POSITIVE.meet(Numbers(high=0))
    with pytest.raises(DomainMismatch, match="no number belongs to both"):
        NATURALS.meet(interval(1, 2))


def test_vectors_pass_their_constraint_on():
    assert Vectors(nonnegative=True).meet(REALS) == NONNEGATIVE
    assert NATURALS.meet(Vectors(max_width=2)) == NATURALS
    assert interval(-1, 1).meet(Vectors(nonnegative=True)).name == "numbers in [0, 1)"


@pytest.mark.parametrize(
    "bounds",
    [
        {"low": 1, "high": 0},
        {"low": 1, "high": 1, "open_low": True},
        {"low": math.nan},
        {"low": 0.2, "high": 0.8, "whole": True},
        {"low": 0, "high": 1, "open_low": True, "open_high": True, "whole": True},
        {"low": math.inf},
    ],
)
def test_domains_without_numbers(bounds):
    with pytest.raises(InvalidParameter, match="no number lies between"):
        Numbers(**bounds)


def test_equal_domains_are_equal_values():
    assert Numbers(low=-math.inf, open_low=True) == REALS
    assert Numbers(low=0) == Numbers(low=0.0)
    assert hash(Numbers(low=0)) == hash(NONNEGATIVE)
    assert Numbers(low=2, high=2).encode([2]).width == 1
    assert Numbers(whole=True).name == "whole numbers"
    assert Numbers(high=1, open_high=True).name == "numbers < 1"


@pytest.mark.parametrize("bound", ["a", "1", True, [0.0], 1j])
def test_bounds_are_numbers(bound):
    for name in ("low", "high"):
        with pytest.raises(InvalidParameter, match=f"a number for {name}"):
            Numbers(**{name: bound})
