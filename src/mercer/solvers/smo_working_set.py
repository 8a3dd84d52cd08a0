"""Which variables a working set takes: the worst of each side, and old ones that may move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.loops.smo import LANES
from mercer.types import Indices

Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]

KEPT = 2
"""One variable in so many may be an old one while others violate."""


def working_set(
    slopes: Reals,
    up: Mask,
    down: Mask,
    groups: tuple[Indices, ...],
    size: int,
    before: Indices,
) -> list[Indices]:
    """The variables to move next, for each group, sorted.

    Half are the worst of both sides. Then come free ones of the last working set, because
    their slopes have changed least in vain; and where there is room, more of the worst.

    Args:
        slopes: The slope of each variable.
        up: Which may be raised.
        down: Which may be lowered.
        groups: The variables of each fixed sum.
        size: How many to take, at most.
        before: The last working set.
    """
    taken = np.zeros(len(slopes), np.bool_)
    free = up & down
    share = size // len(groups)
    for group in groups:
        rising, falling = group[up[group]], group[down[group]]
        if not len(rising) or not len(falling):
            continue
        least, most = slopes[rising].min(), slopes[falling].max()
        rising = rising[slopes[rising] < most]
        falling = falling[slopes[falling] > least]
        fresh = share if not len(before) else share - share // KEPT
        _take(taken, slopes, rising, falling, fresh)
        mine = before if len(groups) == 1 else before[np.isin(before, group)]
        old = mine[free[mine] & ~taken[mine]]
        room = share - int(taken[group].sum())
        taken[old[:room]] = True
        room = share - int(taken[group].sum())
        if room > 1:
            _take(taken, slopes, rising[~taken[rising]], falling[~taken[falling]], room)
        room = share - int(taken[group].sum())
        if room > 0:  # few violate: the others that are free may follow their moves
            rest = group[free[group] & ~taken[group]]
            taken[rest[:room]] = True
    return [group[taken[group]] for group in groups]


def _take(taken: Mask, slopes: Reals, rising: Indices, falling: Indices, count: int) -> None:
    """Mark the least of one side and the largest of the other, half each."""
    taken[rising[least_of(slopes[rising], count // 2)]] = True
    taken[falling[least_of(-slopes[falling], count - count // 2)]] = True


def least_of(values: Reals, count: int) -> Indices:
    """The places of the smallest values, in order. Among equal ones they are spread evenly:
    neighbours in a sorted table are alike, and one of them speaks for the others.
    """
    if count >= len(values):
        return np.arange(len(values))
    if count <= 0:
        return np.zeros(0, np.int64)
    last = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < last)
    equal = np.flatnonzero(values == last)
    wanted = count - len(below)
    chosen: Indices = np.concatenate([below, equal[np.arange(wanted) * len(equal) // wanted]])
    return chosen


def padded(parts: list[Indices]) -> tuple[Indices, Mask, Indices]:
    """The parts in one array, each filled up to whole vectors; which places are real; and
    where the parts begin and end.
    """
    filled, real, edges = [], [], [0]
    for part in parts:
        missing = -len(part) % LANES
        filled.append(np.concatenate([part, np.repeat(part[:1], missing)]))
        real.append(np.arange(len(filled[-1])) < len(part))
        edges.append(edges[-1] + len(filled[-1]))
    return np.concatenate(filled), np.concatenate(real), np.asarray(edges, np.int64)
