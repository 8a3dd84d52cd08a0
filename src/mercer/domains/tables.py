"""Reading tables: raw data of mixed types as named columns, each encoded by what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from mercer.domains.base import Batch
from mercer.domains.categories import Categories
from mercer.domains.contents import EXACT
from mercer.domains.objects import ObjectBatch, listed
from mercer.domains.reading import (
    Series,
    array_of,
    as_table,
    floats_of_series,
    is_missing,
    objects_of,
    series_of,
)
from mercer.domains.sets import Sets
from mercer.domains.vectors import read_vectors
from mercer.errors import InvalidInput, InvalidType

Name: TypeAlias = str | int


def encode_columns(raw: Any) -> dict[Name, Batch]:
    """The columns of any table as batches of one length.

    Example:
        >>> table = encode_columns({"age": [31, None], "city": ["Rome", "Oslo"]})
        >>> table["age"].values.ravel(), table["city"].levels
        (array([31., nan]), ('Oslo', 'Rome'))
    """
    parts = {name: _encode_column(name, values) for name, values in _split(raw).items()}
    _check_lengths(parts)
    return parts


def _split(raw: Any) -> dict[Name, Any]:
    """The columns of a table, whatever kind of table it is."""
    table = as_table(raw)
    if isinstance(table, nw.DataFrame):
        columns: dict[Name, Any] = dict(zip(table.columns, series_of(table), strict=True))
    elif isinstance(table, nw.Series):
        raise InvalidInput(
            f"a Series (name {table.name!r}) is one column, and a table is asked for.\n"
            "Call .to_frame(); or pass [row], a list of points, if it is a row of a table."
        )
    elif isinstance(raw, Mapping):
        columns = dict(raw)
    elif isinstance(raw, np.ndarray) and raw.dtype.names:
        columns = {name: raw[name] for name in raw.dtype.names}
    elif has_records(raw):
        rows = list(map(_record, raw))
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
    elif sp.issparse(raw):
        raise InvalidType(
            "a sparse matrix has no columns of different kinds.\nPass a kernel on vectors, or "
            'a dict of its parts, {"words": X[:, :9], "age": X[:, 9]}.'
        )
    else:
        matrix = array_of(raw)
        if matrix.ndim != 2:
            raise InvalidInput(
                f"data of shape {matrix.shape} have no columns, and the kernel reads columns.\n"
                "Pass a DataFrame, a dict of columns, a list of dicts or a matrix."
            )
        columns = {at: matrix[:, at] for at in range(matrix.shape[1])}
    if not columns:
        raise InvalidInput("the table has no columns, and points have at least one part.")
    return columns


def has_records(raw: Any) -> bool:
    """Is it a list of points with named parts: dicts, or rows of a DataFrame?"""
    return isinstance(raw, list | tuple) and bool(raw) and all(map(_is_record, raw))


def holds_columns(raw: Any) -> bool:
    """Is it a table that is more than a matrix of floats?"""
    table = as_table(raw)
    if isinstance(table, nw.DataFrame):
        return not all(s.dtype == nw.Boolean or _are_floats(s) for s in series_of(table))
    if isinstance(raw, np.ndarray) and raw.ndim == 2:
        words = raw.dtype.kind in "OUS" and not all(map(is_number, raw.flat))
        return words or _outgrows_floats(raw)
    return (
        isinstance(raw, Mapping)
        or has_records(raw)
        or (isinstance(raw, np.ndarray) and raw.dtype.names is not None)
    )


def _are_floats(column: Series) -> bool:
    return column.dtype.is_numeric() and not _outgrows_floats(column)


def _is_record(point: Any) -> bool:
    # A row of a DataFrame of pandas, or of a library like it, is a Series with labels.
    labelled = hasattr(point, "keys") and hasattr(point, "to_dict")
    return isinstance(point, Mapping) or (labelled and getattr(point, "ndim", 0) == 1)


def _record(point: Any) -> Mapping[Name, Any]:
    parts: Mapping[Name, Any] = point if isinstance(point, Mapping) else point.to_dict()
    if len(parts) < len(point):
        raise InvalidInput(
            "a row has several parts of one name, so a name does not say which one is meant.\n"
            "Rename or drop them."
        )
    return parts


def _check_lengths(parts: dict[Name, Batch]) -> None:
    first, *rest = parts
    for name in rest:
        if len(parts[name]) != len(parts[first]):
            raise InvalidInput(
                f"column {first!r} has {len(parts[first])} rows and column {name!r} has "
                f"{len(parts[name])}: a row is one point.\nPass columns of one length."
            )
    if len(parts[first]) == 0:
        raise InvalidInput(
            "0 sample(s) while a minimum of 1 is required.\n"
            "The table has no rows: look at the step that selected the data."
        )


def _encode_column(name: Name, values: Any) -> Batch:
    """A column as a batch of the kind of thing it holds."""
    if isinstance(values, Batch):
        return values
    try:
        table = values if isinstance(values, nw.Series) else as_table(values)
        values = table if isinstance(table, nw.Series) else values
        if isinstance(values, nw.Series):
            floats = _are_floats(values)
            values = floats_of_series(values, "it") if floats else values.to_list()
        elif sp.issparse(values):
            return read_vectors(values)
        elif hasattr(values, "__array__"):
            values = array_of(values)
        if isinstance(values, np.ndarray) and values.ndim <= 2:
            return _encode_array(values)
        return _encode_objects(listed(values))
    except (InvalidInput, InvalidType) as error:
        raise type(error)(f"column {name!r}: {error}") from error


def _encode_array(values: np.ndarray[Any, Any]) -> Batch:
    kind, matrix = values.dtype.kind, values.ndim != 1
    if kind in "iuf" and (matrix or not _outgrows_floats(values)):
        return read_vectors(values, line=True)
    if kind == "b" and matrix:
        return read_vectors(values)
    if kind in "biuUS" and not matrix:
        return Categories().encode(values)
    return _encode_objects(listed(values))


def _outgrows_floats(whole: Series | np.ndarray[Any, Any]) -> bool:
    """Are there whole numbers that float64 may not tell apart? Such are labels, as of users."""
    if isinstance(whole, nw.Series):
        if not whole.dtype.is_integer():
            return False
    elif whole.dtype.kind not in "iu" or whole.size == 0:
        return False
    ends = whole.min(), whole.max()
    return any(not is_missing(end) and abs(int(end)) > EXACT for end in ends)


def _encode_objects(values: Sequence[Any]) -> Batch:
    present = [value for value in values if not is_missing(value)]
    words = bool | np.bool_ | str | bytes
    numbers = present and all(is_number(value) for value in present)
    outgrown = any(
        isinstance(value, int | np.integer) and abs(int(value)) > EXACT for value in present
    )
    if numbers and not outgrown:
        return read_vectors(objects_of(list(values)), line=True)
    if all(isinstance(value, words) or is_number(value) for value in present):
        return Categories().encode(list(values))
    if len(present) == len(values) and all(isinstance(value, AbstractSet) for value in values):
        return Sets().encode(list(values))
    return ObjectBatch(tuple(values))


def is_number(value: Any) -> bool:
    """Is it a real number? True and False are words here."""
    return isinstance(
        value, int | float | np.integer | np.floating | Decimal
    ) and not isinstance(value, bool)
