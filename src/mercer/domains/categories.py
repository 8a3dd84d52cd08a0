"""Points that are labels: a city, a colour, yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from mercer.domains.base import Batch, Domain
from mercer.domains.contents import is_hashable, ordered
from mercer.domains.objects import listed
from mercer.domains.order import parted
from mercer.domains.reading import as_table, is_missing, series_of
from mercer.errors import InvalidInput, InvalidType
from mercer.types import Indices


@dataclass(frozen=True, eq=False)
class CategoryBatch(Batch):
    """Labels, stored once each.

    Attributes:
        codes: For each point, the position of its label in `levels`.
        levels: The labels in canonical order; None is the label of missing values.
    """

    codes: Indices
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(self.codes[index], self.levels)

    def raw(self) -> Sequence[Any]:
        return [self.levels[code] for code in self.codes]

    def codes_in(self, levels: Sequence[Any]) -> Indices:
        """The position of each point's label among other levels, -1 where it is not there."""
        if levels is self.levels:
            return self.codes
        position = {level: at for at, level in enumerate(levels)}
        table = [position.get(level, -1) for level in self.levels]
        return np.array(table, dtype=np.int64)[self.codes]

    def identify(self, *others: CategoryBatch) -> tuple[Indices, ...]:
        batches = (self, *others)
        levels = self.levels
        if any(batch.levels is not levels for batch in others):
            levels = tuple(ordered(level for batch in batches for level in batch.levels))
        codes = np.concatenate([batch.codes_in(levels) for batch in batches])
        # Only the labels that occur count: slices keep all the levels.
        occurs = np.bincount(codes, minlength=len(levels)) > 0
        return parted((np.cumsum(occurs) - 1)[codes], map(len, batches))


@dataclass(frozen=True)
class Categories(Domain):
    """Labels: words, whole numbers, booleans, anything hashable.

    Labels are equal as Python's values are (1, 1.0 and True are one). Missing values (None,
    NaN, NaT) are one label, None, which equals itself.

    Example:
        >>> batch = Categories().encode(["red", None, "blue", "red"])
        >>> batch.levels, batch.codes
        ((None, 'blue', 'red'), array([2, 0, 1, 2]))
    """

    @property
    def name(self) -> str:
        return "categories"

    def encode(self, raw: Any) -> CategoryBatch:
        if isinstance(raw, CategoryBatch):
            return raw
        if isinstance(raw, Batch):
            raise self.misread(raw)
        column = _one_column(raw)
        if isinstance(column, np.ndarray):
            return _from_array(column)
        return _from_objects([None if is_missing(value) else value for value in column])


def _from_array(column: np.ndarray[Any, Any]) -> CategoryBatch:
    """Labels of one simple type: NumPy finds the distinct ones."""
    values, codes = np.unique(column, return_inverse=True)
    found = [None if is_missing(value) else value for value in values.tolist()]
    few = _from_objects(found)
    return CategoryBatch(few.codes[codes], few.levels)


def _from_objects(column: Sequence[Any]) -> CategoryBatch:
    try:
        levels = ordered(column)
    except TypeError as error:
        row, label = next((i, v) for i, v in enumerate(column) if not is_hashable(v))
        raise InvalidType(
            f"row {row} holds a {type(label).__name__}, which cannot be a label, because it "
            "cannot be hashed.\nUse a tuple or a text in its place, or a kernel made for such "
            "points."
        ) from error
    position = {level: at for at, level in enumerate(levels)}
    codes = np.fromiter((position[value] for value in column), np.int64, len(column))
    return CategoryBatch(codes, tuple(levels))


def _one_column(raw: Any) -> Sequence[Any] | np.ndarray[Any, Any]:
    table = as_table(raw)
    if isinstance(table, nw.DataFrame):
        if len(table.columns) != 1:
            raise _too_wide(len(table.columns))
        (table,) = series_of(table)
    if isinstance(table, nw.Series):
        if not table.dtype.is_numeric():
            return listed(table.to_native())
        raw = table.to_numpy()
    array = np.asarray(raw) if hasattr(raw, "__array__") else None
    if array is None or array.ndim == 0:
        items = listed(raw)
        nested = all(isinstance(item, list) and len(item) == 1 for item in items)
        return [item[0] for item in items] if nested else items
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
        raise _too_wide(array.shape[-1])
    array = array.ravel()
    simple = len(array) > 0 and array.dtype.kind in "biufUS"
    return array if simple else listed(array)


def _too_wide(columns: int) -> InvalidInput:
    return InvalidInput(
        f"the points have {columns} columns, and a category is one label.\n"
        'Give each column its kernel, k.on("city") * k.on("colour"), or join the columns to '
        "tuples."
    )
