"""Vectors with gaps."""

import numpy as np
import pandas as pd
import pytest

from mercer.domains import Categories, DenseBatch, Incomplete, Vectors
from mercer.errors import InvalidInput, InvalidType


@pytest.mark.parametrize(
    "raw",
    [
        [[1.0, None], [3.0, 4.0]],
        np.array([[1.0, np.nan], [3.0, 4.0]]),
        pd.DataFrame({"a": [1.0, 3.0], "b": [None, 4.0]}),
    ],
)
def test_gaps_are_kept_as_nan(raw):
    batch = Incomplete().encode(raw)
    np.testing.assert_array_equal(batch.values, [[1.0, np.nan], [3.0, 4.0]])


def test_infinity_is_an_error_that_names_its_place():
    with pytest.raises(InvalidInput, match="row 1, column 0"):
        Incomplete().encode([[np.nan, 1.0], [np.inf, 2.0]])


def test_vectors_with_and_without_gaps_have_the_latter_in_common():
    assert Incomplete().meet(Vectors(nonnegative=True)) == Vectors(nonnegative=True)
    assert Vectors().meet(Incomplete()) == Vectors()
    assert Incomplete().meet(Incomplete()) == Incomplete()


def test_a_batch_is_checked_and_kept():
    batch = DenseBatch(np.array([[np.nan, 1.0]]))
    assert Incomplete().encode(batch) is batch
    with pytest.raises(InvalidType, match="vectors with gaps"):
        Incomplete().encode(Categories().encode(["a"]))


def test_what_the_vectors_have_to_be_is_still_asked():
    with pytest.raises(InvalidInput, match="wider than the 1"):
        Incomplete(max_width=1).encode([[1.0, 2.0]])
