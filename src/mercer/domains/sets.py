"""Points that are finite sets: the words of a text, the goods in a basket."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from mercer.domains.base import Batch, Domain
from mercer.domains.contents import ordered
from mercer.domains.coordinates import SparseBatch, csr, stored
from mercer.domains.objects import listed
from mercer.domains.order import SparseRows, parted, row_labels
from mercer.domains.reading import as_table, is_missing, series_of
from mercer.domains.vectors import read_vectors, reject_missing
from mercer.errors import InvalidInput, InvalidType
from mercer.types import Indices


@dataclass(frozen=True, eq=False)
class SetBatch(Batch):
    """Sets as the rows of a matrix of zeros and ones.

    Attributes:
        members: A canonical csr array: entry (i, j) is 1.0 where set i holds item j.
        items: What the columns stand for, in canonical order; None: their numbers.
    """

    members: Any
    items: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return int(self.members.shape[0])

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(self.members[index], self.items)

    @property
    def universe(self) -> tuple[Any, ...]:
        """The items that a set can hold."""
        return tuple(range(self.members.shape[1])) if self.items is None else self.items

    def raw(self) -> Sequence[Any]:
        items, m = self.universe, self.members
        return [
            frozenset(items[at] for at in m.indices[m.indptr[row] : m.indptr[row + 1]])
            for row in range(len(self))
        ]

    def identify(self, *others: SetBatch) -> tuple[Indices, ...]:
        batches = (self, *others)
        parts = _align(batches)
        labels = row_labels(
            SparseRows(parts[0] if len(parts) == 1 else sp.vstack(parts, "csr"))
        )
        return parted(labels, map(len, batches))


def align(A: SetBatch, B: SetBatch) -> tuple[Any, Any]:
    """Two batches as csr matrices over one universe of items.

    Example:
        >>> A, B = Sets().encode([{"a", "c"}]), Sets().encode([{"b"}, {"c"}])
        >>> left, right = align(A, B)
        >>> (left @ right.T).toarray()
        array([[0., 1.]])
    """
    left, right = _align((A, B))
    return left, right


def _align(batches: Sequence[SetBatch]) -> list[Any]:
    widths = {batch.members.shape[1] for batch in batches}
    if all(batch.items is None for batch in batches):
        if len(widths) > 1:
            narrow, *_, wide = sorted(widths)
            raise InvalidInput(
                f"indicator matrices of {narrow} and of {wide} columns cannot be compared: "
                "column j must stand for the same item in both.\n"
                "Pass the same columns, or lists of sets, which name their items."
            )
        return [batch.members for batch in batches]
    if all(batch.items == batches[0].items for batch in batches):
        return [batch.members for batch in batches]
    _check_named_alike(batches)
    universe = ordered(item for batch in batches for item in batch.universe)
    position = {item: at for at, item in enumerate(universe)}
    return [_spread(batch, position) for batch in batches]


def _check_named_alike(batches: Sequence[SetBatch]) -> None:
    """The columns of an array are items called 0, 1, 2, ..., and no word is one of them."""
    words = [b.items for b in batches if b.items and all(isinstance(i, str) for i in b.items)]
    if words and any(batch.items is None for batch in batches):
        raise InvalidInput(
            f"the items of one batch have names ({words[0][0]!r}, ...), and those of the other "
            "are the numbers of the columns of an array: no item is in both.\n"
            "Pass both as lists of sets or tables with the same names, or both as arrays."
        )


def _spread(batch: SetBatch, position: dict[Any, int]) -> Any:
    """The same sets over a larger universe."""
    places = np.array([position[item] for item in batch.universe], dtype=np.int64)
    m = batch.members
    shape = (m.shape[0], len(position))
    return csr(sp.csr_array((m.data, places[m.indices], m.indptr), shape=shape))


@dataclass(frozen=True)
class Sets(Domain):
    """Finite sets of hashable items.

    Reads lists of sets, and indicator matrices of zeros and ones, dense or sparse, with a
    row for each set and a column for each item. A set may be empty.

    Example:
        >>> batch = Sets().encode([{"milk", "bread"}, set(), {"bread"}])
        >>> batch.items, batch.members.toarray().tolist()
        (('bread', 'milk'), [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    """

    @property
    def name(self) -> str:
        return "sets"

    def encode(self, raw: Any) -> SetBatch:
        if isinstance(raw, SetBatch):
            return raw
        if isinstance(raw, Batch):
            raise self.misread(raw)
        if isinstance(raw, AbstractSet):
            raise InvalidType(
                "one set is one point, and a list of points is asked for.\nPass [the_set]."
            )
        table = as_table(raw)
        if isinstance(table, nw.DataFrame) and table.shape[1] == 1:
            (column,) = series_of(table)
            table = column if column.dtype == nw.Object else table
        if isinstance(table, nw.DataFrame):
            return _from_indicators(raw, tuple(table.columns))
        if table is None and _is_matrix(raw):
            return _from_indicators(raw)
        return _from_sets(listed(raw if table is None else table.to_native()))


def _is_matrix(raw: Any) -> bool:
    return bool(sp.issparse(raw) or (hasattr(raw, "__array__") and np.ndim(raw) == 2))


def _from_sets(points: Sequence[Any]) -> SetBatch:
    for row, point in enumerate(points):
        if not isinstance(point, AbstractSet):
            raise InvalidType(_not_a_set(row, point))
    present = dict.fromkeys(item for point in points for item in point)
    # A NaN equals nothing, not even itself: as a label of Categories, it is the one None.
    labels = {item: None if is_missing(item) else item for item in present}
    items = ordered(labels.values())
    place = {label: at for at, label in enumerate(items)}
    position = {item: place[label] for item, label in labels.items()}
    sizes = np.fromiter(map(len, points), np.int64, len(points))
    indptr = np.append(0, np.cumsum(sizes))
    columns = np.fromiter((position[i] for point in points for i in point), np.int64, -1)
    matrix = csr(
        sp.csr_array((np.ones(len(columns)), columns, indptr), (len(points), len(items)))
    )
    matrix.data[:] = 1  # where a set holds both None and NaN
    return SetBatch(matrix, tuple(items))


def _not_a_set(row: int, point: Any) -> str:
    kind = type(point).__name__
    if isinstance(point, str | bytes):
        return (
            f"row {row} holds the text {point!r}: a string is not a set of letters here.\n"
            "Write set(text) for its letters, set(text.split()) for its words, or use a "
            "kernel on strings."
        )
    if isinstance(point, list | tuple | np.ndarray):
        return (
            f"row {row} holds a {kind}, in which order and repetition count, and a set has "
            "neither.\nWrap it in set(...), or pass an indicator matrix of zeros and ones as "
            "an array."
        )
    return (
        f"row {row} holds a {kind}, which is not a set.\n"
        "Pass a list of sets, or an indicator matrix of zeros and ones as an array."
    )


def _from_indicators(raw: Any, names: tuple[Any, ...] | None = None) -> SetBatch:
    batch = read_vectors(raw)
    reject_missing(batch)
    wrong = stored(batch) != 1
    if not isinstance(batch, SparseBatch):
        wrong &= batch.values != 0
        matrix = csr(batch.values.astype(np.float64, copy=False))
    else:
        matrix = batch.matrix.astype(np.float64, copy=False)
    if wrong.any():
        value = stored(batch)[wrong][0]
        row, column = _first_wrong(matrix)
        raise InvalidInput(
            f"the entry at row {row}, column {column} is {value:g}, and the indicator matrix "
            "of sets holds zeros and ones only.\n"
            "Pass (X != 0) if any entry means that the item is there, or use a kernel on "
            "vectors."
        )
    return _with_items(matrix, names)


def _first_wrong(matrix: Any) -> tuple[int, int]:
    at = int((matrix.data != 1).argmax())
    row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
    return row, int(matrix.indices[at])


def _with_items(matrix: Any, columns: tuple[Any, ...] | None) -> SetBatch:
    """Columns with names are items with names, in canonical order."""
    if columns is None or columns == tuple(range(len(columns))):
        return SetBatch(matrix)
    batch, items = SetBatch(matrix, columns), ordered(columns)
    return SetBatch(_spread(batch, {item: at for at, item in enumerate(items)}), tuple(items))
