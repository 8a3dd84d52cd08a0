"""Labels of classes: which there are, which each row has, and what a class weighs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from mercer.errors import InvalidInput, InvalidParameter
from mercer.types import Array, Indices

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of rows.

    Attributes:
        classes: The distinct labels, in order.
        codes: For each row the place of its label among them.
    """

    classes: Array
    codes: Indices

    def kept(self, codes: Indices) -> Labels:
        """The labels of rows with these codes, and only the classes that occur."""
        found, places = np.unique(codes, return_inverse=True)
        return Labels(self.classes[found], places.astype(np.int64))

    def signs(self) -> Reals:
        """-1 for the first of two classes and 1 for the second."""
        return np.where(self.codes > 0, 1.0, -1.0)

    def columns(self) -> Reals:
        """Targets of -1 and 1: one column for two classes, else one a class."""
        if len(self.classes) <= 2:
            return self.signs()[:, None]
        return 2 * self.hot() - 1

    def hot(self) -> Reals:
        """A row a point, with a one at its class."""
        found: Reals = np.eye(len(self.classes))[self.codes]
        return found


def read_labels(y: Any, rows: int, owner: str) -> Labels:
    """The labels of rows, of any type that has an order.

    Args:
        y: A label a row.
        rows: How many there are.
        owner: Who asks, for the messages.

    Raises:
        InvalidInput: They are missing, continuous, or too few.

    Example:
        >>> read_labels(["no", "yes", "no"], 3, "a classifier").codes
        array([0, 1, 0])
    """
    if y is None:
        raise InvalidInput(
            f"This {owner} estimator requires y to be passed, but the target y is None."
        )
    given = column_or_1d(_plain(y), warn=True)
    if given.dtype.kind == "f":
        assert_all_finite(given, input_name="y")
    check_consistent_length(np.empty(rows), given)
    try:
        check_classification_targets(given)
        classes, codes = np.unique(given, return_inverse=True)
    except TypeError as error:
        raise InvalidInput(
            f"the labels have no common order ({error}).\nMake them all texts or all numbers."
        ) from error
    return Labels(classes, codes.astype(np.int64))


def require_two(classes: Array, owner: str) -> None:
    """Raise unless there are at least two classes."""
    if len(classes) < 2:
        raise InvalidInput(
            f"{owner} tells classes apart, and all rows of positive weight are of one class, "
            f"{classes.tolist()[0]!r}.\nGive it rows of at least two classes."
        )


def class_weights(given: Any, labels: Labels, weights: Reals | None) -> Reals:
    """A factor for the weight of each row.

    Args:
        given: None, "balanced" (each class gets the same total), or a number a label.
        labels: The labels.
        weights: The weights of the rows, None for ones.

    Raises:
        InvalidParameter: It is none of these, or names a class that is not there while one
            that is there has no number.
    """
    factors: Reals = np.ones(len(labels.classes))
    if given is None:
        return factors[labels.codes]
    if isinstance(given, str) and given == "balanced":
        mass = np.bincount(labels.codes, weights, len(labels.classes)).astype(np.float64)
        factors = mass.sum() / (len(mass) * mass)
        return factors[labels.codes]
    if not isinstance(given, dict):
        raise InvalidParameter(
            f'class_weight is None, "balanced" or a dict of labels and numbers, got {given!r}.'
        )
    names = labels.classes.tolist()
    for name, factor in given.items():
        if name not in names:
            if all(one in given for one in names):
                continue  # nothing is misspelt: the class is not in this part of the data
            raise InvalidParameter(
                f"class_weight names the class {name!r}, and the classes are {names}."
            )
        if not (np.isfinite(factor) and factor > 0):
            raise InvalidParameter(
                f"class_weight of {name!r} is a number > 0, got {factor!r}.\nA class that is "
                "not to count is left out of the data."
            )
        factors[names.index(name)] = factor
    return factors[labels.codes]


def _plain(y: Any) -> Any:
    """Labels as an array; a Series of any library or a column of texts too."""
    array = np.asarray(y)
    if array.dtype == object and array.ndim == 1 and all(isinstance(v, str) for v in array):
        return array.astype(str)
    return array
