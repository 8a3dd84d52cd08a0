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
from mercer.domains.coordinates import DenseBatch
from mercer.domains.objects import ObjectBatch, listed
from mercer.domains.reading import (
    array_of,
    as_table,
    floats_of_array,
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
            "Call .to_frame()."
        )
    elif isinstance(raw, Mapping):
        columns = dict(raw)
    elif isinstance(raw, np.ndarray) and raw.dtype.names:
        columns = {name: raw[name] for name in raw.dtype.names}
    elif isinstance(raw, list | tuple) and raw and all(isinstance(r, Mapping) for r in raw):
        names = dict.fromkeys(name for row in raw for name in row)
        columns = {name: [row.get(name) for row in raw] for name in names}
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
        if isinstance(values, nw.Series):
            numeric = values.dtype.is_numeric()
            values = floats_of_series(values, "it") if numeric else values.to_list()
        elif sp.issparse(values):
            return read_vectors(values)
        elif hasattr(values, "__array__"):
            values = array_of(values)
        if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and values.ndim <= 2:
            return _numbers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind in "bUS" and values.ndim == 1:
            return Categories().encode(values)
        return _encode_objects(listed(values))
    except (InvalidInput, InvalidType) as error:
        raise type(error)(f"column {name!r}: {error}") from error


def _numbers(values: np.ndarray[Any, Any]) -> DenseBatch:
    floats = floats_of_array(values)
    matrix = floats if floats.ndim == 2 else floats[:, np.newaxis]
    return DenseBatch(np.ascontiguousarray(matrix))


def _encode_objects(values: Sequence[Any]) -> Batch:
    present = [value for value in values if not is_missing(value)]
    words = bool | np.bool_ | str | bytes
    if present and all(_is_number(value) for value in present):
        return _numbers(floats_of_array(objects_of(list(values))))
    if all(isinstance(value, words) or _is_number(value) for value in present):
        return Categories().encode(list(values))
    if len(present) == len(values) and all(isinstance(value, AbstractSet) for value in values):
        return Sets().encode(list(values))
    return ObjectBatch(tuple(values))


def _is_number(value: Any) -> bool:
    return isinstance(
        value, int | float | np.integer | np.floating | Decimal
    ) and not isinstance(value, bool)
