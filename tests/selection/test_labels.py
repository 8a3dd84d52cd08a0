"""Labels of classes, of any type, and what a class weighs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import InvalidInput, InvalidParameter
from mercer.selection.labels import class_weights, read_labels, require_two


@pytest.mark.parametrize(
    "given",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
        (2, 1, 2),
        [True, False, True],
        np.array([2.0, 1.0, 2.0]),
    ],
)
def test_labels_are_read_in_any_form(given):
    labels = read_labels(given, 3, "Machine")
    assert labels.codes.tolist() == [1, 0, 1]
    assert sorted(labels.classes) == list(labels.classes)
    assert labels.columns().tolist() == [[1.0], [-1.0], [1.0]]
    assert labels.hot().tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]


def test_three_classes_have_three_columns():
    labels = read_labels([5, 7, 9, 7], 4, "Machine")
    assert labels.columns().shape == (4, 3)
    assert (labels.columns().sum(axis=1) == -1).all()
    few = labels.kept(np.array([0, 2, 2]))
    assert few.classes.tolist() == [5, 9]
    assert few.codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "given", [None, [1.5, 2.5, 3.5], ["a", "b"], [["a"], ["b"], ["c", "d"]], [1, np.nan, 2],
              [1, np.inf, 2], np.array([1, "a", None], object)]
)  # fmt: skip
def test_what_is_no_label_is_refused(given):
    with pytest.raises((ValueError, TypeError)):
        read_labels(given, 3, "Machine")


def test_one_class_is_named():
    with pytest.raises(InvalidInput, match="'x'"):
        require_two(np.array(["x"]), "Machine")
    require_two(np.array(["x", "y"]), "Machine")


def test_balance_gives_each_class_the_same_total():
    labels = read_labels([0, 0, 0, 1], 4, "Machine")
    weights = np.array([1.0, 2.0, 1.0, 2.0])
    factors = class_weights("balanced", labels, weights)
    totals = np.bincount(labels.codes, weights * factors)
    np.testing.assert_allclose(totals, [3.0, 3.0])
    assert class_weights(None, labels, weights).tolist() == [1.0] * 4
    assert class_weights({1: 5.0}, labels, weights).tolist() == [1.0, 1.0, 1.0, 5.0]
    whole = {0: 2.0, 1: 5.0, 2: 9.0}  # as for data of which these are a part
    assert class_weights(whole, labels, weights).tolist() == [2.0, 2.0, 2.0, 5.0]


@pytest.mark.parametrize("given", ["even", 3, {2: 1.0}, {0: 0.0}, {0: np.nan}])
def test_weights_of_classes_that_mean_nothing_are_refused(given):
    labels = read_labels([0, 0, 0, 1], 4, "Machine")
    with pytest.raises(InvalidParameter, match="class_weight"):
        class_weights(given, labels, None)
