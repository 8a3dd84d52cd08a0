"""Pairs of classes: which there are, and what they decide together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in scikit-learn's order."""
    return list(combinations(range(classes), 2))


def votes(values: Reals, classes: int) -> Reals:
    """How many pairs each class wins: a row a point, a column a class."""
    found = np.zeros((len(values), classes))
    for column, (first, second) in enumerate(pairs_of(classes)):
        wins = values[:, column] > 0
        found[:, first] += wins
        found[:, second] += ~wins
    return found


def against_rest(values: Reals, classes: int) -> Reals:
    """A number a class: its votes, and less than one for how sure the pairs are."""
    sure = np.zeros((len(values), classes))
    for column, (first, second) in enumerate(pairs_of(classes)):
        sure[:, first] += values[:, column]
        sure[:, second] -= values[:, column]
    # A decision that is even counts for the first class, as scikit-learn has it here.
    won = votes(np.where(values == 0, 1.0, values), classes)
    decided: Reals = won + sure / (3 * (np.abs(sure) + 1))
    return decided
