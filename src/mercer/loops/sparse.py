"""Sparse points against points: only the stored numbers of a row are touched."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.loops.compiled import compiled
from mercer.loops.pairwise import Profile, finishing
from mercer.loops.profiles import finish, shift
from mercer.loops.tiles import Slice, Tiles, Workspace, flatten
from mercer.loops.vector import row_dot, sparse_wide
from mercer.types import Array


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
    wide: Any, panel: Any, i: Any, j: Any, k: Any, m: Any, out: Any, stride: Any,
) -> None:  # fmt: skip
    """Fill rows i:j and columns k:m of the matrix, into flat `out`."""
    sums = np.empty(wide, data.dtype)
    zero = p - p
    for c in range(k, m, wide):
        stop = min(c + wide, m)
        _spread(other_ptr, other_at, other, c, stop - c, wide, panel)
        for row in range(i, j):
            row_dot(indices, data, indptr[row], indptr[row + 1], panel, 0, sums, 0)
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
        self._panel_size = X.shape[1] * self._wide
        self._arguments = (
            *_parts(X),
            *_parts(Y),
            *finishing(self.dtype, X.shape[0], profile, norms, own, product=product),
            self._wide,
        )

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        flat, stride = flatten(out)
        panel = work.zeros(self._panel_size, self.dtype)
        _fill(*self._arguments, panel, *rows, *columns, flat, stride)


def _parts(matrix: sparse.csr_array) -> tuple[Any, Any, Any]:
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data,
    )
