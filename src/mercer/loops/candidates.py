"""What a search for the nearest rows repeats: scores propose rows, differences decide.

The table is packed a tile at a time, into the same memory, so no more of it is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.loops.compiled import REGROUP, compiled
from mercer.loops.heaps import in_order, sift
from mercer.loops.pairwise import PANELS
from mercer.loops.vector import BITS, ROWS, below, full_width, lowest_bit, tile_dot


@compiled(frozenset())
def squared(P: Any, p: Any, Q: Any, q: Any, factor: Any) -> float:
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


@compiled(REGROUP)
def extent(points: Any, i: Any, j: Any, low: Any, high: Any, total: Any) -> None:
    """The lowest and the highest of each coordinate of rows i:j, and their sum."""
    full_width()
    for c in range(len(total)):
        low[c], high[c], total[c] = np.inf, -np.inf, 0.0
    for row in range(i, j):
        for c in range(len(total)):
            z = np.float64(points[row, c])
            low[c] = z if z < low[c] else low[c]
            high[c] = z if z > high[c] else high[c]
            total[c] += z


@compiled(REGROUP)
def pack(
    points: Any, rows: Any, centre: Any, factor: Any, size: Any, times: Any, last: Any,
    packed: Any, squares: Any,
) -> None:  # fmt: skip
    """Rows, moved and stretched, in panels of `size` and times a number. The coordinate after
    them is 1 where `last` is 0, else `last` times the squared length.
    """
    full_width()
    width = len(factor)
    moved = np.empty((size, width), packed.dtype)
    for first in range(0, len(rows), size):
        panel = packed[first * (width + 1) : (first + size) * (width + 1)]
        count = min(size, len(rows) - first)
        for r in range(count):
            row, line, total = rows[first + r], moved[r], 0.0
            for c in range(width):
                z = (np.float64(points[row, c]) - centre[c]) * factor[c]
                total += z * z
                line[c] = times * z
            squares[first + r] = total
            panel[width * size + r] = 1.0 if last == 0 else last * total
        # What a shorter last panel has beyond its rows is never looked at.
        for c in range(width):
            for r in range(size):
                panel[c * size + r] = moved[r, c]


@compiled()
def _offer(sums: Any, start: Any, count: Any, first: Any, score: Any, place: Any) -> None:
    """Take from these scores, of the rows from `first` on, what is below the worst kept."""
    full_width()
    bar = score[0]
    for at in range(0, count, BITS):
        bits = below(sums, start + at, bar)
        if at + BITS > count:
            bits &= (1 << (count - at)) - 1
        while bits != 0:
            t = at + lowest_bit(bits)
            bits &= bits - 1
            if sums[start + t] < bar:
                score[0], place[0] = sums[start + t], first + t
                sift(score, place, len(score))
                bar = score[0]


@compiled()
def screen(
    X: Any, rows: Any, points: Any, centre: Any, factor: Any, shrink: Any, first: Any,
    stop: Any, tile: Any, run: Any, wide_: Any, kept: Any, scores: Any, places: Any,
) -> None:  # fmt: skip
    """The lowest scores of packed queries against the rows first:stop, packed in `tile`."""
    full_width()
    width = len(factor) + 1
    tall = len(tile) // width
    group = min(PANELS * wide_, tall)
    sums, squares = np.empty(ROWS * group + BITS, X.dtype), np.empty(tall)
    for top in range(first, stop, tall):
        here = np.arange(top, min(top + tall, stop))
        pack(points, here, centre, factor, wide_, 1.0, shrink, tile, squares)
        for c in range(0, len(here), group):
            count = min(group, len(here) - c)
            for r in range(0, rows, ROWS):
                for s in range(0, count, wide_):
                    tile_dot(X, r * width, tile, (c + s) * width, sums, s, group, width, run)
                for row in range(r, min(r + ROWS, rows)):
                    mine = slice(row * kept, row * kept + kept)
                    start = (row - r) * group
                    _offer(sums, start, count, top + c, scores[mine], places[mine])


@compiled(frozenset())
def settle(
    queries: Any, points: Any, factor: Any, rows: Any, kept: Any, scores: Any, places: Any,
    squares: Any, slack: Any, tiny: Any, best: Any, where: Any, sure: Any,
) -> None:  # fmt: skip
    """Measure what the scores propose, the lowest first, until no other row can be nearer;
    and say for which queries that was proved.
    """
    for at in range(len(rows)):
        row = rows[at]
        mine = slice(at * kept, at * kept + kept)
        score, place = scores[mine], places[mine]
        in_order(score, place)
        nearest, which = best[row], where[row]
        nearest[:] = np.inf
        which[:] = -1
        found = 0
        while found < kept and place[found] >= 0:
            # A bound on this row and on all after it, proposed or not.
            bound = np.float64(score[found]) + (1 - slack) * squares[at] - tiny
            sure[row] = nearest[0] < bound < np.inf
            if sure[row]:
                break
            gap = squared(queries, row, points, place[found], factor)
            if gap < nearest[0] or (gap == nearest[0] and place[found] < which[0]):
                nearest[0], which[0] = gap, place[found]
                sift(nearest, which, len(nearest))
            found += 1
            sure[row] = found == len(points) or (found == kept and nearest[0] < bound < np.inf)
        in_order(nearest, which)


@compiled()
def exhaust(
    X: Any, rows: Any, points: Any, centre: Any, factor: Any, shrink: Any, first: Any,
    stop: Any, tile: Any, run: Any, wide_: Any, queries: Any, bars: Any, best: Any, where: Any,
) -> None:  # fmt: skip
    """Measure of the rows first:stop those whose score is not above the bar of the query."""
    full_width()
    width = len(factor) + 1
    tall = len(tile) // width
    group = min(PANELS * wide_, tall)
    sums, squares = np.empty(ROWS * group, X.dtype), np.empty(tall)
    for top in range(first, stop, tall):
        here = np.arange(top, min(top + tall, stop))
        pack(points, here, centre, factor, wide_, 1.0, shrink, tile, squares)
        for c in range(0, len(here), group):
            count = min(group, len(here) - c)
            for r in range(0, len(rows), ROWS):
                for s in range(0, count, wide_):
                    tile_dot(X, r * width, tile, (c + s) * width, sums, s, group, width, run)
                for at in range(r, min(r + ROWS, len(rows))):
                    row, start = rows[at], (at - r) * group
                    nearest, which = best[row], where[row]
                    for t in range(count):
                        if sums[start + t] > bars[at]:
                            continue
                        place = top + c + t
                        gap = squared(queries, row, points, place, factor)
                        if gap < nearest[0]:
                            nearest[0], which[0] = gap, place
                            sift(nearest, which, len(nearest))
