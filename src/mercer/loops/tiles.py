"""A Gram matrix as tiles: something that can fill any part of itself.

`Tiles` is the one thing a kernel has to offer. `dense` and `symmetric` write a whole matrix
from it, `multiply` (in `product.py`) multiplies by it and stores nothing. Sums and products of
kernels combine tiles while they are in cache, so a matrix is passed over once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidParameter
from mercer.loops.compiled import compiled
from mercer.loops.threads import available, run
from mercer.loops.vector import lanes, transpose
from mercer.types import Array, Indices

ROWS = 144
"""Rows of a tile: a multiple of every register tile, and few enough for the cache."""

COLUMNS = 1152
"""Columns of a tile that has to stay in cache; a multiple of every register tile."""

SMALL = 1 << 16
"""Entries below which starting a second thread costs more than it saves."""

ALONE = 16
"""Strips of a symmetric matrix that are one task where there is one thread."""

Slice = tuple[int, int]


class Workspace:
    """Scratch tiles of one thread, lent again instead of allocated again."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []
        self._zeros: Array = np.zeros(0)

    @contextmanager
    def tile(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> Iterator[Array]:
        """An array with arbitrary content, until the end of the block."""
        size = shape[0] * shape[1] * dtype.itemsize
        buffer = self._free.pop() if self._free else np.empty(size, np.uint8)
        if buffer.nbytes < size:
            buffer = np.empty(size, np.uint8)
        yield buffer[:size].view(dtype).reshape(shape)
        self._free.append(buffer)

    def zeros(self, size: int, dtype: np.dtype[Any]) -> Array:
        """A flat array of zeros; whoever writes to it leaves zeros behind."""
        if self._zeros.size < size or self._zeros.dtype != dtype:
            self._zeros = np.zeros(size, dtype)
        return self._zeros


class Tiles(ABC):
    """A matrix that can fill any part of itself.

    Attributes:
        shape: Rows and columns.
        dtype: The type of its entries.
        span: Columns that it likes to fill at once: few when the tile is read again.
        tall: Rows that it likes to fill at once, a multiple of `ROWS`.
        serial: Whether a user's function is called, which may not bear several threads.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    span: int = COLUMNS
    tall: int = ROWS
    serial: bool = False

    def crew(self, entries: int, threads: int | None) -> int:
        """Threads to fill so many entries."""
        if self.serial or entries < SMALL:
            return 1
        return min(available() if threads is None else threads, -(-entries // SMALL))

    def scratch(self, entries: int) -> int:
        """Bytes that a thread takes to fill a tile of so many entries, besides the tile."""
        return 0

    @abstractmethod
    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        """Write the entries of these rows and columns to `out`, whose rows are contiguous.

        Both slices start at a multiple of 48, which every register tile divides.
        """

    def fill_right(
        self, rows: Slice, height: int, out: Array, work: Workspace, *, mirror: bool
    ) -> None:
        """Write rows of a symmetric matrix, from the diagonal on, to the matrix `out`, so many
        at a time; and what they mirror below the diagonal.
        """
        flat, stride = flatten(out)
        for i, j in pieces(rows[1], height, start=rows[0]):
            for k, m in pieces(self.shape[1], self.span, start=i):
                self.fill((i, j), (k, m), out[i:j, k:m], work)
                if mirror:
                    mirrored(flat, stride, i, j, k, m, lanes(self.dtype))

    def picked(self, rows: Indices, columns: Indices | None = None) -> Tiles | None:
        """Some rows of this matrix, with all columns or some of them, from what is prepared
        already; None where that is not known to be faster than to begin with the points.

        `columns is rows` keeps a symmetric matrix symmetric.
        """
        return None

    @contextmanager
    def part(self, rows: Slice, columns: Slice, work: Workspace) -> Iterator[tuple[Array, int]]:
        """These rows and columns as flat memory, and the distance between its rows. It must
        not be written to, and is valid until the end of the block.
        """
        shape = rows[1] - rows[0], columns[1] - columns[0]
        with work.tile(shape, self.dtype) as tile:
            self.fill(rows, columns, tile, work)
            yield flatten(tile)


def dense(tiles: Tiles, out: Array | None = None, threads: int | None = None) -> Array:
    """Write the whole matrix, tile by tile, to `out` or to a new array."""
    rows, columns = tiles.shape
    out = target(tiles, out)

    def work(task: tuple[Slice, Slice], workspace: Workspace) -> None:
        (i, j), (k, m) = task
        tiles.fill((i, j), (k, m), out[i:j, k:m], workspace)

    crew = tiles.crew(rows * columns, threads)
    strips = pieces(rows, _height(tiles, crew))
    tasks = ((strip, part) for strip in strips for part in pieces(columns, tiles.span))
    run(work, tasks, crew, Workspace)
    return out


def symmetric(
    tiles: Tiles, out: Array | None = None, threads: int | None = None, *, mirror: bool = True
) -> Array:
    """Write a symmetric matrix: each pair computed once, so exactly symmetric. Without
    `mirror` what is below the diagonal is left as it is.
    """
    rows, _ = tiles.shape
    out = target(tiles, out)

    crew = tiles.crew(rows * rows // 2, threads)
    height = _height(tiles, crew)

    def work(strip: Slice, workspace: Workspace) -> None:
        tiles.fill_right(strip, height, out, workspace, mirror=mirror)

    run(work, pieces(rows, height if crew > 1 else ALONE * height), crew, Workspace)
    return out


def _height(tiles: Tiles, crew: int) -> int:
    """Rows of a strip: tall ones run along more memory, if there are enough for all threads."""
    return tiles.tall if tiles.shape[0] >= 8 * crew * tiles.tall else ROWS


def target(tiles: Tiles, out: Array | None) -> Array:
    """The array to write to: `out` if it fits, else a new one."""
    if out is None:
        return np.empty(tiles.shape, dtype=tiles.dtype)
    if not isinstance(out, np.ndarray):
        raise InvalidParameter(f"out must be an array to write to, got {type(out).__name__}.")
    if out.shape != tiles.shape or out.dtype != tiles.dtype:
        raise InvalidParameter(
            f"out has shape {out.shape} and type {out.dtype}, but the matrix has shape "
            f"{tiles.shape} and type {tiles.dtype}. Pass an array of that shape and type."
        )
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise InvalidParameter("out must be C-contiguous and writeable: np.empty makes one.")
    return out


def pieces(stop: int, size: int, start: int = 0) -> Iterator[Slice]:
    """Cut a range into pieces of one size, the last one shorter."""
    return ((i, min(i + size, stop)) for i in range(start, stop, size))


def flatten(out: Array) -> tuple[Array, int]:
    """The memory of a part of a matrix as one flat array, and the distance of its rows.

    Compiled loops index flat memory: Numba makes vector code only where it knows that
    neighbours are neighbours.
    """
    rows, columns = out.shape
    if out.flags.c_contiguous:
        return out.reshape(-1), columns
    stride = out.strides[0] // out.itemsize
    size = (rows - 1) * stride + columns
    return np.lib.stride_tricks.as_strided(out, (size,), (out.itemsize,)), stride


@compiled()
def mirrored(flat: Any, stride: Any, i: Any, j: Any, k: Any, m: Any, size: Any) -> None:
    """Copy the part right of the diagonal of rows i:j, columns k:m, to below it."""
    for b in range(k, m, size):
        for a in range(i, j, size):
            if a + size <= min(j, b) and b + size <= m:
                transpose(flat, a * stride + b, stride, flat, b * stride + a, stride)
            else:
                for row in range(a, min(a + size, j)):
                    for column in range(max(b, row + 1), min(b + size, m)):
                        flat[column * stride + row] = flat[row * stride + column]


class Stored(Tiles):
    """Tiles of a matrix that is there already."""

    def __init__(self, matrix: Array) -> None:
        self.shape, self.dtype, self._matrix = matrix.shape, matrix.dtype, matrix

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        out[...] = self._matrix[slice(*rows), slice(*columns)]

    @contextmanager
    def part(self, rows: Slice, columns: Slice, work: Workspace) -> Iterator[tuple[Array, int]]:
        if self._matrix.flags.c_contiguous:
            yield flatten(self._matrix[slice(*rows), slice(*columns)])
        else:  # a transposed matrix is turned tile by tile, instead of copied
            with super().part(rows, columns, work) as found:
                yield found


class Blocks(Tiles):
    """Tiles of an arbitrary function of two slices: callables and unknown kernels."""

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        block: Callable[[slice, slice], Array],
        *,
        serial: bool = False,
    ) -> None:
        self.shape, self.dtype, self.serial = shape, dtype, serial
        self._block = block

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        out[...] = self._block(slice(*rows), slice(*columns))

    def scratch(self, entries: int) -> int:
        return 8 * entries  # what the function returns


class Applied(Tiles):
    """A function applied in place to each tile of other tiles.

    The function gets the tile and the slices it covers.
    """

    def __init__(self, inner: Tiles, function: Callable[[Array, slice, slice], None]) -> None:
        self.shape, self.dtype, self.serial = inner.shape, inner.dtype, inner.serial
        self._inner, self._function = inner, function

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        self._inner.fill(rows, columns, out, work)
        self._function(out, slice(*rows), slice(*columns))

    def scratch(self, entries: int) -> int:
        # NumPy's functions of a tile take another, after the inner ones are done.
        return max(self._inner.scratch(entries), entries * self.dtype.itemsize)


class Narrowed(Tiles):
    """Other tiles, computed in their own type and written in another: float32 for float64."""

    def __init__(self, inner: Tiles, dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.serial = inner.shape, dtype, inner.serial
        self.span, self._inner = inner.span, inner

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        with work.tile(out.shape, self._inner.dtype) as wide:
            self._inner.fill(rows, columns, wide, work)
            out[...] = wide

    def picked(self, rows: Indices, columns: Indices | None = None) -> Tiles | None:
        inner = self._inner.picked(rows, columns)
        return None if inner is None else Narrowed(inner, self.dtype)

    def scratch(self, entries: int) -> int:
        return entries * self._inner.dtype.itemsize + self._inner.scratch(entries)


class Combined(Tiles):
    """Two matrices combined entry by entry, while both tiles are in cache."""

    def __init__(self, left: Tiles, right: Tiles, operation: np.ufunc) -> None:
        self.shape = left.shape
        self.dtype = np.result_type(left.dtype, right.dtype)
        self.serial = left.serial or right.serial
        self._left, self._right, self._operation = left, right, operation

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        # The first tile is filled in place where its type allows it.
        with work.tile(out.shape, self._right.dtype) as second:
            self._right.fill(rows, columns, second, work)
            if self._left.dtype == out.dtype:
                self._left.fill(rows, columns, out, work)
                self._operation(out, second, out=out)
                return
            with work.tile(out.shape, self._left.dtype) as first:
                self._left.fill(rows, columns, first, work)
                self._operation(first, second, out=out)

    def picked(self, rows: Indices, columns: Indices | None = None) -> Tiles | None:
        left, right = self._left.picked(rows, columns), self._right.picked(rows, columns)
        if left is None or right is None:
            return None
        return Combined(left, right, self._operation)

    def scratch(self, entries: int) -> int:
        left, right = self._left, self._right
        first = 0 if left.dtype == self.dtype else entries * left.dtype.itemsize
        rest = max(right.scratch(entries), first + left.scratch(entries))
        return entries * right.dtype.itemsize + rest
