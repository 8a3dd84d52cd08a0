"""What raw data are, when nobody says it: vectors, tables, sets."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from mercer.domains import (
    Batch,
    DenseBatch,
    Incomplete,
    Positions,
    RecordBatch,
    Records,
    Sets,
)
from mercer.domains.reading import Frame, as_table, series_of
from mercer.domains.tables import has_records, holds_columns
from mercer.errors import InvalidInput, InvalidType


def looks_like_vectors(X: Any) -> bool:
    """Whether raw data are rows of numbers, or are to be read as such.

    A DataFrame of numbers with gaps is a table: its columns are filled, each in its way.

    >>> looks_like_vectors([[1.0, 2.0]]), looks_like_vectors([{"a"}, {"b"}])
    (True, False)
    """
    if isinstance(X, Batch):
        return False
    if sp.issparse(X) or isinstance(X, np.ndarray):
        return not (isinstance(X, np.ndarray) and X.ndim == 2 and holds_columns(X))
    table = as_table(X)
    if table is not None:
        return not holds_columns(X) and not (
            isinstance(table, nw.DataFrame) and has_gaps(table)
        )
    if has_records(X) or isinstance(X, dict):
        return False
    if isinstance(X, list | tuple) and X:
        return not isinstance(X[0], str | AbstractSet | dict)
    return True


def has_gaps(table: Frame) -> bool:
    """Whether a value is missing: null, or NaN among numbers."""
    for series in series_of(table):
        if series.is_null().any() or (series.dtype.is_float() and series.is_nan().any()):
            return True
    return False


def natural(X: Any) -> Batch:
    """Points in the domain that suits them.

    Raises:
        InvalidType: Nothing here has a kernel to start from.
    """
    if isinstance(X, Batch):
        return X
    if isinstance(X, list | tuple) and X and all(isinstance(x, AbstractSet) for x in X):
        return Sets().encode(X)
    if isinstance(X, list | tuple) and X and not has_records(X) and isinstance(X[0], str):
        raise InvalidType(
            "these points are texts, and no kernel is chosen for texts by itself.\nPass one: "
            "mercer.Delta() compares labels, or write a kernel with mercer.from_function."
        )
    if holds_columns(X) or has_records(X) or isinstance(as_table(X), nw.DataFrame):
        return _finite(Records().encode(X))
    return Positions().encode(X)


def _finite(table: RecordBatch) -> RecordBatch:
    """The same, unless a number is infinite; the rows are still those that the user knows."""
    for name, part in table.columns.items():
        if isinstance(part, DenseBatch):
            try:
                Incomplete().encode(part)
            except InvalidInput as error:
                raise InvalidInput(f"column {name!r}: {error}") from error
    return table
