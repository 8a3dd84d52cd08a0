"""Batches put one after the other, and equal points of a batch merged."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.domains import (
    Anything,
    Batch,
    CategoryBatch,
    DenseBatch,
    Domain,
    ObjectBatch,
    RecordBatch,
    SetBatch,
    SparseBatch,
    align,
    same_columns,
    same_width,
)
from mercer.domains.contents import ordered
from mercer.domains.coordinates import csr
from mercer.domains.records import entries
from mercer.domains.tables import encode_columns
from mercer.errors import InvalidInput, InvalidType
from mercer.types import Array


def concatenate(A: Batch, B: Batch, domain: Domain | None = None) -> Batch:
    """The points of A, then those of B.

    Args:
        A: Points.
        B: Points of the same domain.
        domain: How to encode the points of the two batches anew where they are of a kind
            unknown here, or of two kinds; by default as objects.

    Example:
        >>> import mercer as mc
        >>> from mercer.domains import Sets
        >>> A, B = Sets().encode([{"milk"}]), Sets().encode([{"bread", "milk"}])
        >>> [sorted(items) for items in concatenate(A, B).raw()]
        [['milk'], ['bread', 'milk']]
    """
    match A, B:
        case DenseBatch() | SparseBatch(), DenseBatch() | SparseBatch():
            return _vectors(A, B)
        case SetBatch(), SetBatch():
            return _sets(A, B)
        case CategoryBatch(), CategoryBatch():
            levels = A.levels if A.levels == B.levels else tuple(ordered(A.levels + B.levels))
            codes = [A.codes_in(levels), B.codes_in(levels)]
            return CategoryBatch(np.concatenate(codes), levels)
        case ObjectBatch(), ObjectBatch():
            same_columns(A, B)
            return ObjectBatch(A.items + B.items, A.columns if A.columns == B.columns else None)
        case RecordBatch(), RecordBatch():
            return _records(A, B)
    return (domain or Anything()).encode([*A.raw(), *B.raw()])


def _vectors(A: DenseBatch | SparseBatch, B: DenseBatch | SparseBatch) -> Batch:
    same_width(A, B)
    names = A.columns if A.columns == B.columns else None
    if isinstance(A, DenseBatch) and isinstance(B, DenseBatch):
        return DenseBatch(np.concatenate([A.values, B.values]), names)
    rows = [
        part.matrix if isinstance(part, SparseBatch) else csr(part.values) for part in (A, B)
    ]
    return SparseBatch(sp.csr_array(sp.vstack(rows, "csr")), names)


def _sets(A: SetBatch, B: SetBatch) -> SetBatch:
    members = sp.csr_array(sp.vstack(align(A, B), "csr"))
    if A.items == B.items:
        return SetBatch(members, A.items)
    return SetBatch(members, tuple(ordered(A.universe + B.universe)))


def _records(A: RecordBatch, B: RecordBatch) -> RecordBatch:
    if set(A.columns) != set(B.columns):
        apart = sorted(set(A.columns) ^ set(B.columns), key=str)
        raise InvalidInput(
            f"two tables are put together, and only one of them has {apart}.\n"
            "Pass both with the same columns."
        )
    columns = {}
    for name, left in A.columns.items():
        right = B.columns[name]
        vectors = all(isinstance(part, DenseBatch | SparseBatch) for part in (left, right))
        if vectors or type(left) is type(right):
            columns[name] = concatenate(left, right)
        else:  # each was encoded by what it holds: look at both together
            # Yes and no are labels, and beside numbers they are 1 and 0.
            both = [
                float(x) if isinstance(x, bool) else x
                for x in (*entries(left), *entries(right))
            ]
            columns[name] = encode_columns({name: both})[name]
    return RecordBatch(columns, len(A) + len(B))


def merge(batch: Batch, coefficients: Array) -> tuple[Batch, Array]:
    """Each distinct point once, in order of appearance, with its summed coefficients."""
    try:
        (labels,) = batch.identify()
    except InvalidType:  # nothing tells these objects apart; merging only saves work
        return batch, coefficients
    count = int(labels.max()) + 1
    if count == len(batch):
        return batch, coefficients
    first = np.full(count, len(batch))
    np.minimum.at(first, labels, np.arange(len(batch)))
    order = np.argsort(first)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    sums = np.zeros((count, *coefficients.shape[1:]))
    np.add.at(sums, place[labels], coefficients)
    return batch[first[order]], sums


def coordinates(batch: DenseBatch | SparseBatch) -> NDArray[np.float64]:
    """The points as the rows of an array, in double precision."""
    points = batch.values if isinstance(batch, DenseBatch) else batch.matrix.toarray()
    return np.asarray(points, dtype=np.float64)
