"""Sparse points against points: only the stored numbers of a row are touched."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from mercer.loops.compiled import compiled
from mercer.loops.pairwise import Profile, finishing, picked_finishing, squared_norms
from mercer.loops.profiles import finish, shift
from mercer.loops.threads import available, run
from mercer.loops.tiles import SMALL, Slice, Tiles, Workspace, flatten, pieces
from mercer.loops.vector import row_dot, run_length, sparse_wide
from mercer.types import Array, Indices


@compiled()
def _spread(
    indptr: Any, indices: Any, data: Any, first: Any, count: Any, wide: Any, panel: Any
) -> None:
    """Write rows first:first+count, transposed, into the dense panel (width, wide)."""
    for r in range(count):
        for t in range(indptr[first + r], indptr[first + r + 1]):
            panel[indices[t] * wide + r] = data[t]


@compiled()
def _clear(indptr: Any, indices: Any, first: Any, count: Any, wide: Any, panel: Any) -> None:
    """Undo `_spread`: the panel is zero again, at the price of its stored numbers."""
    for r in range(count):
        for t in range(indptr[first + r], indptr[first + r + 1]):
            panel[indices[t] * wide + r] = 0


@compiled()
def _fill(
    indptr: Any, indices: Any, data: Any, other_ptr: Any, other_at: Any, other: Any,
    profile: Any, p: Any, q: Any, whole: Any, a: Any, b: Any, shifted: Any, same: Any, own: Any,
    wide: Any, run: Any, panel: Any, i: Any, j: Any, k: Any, m: Any, out: Any, stride: Any,
) -> None:  # fmt: skip
    """Fill rows i:j and columns k:m of the matrix, into flat `out`."""
    sums = np.empty(wide, data.dtype)
    zero = p - p
    for c in range(k, m, wide):
        stop = min(c + wide, m)
        _spread(other_ptr, other_at, other, c, stop - c, wide, panel)
        for row in range(i, j):
            row_dot(indices, data, indptr[row], indptr[row + 1], panel, 0, sums, 0, run)
            part = sums[: stop - c]
            norms = b[c:stop]
            if shifted:
                for t in range(stop - c):
                    part[t] *= -2
                shift(part, a[row], norms, zero)
            if same and c <= row < stop:
                part[row - c] = own[row]
            at = (row - i) * stride + (c - k)
            finish(part, out[at : at + stop - c], profile, p, q, whole, a[row], norms)
        _clear(other_ptr, other_at, c, stop - c, wide, panel)


class SparsePairwise(Tiles):
    """`profile(x'y)`, or `profile(|x - y|^2)`, for sparse rows.

    The arguments are those of `Pairwise`. The columns are spread out dense, a panel at a
    time, so a row costs its stored numbers times the columns, in vector code.
    """

    def __init__(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        profile: Profile,
        *,
        norms: tuple[Array, Array] | None = None,
        product: bool = False,
        own: Array | None = None,
    ) -> None:
        self.dtype = X.dtype
        self.shape = X.shape[0], Y.shape[0]
        self._wide = sparse_wide(self.dtype)
        self._panel_size = int(X.shape[1]) * self._wide
        if product and self.dtype == np.float64:
            norms = _norms(X), _norms(Y)
        self._X, self._Y, self._parts = X, Y, (*_parts(X), *_parts(Y))
        self._finishing = finishing(
            self.dtype, X.shape[0], profile, norms, own, product=product
        )

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        flat, stride = flatten(out)
        panel = work.zeros(self._panel_size, self.dtype)
        _fill(
            *self._parts, *self._finishing, self._wide, run_length(self._X.shape[1]), panel,
            *rows, *columns, flat, stride,
        )  # fmt: skip

    def picked(self, rows: Indices, columns: Indices | None = None) -> SparsePairwise:
        found = copy(self)
        found.shape = len(rows), self.shape[1] if columns is None else len(columns)
        found._X = self._X[rows]
        if columns is not None:
            found._Y = found._X if columns is rows else self._Y[columns]
        found._parts = (*_parts(found._X), *_parts(found._Y))
        found._finishing = picked_finishing(self._finishing, self.shape[1], rows, columns)
        return found

    def scratch(self, entries: int) -> int:
        return self._panel_size * self.dtype.itemsize


def _norms(matrix: sparse.csr_array) -> Array:
    """Squared norms in which few roundings meet: see `product_is_safe`."""
    return squared_norms(matrix.data, matrix.indptr.astype(np.int64, copy=False))


def _parts(matrix: sparse.csr_array) -> tuple[Any, Any, Any]:
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data,
    )


LOT = 256
"""Rows that a thread compresses at a time."""


def compressed(points: Array, share: float) -> sparse.csr_array | None:
    """Dense rows as a canonical csr matrix, if at most this share of them is not zero."""
    rows, width = points.shape
    counts = np.zeros(rows + 1, np.int64)
    crew = 1 if points.size < SMALL else available()

    def count(lot: Slice, _: object) -> None:
        _count(points, *lot, counts)

    run(count, pieces(rows, LOT), crew, object)
    starts = np.cumsum(counts)
    if starts[-1] > share * points.size:
        return None
    data, indices = np.empty(starts[-1], points.dtype), np.empty(starts[-1], np.int32)

    def gather(lot: Slice, _: object) -> None:
        _gather(points, *lot, starts, indices, data)

    run(gather, pieces(rows, LOT), crew, object)
    return sparse.csr_array((data, indices, starts), shape=(rows, width))


@compiled()
def _count(points: Any, i: Any, j: Any, counts: Any) -> None:
    """Set `counts[r + 1]` to the number of entries of row r that are not zero."""
    for row in range(i, j):
        total = 0
        for x in points[row]:
            total += x != 0
        counts[row + 1] = total


@compiled()
def _gather(points: Any, i: Any, j: Any, starts: Any, indices: Any, data: Any) -> None:
    """Write the entries that are not zero, and their columns, from `starts[r]` on."""
    for row in range(i, j):
        at = starts[row]
        for column, x in enumerate(points[row]):
            if x != 0:
                indices[at] = column
                data[at] = x
                at += 1
