"""Anything at all: points known only by whether they are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from mercer.domains.base import Batch, Domain
from mercer.domains.contents import object_labels
from mercer.domains.coordinates import DenseBatch, SparseBatch, same_names, same_width
from mercer.domains.order import parted
from mercer.domains.reading import Columns, as_table, names_of
from mercer.domains.vectors import Vectors
from mercer.errors import InvalidInput, InvalidType
from mercer.types import Indices


@dataclass(frozen=True, eq=False)
class ObjectBatch(Batch):
    """Python objects, one a point.

    Attributes:
        items: The objects, in the order of the rows.
        columns: What their parts are called, if they are rows of a table with names.
    """

    items: tuple[Any, ...]
    columns: Columns = None

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: slice | Indices) -> Self:
        if isinstance(index, slice):
            return type(self)(self.items[index], self.columns)
        chosen = np.arange(len(self.items))[index]
        return type(self)(tuple(self.items[at] for at in chosen), self.columns)

    def raw(self) -> Sequence[Any]:
        return self.items

    def identify(self, *others: ObjectBatch) -> tuple[Indices, ...]:
        batches = (self, *others)
        for other in others:
            same_names(self.columns, other.columns)
        labels = object_labels([item for batch in batches for item in batch.items])
        return parted(labels, map(len, batches))


@dataclass(frozen=True)
class Anything(Domain):
    """Objects of any kind. Two of them are one point when they are equal.

    Reads lists, tuples, Series, the rows of an array and the rows of a DataFrame (as
    tuples). Points that another domain encoded stay as they are.

    Example:
        >>> batch = Anything().encode(["b", ("a", 1), "b", [1.0, 2.0]])
        >>> batch.identify()
        (array([0, 2, 0, 1]),)
    """

    @property
    def name(self) -> str:
        return "anything"

    def encode(self, raw: Any) -> Batch:
        if isinstance(raw, Batch):
            return raw
        if sp.issparse(raw):
            return Vectors().encode(raw)
        table = as_table(raw)
        names = names_of(table) if isinstance(table, nw.DataFrame) else None
        return ObjectBatch(listed(raw), names)

    def _intersect(self, other: Domain) -> Domain | None:
        return other


def same_columns(A: Batch, B: Batch) -> None:
    """Raise unless a function that reads parts of the points by position may read both.

    Example:
        >>> A, B = Vectors().encode([[1.0, 2.0]]), Vectors().encode([[3.0, 4.0]])
        >>> same_columns(A, B)
    """
    vectors = DenseBatch | SparseBatch
    if isinstance(A, vectors) and isinstance(B, vectors):
        same_width(A, B)
    named = vectors | ObjectBatch
    if isinstance(A, named) and isinstance(B, named):
        same_names(A.columns, B.columns)


def listed(raw: Any) -> tuple[Any, ...]:
    """The items of a sequence, in order: at least one."""
    table = as_table(raw)
    if isinstance(table, nw.DataFrame):
        items: Sequence[Any] = table.rows()
    elif isinstance(table, nw.Series):
        items = table.to_list()
    elif hasattr(raw, "to_pylist"):  # an Arrow array, whose scalars equal nothing else
        items = raw.to_pylist()
    else:
        if isinstance(raw, str | bytes | Mapping | AbstractSet | Iterator) or not (
            hasattr(raw, "__getitem__") and getattr(raw, "ndim", 1) > 0
        ):
            raise InvalidType(
                f"a {type(raw).__name__} is not a list of points.\n"
                "Points are counted and have an order, so that each can have its target.\n"
                "Wrap one point in a list, [point]; make a list of a collection, list(points)."
            )
        plain = isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.dtype.kind not in "mM"
        items = raw.tolist() if plain else raw
    if len(items) == 0:
        raise InvalidInput(
            "0 sample(s) while a minimum of 1 is required.\n"
            "There is nothing to compare: look at the step that selected the data."
        )
    return tuple(items)
