"""Parts of the data that are held out in turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidParameter
from mercer.types import Indices


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, and rows to be asked.

    Attributes:
        train: Which rows are learned from.
        test: The rows that are asked.
    """

    train: NDArray[np.bool_]
    test: Indices


def interleaved(rows: int, count: int, codes: Indices | None = None) -> list[Fold]:
    """Folds that hold out every `count`-th row, class by class where there are classes.

    Rows are distinct and in canonical order here, so the folds depend on the data alone: not
    on the order in which they came, and not on chance.

    Args:
        rows: How many there are.
        count: How many folds.
        codes: The class of each row.

    Example:
        >>> [fold.test.tolist() for fold in interleaved(5, 2)]
        [[0, 2, 4], [1, 3]]
    """
    order = np.arange(rows) if codes is None else np.argsort(codes, kind="stable")
    place = np.empty(rows, np.int64)
    # Classes go on where the last one ended, so that the folds are of one size.
    place[order] = np.arange(rows) % count
    return [Fold(place != at, np.flatnonzero(place == at)) for at in range(count)]


def count_of(folds: Any, rows: int) -> int | None:
    """The number of folds, where only that is given; None where the folds are.

    Raises:
        InvalidParameter: The number makes no sense for so many rows.
    """
    if not isinstance(folds, Integral) or isinstance(folds, bool):
        return None
    if not 2 <= int(folds) <= rows:
        raise InvalidParameter(
            f"folds is a number from 2 to that of the distinct rows, here {rows}, got {folds}."
        )
    return int(folds)


def folds_of(given: Any, rows: int, labels: Any = None) -> list[Fold]:
    """Folds as the user has them: pairs of row indices, or what splits as in scikit-learn.

    Args:
        given: Pairs (train, test) of indices, or an object with `split`.
        rows: How many rows there are.
        labels: What such an object may look at.

    Raises:
        InvalidParameter: They are no folds.
        InvalidInput: An index is outside.
    """
    splits = hasattr(given, "split") and not isinstance(given, str)
    pairs = given.split(np.zeros((rows, 1)), labels) if splits else given
    if not isinstance(pairs, Iterable) or isinstance(pairs, str):
        raise InvalidParameter(
            f"folds is a number, pairs (train, test) of row indices, or a splitter of "
            f"scikit-learn's, got {given!r}."
        )
    found = [_fold(pair, rows) for pair in pairs]
    if not found:
        raise InvalidParameter("folds are empty: there is nothing to hold out.")
    return found


def _fold(pair: Any, rows: int) -> Fold:
    try:
        train, test = (np.asarray(part) for part in pair)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"a fold is a pair (train, test) of row indices, got {pair!r}."
        ) from None
    for part in (train, test):
        if part.ndim != 1 or not len(part) or part.dtype.kind not in "iub":
            raise InvalidParameter("a fold has row indices on both sides, and at least one.")
    train, test = (np.flatnonzero(p) if p.dtype.kind == "b" else p for p in (train, test))
    if max(train.max(), test.max()) >= rows or min(train.min(), test.min()) < -rows:
        raise InvalidInput(f"a fold names a row that is not there: there are {rows}.")
    inside = np.zeros(rows, np.bool_)
    inside[train] = True
    return Fold(inside, np.arange(rows)[test])
