"""A Gram matrix by its rows: what a solver reads that moves few variables at a time.

`MatrixRows` has the matrix. `KernelRows` computes rows when they are first asked for and keeps
the last ones, in float32, as far as the budget goes; once most will be needed and all fit, it
computes the whole matrix, which costs half as much because it is symmetric. Either has a
product in float64, which tells what single precision has spoiled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.kernels import Kernel
from mercer.loops import (
    Narrowed,
    Pairwise,
    SparsePairwise,
    Tiles,
    Workspace,
    available,
    dense,
    multiply,
    pieces,
    run,
    symmetric,
)
from mercer.loops.smo import LANES, STRIP, add_rows, pick, pick_square
from mercer.loops.tiles import Slice, flatten
from mercer.plan import Plan
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

LOT = 512
"""Rows that are computed at a time."""

CHEAP = 1 << 28
"""Bytes of rows that are kept where computing one again takes no longer than the system takes
to hand out memory for it: rows of points with few coordinates, by compiled loops."""

STRETCH = 4608
"""Columns that a thread fills, at most, before it adds them: they are still in cache then."""

NARROW = 128
"""Coordinates up to which rows of dense points are cheap."""

THIN = 32
"""The same for the coordinates of sparse points that are not zero, on average."""

FLOAT32 = 1e-25, 1e30
"""Values that single precision holds, with room for their sums and squares."""


class Rows(ABC):
    """A symmetric matrix of kernel values.

    Attributes:
        size: The number of rows.
        diagonal: The values k(x, x).
        threads: How many threads it uses.
        unit: The rounding unit of the rows that `add` adds.
        is_cheap: Whether a value is computed about as fast as it is written.
        is_whole: Whether all values are stored.
    """

    size: int
    diagonal: Reals
    threads: int
    unit: float
    is_cheap: bool
    is_whole: bool

    @abstractmethod
    def tile(self, chosen: Indices, *, once: bool = False) -> tuple[Array, int]:
        """The values between the chosen rows, flat, and the distance of its rows.

        They may be rough: float32 will do. Some more numbers than a row has columns can be
        read from any row.

        Args:
            chosen: Which rows.
            once: Whether each is there once, in ascending order, but for the first one: it
                follows some times more, to fill vectors up, and needs no values there.
        """

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> Reals:
        """The values between two choices, in float64."""

    @abstractmethod
    def add(self, chosen: Indices, factors: Reals, out: Reals) -> None:
        """Add the chosen rows, all different, times their factors: roughly `K b`."""

    @abstractmethod
    def product(self, factors: Reals) -> Reals:
        """The product `K b` in float64."""

    def sharpen(self) -> bool:
        """Use rows in float64 from now on; False where they stay what they are."""
        return False

    def _add(self, store: Array, places: Indices, factors: Reals, out: Reals) -> None:
        """Add rows of an array, a strip of columns at a time."""
        flat, stride = store.reshape(-1), store.shape[1]

        def work(strip: tuple[int, int], _: None) -> None:
            add_rows(flat, stride, places, factors, *strip, out)

        size = max(STRIP, -(-self.size // (4 * self.threads * STRIP)) * STRIP)
        small = len(places) * self.size < 1 << 20
        crew = 1 if small else self.threads
        run(work, pieces(self.size, self.size if crew == 1 else size), crew, lambda: None)


class MatrixRows(Rows):
    """A matrix that is there: given by the user, or shared by several problems.

    Args:
        matrix: Symmetric, C-contiguous, float32 or float64.
        threads: How many threads; by default as many as are available.
    """

    def __init__(self, matrix: Array, threads: int | None = None) -> None:
        self.size, self._matrix = len(matrix), matrix
        self.diagonal = np.diagonal(matrix).astype(np.float64)
        self.unit, self.is_cheap = float(np.finfo(matrix.dtype).eps), True
        self.is_whole = True
        self.threads = available() if threads is None else threads

    def tile(self, chosen: Indices, *, once: bool = False) -> tuple[Array, int]:
        return self._picked(chosen, chosen).reshape(-1), len(chosen)

    def block(self, rows: Indices, columns: Indices) -> Reals:
        return self._picked(rows, columns).astype(np.float64, copy=False)

    def _picked(self, rows: Indices, columns: Indices) -> Array:
        out = np.empty((len(rows), len(columns)), self._matrix.dtype)
        flat, into = self._matrix.reshape(-1), out.reshape(-1)

        def work(part: tuple[int, int], _: None) -> None:
            pick(flat, self.size, rows, columns, *part, into, len(columns))

        crew = self.threads if out.size > 1 << 16 else 1
        run(work, pieces(len(rows), -(-len(rows) // crew) or 1), crew, lambda: None)
        return out

    def add(self, chosen: Indices, factors: Reals, out: Reals) -> None:
        self._add(self._matrix, chosen, factors, out)

    def product(self, factors: Reals) -> Reals:
        out = np.zeros(self.size)
        support = np.flatnonzero(factors)
        self._add(self._matrix, support, factors[support], out)
        return out


class KernelRows(Rows):
    """Rows of the Gram matrix of a batch, computed when they are asked for.

    Args:
        kernel: The kernel.
        points: The batch.
        plan: The memory that rows may take, and the threads.
    """

    def __init__(self, kernel: Kernel, points: Batch, plan: Plan) -> None:
        self.size, points = len(points), _double(points)
        self.diagonal = kernel.diag(points).astype(np.float64)
        self._kernel, self._exact = kernel, points
        largest = float(self.diagonal.max(initial=0.0))
        tiny, huge = FLOAT32
        single = largest == 0 or tiny < largest < huge
        self._rough = _rough(kernel, points) if single else points
        self.is_cheap = _is_cheap(kernel, self._rough)
        self._lend(plan)
        self._begin(np.dtype(np.float32 if single else np.float64))

    def _lend(self, plan: Plan) -> None:
        """Take the memory and the threads of a plan."""
        crew = plan.crew()
        self.threads = available() if crew is None else crew
        self._budget = min(plan.budget(), CHEAP) if self.is_cheap else plan.budget()

    def _begin(self, dtype: np.dtype[Any]) -> None:
        """Begin to store rows of this type."""
        self._dtype, self.unit = dtype, float(np.finfo(dtype).eps)
        self._room = int(min(self._budget // (dtype.itemsize * self.size), self.size))
        self._matrix: Tiles | None = None
        self._store: Array | None = None
        self._place = np.full(self.size, -1, np.int64)
        self._owner = np.full(self._room, -1, np.int64)
        self._next = self._computed = 0
        self.is_whole = False
        self._copy = np.empty(0, dtype)

    @property
    def memory(self) -> int:
        """The bytes that the rows take."""
        return self._dtype.itemsize * self.size * min(self._room, self._computed)

    def sharpen(self) -> bool:
        if self._dtype == np.float64:
            return False
        self._begin(np.dtype(np.float64))
        return True

    def tile(self, chosen: Indices, *, once: bool = False) -> tuple[Array, int]:
        count = int(np.argmax(chosen)) + 1
        if once and self._room == self.size == count and not self.is_whole:
            self._fill()
        if once and self.is_whole:
            return self._copied(chosen[:count]), count
        own = symmetric(self._picked(chosen, chosen), threads=self.threads)
        return own.reshape(-1), len(chosen)

    def _copied(self, chosen: Indices) -> Array:
        """The stored values between these rows, flat: all there are, or a copy that lasts until
        the next one is made. Memory that was written to before is filled faster.
        """
        count = len(chosen)
        if count == self.size:
            return self._flat
        if len(self._copy) < count**2 + LANES:
            self._copy = np.zeros(count**2 + LANES, self._dtype)
        crew = self.threads if count > LOT else 1
        pick_square(self._flat, self.size, chosen, self._copy, crew)
        return self._copy

    def block(self, rows: Indices, columns: Indices) -> Reals:
        if not len(rows) or not len(columns):
            return np.zeros((len(rows), len(columns)))
        left = self._points(rows)
        right = left if columns is rows else self._points(columns)
        tiles = self._kernel.tiles(left, right)
        write = symmetric if right is left else dense
        return write(tiles, threads=self.threads).astype(np.float64, copy=False)

    def product(self, factors: Reals) -> Reals:
        support = np.flatnonzero(factors)
        if not len(support):
            return np.zeros(self.size)
        every = self._points()
        if 2 * len(support) > self.size:
            tiles, right, square = self._kernel.tiles(every, every), factors, True
        else:
            tiles = self._kernel.tiles(every, every[support])
            right, square = factors[support], False
        found = multiply(tiles, right[:, None], is_symmetric=square, threads=self.threads)
        return found[:, 0]

    def add(self, chosen: Indices, factors: Reals, out: Reals) -> None:
        if not len(chosen):
            return
        known = self._place[chosen] >= 0
        if self._pays(int((~known).sum())):
            self._fill()
            known[:] = True
        old = self._place[chosen[known]], factors[known]
        fresh, rest = chosen[~known], factors[~known]
        if not len(fresh):
            self._add(self._kept(), *old, out)
        for i, j in pieces(len(fresh), LOT):
            self._compute(fresh[i:j], rest[i:j], *old, out)
            old = old[0][:0], old[1][:0]

    def _pays(self, more: int) -> bool:
        """Whether the whole matrix costs less than the rows that will be asked for.

        A row costs as much as two of the whole. What was computed is a lower bound of what
        will be; the first request, of the first working set, says how many it may be.
        """
        if self.is_whole or self._room < self.size:
            return False
        return self._computed + more > self.size // 4

    def _fill(self) -> None:
        symmetric(self._whole(), self._kept(), self.threads)
        self._place = np.arange(self.size)
        self._computed, self.is_whole = self.size, True

    def _kept(self) -> Array:
        """Where rows are kept. The system lends the memory only as it is written to."""
        if self._store is None:
            count = self._room * self.size
            self._flat = np.empty(count + LANES, self._dtype)
            self._flat[count:] = 0
            self._store = self._flat[:count].reshape(self._room, self.size)
        return self._store

    def _compute(
        self, fresh: Indices, factors: Reals, places: Indices, weights: Reals, out: Reals
    ) -> None:
        """Compute rows and add them while they are in cache, after others that have a place;
        and keep them where there is room, in the place of the oldest ones.
        """
        tiles, count = self._picked(fresh), len(fresh)
        store, rows = self._kept(), np.arange(count)
        flat = store.reshape(-1)
        kept = store[self._reserve(fresh)] if count <= self._room else None

        def work(strip: Slice, workspace: Workspace) -> None:
            add_rows(flat, self.size, places, weights, *strip, out)
            k, m = strip
            with workspace.tile((count, m - k), self._dtype) as scratch:
                target = scratch if kept is None else kept[:, k:m]
                for i, j in pieces(count, tiles.tall):
                    tiles.fill((i, j), strip, target[i:j], workspace)
                add_rows(*flatten(target), rows, factors, 0, m - k, out[k:m])

        crew = tiles.crew((count + len(places)) * self.size, self.threads)
        share = -(-self.size // (crew * STRETCH)) * crew
        run(work, pieces(self.size, -(-self.size // (48 * share)) * 48), crew, Workspace)

    def _reserve(self, fresh: Indices) -> slice:
        """The places of these rows from now on, which are those of the oldest ones."""
        count = len(fresh)
        first = self._next if self._next + count <= self._room else 0
        places = np.arange(first, first + count)
        gone = self._owner[places]
        self._place[gone[gone >= 0]] = -1
        self._owner[places], self._place[fresh] = fresh, places
        self._next, self._computed = first + count, self._computed + count
        return slice(first, first + count)

    def _points(self, rows: Indices | None = None) -> Batch:
        """All points or some, in float64."""
        return self._exact if rows is None else self._exact[rows]

    def _drafts(self, rows: Indices | None = None) -> Batch:
        """All points or some, in the precision of the rows."""
        points = self._exact if self._dtype == np.float64 else self._rough
        return points if rows is None else points[rows]

    def _whole(self) -> Tiles:
        """The whole matrix, in the precision of the rows."""
        if self._matrix is None:
            every = self._drafts()
            self._matrix = self._tiles(every, every)
        return self._matrix

    def _picked(self, rows: Indices, columns: Indices | None = None) -> Tiles:
        """Some rows of it, and all columns or, if they are the same, those."""
        found = self._whole().picked(rows, columns)
        if found is not None:
            return found
        own = self._drafts(rows)
        return self._tiles(own, self._drafts() if columns is None else own)

    def _tiles(self, left: Batch, right: Batch) -> Tiles:
        """The values between two batches, in the precision of the rows."""
        tiles = self._kernel.tiles(left, right)
        return tiles if tiles.dtype == self._dtype else Narrowed(tiles, self._dtype)


def _double(points: Batch) -> Batch:
    """The points in float64, where they are numbers: products are promised in it."""
    if isinstance(points, DenseBatch):
        return DenseBatch(points.values.astype(np.float64, copy=False), points.columns)
    if isinstance(points, SparseBatch):
        return SparseBatch(points.matrix.astype(np.float64, copy=False), points.columns)
    return points


def _is_cheap(kernel: Kernel, points: Batch) -> bool:
    """Whether rows are computed about as fast as they can be written."""
    first = points[:1]
    if isinstance(points, DenseBatch) and points.width <= NARROW:
        return isinstance(kernel.tiles(first, first), Pairwise)
    if isinstance(points, SparseBatch) and points.matrix.nnz <= THIN * len(points):
        return isinstance(kernel.tiles(first, first), SparsePairwise)
    return False


def _rough(kernel: Kernel, points: Batch) -> Batch:
    """The points in float32, where the kernel then reads the same to about six digits."""
    if isinstance(points, DenseBatch):
        values = points.values
        # A cluster far from 0 would lose its digits.
        centre = values.mean(axis=0) if kernel.is_stationary else np.zeros(points.width)
        rough = np.empty(values.shape, np.float32)
        np.subtract(values, centre, out=rough, casting="same_kind")
        return DenseBatch(rough, points.columns)
    if isinstance(points, SparseBatch):
        return SparseBatch(points.matrix.astype(np.float32), points.columns)
    return points
