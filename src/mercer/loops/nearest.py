r"""The k nearest rows of a table, each query against all, and no distance is written out.

With points moved by a centre, $|x - y|^2 = |x|^2 + |y|^2 - 2 x^\top y$, and $|x|^2$ says
nothing about who is nearer. So one more coordinate, 1 for a query and $|y|^2$ for a row, makes
the score of a pair a dot product, and the register tiles of `vector` compute it. Each query
keeps a few more than k of the lowest scores.

The scores are rounded, so they only propose. The proposed rows are measured by differences in
double precision, and a bound on the rounding proves that no other row is nearer. Where the
bound cannot, as among many equal distances, the query is looked at again: first with scores in
double precision, then with every row that the bound leaves possible. So the answer is that of
plain differences in double precision, and equal distances are in the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops.compiled import REGROUP, compiled
from mercer.loops.heaps import in_order, sift
from mercer.loops.pairwise import PANELS
from mercer.loops.threads import available, run
from mercer.loops.tiles import ROWS, SMALL, Slice, pieces
from mercer.loops.vector import ROWS as TILE
from mercer.loops.vector import full_width, roundings, run_length, tile_dot, wide
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

STRIP = 2 * ROWS
"""Queries that a thread looks at together, while the table goes by."""

SPARE = 6
"""Rows that are kept beyond the k nearest, at least: the next one is the bound on the rest."""

FEW = 4
"""Queries up to which differences cost less than preparing the table."""

HOPELESS = 0.25
"""The share of undecided queries from which on single precision is not worth its time."""

CHUNK = 64
"""Scores that are compared with the bar together."""


@compiled(frozenset())
def _squared(P: Any, p: Any, Q: Any, q: Any, factor: Any) -> float:
    """The squared distance of two rows, by differences. Nothing may be reordered or
    contracted here, so a pair has one distance wherever it is measured.
    """
    a = b = c = d = 0.0
    width = len(factor)
    four = width // 4 * 4
    for t in range(0, four, 4):
        x = (np.float64(P[p, t]) - np.float64(Q[q, t])) * factor[t]
        y = (np.float64(P[p, t + 1]) - np.float64(Q[q, t + 1])) * factor[t + 1]
        z = (np.float64(P[p, t + 2]) - np.float64(Q[q, t + 2])) * factor[t + 2]
        w = (np.float64(P[p, t + 3]) - np.float64(Q[q, t + 3])) * factor[t + 3]
        a += x * x
        b += y * y
        c += z * z
        d += w * w
    for t in range(four, width):
        x = (np.float64(P[p, t]) - np.float64(Q[q, t])) * factor[t]
        a += x * x
    return float((a + b) + (c + d))


@compiled()
def _pack(
    points: Any, rows: Any, centre: Any, factor: Any, size: Any, times: Any, last: Any,
    packed: Any, squares: Any,
) -> None:  # fmt: skip
    """Rows, moved and stretched, in panels of `size` and times a number. The coordinate after
    them is 1 where `last` is 0, else `last` times the squared length.
    """
    width = len(factor)
    for first in range(0, len(rows), size):
        panel = packed[first * (width + 1) : (first + size) * (width + 1)]
        for r in range(size):
            if first + r >= len(rows):
                for c in range(width + 1):
                    panel[c * size + r] = 0
                continue
            row, total = rows[first + r], 0.0
            for c in range(width):
                z = (np.float64(points[row, c]) - centre[c]) * factor[c]
                total += z * z
                panel[c * size + r] = times * z
            squares[first + r] = total
            panel[width * size + r] = 1.0 if last == 0 else last * total


@compiled(REGROUP)
def _offer(part: Any, first: Any, zero: Any, one: Any, score: Any, place: Any) -> None:
    """Take from these scores, of the rows from `first` on, what is below the worst kept."""
    full_width()
    bar = score[0]
    for start in range(0, len(part), CHUNK):
        chunk = part[start : start + CHUNK]
        below = zero
        for t in range(len(chunk)):
            below += one if chunk[t] < bar else zero
        if below > 0:
            for t in range(len(chunk)):
                if chunk[t] < bar:
                    score[0], place[0] = chunk[t], first + start + t
                    sift(score, place, len(score))
                    bar = score[0]


@compiled()
def _screen(
    X: Any, Y: Any, width: Any, run: Any, wide_: Any, rows: Any, columns: Any, kept: Any,
    zero: Any, one: Any, scores: Any, places: Any,
) -> None:  # fmt: skip
    """The lowest scores of packed queries against a packed table."""
    full_width()
    group = PANELS * wide_
    sums = np.empty(TILE * group, X.dtype)
    for c in range(0, columns, group):
        stop = min(c + group, columns)
        for r in range(0, rows, TILE):
            for column in range(c, stop, wide_):
                y = (column // wide_) * width * wide_
                tile_dot(X, r * width, Y, y, sums, column - c, group, width, run)
            for row in range(r, min(r + TILE, rows)):
                part = sums[(row - r) * group : (row - r) * group + stop - c]
                mine = slice(row * kept, row * kept + kept)
                _offer(part, c, zero, one, scores[mine], places[mine])


@compiled(frozenset())
def _settle(
    queries: Any, points: Any, factor: Any, rows: Any, kept: Any, scores: Any, places: Any,
    squares: Any, slack: Any, tiny: Any, k: Any, best: Any, where: Any, sure: Any,
) -> None:  # fmt: skip
    """Measure what the scores propose, and say for which queries nothing can be missing."""
    for at in range(len(rows)):
        row = rows[at]
        nearest, which = best[row], where[row]
        nearest[:] = np.inf
        which[:] = -1
        found = 0
        for t in range(at * kept, at * kept + kept):
            if places[t] < 0:
                continue
            found += 1
            gap = _squared(queries, row, points, places[t], factor)
            if gap < nearest[0] or (gap == nearest[0] and places[t] < which[0]):
                nearest[0], which[0] = gap, places[t]
                sift(nearest, which, k)
        farthest = nearest[0]
        rest = np.float64(scores[at * kept]) + (1 - slack) * squares[at] - tiny
        sure[row] = found == len(points) or (found == kept and farthest < rest)
        in_order(nearest, which)


@compiled()
def _exhaust(
    X: Any, Y: Any, width: Any, run: Any, wide_: Any, queries: Any, points: Any, factor: Any,
    rows: Any, bars: Any, k: Any, best: Any, where: Any,
) -> None:  # fmt: skip
    """Measure every row whose score is not above the bar of the query."""
    full_width()
    group = PANELS * wide_
    sums = np.empty(TILE * group, X.dtype)
    columns = len(points)
    for c in range(0, columns, group):
        stop = min(c + group, columns)
        for r in range(0, len(rows), TILE):
            for column in range(c, stop, wide_):
                y = (column // wide_) * width * wide_
                tile_dot(X, r * width, Y, y, sums, column - c, group, width, run)
            for at in range(r, min(r + TILE, len(rows))):
                row = rows[at]
                nearest, which, start = best[row], where[row], (at - r) * group
                for t in range(stop - c):
                    if not sums[start + t] > bars[at]:
                        gap = _squared(queries, row, points, c + t, factor)
                        if gap < nearest[0]:
                            nearest[0], which[0] = gap, c + t
                            sift(nearest, which, k)


@compiled(frozenset())
def _plain(
    queries: Any, points: Any, factor: Any, row: Any, k: Any, nearest: Any, which: Any
) -> None:
    """The k nearest rows of one query by differences."""
    for at in range(len(points)):
        gap = _squared(queries, row, points, at, factor)
        if gap < nearest[0]:
            nearest[0], which[0] = gap, at
            sift(nearest, which, k)
    in_order(nearest, which)


def nearest(
    queries: Array, points: Array, k: int, factor: Reals, threads: int | None = None
) -> tuple[Reals, Indices]:
    """For each query the k nearest rows of a table: their distances, and which they are.

    Equal distances are in the order of the rows. A distance beyond the range of numbers is
    infinite, and its row may be -1.

    Args:
        queries: The queries, a row each, float32 or float64, all finite.
        points: The table.
        k: How many, at most as many as there are rows.
        factor: What each coordinate is multiplied by, in both.
        threads: How many threads; by default as many as are available.
    """
    return _Search(queries, points, k, factor, threads).run()


@dataclass(frozen=True)
class _Moved:
    """The table with its centre at 0 and its largest coordinate near 1."""

    centre: Reals
    factor: Reals
    power: int

    @classmethod
    def of(cls, points: Array, factor: Reals) -> _Moved:
        with np.errstate(over="ignore", invalid="ignore"):
            low = points.min(axis=0).astype(np.float64)
            high = points.max(axis=0).astype(np.float64)
            centre = points.mean(axis=0, dtype=np.float64)
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
        self.moved = _Moved.of(points, factor)
        self.best = np.full((len(queries), k), np.inf)
        self.where = np.full((len(queries), k), -1, dtype=np.int64)
        self.sure = np.zeros(len(queries), dtype=np.bool_)
        few = len(queries) * len(points) < SMALL
        self.crew = 1 if few else available() if threads is None else threads

    def run(self) -> tuple[Reals, Indices]:
        if len(self.queries) <= FEW:
            self._differences()
        else:
            self._by_scores()
        with np.errstate(over="ignore"):
            found = np.ldexp(np.sqrt(self.best), -self.moved.power)
        return found, self.where

    def _differences(self) -> None:
        def work(row: int, _: object) -> None:
            _plain(
                self.queries, self.points, self.moved.factor, row, self.k,
                self.best[row], self.where[row],
            )  # fmt: skip

        run(work, range(len(self.queries)), self.crew, object)

    def _by_scores(self) -> None:
        rows = np.arange(len(self.queries))
        table = _Table(self, np.dtype(np.float32))
        table.screen(rows[:STRIP])
        if self.sure[:STRIP].mean() >= 1 - HOPELESS:
            table.screen(rows[STRIP:])
        rows = np.flatnonzero(~self.sure)
        if not rows.size:
            return
        table = _Table(self, np.dtype(np.float64))
        table.screen(rows)
        rows = np.flatnonzero(~self.sure)
        if rows.size:
            table.exhaust(rows)


class _Table:
    r"""The table in panels, with scores of one precision, and what they can be off.

    With $R$ roundings of a term in a sum, unit $u$ and $\sum_c |2 x_c y_c| + |y|^2 \le |x|^2 +
    2 |y|^2$, a score is off by at most $s (|x|^2 + 2 |y|^2)$ for $s = (R + 6) u$: the sum, two
    roundings of each coordinate and one of the last, and what is left of them in the margin.
    The part of the row is taken off its score beforehand, so a score is a lower bound but for
    $s |x|^2$. What falls below the smallest number is in `tiny`.
    """

    def __init__(self, search: _Search, dtype: np.dtype[Any]) -> None:
        self.search, self.dtype = search, dtype
        points = search.points
        self.width = points.shape[1] + 1
        self.slack = 1.01 * (roundings(self.width) + 6) * float(np.finfo(dtype).eps) / 2
        self.tiny = 8.0 * self.width * float(np.finfo(dtype).tiny)
        self.wide = wide(dtype)
        count = -(-len(points) // self.wide) * self.wide
        self.panels: Array = np.empty(count * self.width, dtype)
        every = np.arange(len(points))
        squares = np.empty(len(points))

        def work(part: Slice, _: object) -> None:
            i, j = part
            panels = self.panels[i * self.width :]
            shrink = 1 - 2 * self.slack
            self._pack(points, every[i:j], self.wide, 1.0, shrink, panels, squares[i:j])

        run(work, pieces(len(points), 64 * self.wide), search.crew, object)

    def _pack(
        self, points: Array, rows: Indices, size: int, times: float, last: float,
        packed: Array, squares: Reals,
    ) -> None:  # fmt: skip
        moved = self.search.moved
        _pack(points, rows, moved.centre, moved.factor, size, times, last, packed, squares)

    def _strip(self, rows: Indices) -> tuple[Array, Reals]:
        """These queries in panels, and their squared lengths."""
        packed = np.empty(-(-len(rows) // TILE) * TILE * self.width, self.dtype)
        squares = np.empty(len(rows))
        with np.errstate(over="ignore"):
            self._pack(self.search.queries, rows, TILE, -2.0, 0.0, packed, squares)
        return packed, squares

    def screen(self, rows: Indices) -> None:
        """Find candidates for these queries, and measure them."""
        search, run_ = self.search, run_length(self.width)
        kept = min(len(search.points), search.k + max(SPARE, search.k // 4))

        def work(part: Slice, _: object) -> None:
            mine = rows[slice(*part)]
            packed, squares = self._strip(mine)
            scores = np.full(len(mine) * kept, np.inf, self.dtype)
            places = np.full(len(mine) * kept, -1, dtype=np.int64)
            zero, one = self.dtype.type(0), self.dtype.type(1)
            _screen(
                packed, self.panels, self.width, run_, self.wide, len(mine),
                len(search.points), kept, zero, one, scores, places,
            )  # fmt: skip
            _settle(
                search.queries, search.points, search.moved.factor, mine, kept, scores, places,
                squares, self.slack, self.tiny, search.k, search.best, search.where,
                search.sure,
            )  # fmt: skip

        run(work, pieces(len(rows), STRIP), search.crew, object)

    def exhaust(self, rows: Indices) -> None:
        """Measure all rows that the bound leaves possible."""
        search, run_ = self.search, run_length(self.width)

        def work(part: Slice, _: object) -> None:
            mine = rows[slice(*part)]
            packed, squares = self._strip(mine)
            farthest = search.best[mine, -1]
            with np.errstate(invalid="ignore"):
                bars = farthest * (1 + 1e-15) - (1 - self.slack) * squares + self.tiny
            bars[np.isnan(bars)] = np.inf
            search.best[mine], search.where[mine] = np.inf, -1
            _exhaust(
                packed, self.panels, self.width, run_, self.wide, search.queries,
                search.points, search.moved.factor, mine, bars, search.k, search.best,
                search.where,
            )  # fmt: skip
            for row in mine:
                in_order(search.best[row], search.where[row])

        run(work, pieces(len(rows), STRIP), search.crew, object)
