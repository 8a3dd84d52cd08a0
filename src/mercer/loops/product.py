"""K @ V without storing K: tiles are filled in cache, used, and forgotten.

The sums are added up in float64 and in an order that does not depend on the threads: rows
are dealt to a fixed number of groups, a group is worked through by one thread, and the
groups are added in turn. So the result is bitwise the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops.compiled import REGROUP, compiled
from mercer.loops.thin import is_thin, multiply_thin
from mercer.loops.threads import run
from mercer.loops.tiles import COLUMNS, ROWS, Slice, Tiles, Workspace, pieces
from mercer.loops.vector import full_width
from mercer.types import Array

GROUPS = 16
"""Groups of rows whose sums are kept apart, when K is symmetric. Each costs one copy of the
result; more groups than threads keep the threads evenly busy."""

SCRATCH = 1 << 28
"""Bytes that the groups may take. With so many right-hand sides that they would need more,
each entry is computed twice instead: its cost is then small beside the products."""


@compiled(REGROUP)
def _forward(
    tile: Any, stride: Any, i: Any, j: Any, k: Any, m: Any, V: Any, zero: Any, out: Any
) -> None:
    """`out[v, i:j] += tile @ V[v, k:m]`, for every v."""
    full_width()
    for v in range(V.shape[0]):
        right = V[v, k:m]
        for row in range(j - i):
            entries = tile[row * stride : row * stride + m - k]
            total = zero
            for c in range(len(right)):
                total += entries[c] * right[c]
            out[v, i + row] += total


@compiled(REGROUP)
def _backward(
    tile: Any, stride: Any, i: Any, j: Any, k: Any, m: Any, V: Any, zero: Any, out: Any
) -> None:
    """`out[v, k:m] += tile' @ V[v, i:j]`, for every v."""
    full_width()
    count = m - k
    sums = np.empty(count, V.dtype)
    four = (j - i) // 4 * 4
    for v in range(V.shape[0]):
        for c in range(count):
            sums[c] = zero
        for row in range(0, four, 4):
            at = row * stride
            a, b = tile[at : at + count], tile[at + stride : at + stride + count]
            at += 2 * stride
            d, e = tile[at : at + count], tile[at + stride : at + stride + count]
            x, y = V[v, i + row], V[v, i + row + 1]
            z, w = V[v, i + row + 2], V[v, i + row + 3]
            for c in range(count):
                sums[c] += x * a[c] + y * b[c] + z * d[c] + w * e[c]
        for row in range(four, j - i):
            a, x = tile[row * stride : row * stride + count], V[v, i + row]
            for c in range(count):
                sums[c] += x * a[c]
        for c in range(count):
            out[v, k + c] += sums[c]


def multiply(
    tiles: Tiles,
    V: Array,
    *,
    is_symmetric: bool,
    threads: int | None = None,
    scratch: int | None = None,
) -> NDArray[np.float64]:
    """The product K @ V in float64, where K is given by its tiles.

    Args:
        tiles: The matrix K.
        V: Right-hand sides, a column each.
        is_symmetric: K is symmetric: fill each pair once and use it twice.
        threads: How many threads; by default as many as are available.
        scratch: Bytes that the groups may take, if fewer than `SCRATCH`.
    """
    rows, columns = tiles.shape
    right, powers = _fitted(V, tiles.dtype)
    zero = tiles.dtype.type(0)
    if is_thin(tiles, len(right), is_symmetric=is_symmetric):
        product = multiply_thin(tiles, right, threads=threads)
        return product if powers is None else np.ldexp(product, powers.T, out=product)
    allowed = SCRATCH if scratch is None else min(scratch, SCRATCH)
    twice = is_symmetric and GROUPS * rows * len(right) * 8 <= allowed
    strips = list(pieces(rows, ROWS))
    groups = min(GROUPS, len(strips)) if twice else 1
    sums = np.zeros((groups, len(right), rows))

    def work(task: tuple[int, list[Slice]], workspace: Workspace) -> None:
        group, mine = task
        for i, j in mine:
            # The square on the diagonal is used whole, what is right of it twice.
            for k, m in pieces(columns, COLUMNS, start=j if twice else 0):
                with tiles.part((i, j), (k, m), workspace) as (tile, stride):
                    _forward(tile, stride, i, j, k, m, right, zero, sums[group])
                    if twice:
                        _backward(tile, stride, i, j, k, m, right, zero, sums[group])
            if twice:
                with tiles.part((i, j), (i, j), workspace) as (tile, stride):
                    _forward(tile, stride, i, j, i, j, right, zero, sums[group])

    if twice:
        # Forwards and backwards in turn, because the first strips are the longest.
        lots = [
            strips[g :: 2 * groups] + strips[2 * groups - 1 - g :: 2 * groups]
            for g in range(groups)
        ]
        tasks = list(enumerate(lots))
    else:
        tasks = [(0, [strip]) for strip in strips]
    run(work, tasks, tiles.crew(rows * columns, threads), Workspace)
    total: NDArray[np.float64] = sums[0]
    for part in sums[1:]:
        total += part
    # A copy, or the result would keep the memory of all groups.
    total = total.copy() if groups > 1 else total
    if powers is not None:
        total = np.ldexp(total, powers, out=total)
    return total.T


def _fitted(V: Array, dtype: np.dtype[Any]) -> tuple[Array, Array | None]:
    """Right-hand sides, a row each, in the type of the tiles; and the powers of two that they
    were divided by, because float32 has no numbers as large, or as small, as float64.
    """
    if dtype in {np.dtype(np.float64), V.dtype}:
        return np.ascontiguousarray(V.T, dtype=dtype), None
    wide = np.asarray(V.T, np.float64)
    _, powers = np.frexp(np.abs(wide).max(axis=1, initial=0.0))
    return np.ldexp(wide, -powers[:, None]).astype(dtype), powers[:, None]
