"""Tables: points with named parts, each part a point of a domain of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

import numpy as np

from mercer.domains.base import Batch, Domain
from mercer.domains.categories import CategoryBatch
from mercer.domains.coordinates import DenseBatch, SparseBatch
from mercer.domains.numbers import Numbers
from mercer.domains.objects import Anything, ObjectBatch
from mercer.domains.order import DenseRows, parted, row_labels, stacked
from mercer.domains.sets import SetBatch
from mercer.domains.tables import Name, encode_columns
from mercer.domains.vectors import Vectors
from mercer.errors import InvalidInput, InvalidParameter, InvalidType
from mercer.types import Array, Indices


@dataclass(frozen=True, eq=False)
class RecordBatch(Batch):
    """A table: its columns, encoded each in the domain that suits what it holds.

    Attributes:
        columns: The batch of each column by name. NaN in a column of numbers is a missing
            value; it is an error only where a kernel reads it as a number.
        length: The number of rows.
    """

    columns: dict[Name, Batch]
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: slice | Indices) -> Self:
        length = len(np.arange(self.length)[index])
        return type(self)({name: part[index] for name, part in self.columns.items()}, length)

    def raw(self) -> Sequence[Any]:
        names, parts = list(self.columns), map(_points, self.columns.values())
        return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    def identify(self, *others: RecordBatch) -> tuple[Indices, ...]:
        batches = (self, *others)
        for other in others:
            _same_columns(self, other)
        names = sorted(self.columns, key=str)
        labels = []
        for name in names:
            first, *rest = _of_one_kind([batch.columns[name] for batch in batches])
            labels.append(np.concatenate(first.identify(*rest)))
        return parted(row_labels(DenseRows(stacked(labels))), map(len, batches))

    def column(self, name: Name) -> Batch:
        """One column, by name or by position."""
        return self.columns[self._resolve(name)]

    def select(self, names: Sequence[Name], domain: Domain) -> Batch:
        """The points that a kernel on this domain reads from these columns.

        Raises:
            InvalidInput: A column does not exist, or holds no points of the domain.
        """
        if not names:
            raise InvalidInput(
                "a kernel on no columns reads nothing.\nName at least one column."
            )
        found = [self._resolve(name) for name in names]
        called = _called(found)
        try:
            return _encode_part([(name, self.columns[name]) for name in found], domain)
        except (InvalidInput, InvalidType) as error:
            raise type(error)(f"{called}: {error}") from error

    def _resolve(self, name: Name) -> Name:
        if name in self.columns:
            return name
        names = list(self.columns)
        if isinstance(name, int) and 0 <= name < len(names):
            return names[name]
        words = [str(n) for n in names]
        close = get_close_matches(str(name), words, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise InvalidInput(
            f"there is no column {name!r} in the table, and a kernel reads it.\n{hint}"
            f"The columns are {shown}."
        )


@dataclass(frozen=True)
class Records(Domain):
    """Rows of a table with named columns of any kinds.

    Reads DataFrames of any library, dicts of columns, lists of dicts, structured arrays, and
    plain arrays, whose columns are named by their numbers.

    Args:
        columns: The columns that must be there.

    Example:
        >>> table = Records().encode({"age": [31, 45], "city": ["Rome", "Oslo"]})
        >>> table.select(["age"], Numbers(low=0)).values
        array([[31.],
               [45.]])
    """

    columns: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.columns, str | int):
            raise InvalidParameter(
                f"columns={self.columns!r} is one name, and a tuple of names is asked for.\n"
                f"Write columns=({self.columns!r},)."
            )
        object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def name(self) -> str:
        if not self.columns:
            return "records"
        return f"records with {_called(list(self.columns))}"

    def encode(self, raw: Any) -> RecordBatch:
        if isinstance(raw, Batch):
            if not isinstance(raw, RecordBatch):
                raise self.misread(raw)
            batch = raw
        else:
            parts = encode_columns(raw)
            batch = RecordBatch(parts, len(next(iter(parts.values()))))
        for name in self.columns:
            batch.column(name)
        return batch

    def _intersect(self, other: Domain) -> Domain | None:
        if not isinstance(other, Records):
            return None
        return Records(tuple(dict.fromkeys(self.columns + other.columns)))


def _called(names: Sequence[Name]) -> str:
    return f"column{'s'[: len(names) > 1]} {', '.join(map(repr, names))}"


def _points(column: Batch) -> Sequence[Any]:
    """The entries of a column; a number is a number and not a vector of one."""
    if isinstance(column, DenseBatch) and column.width == 1:
        return column.values[:, 0].tolist()  # type: ignore[no-any-return]
    return column.raw()


def _of_one_kind(parts: Sequence[Batch]) -> Sequence[Batch]:
    """The same column of several tables, which may have been encoded each in its way."""
    if len({type(part) for part in parts}) == 1:
        return parts
    return [ObjectBatch(tuple(_points(part))) for part in parts]


def _same_columns(A: RecordBatch, B: RecordBatch) -> None:
    if set(A.columns) != set(B.columns):
        apart = sorted(set(A.columns) ^ set(B.columns), key=str)
        raise InvalidInput(
            f"two tables are compared, and only one of them has {_called(apart)}.\n"
            "Pass both with the same columns."
        )


def _encode_part(parts: list[tuple[Name, Batch]], domain: Domain) -> Batch:
    if isinstance(domain, Records):
        return domain.encode(RecordBatch(dict(parts), len(parts[0][1])))
    if len(parts) == 1:
        return _encode_column(*parts[0], domain)
    if isinstance(domain, Anything):
        return ObjectBatch(tuple(zip(*(_points(part) for _, part in parts), strict=True)))
    together = _side_by_side(parts)
    return domain.encode(together if isinstance(domain, Vectors | Numbers) else together.values)


def _encode_column(name: Name, column: Batch, domain: Domain) -> Batch:
    if isinstance(domain, Vectors | Numbers) and not isinstance(column, SparseBatch):
        column = _side_by_side([(name, column)])
    try:
        return domain.encode(column)
    except InvalidType:  # another domain encoded it, so show it the points themselves
        return domain.encode(list(_points(column)))


def _side_by_side(parts: list[tuple[Name, Batch]]) -> DenseBatch:
    """Columns of numbers as one matrix, when nothing is missing."""
    tables = [_coordinates(name, part) for name, part in parts]
    names = [
        str(name) if table.shape[1] == 1 else f"{name}[{at}]"
        for (name, _), table in zip(parts, tables, strict=True)
        for at in range(table.shape[1])
    ]
    if len(tables) == 1:
        return DenseBatch(tables[0], tuple(names))
    return DenseBatch(np.ascontiguousarray(np.hstack(tables)), tuple(names))


def _coordinates(name: Name, part: Batch) -> Array:
    """A column as numbers."""
    if isinstance(part, CategoryBatch) and all(level in (0, 1, None) for level in part.levels):
        table = np.array([np.nan if v is None else float(v) for v in part.levels])
        values: Array = table[part.codes].reshape(-1, 1)
    elif isinstance(part, DenseBatch):
        values = part.values
    else:
        raise InvalidInput(
            f"column {name!r} holds {_KINDS.get(type(part), 'other things')}, and the kernel "
            "reads numbers.\nUse a kernel made for them (delta on categories, jaccard on "
            "sets), or encode the column as numbers first."
        )
    missing = np.isnan(values).any(axis=1)
    if missing.any():
        raise InvalidInput(
            f"column {name!r} has {int(missing.sum())} of {len(values)} values missing (NaN), "
            f"the first at row {int(missing.argmax())}, and the kernel reads numbers.\n"
            "Impute them, drop those rows, or add a column that says where the value is "
            "missing and put a delta kernel on it."
        )
    infinite = np.isinf(values).any(axis=1)
    if infinite.any():
        raise InvalidInput(
            f"column {name!r} has {int(infinite.sum())} of {len(values)} values infinite "
            f"(inf), the first at row {int(infinite.argmax())}: the distance to infinity is no "
            "number.\nClip them or drop those rows."
        )
    return values


_KINDS: dict[type, str] = {CategoryBatch: "labels", ObjectBatch: "objects", SetBatch: "sets"}
