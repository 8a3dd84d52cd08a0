"""A matrix times several columns at once: each entry is read once, for all of them.

Sums of a few rows against one vector register of columns stay in registers, as in a tile of
the matrix itself; so a stored matrix is passed over at the speed of memory, and a tile that
was only filled for this is used while it is in cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from mercer.loops.compiled import compiled
from mercer.loops.threads import run
from mercer.loops.tiles import COLUMNS, Slice, Stored, Tiles, Workspace, pieces
from mercer.loops.tiles import ROWS as TILE_ROWS
from mercer.loops.vector import _VECTORS, ROWS, _Registers, full_width, wide
from mercer.types import Array

FEW = 4
"""Columns from which one pass for all of them is faster than a pass for each."""

SEVERAL = 16
"""The same where a pass for each could use an entry twice, because the matrix is symmetric and
not stored."""

CHUNK = 576
"""Terms that are added up before their sum is added to the others, in float64."""


@intrinsic
def _rows_dot(
    _context: Any, X: Any, x: Any, apart: Any, Y: Any, y: Any, S: Any, width: Any
) -> Any:
    """Set, for flat arrays, `S[r*wide + c] = sum_k X[x + r*apart + k] * Y[y + k*wide + c]`."""

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, X.dtype)
        index = ir.IntType(64)
        arrays = [context.make_array(sig.args[i])(context, builder, args[i]) for i in (0, 3, 5)]
        left = builder.gep(arrays[0].data, [args[1]])
        right = builder.gep(arrays[1].data, [args[4]])
        lanes = registers.lanes
        rows = [builder.gep(left, [builder.mul(args[2], index(r))]) for r in range(ROWS)]
        places = [
            index((r * _VECTORS + v) * lanes) for r in range(ROWS) for v in range(_VECTORS)
        ]

        def add(k: Any, totals: Sequence[Any]) -> None:
            at = builder.mul(k, index(_VECTORS * lanes))
            columns = [
                registers.load(right, builder.add(at, index(v * lanes)))
                for v in range(_VECTORS)
            ]
            for r, row in enumerate(rows):
                spread = registers.spread(builder.load(builder.gep(row, [k])))
                for v, column in enumerate(columns):
                    total = totals[r * _VECTORS + v]
                    builder.store(registers.dot(builder.load(total), spread, column), total)

        registers.sum(add, (index(0), args[6], args[6]), arrays[2].data, places)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(X, whole, whole, Y, whole, S, whole), build


@compiled()
def _add(
    tile: Any, apart: Any, rows: Any, first: Any, width: Any, V: Any, groups: Any,
    columns: Any, wide_: Any, out: Any,
) -> None:  # fmt: skip
    """Add `tile @ V[first:first + width]` to out, for at least `ROWS` rows."""
    full_width()
    sums = np.empty(ROWS * wide_, tile.dtype)
    count = out.shape[1]
    for k in range(0, width, CHUNK):
        length = min(CHUNK, width - k)
        for r in range(0, rows, ROWS):
            # The last rows are met again, and only the new ones are added.
            start = min(r, rows - ROWS)
            for group in range(groups):
                at = (group * columns + first + k) * wide_
                _rows_dot(tile, start * apart + k, apart, V, at, sums, length)
                stop = min(wide_, count - group * wide_)
                for row in range(r, min(r + ROWS, rows)):
                    for c in range(stop):
                        out[row, group * wide_ + c] += sums[(row - start) * wide_ + c]


def is_thin(tiles: Tiles, columns: int, *, is_symmetric: bool) -> bool:
    """Whether a product with so many columns is to be done by `multiply_thin`."""
    if tiles.shape[0] < ROWS or tiles.serial:
        return False
    twice = is_symmetric and not isinstance(tiles, Stored)
    return columns >= (SEVERAL if twice else FEW)


def multiply_thin(
    tiles: Tiles, right: Array, *, threads: int | None = None
) -> NDArray[np.float64]:
    """The product of a matrix with columns, which are given as rows, in float64.

    Each row of the result is added up by one thread in one order, so it is bitwise the same
    for any number of threads.

    Args:
        tiles: The matrix, of at least `ROWS` rows.
        right: The columns, a row each, in the type of the matrix.
        threads: How many threads; by default as many as are available.

    Returns:
        The product, a column each.
    """
    rows, columns = tiles.shape
    size = wide(tiles.dtype)
    groups = -(-len(right) // size)
    packed = np.zeros((groups, columns, size), tiles.dtype)
    for group in range(groups):
        mine = right[group * size : (group + 1) * size]
        packed[group, :, : len(mine)] = mine.T
    flat = packed.reshape(-1)
    product = np.zeros((rows, len(right)))
    span = columns if isinstance(tiles, Stored) else COLUMNS  # what is there fills no cache

    def work(strip: Slice, workspace: Workspace) -> None:
        i, j = strip
        i = min(i, j - ROWS) if j - i < ROWS else i
        i -= i % TILE_ROWS  # tiles begin at panels of rows
        part = np.zeros((j - i, len(right)))
        for k, m in pieces(columns, span):
            with tiles.part((i, j), (k, m), workspace) as (tile, apart):
                _add(tile, apart, j - i, k, m - k, flat, groups, columns, size, part)
        product[strip[0] : j] = part[strip[0] - i :]

    run(work, pieces(rows, TILE_ROWS), tiles.crew(rows * columns, threads), Workspace)
    return product
