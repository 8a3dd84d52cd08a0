"""The canonical order of rows of numbers: equal rows share a label, and labels count by value.

The order is lexicographic, whether the rows are stored dense or sparse, in single or double
precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.types import Array, Indices

BLOCK = 1 << 20
"""Numbers held in one temporary array."""


class Rows(Protocol):
    """Rows of numbers, as the ordering reads them: in steps, the first step deciding."""

    @property
    def count(self) -> int: ...
    @property
    def steps(self) -> int: ...
    def key(self, rows: Indices, step: int) -> Indices:
        """What decides at this step between rows that all earlier steps found equal."""

    def digest(self) -> NDArray[np.uint64]:
        """A hash a row."""

    def same(self, left: Indices, right: Indices) -> bool:
        """Is each row on the left equal to its partner on the right?"""


def row_labels(rows: Rows) -> Indices:
    """The rank of each row among the distinct rows, in lexicographic order."""
    # Equal rows tie at every step, so they are merged first, by hash, and checked.
    _, first, label = np.unique(rows.digest(), return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[label] != np.arange(rows.count))
    if not rows.same(repeated, first[label[repeated]]):
        first = label = np.arange(rows.count)
    rank = np.zeros(len(first), dtype=np.int64)  # how many rows are known to be smaller
    tied = np.arange(len(first))
    for step in range(rows.steps):
        if len(tied) < 2:
            break
        key = rows.key(first[tied], step)
        if (key == key[0]).all():
            continue
        order = np.lexsort((key, rank[tied]))
        tied, key = tied[order], key[order]
        smaller = rank[tied]
        group = _starts(smaller)
        run = group | _starts(key)
        rank[tied] = smaller + _last(run) - _last(group)
        tied = tied[~(run & np.append(run[1:], True))]
    present = np.zeros(len(rank), dtype=np.int64)
    present[rank] = 1
    dense: Indices = (np.cumsum(present) - 1)[rank][label]
    return dense


def _starts(sorted_values: Indices) -> NDArray[np.bool_]:
    return np.append(True, sorted_values[1:] != sorted_values[:-1])


def _last(starts: NDArray[np.bool_]) -> Indices:
    """For each position, where its run began."""
    return np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))


def float_keys(values: NDArray[Any]) -> Indices:
    """Whole numbers in the order of the given ones; -0.0 is 0.0, NaN is one value, the last."""
    wide = values.astype(np.float64) + 0.0
    wide[np.isnan(wide)] = np.nan
    bits = wide.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(np.iinfo(np.int64).max))


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over the whole word (the finaliser of splitmix64). Zero stays zero."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _multipliers(columns: Indices) -> NDArray[np.uint64]:
    return _mix(columns.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Rows of a matrix, compared column by column."""

    values: NDArray[Any]

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def steps(self) -> int:
        return int(self.values.shape[1])

    def key(self, rows: Indices, step: int) -> Indices:
        return float_keys(self.values[rows, step])

    def digest(self) -> NDArray[np.uint64]:
        multipliers = _multipliers(np.arange(self.steps))
        out = np.empty(self.count, dtype=np.uint64)
        height = max(1, BLOCK // max(1, self.steps))
        for start in range(0, self.count, height):
            keys = float_keys(self.values[start : start + height]).view(np.uint64)
            out[start : start + height] = _mix(keys) @ multipliers
        return out

    def same(self, left: Indices, right: Indices) -> bool:
        height = max(1, BLOCK // max(1, self.steps))
        return all(
            np.array_equal(
                float_keys(self.values[left[start : start + height]]),
                float_keys(self.values[right[start : start + height]]),
            )
            for start in range(0, len(left), height)
        )


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a canonical csr matrix, in the same order as the dense rows of equal values.

    Two rows are decided where their stored entries first part. A positive entry is worth
    more the earlier it stands, a negative one less, and a row that has ended is zero there:
    `sign * (width - column)` puts the three cases in order; then the values decide.
    """

    matrix: Any

    @property
    def count(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def steps(self) -> int:
        return 2 * int(np.diff(self.matrix.indptr).max(initial=0))

    def key(self, rows: Indices, step: int) -> Indices:
        entry = self.matrix.indptr[rows].astype(np.int64) + step // 2
        inside = entry < self.matrix.indptr[rows + 1]
        value = self.matrix.data[entry[inside]]
        out = np.zeros(len(rows), dtype=np.int64)
        if step % 2:
            out[inside] = float_keys(value)
        else:
            column = self.matrix.indices[entry[inside]].astype(np.int64)
            sign = np.where(value < 0, -1, 1)  # no entry is zero, and NaN is the last value
            out[inside] = sign * (self.matrix.shape[1] - column)
        return out

    def digest(self) -> NDArray[np.uint64]:
        keys = _mix(float_keys(self.matrix.data).view(np.uint64))
        sums = np.zeros(len(keys) + 1, dtype=np.uint64)
        np.cumsum(keys * _multipliers(self.matrix.indices), out=sums[1:])
        # Sums wrap around, and so does their difference: it is the sum of the row.
        row: NDArray[np.uint64] = sums[self.matrix.indptr[1:]] - sums[self.matrix.indptr[:-1]]
        return row

    def same(self, left: Indices, right: Indices) -> bool:
        return bool((self.matrix[left] != self.matrix[right]).nnz == 0)


def parted(labels: Indices, lengths: Iterable[int]) -> tuple[Indices, ...]:
    """Labels of several batches found together, given back to each."""
    ends = np.cumsum(list(lengths))
    return tuple(np.split(labels, ends[:-1]))


def stacked(labels: Sequence[Indices]) -> Array:
    """Several labels a point, side by side, as rows of numbers (exact below 2**53)."""
    return np.column_stack(labels).astype(np.float64)
