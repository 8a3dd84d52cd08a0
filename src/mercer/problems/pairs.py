"""Several classes as problems of two: which there are, and what they decide together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mercer.types import Indices

Reals = NDArray[np.float64]
Problem = tuple[Indices, Reals]
"""The rows of a problem of two classes, and a sign for each."""


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in scikit-learn's order."""
    return list(combinations(range(classes), 2))


def problems_of(codes: Indices, *, rest: bool) -> list[Problem]:
    """The problems of two classes that tell all classes apart.

    Two classes are one problem, where 1 is the sign of the second. More are a problem for
    each pair, where 1 is the sign of the first, or for each class against the rest.

    Args:
        codes: The class of each row.
        rest: Whether each class is told from the rest.

    Example:
        >>> [places.tolist() for places, _ in problems_of(np.array([0, 1, 2]), rest=False)]
        [[0, 1], [0, 2], [1, 2]]
    """
    classes, every = int(codes.max()) + 1, np.arange(len(codes))
    if classes == 2:
        return [(every, np.where(codes == 1, 1.0, -1.0))]
    if rest:
        return [(every, np.where(codes == own, 1.0, -1.0)) for own in range(classes)]
    found = []
    for first, second in pairs_of(classes):
        places = np.flatnonzero((codes == first) | (codes == second))
        found.append((places, np.where(codes[places] == first, 1.0, -1.0)))
    return found


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
