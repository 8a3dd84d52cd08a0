"""Tables: points with named parts, each part a point of a domain of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

import numpy as np

from mercer.domains.base import Batch, Domain, Lazy
from mercer.domains.categories import CategoryBatch
from mercer.domains.coordinates import DenseBatch, SparseBatch
from mercer.domains.incomplete import Incomplete
from mercer.domains.numbers import Numbers
from mercer.domains.objects import Anything, ObjectBatch
from mercer.domains.order import DenseRows, parted, row_labels, stacked
from mercer.domains.reading import floats_of_array, is_missing, objects_of
from mercer.domains.sets import SetBatch
from mercer.domains.tables import Name, encode_columns, holds_columns, is_number
from mercer.domains.vectors import Vectors, reject_missing
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
        parts = {name: entries(part) for name, part in self.columns.items()}
        return Lazy(len(self), lambda row: {name: part[row] for name, part in parts.items()})

    def identify(self, *others: RecordBatch) -> tuple[Indices, ...]:
        batches = (self, *others)
        for other in others:
            _same_columns(self, other)
        names = sorted(self.columns, key=str)
        labels = []
        for name in names:
            first, *rest = of_one_kind([batch.columns[name] for batch in batches])
            labels.append(np.concatenate(first.identify(*rest)))
        return parted(row_labels(DenseRows(stacked(labels))), map(len, batches))

    def column(self, name: Name) -> Batch:
        """One column, by name or by position."""
        return self.columns[self.resolve(name)]

    def select(self, names: Sequence[Name], domain: Domain) -> Batch:
        """The points that a kernel on this domain reads from these columns.

        Raises:
            InvalidInput: A column does not exist, or holds no points of the domain.
        """
        if not names:
            raise InvalidInput(
                "a kernel on no columns reads nothing.\nName at least one column."
            )
        found = [self.resolve(name) for name in names]
        called = _called(found)
        try:
            return _encode_part([(name, self.columns[name]) for name in found], domain)
        except (InvalidInput, InvalidType) as error:
            said = str(error).startswith(called)
            raise type(error)(str(error) if said else f"{called}: {error}") from error

    def resolve(self, name: Name) -> Name:
        """The name of a column that is given by name or by position."""
        names = list(self.columns)
        if isinstance(name, int) and 0 <= name < len(names):
            if name in self.columns and names[name] != name:
                raise InvalidInput(
                    f"column {name} may be the one called {name} or the one at position "
                    f"{name}, which is called {names[name]!r}.\nGive the columns names that "
                    'are texts, and read them by name: k.on("age").'
                )
            return names[name]
        if name in self.columns:
            return name
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


@dataclass(frozen=True)
class Positions(Domain):
    """Points whose parts are counted from 0: vectors, and rows of a table of any kinds.

    Arrays and DataFrames of numbers are read as vectors, all else as a table, whose columns are
    counted from the left.

    Example:
        >>> type(Positions().encode([[1, 2]])).__name__
        'DenseBatch'
        >>> type(Positions().encode({"age": [31], "city": ["Rome"]})).__name__
        'RecordBatch'
    """

    @property
    def name(self) -> str:
        return "vectors or rows of a table"

    def encode(self, raw: Any) -> Batch:
        if isinstance(raw, RecordBatch):
            return raw
        table = not isinstance(raw, Batch) and holds_columns(raw)
        return (Records() if table else Vectors()).encode(raw)

    def _intersect(self, other: Domain) -> Domain | None:
        return other if isinstance(other, Vectors | Numbers | Records) else None


def _called(names: Sequence[Name]) -> str:
    return f"column{'s'[: len(names) > 1]} {', '.join(map(repr, names))}"


def entries(column: Batch) -> Sequence[Any]:
    """The entries of a column; a number is a number and not a vector of one."""
    if isinstance(column, DenseBatch) and column.width == 1:
        return column.values[:, 0].tolist()  # type: ignore[no-any-return]
    return column.raw()


def of_one_kind(parts: Sequence[Batch]) -> Sequence[Batch]:
    """Batches of points of one sort, such as a column of several tables, in one form.

    Each may have been encoded by what it happened to hold: numbers, labels, nothing at all.
    """
    vectors = all(isinstance(part, DenseBatch | SparseBatch) for part in parts)
    if vectors or len({type(part) for part in parts}) == 1:
        return parts
    return [ObjectBatch(tuple(entries(part))) for part in parts]


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
        return ObjectBatch(tuple(zip(*(entries(part) for _, part in parts), strict=True)))
    return recoded(_side_by_side(parts, gaps=isinstance(domain, Incomplete)), domain)


def _encode_column(name: Name, column: Batch, domain: Domain) -> Batch:
    if isinstance(domain, Vectors | Numbers | Positions):
        if isinstance(column, SparseBatch):
            reject_missing(column)
        else:
            column = _side_by_side([(name, column)], gaps=isinstance(domain, Incomplete))
    return recoded(column, domain)


def recoded(part: Batch, domain: Domain) -> Batch:
    """A part of the points as points of a domain, whichever domain encoded it."""
    try:
        return domain.encode(part)
    except InvalidType:  # not this one: show it the points themselves
        return domain.encode(_shown(part))


def _shown(part: Batch) -> Any:
    """The points as a user has them: several coordinates are a row of a matrix."""
    if isinstance(part, DenseBatch | SparseBatch) and part.width > 1:
        return part.values if isinstance(part, DenseBatch) else part.matrix
    return list(entries(part))


def _side_by_side(parts: list[tuple[Name, Batch]], *, gaps: bool) -> DenseBatch:
    """Columns of numbers as one matrix; an error where one is missing and none may be."""
    tables = [_coordinates(name, part, gaps=gaps) for name, part in parts]
    names = [
        str(name) if table.shape[1] == 1 else f"{name}[{at}]"
        for (name, _), table in zip(parts, tables, strict=True)
        for at in range(table.shape[1])
    ]
    if len(tables) == 1:
        return DenseBatch(tables[0], tuple(names))
    return DenseBatch(np.ascontiguousarray(np.hstack(tables)), tuple(names))


def _coordinates(name: Name, part: Batch, *, gaps: bool) -> Array:
    """A column as numbers."""
    if isinstance(part, CategoryBatch) and all(map(_counts, part.levels)):
        values: Array = _numbers_of(part).reshape(-1, 1)
    elif isinstance(part, DenseBatch):
        values = part.values
    else:
        raise InvalidInput(
            f"column {name!r} holds {_kind(part)}, and the kernel reads numbers.\nUse a kernel "
            "made for them (delta on categories, jaccard on sets), or encode the column as "
            "numbers first."
        )
    missing = np.isnan(values).any(axis=1)
    if missing.any() and not gaps:
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


def _numbers_of(part: CategoryBatch) -> Array:
    """Labels that are numbers, as floats."""
    try:
        return floats_of_array(objects_of(list(part.levels)))[part.codes]
    except InvalidInput:  # row by row, so that the message names the row and not the label
        return floats_of_array(objects_of(list(part.raw())))


def _counts(level: Any) -> bool:
    """Can the label be read as a number? Yes and no are 1 and 0."""
    return level is None or isinstance(level, bool | np.bool_) or is_number(level)


def _kind(part: Batch) -> str:
    """What a column holds, in words."""
    if isinstance(part, ObjectBatch):
        first = next((item for item in part.items if not is_missing(item)), None)
        return f"objects (such as a {type(first).__name__})"
    return _KINDS.get(type(part), "other things")


_KINDS: dict[type, str] = {
    CategoryBatch: "labels",
    SetBatch: "sets",
    SparseBatch: "a sparse matrix",
}
