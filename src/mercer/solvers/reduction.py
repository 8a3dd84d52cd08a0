r"""From a symmetric matrix to a narrow band of equal spectrum, and the turn between them.

Reflections that clear a few columns at a time make $A = Q B Q^\top$, where only a few diagonals
of B are not zero. Unlike the last step to three diagonals all of it is products of matrices,
which do many operations for each number they read. Of A the lower half is read and changed, and
blocks along the diagonal: one pass applies the reflections of a panel, and multiplies by those
of the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mercer.loops import available, run

Reals = NDArray[np.float64]
Reflections = list[tuple[int, Reals, Reals]]
"""From which row, and V and T of $I - V T V^\\top$."""

STRIP = 128
"""Rows that a product takes at a time."""

TOGETHER = 6
"""Panels whose reflections are applied as one, when the turn is formed."""


def reduce(matrix: Reals, width: int) -> tuple[Reals, Reflections]:
    """The band of a symmetric matrix, whose lower half is overwritten.

    Returns:
        The diagonals, from the middle down, as LAPACK stores a lower band; and the reflections,
        whose product in this order is Q.
    """
    rows, crew = len(matrix), available()
    reflections: Reflections = []
    # The last pair (V, W) is not applied yet: what remains is matrix - V W' - W V'.
    left, right = np.zeros((rows, 0)), np.zeros((0, rows))
    with threadpool_limits(1, "blas"):
        for start in range(0, rows, width):
            stop = min(start + width, rows)
            matrix[start:, start:stop] -= left @ right[:, : stop - start]
            if rows - stop < 2:
                matrix[stop:, stop:] -= left[stop - start :] @ right[:, stop - start :]
                break
            V, T = _cleared(matrix[stop:, start:stop])
            left, right = left[stop - start :], right[:, stop - start :]
            W = _multiplied(matrix[stop:, stop:], left, right, V, crew) @ T
            W -= V @ (0.5 * (T.T @ (V.T @ W)))
            left, right = np.hstack([V, W]), np.ascontiguousarray(np.hstack([W, V]).T)
            reflections.append((stop, V, T))
    bands = np.zeros((min(width, max(rows - 1, 0)) + 1, rows))
    for below in range(len(bands)):
        bands[below, : rows - below] = np.diagonal(matrix, -below)
    return bands, reflections


def turn(out: Reals, reflections: Reflections) -> None:
    """Form Q in place of the identity: shape (rows, rows)."""
    crew = available()
    with threadpool_limits(1, "blas"):
        for at in range(len(reflections), 0, -TOGETHER):
            start, V, T = _joined(reflections[max(at - TOGETHER, 0) : at])
            corner = out[start:, start:]
            _by_columns(corner, V, T, crew)


def _cleared(panel: Reals) -> tuple[Reals, Reals]:
    """Make a panel upper triangular, in place, by the reflections V and T that are told."""
    packed, scales, _, _ = lapack.dgeqrf(np.asfortranarray(panel), overwrite_a=1)
    count = len(scales)
    V = np.tril(packed[:, :count], -1)
    V[np.diag_indices(count)] = 1.0
    panel[:] = 0.0
    panel[:count] = np.triu(packed[:count])
    inner = V.T @ V
    T = np.zeros((count, count))
    for at, scale in enumerate(scales):
        T[:at, at] = -scale * (T[:at, :at] @ inner[:at, at])
        T[at, at] = scale
    return np.ascontiguousarray(V), T


def _multiplied(matrix: Reals, left: Reals, right: Reals, V: Reals, crew: int) -> Reals:
    """Subtract left @ right from the lower half, and multiply what it stands for by V."""
    # Counted from the end the strips are always the same, and so are the tiles on the diagonal,
    # both halves of which are kept.
    ends = range(len(matrix), 0, -STRIP)
    crew = min(crew, len(ends))
    sums = np.zeros((crew, *V.shape))

    def work(mine: int, _: None) -> None:
        own = sums[mine]
        for stop in ends[mine::crew]:
            start = max(stop - STRIP, 0)
            rows = slice(start, stop)
            strip = matrix[rows, :stop]
            strip -= left[rows] @ right[:, :stop]
            own[rows] += strip @ V[:stop]
            own[:start] += strip[:, :start].T @ V[rows]

    run(work, range(crew), crew, lambda: None)
    found: Reals = sums[0] if crew == 1 else sums.sum(axis=0)
    return found


def _joined(reflections: Reflections) -> tuple[int, Reals, Reals]:
    """Several reflections as one."""
    start, first, T = reflections[0]
    V = np.zeros((len(first), sum(v.shape[1] for _, v, _ in reflections)))
    width = first.shape[1]
    V[:, :width] = first
    for begin, v, t in reflections[1:]:
        both = slice(width, width + v.shape[1])
        V[begin - start :, both] = v
        corner = -T @ (V[begin - start :, :width].T @ v) @ t
        T = np.block([[T, corner], [np.zeros((v.shape[1], width)), t]])
        width += v.shape[1]
    return start, V, T


def _by_columns(out: Reals, V: Reals, T: Reals, crew: int) -> None:
    """Subtract V T V' out from it in place, a few columns a task."""
    size = -(-len(out) // crew)
    left = V @ T

    def work(start: int, _: None) -> None:
        part = out[:, start : start + size]
        inner = V.T @ part
        for row in range(0, len(out), STRIP):
            part[row : row + STRIP] -= left[row : row + STRIP] @ inner

    run(work, range(0, len(out), size), crew, lambda: None)
