r"""The k nearest rows of a table, each query against all, and no distance is written out.

With points moved by a centre, $|x - y|^2 = |x|^2 + |y|^2 - 2 x^\top y$, and $|x|^2$ says
nothing about who is nearer. So one more coordinate, 1 for a query and $|y|^2$ for a row, makes
the score of a pair a dot product, and the register tiles of `vector` compute it. Each query
keeps a few more than k of the lowest scores.

A thread looks at a strip of queries together, and packs the table for them tile by tile, into
the same memory. The strip is high enough that this takes little time, so beside the table and
the answer a search takes a few strips and tiles, however many rows there are.

The scores are rounded, so they only propose. The proposed rows are measured by differences in
double precision, and a bound on the rounding proves that no other row is nearer. Where the
bound cannot, as among many equal distances, the query is looked at again: first with scores in
double precision, then with every row that the bound leaves possible. So the answer is that of
plain differences in double precision, and equal distances are in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops.candidates import exhaust, extent, pack, screen, settle
from mercer.loops.heaps import in_order
from mercer.loops.threads import available, run
from mercer.loops.tiles import ROWS, SMALL, Slice, pieces
from mercer.loops.vector import ROWS as TILE
from mercer.loops.vector import roundings, run_length, wide
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

STRIP = 3 * ROWS
"""Queries that a thread looks at together, at most, while the table goes by; in double
precision half as many."""

TALL = 96 << 10
"""Bytes of the table that are packed at a time: they stay in the second cache."""

SPAN = 1 << 13
"""Rows of the table between two moments at which a search can be interrupted."""

TRIAL = 2 * ROWS
"""Queries that tell the share of undecided ones, if there are many more."""

HOPELESS = 0.25
"""The share of undecided queries from which on single precision is not worth its time."""

SPARE = 6
"""Rows that are kept beyond the k nearest, at least: the next one is the bound on the rest."""

PARTS = 16
"""Parts of the table that are looked through for its centre and its size."""


def nearest(
    queries: Array, points: Array, k: int, factor: Reals, threads: int | None = None
) -> tuple[Reals, Indices]:
    """For each query the k nearest rows of a table: their distances, and which they are.

    Equal distances are in the order of the rows. A distance beyond the range of numbers is
    infinite, and its row may be -1.

    Args:
        queries: The queries, a row each, float32 or float64, all finite.
        points: The table, float32 or float64.
        k: How many, at most as many as there are rows.
        factor: What each coordinate is multiplied by, in both.
        threads: How many threads; by default as many as are available.
    """
    return _Search(queries, points, k, factor, threads).run()


def scratch(width: int, k: int, threads: int | None = None) -> int:
    """The bytes that a search takes at most, beside the table, the queries and the answer.

    Args:
        width: The number of coordinates.
        k: How many neighbours of each query.
        threads: How many threads; by default as many as are available.
    """
    crew = available() if threads is None else threads
    query = 4 * (width + 1) + 12 * _kept(k) + 8
    tile = max(TALL, 8 * wide(np.dtype(np.float64)) * (width + 1))
    return crew * (STRIP * query + 3 * tile) + 8 * 3 * PARTS * width


def _kept(k: int) -> int:
    """Scores that are kept of each query."""
    return k + max(SPARE, k // 4)


@dataclass(frozen=True)
class _Moved:
    """The table with its centre at 0 and its largest coordinate near 1."""

    centre: Reals
    factor: Reals
    power: int

    @classmethod
    def of(cls, points: Array, factor: Reals, crew: int) -> _Moved:
        rows, width = points.shape
        parts = list(enumerate(pieces(rows, -(-rows // PARTS))))
        lows, highs, totals = np.empty((3, len(parts), width))

        def work(part: tuple[int, Slice], _: object) -> None:
            at, (i, j) = part
            extent(points, i, j, lows[at], highs[at], totals[at])

        run(work, parts, crew, object)
        low, high = lows.min(axis=0), highs.max(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = totals.sum(axis=0) / rows
            centre = np.where(np.isfinite(centre), centre, low / 2 + high / 2)
            reach = float((np.maximum(high - centre, centre - low) * factor).max(initial=0.0))
        if not 0 < reach < np.inf:
            return cls(centre, factor, 0)
        # A power of two has no rounding; between these it is a normal number.
        power = int(np.clip(-np.frexp(reach)[1], -500, 500))
        return cls(centre, np.ldexp(factor, power), power)


class _Search:
    """One search: what is known of each query."""

    def __init__(
        self, queries: Array, points: Array, k: int, factor: Reals, threads: int | None
    ) -> None:
        self.queries, self.points, self.k = queries, points, k
        few = len(queries) * len(points) < SMALL
        self.crew = 1 if few else available() if threads is None else threads
        self.moved = _Moved.of(points, factor, self.crew)
        self.best = np.full((len(queries), k), np.inf)
        self.where = np.full((len(queries), k), -1, dtype=np.int64)
        self.sure = np.zeros(len(queries), dtype=np.bool_)

    def run(self) -> tuple[Reals, Indices]:
        rows = range(len(self.queries))
        trial = TRIAL if len(rows) > 4 * TRIAL else len(rows)
        single = _Scores(self, np.dtype(np.float32))
        single.propose(rows[:trial])
        if trial < len(rows) and self.sure[:trial].mean() >= 1 - HOPELESS:
            single.propose(rows[trial:])
        if not self.sure.all():
            double = _Scores(self, np.dtype(np.float64))
            double.propose(np.flatnonzero(~self.sure))
            double.exhaust(np.flatnonzero(~self.sure))
        with np.errstate(over="ignore"):
            np.ldexp(np.sqrt(self.best, out=self.best), -self.moved.power, out=self.best)
        return self.best, self.where


class _Scores:
    r"""Scores of one precision, and what they can be off.

    With $R$ roundings of a term in a sum, unit $u$ and $\sum_c |2 x_c y_c| + |y|^2 \le |x|^2 +
    2 |y|^2$, the sum, the rounding of two coordinates and that of the last put a score off by
    at most $(R + 2) u (|x|^2 + 2 |y|^2)$. In double precision, of unit $v$, a coordinate is
    moved and stretched, with $4 v$ for two, a square of $d$ of them is off by $(d + 4) v$, what
    follows from a score by 4 more, and the plain differences by $(d / 4 + 8) v$ of $|x - y|^2
    \le 2 |x|^2 + 2 |y|^2$. So all is off by at most $s (|x|^2 + 2 |y|^2)$ for $s = (R + 2) u +
    (3 d / 2 + 28) v$, and the 1.01 are for products of roundings.

    The part of the row is taken off its score beforehand, so a score is a lower bound but for
    $s |x|^2$. What falls below the smallest number is in `tiny`.
    """

    def __init__(self, search: _Search, dtype: np.dtype[Any]) -> None:
        self.search, self.dtype = search, dtype
        count, self.width = len(search.points), search.points.shape[1] + 1
        unit, double = (float(np.finfo(kind).eps) / 2 for kind in (dtype, np.float64))
        off = (roundings(self.width) + 2) * unit + (1.5 * self.width + 28) * double
        self.slack = 1.01 * off
        self.tiny = 8.0 * self.width * float(np.finfo(dtype).tiny)
        self.wide = wide(dtype)
        panels = TALL // (self.width * dtype.itemsize * self.wide)
        self.tall = min(max(panels, 1), -(-count // self.wide)) * self.wide
        self.kept = min(count, _kept(search.k))

    def _strips(self, count: int) -> Iterator[Slice]:
        """Queries cut into equally many strips for each thread, none too high."""
        crew, high = self.search.crew, STRIP * 4 // self.dtype.itemsize
        strips = max(-(-count // (high * crew)) * crew, 1)
        return pieces(count, max(-(-count // (strips * TILE)), 1) * TILE)

    def _strip(self, rows: Indices) -> tuple[Array, Reals]:
        """These queries in panels, and their squared lengths."""
        packed = np.empty(-(-len(rows) // TILE) * TILE * self.width, self.dtype)
        squares = np.empty(len(rows))
        centre, factor = self.search.moved.centre, self.search.moved.factor
        pack(self.search.queries, rows, centre, factor, TILE, -2.0, 0.0, packed, squares)
        return packed, squares

    def _spans(self) -> Iterator[tuple[Any, ...]]:
        """What the loops are told of some rows of the table after others."""
        points, moved = self.search.points, self.search.moved
        tile = np.empty(self.tall * self.width, self.dtype)
        shrink, run_ = 1 - 2 * self.slack, run_length(self.width)
        for first, stop in pieces(len(points), SPAN):
            yield points, moved.centre, moved.factor, shrink, first, stop, tile, run_, self.wide

    def propose(self, rows: Indices | range) -> None:
        """Find candidates for these queries, and measure them."""
        search, kept = self.search, self.kept

        def work(part: Slice, _: object) -> None:
            mine = np.asarray(rows[slice(*part)])
            strip, squares = self._strip(mine)
            scores = np.full(len(mine) * kept, np.inf, self.dtype)
            places = np.full(len(mine) * kept, -1, dtype=np.int64)
            for span in self._spans():
                screen(strip, len(mine), *span, kept, scores, places)
            settle(
                search.queries, search.points, search.moved.factor, mine, kept, scores, places,
                squares, self.slack, self.tiny, search.best, search.where, search.sure,
            )  # fmt: skip

        run(work, self._strips(len(rows)), search.crew, object)

    def exhaust(self, rows: Indices) -> None:
        """Measure all rows that the bound leaves possible."""
        search = self.search

        def work(part: Slice, _: object) -> None:
            mine = rows[slice(*part)]
            strip, squares = self._strip(mine)
            with np.errstate(invalid="ignore"):
                bars = search.best[mine, -1] - (1 - self.slack) * squares + self.tiny
            bars[np.isnan(bars)] = np.inf
            search.best[mine], search.where[mine] = np.inf, -1
            for span in self._spans():
                exhaust(strip, mine, *span, search.queries, bars, search.best, search.where)
            for row in mine:
                in_order(search.best[row], search.where[row])

        run(work, self._strips(len(rows)), search.crew, object)
