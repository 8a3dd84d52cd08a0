"""Tables in files, CSV or Parquet: read, and each column given a kind."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, parquet

from mercer.errors import InvalidFile, InvalidInput

NUMBER, CATEGORY, DATE = "number", "category", "date"

MISSING = (
    "", "?", "#N/A", "#NA", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-nan",
)  # fmt: skip
"""What stands for a missing value in a CSV file."""

BLOCK = 1 << 26
"""Bytes from which the type of a column of a CSV file is guessed."""

NUMERAL = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
"""A number, as it is written."""

EXACT = 2**53
"""Whole numbers beyond it are labels: a float cannot tell them apart."""

MANY = 0.9
"""A column of texts with more distinct ones than this share of its rows tells rows apart, and
not what they have in common."""

FEW = 20
"""Rows up to which no column is taken for one of identifiers."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its name.
        kind: "number", "category" or "date".
        missing: How many of its values are missing.
        distinct: How many distinct values it has.
    """

    name: str
    kind: str
    missing: int
    distinct: int


def read_table(path: Path, kinds: Mapping[str, str] | None = None) -> pa.Table:
    """The table in a file, CSV (compressed or not) or Parquet, whatever the file is called.

    Args:
        path: The file.
        kinds: What columns are known to hold; the others are guessed.

    Raises:
        InvalidFile: It is no table.
    """
    try:
        with path.open("rb") as file:
            start = file.read(1 << 16)
        if start[:4] == b"PAR1":
            table = parquet.read_table(path)
        else:
            table = _read_csv(path, _plain(path, start), kinds or {})
    except OSError as error:
        raise InvalidFile(f"{path} cannot be read ({error.strerror or error}).") from error
    except (pa.ArrowException, ValueError) as error:
        if isinstance(error, InvalidFile):
            raise
        said = str(error).split("\n")[0][:200]
        raise InvalidFile(
            f"{path} cannot be read as a table: {said}\nA table is a CSV file whose first line "
            "names the columns, or a Parquet file."
        ) from error
    return _named(path, table)


def _plain(path: Path, start: bytes) -> bytes:
    """The beginning of a text file, unpacked."""
    if start[:2] == b"\x1f\x8b":
        with gzip.open(path) as file:
            start = file.read(1 << 16)
    if not start.strip():
        raise InvalidFile(f"{path} is empty.\nA table has a line of names, and rows.")
    if b"\0" in start:
        raise InvalidFile(
            f"{path} is no table: it holds bytes that no text has.\nA table is a CSV file "
            "whose first line names the columns, or a Parquet file."
        )
    return start


def _read_csv(path: Path, start: bytes, kinds: Mapping[str, str]) -> pa.Table:
    """Read a CSV file; one that is not in UTF-8 is taken for Latin-1, which any bytes are."""
    encoding = "utf8" if _is_utf8(start) else "latin1"
    table = _converted(path, start, kinds, encoding)
    if encoding == "utf8" and any(pa.types.is_binary(kind) for kind in table.schema.types):
        table = _converted(path, start, kinds, "latin1")
    return table


def _is_utf8(start: bytes) -> bool:
    """Whether these bytes begin a text in UTF-8."""
    try:
        codecs.getincrementaldecoder("utf8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def _converted(path: Path, start: bytes, kinds: Mapping[str, str], encoding: str) -> pa.Table:
    """Read a CSV file; a column whose first rows misled about its type is read as text."""
    first = start.splitlines()[0]
    parse = csv.ParseOptions(
        delimiter=max((b",", b";", b"\t"), key=first.count).decode(), newlines_in_values=True
    )
    wanted = {name: pa.string() for name, kind in kinds.items() if kind == CATEGORY}
    while True:
        convert = csv.ConvertOptions(
            null_values=list(MISSING), strings_can_be_null=True, column_types=wanted
        )
        try:
            return csv.read_csv(
                path,
                read_options=csv.ReadOptions(block_size=BLOCK, encoding=encoding),
                parse_options=parse,
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            found = re.search(
                r"In CSV column #(\d+): CSV conversion error to (\w+)", str(error)
            )
            if not found:
                raise
            reader = csv.open_csv(
                path, read_options=csv.ReadOptions(encoding=encoding), parse_options=parse
            )
            name = reader.schema.names[int(found[1])]
            if wanted.get(name) == pa.string():
                raise
            whole = found[2].startswith(("int", "uint", "null"))
            wanted |= {name: pa.float64() if whole else pa.string()}


def _named(path: Path, table: pa.Table) -> pa.Table:
    """The table with clean names, each of them once."""
    names = [name.strip() for name in table.column_names]
    names = [name or f"column {at + 1}" for at, name in enumerate(names)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(
            f"{path} has several columns called {', '.join(map(repr, twice))}, so a name does "
            "not say which one is meant.\nRename or drop them."
        )
    columns = [_decoded(column) for column in table.columns]
    return pa.table(dict(zip(names, columns, strict=True)))


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as its values: codes as what they stand for, NaN as missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == pa.float16():
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), None, column)
    return column.cast(pa.string()) if column.type == pa.string_view() else column


def require(table: pa.Table, names: Sequence[str], whose: str) -> None:
    """Raise unless the table has these columns.

    Args:
        table: The table.
        names: The columns.
        whose: Who asks for them, for the message.
    """
    known = table.column_names
    lacking = [name for name in names if name not in known]
    if not lacking:
        return
    folded = {name.casefold(): name for name in known}
    close = [folded[n] for n in get_close_matches(lacking[0].casefold(), folded, 1, 0.5)]
    hint = f"Did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
    if all(re.fullmatch(r"[-+.\deE]+", name) for name in known):
        hint += "The names look like values: the first line of a CSV file names the columns. "
    called = ", ".join(map(repr, lacking[:12])) + (", ..." if len(lacking) > 12 else "")
    raise InvalidInput(
        f"the table has no column{'s'[: len(lacking) - 1]} {called}, {whose}.\n"
        f"{hint}The columns are {shown}."
    )


def kind_of(column: pa.ChunkedArray) -> str:
    """What a column holds; empty for what no kernel here reads. Texts that are numbers but for
    a few are numbers.

    Example:
        >>> kind_of(pa.chunked_array([["a", None]])), kind_of(pa.chunked_array([[1, 2]]))
        ('category', 'number')
    """
    kind = column.type
    if pa.types.is_integer(kind):
        ends = pc.min_max(column).as_py()
        beyond = any(end is not None and abs(end) > EXACT for end in ends.values())
        return CATEGORY if beyond else NUMBER
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return NUMBER
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return DATE
    if _is_text(kind):
        few = len(strange_in(column)) < (1 - MANY) * len(column.drop_null())
        return NUMBER if few else CATEGORY
    return CATEGORY if pa.types.is_boolean(kind) else ""


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def strange_in(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts of a column that are no numbers."""
    if not _is_text(column.type):
        return column.slice(0, 0)
    present = column.drop_null()
    return present.filter(pc.invert(pc.match_substring_regex(present, NUMERAL)))


def as_kind(table: pa.Table, name: str, kind: str) -> pa.ChunkedArray:
    """A column as its kind is kept: numbers as floats, dates as days, categories as texts.

    Raises:
        InvalidInput: The column holds something else.
    """
    column = table[name]
    try:
        if kind == NUMBER and _is_text(column.type) and kind_of(column) == NUMBER:
            known = pc.match_substring_regex(column, NUMERAL)
            column = pc.utf8_trim_whitespace(pc.if_else(known, column, None))
        if kind == NUMBER:
            return _finite(name, column.cast(pa.float64(), safe=False))
        if kind == DATE:
            moments = column.cast(pa.timestamp("us"), safe=False)
            whole = pc.cast(moments, pa.int64())
            return pc.divide(pc.cast(whole, pa.float64(), safe=False), 86_400e6)
        return column.cast(pa.string())
    except pa.ArrowException as error:
        said = str(error).split("\n")[0][:120]
        raise InvalidInput(
            f"column {name!r} held {kind}s when the model was fitted, and does not here "
            f"({said}).\nMend the column."
        ) from error


def _finite(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, in which no number is infinite."""
    infinite = pc.is_inf(column)
    many = int(pc.sum(infinite).as_py() or 0)
    if many:
        row = int(pc.index(infinite, value=True).as_py())
        raise InvalidInput(
            f"column {name!r} has {many} infinite value{'s'[: many - 1]}, the first in row "
            f"{row + 1}: the distance to infinity is no number.\nMend or drop those rows."
        )
    return column


def points_of(table: pa.Table, kinds: Mapping[str, str]) -> pa.Table:
    """The columns that are learned from, in order, as machines read them."""
    return pa.table({name: as_kind(table, name, kind) for name, kind in kinds.items()})


def survey(
    table: pa.Table, target: str, keep: Sequence[str] = (), drop: Sequence[str] = ()
) -> tuple[list[Column], dict[str, str]]:
    """The columns to learn from; and those that are left out, with the reason.

    Args:
        table: The table.
        target: The column to predict.
        keep: Columns that are not left out, whatever they hold.
        drop: Columns that are left out, as asked.
    """
    kept, left = [], {}
    for name in table.column_names:
        if name == target:
            continue
        found, why = _look(table, name)
        if name in drop:
            why = "as asked"
        if why and (name in drop or name not in keep or not found.kind):
            left[name] = why
        else:
            kept.append(found)
    return kept, left


def _look(table: pa.Table, name: str) -> tuple[Column, str]:
    """A column, and why not to learn from it; nothing if it is of use."""
    column = table[name]
    kind = kind_of(column)
    if not kind:
        null = pa.types.is_null(column.type)
        return Column(name, "", 0, 0), "empty" if null else f"it holds {column.type}"
    distinct = int(pc.count_distinct(column, mode="only_valid").as_py())
    found = Column(name, kind, column.null_count, distinct)
    present = len(column) - column.null_count
    if not present:
        return found, "empty"
    if distinct < 2 and not column.null_count and len(column) > 1:
        return found, "constant"
    if kind == CATEGORY and present > FEW and distinct > MANY * present:
        return found, f"{distinct} distinct values in {present} rows: names or free text"
    if _counts_rows(name, column):
        return found, "row numbers"
    return found, ""


def _counts_rows(name: str, column: pa.ChunkedArray) -> bool:
    """Is it the number of the row, which a program wrote beside the data?"""
    called = name.lower().replace(" ", "").replace("_", "").split(":")[0]
    if called not in {"column1", "unnamed", "index", "id", "row", "rownumber", "rowid"}:
        return False
    if not pa.types.is_integer(column.type) or column.null_count or len(column) <= FEW:
        return False
    return bool((np.diff(column.to_numpy()) == 1).all())


def values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column as an array; texts as an array of texts."""
    values: NDArray[Any] = column.to_numpy()
    return values.astype(str) if values.dtype == object else values
