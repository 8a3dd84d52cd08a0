"""The k lowest numbers of a row, kept in a heap: the worst on top, of equal ones the later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops.compiled import compiled
from mercer.loops.threads import run
from mercer.loops.tiles import COLUMNS, ROWS, Slice, Tiles, Workspace, pieces
from mercer.types import Indices

Reals = NDArray[np.float64]


@compiled(frozenset())
def sift(score: Any, place: Any, count: Any) -> None:
    """Let the top of the heap sink to where it belongs."""
    at = 0
    value, which = score[0], place[0]
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            score[other] > score[child]
            or (score[other] == score[child] and place[other] > place[child])
        ):
            child = other
        if score[child] < value or (score[child] == value and place[child] < which):
            break
        score[at], place[at] = score[child], place[child]
        at = child
    score[at], place[at] = value, which


@compiled(frozenset())
def in_order(score: Any, place: Any) -> None:
    """Put a heap in order, the lowest first."""
    for last in range(len(score) - 1, 0, -1):
        value, which = score[last], place[last]
        score[last], place[last] = score[0], place[0]
        score[0], place[0] = value, which
        sift(score, place, last)


@compiled(frozenset())
def _lowest(
    tile: Any, stride: Any, i: Any, j: Any, k: Any, m: Any, own: Any, count: Any, best: Any,
    where: Any,
) -> None:  # fmt: skip
    """Keep for rows i:j the lowest of `own - 2 * tile`, of columns k:m."""
    for row in range(i, j):
        score, place = best[row], where[row]
        start = (row - i) * stride
        for t in range(m - k):
            value = own[k + t] - 2 * np.float64(tile[start + t])
            if value < score[0]:
                score[0], place[0] = value, k + t
                sift(score, place, count)


def lowest(
    tiles: Tiles, own: Reals, count: int, threads: int | None = None
) -> tuple[Reals, Indices]:
    """For each row of a matrix K the columns with the lowest `own - 2 K`, the lowest first, and
    of equal ones the first. The matrix is never stored.

    Args:
        tiles: The matrix, finite.
        own: A number a column.
        count: How many, at most as many as there are columns.
        threads: How many threads; by default as many as are available.
    """
    rows, columns = tiles.shape
    best = np.full((rows, count), np.inf)
    where = np.full((rows, count), -1, dtype=np.int64)

    def work(strip: Slice, workspace: Workspace) -> None:
        i, j = strip
        for k, m in pieces(columns, COLUMNS):
            with tiles.part((i, j), (k, m), workspace) as (tile, stride):
                _lowest(tile, stride, i, j, k, m, own, count, best, where)
        for row in range(i, j):
            in_order(best[row], where[row])

    run(work, pieces(rows, ROWS), tiles.crew(rows * columns, threads), Workspace)
    return best, where
