"""Encoded vectors: the rows of a matrix, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer.domains.base import Batch, Lazy
from mercer.domains.order import DenseRows, SparseRows, parted, row_labels
from mercer.domains.reading import Columns
from mercer.errors import InvalidInput
from mercer.types import Array, Indices


@dataclass(frozen=True, eq=False)
class DenseBatch(Batch):
    """Vectors as the rows of a C-contiguous matrix, float32 or float64.

    The matrix may be the user's own array: read it, never write to it.

    Attributes:
        values: The matrix, one row a point.
        columns: What the coordinates are called, if they have names.
    """

    values: Array
    columns: Columns = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(np.ascontiguousarray(self.values[index]), self.columns)

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return int(self.values.shape[1])

    def raw(self) -> Sequence[Any]:
        return list(self.values)

    def identify(self, *others: DenseBatch | SparseBatch) -> tuple[Indices, ...]:
        return _identify(self, *others)


@dataclass(frozen=True, eq=False)
class SparseBatch(Batch):
    """Vectors as the rows of a canonical csr matrix: sorted, no duplicates, no stored zeros.

    Attributes:
        matrix: A `scipy.sparse.csr_array` of float32 or float64, one row a point.
        columns: What the coordinates are called, if they have names.
    """

    matrix: Any
    columns: Columns = None

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(self.matrix[index], self.columns)

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return int(self.matrix.shape[1])

    def raw(self) -> Sequence[Any]:
        return Lazy(len(self), self._row)

    def _row(self, row: int) -> Array:
        """One point as an array: who wrote a function of a point wrote it for that."""
        point: Array = np.zeros(self.width, self.matrix.dtype)
        entries = slice(*self.matrix.indptr[row : row + 2])
        point[self.matrix.indices[entries]] = self.matrix.data[entries]
        return point

    def identify(self, *others: DenseBatch | SparseBatch) -> tuple[Indices, ...]:
        return _identify(self, *others)


def _identify(*batches: DenseBatch | SparseBatch) -> tuple[Indices, ...]:
    for other in batches[1:]:
        same_width(batches[0], other)
    if any(isinstance(batch, SparseBatch) for batch in batches):
        parts = [b.matrix if isinstance(b, SparseBatch) else csr(b.values) for b in batches]
        labels = row_labels(
            SparseRows(parts[0] if len(parts) == 1 else sp.vstack(parts, "csr"))
        )
    else:
        tables = [batch.values for batch in batches if isinstance(batch, DenseBatch)]
        labels = row_labels(
            DenseRows(tables[0] if len(tables) == 1 else np.concatenate(tables))
        )
    return parted(labels, map(len, batches))


def same_width(A: DenseBatch | SparseBatch, B: DenseBatch | SparseBatch) -> None:
    """Vectors are compared coordinate by coordinate, so they must have the same ones."""
    if A.width != B.width:
        raise InvalidInput(
            f"vectors of {A.width} and of {B.width} coordinates cannot be compared: a kernel "
            "pairs coordinate with coordinate.\nPass both with the same columns in the same "
            "order."
        )
    same_names(A.columns, B.columns)


def same_names(names: Columns, others: Columns) -> None:
    """What is read by position must have the same names there, where it has names."""
    if names is None or others is None:
        return
    if len(names) != len(others):
        raise InvalidInput(
            f"rows of {len(names)} and of {len(others)} columns cannot be compared.\nPass both "
            "tables with the same columns in the same order."
        )
    for at, (name, other) in enumerate(zip(names, others, strict=True)):
        if name != other:
            raise InvalidInput(
                f"column {at} is {name!r} in one table and {other!r} in the other: a kernel "
                "pairs coordinate with coordinate.\nPass both with the same columns in the "
                "same order, or as arrays if their names mean nothing."
            )


def csr(raw: Any) -> Any:
    """A matrix as a canonical csr array of floats, sharing memory where it can."""
    kind = raw.dtype.kind
    if kind == "c":
        raise InvalidInput(
            "Complex data not supported: kernels here compare real numbers.\n"
            "Pass real and imaginary parts as two sets of columns."
        )
    single = kind == "f" and raw.dtype.itemsize == 4
    dtype = np.float32 if single else np.float64
    with np.errstate(over="ignore"):  # a long double becomes inf, and is reported as that
        # Entries of one place are added up as floats, because small integers wrap around;
        # those of a matrix of booleans are one True.
        matrix = sp.csr_array(raw if kind == "b" else raw.astype(dtype, copy=False))
    if not (matrix.has_canonical_format and matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix.astype(dtype, copy=False)


def stored(batch: DenseBatch | SparseBatch) -> Array:
    """The coordinates that are kept in memory: all, or those that are not zero."""
    return batch.values if isinstance(batch, DenseBatch) else batch.matrix.data
