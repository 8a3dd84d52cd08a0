"""The leading eigenpairs by products with blocks of columns: the block Lanczos method."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import NotConverged
from mercer.solvers.eigen import Centred, Eigenpairs, finished

Reals = NDArray[np.float64]

NARROW = 1_000
"""Columns of a basis up to which one thread is enough for it."""

PASSES = 300
"""Products with a block after which a method gives up."""


def krylov(
    matrix: Centred,
    count: int,
    *,
    tolerance: float,
    chance: np.random.RandomState,
    start: Reals | None = None,
    passes: int = PASSES,
    block: int | None = None,
    room: int | None = None,
    threads: int | None = None,
) -> Eigenpairs:
    r"""The leading eigenpairs by the block Lanczos method with thick restarts.

    From a random block X the space of X, AX, A^2 X, ... is made orthonormal, block by block
    and each against all before, and A is diagonalised on it. A block bears eigenvalues that
    are equal or close together, and a product with it costs little more than one with a
    vector, because the matrix is read once. When the basis is full, the best vectors of it
    and the last block start the next one (Wu and Simon 2000). What a pair misses is known
    without another product: it is in the next block.

    Args:
        matrix: The matrix.
        count: How many pairs.
        tolerance: The residual to reach, relative to each eigenvalue; not below rounding.
        chance: Draws the first block.
        start: Vectors to start from, besides.
        passes: Products with a block, at most.
        block: Columns of a block; by default half as many again as pairs, from 16 to 64.
        room: Columns of the basis, at most.
        threads: Threads of BLAS; by default as many as are allowed.

    Raises:
        NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
    """
    began = time.perf_counter()
    wide = block or _wide(count)
    # Beyond the dimension there is no orthonormal block.
    room = min(room or _room(count, wide), len(matrix) - wide)
    # Blocks are thin: a second thread of BLAS waits longer for the first than it works, and
    # much longer on a busy machine. The products with the matrix have threads of their own.
    with threadpool_limits(1 if room <= NARROW else threads, "blas"):
        pairs, residuals, steps, least, done = _lanczos(
            matrix, count, tolerance, chance, start, passes, wide, room
        )
    return finished(
        "lanczos", matrix, pairs, residuals, steps, least, converged=done, began=began
    )


def _lanczos(
    matrix: Centred,
    count: int,
    tolerance: float,
    chance: np.random.RandomState,
    start: Reals | None,
    passes: int,
    wide: int,
    room: int,
) -> tuple[tuple[Reals, Reals], Reals, int, float, bool]:
    """The pairs, their residuals, the steps, the least eigenvalue seen, and whether all is
    as exact as was asked.
    """
    rows = len(matrix)
    basis = np.empty((rows, room), order="F")
    reduced = np.zeros((room, room))
    fresh = chance.standard_normal((rows, wide))
    if start is not None:
        fresh = np.column_stack([start, fresh[:, : max(wide - start.shape[1], 1)]])
        wide = fresh.shape[1]
    fresh, _ = _orthonormal(matrix.project(fresh))
    filled, steps = 0, 0
    while True:
        last = slice(filled, filled + wide)
        basis[:, last] = fresh
        filled += wide
        known = basis[:, :filled]
        fresh, inside, outside = _expand(matrix @ fresh, known)
        steps += 1
        reduced[:filled, last] = inside
        reduced[last, :filled] = inside.T
        if steps < min(3, passes) and filled + wide <= room:
            continue  # nothing has converged so soon
        square = reduced[:filled, :filled]
        values, turns = scipy.linalg.eigh((square + square.T) / 2, check_finite=False)
        values, turns = values[::-1], turns[:, ::-1]
        residuals = np.linalg.norm(outside @ turns[last], axis=0)
        goal = np.maximum(tolerance * values, matrix.noise(float(values[0])))
        done = filled >= count and bool((residuals <= goal)[:count].all())
        if done or steps >= passes:
            break
        if filled + wide > room:  # the best vectors of the basis are the next one
            kept = min(count + wide, room - wide)
            basis[:, :kept] = known @ turns[:, :kept]
            reduced[:] = 0
            reduced[range(kept), range(kept)] = values[:kept]
            filled = kept
    pairs = values[:count], known @ turns[:, :count]
    return pairs, residuals[:count], steps, float(values[-1]), done


def until_share(
    find: Callable[[int, Reals | None], Eigenpairs], share: float, most: int
) -> Eigenpairs | None:
    """As many eigenpairs as hold a share of the sum of all; None if these are too many.

    Args:
        find: So many pairs, from vectors to start with.
        share: The share.
        most: How many pairs at most.
    """
    count, start = min(16, most), None
    while True:
        found = find(count, start)
        held = np.cumsum(found.values) >= share * found.total
        if held.any():
            return found.first(int(held.argmax()) + 1)
        if len(found.values) < count:  # these are all
            return found
        if count >= most:
            return None
        count, start = min(2 * count, most), found.vectors


def require_converged(pairs: Eigenpairs, tolerance: float) -> None:
    """Raise unless the residuals are as small as was asked.

    Raises:
        NotConverged: They are not.
    """
    if not pairs.converged:
        raise NotConverged(
            f"after {pairs.steps} products the eigenpairs are known to {pairs.residual:.1e} of "
            f"the largest eigenvalue, and {tolerance:g} was asked: too many eigenvalues are "
            "nearly equal.\nAsk for fewer components, allow the memory for "
            'plan="spectral", or a larger mercer.Plan(tolerance=...).'
        )


def suits(rows: int, count: int) -> bool:
    """Whether the block Lanczos method has a basis much smaller than the matrix."""
    return rows >= 2 * _room(count, _wide(count))


def largest(rows: int) -> int:
    """The largest number of pairs for which that is so; one at least."""
    return max((count for count in range(1, rows // 4 + 1) if suits(rows, count)), default=1)


def basis_bytes(rows: int, count: int) -> int:
    """The bytes that the block Lanczos method takes, besides the matrix."""
    wide = _wide(count)
    room = _room(count, wide)
    return 8 * (rows * (room + count + 6 * wide) + 3 * room**2)


def _wide(count: int) -> int:
    """Columns of a block: half as many again as pairs, a multiple of eight."""
    return min(max(8 * -(-3 * count // 16) + 8, 16), 64)


def _room(count: int, wide: int) -> int:
    """Columns of a basis: enough for ten blocks, or for the pairs twice and some blocks."""
    return max(10 * wide, 2 * count + 4 * wide)


def _expand(image: Reals, known: Reals) -> tuple[Reals, Reals, Reals]:
    """The part of a block inside a basis, and an orthonormal block with what is outside.

    Twice, because what is left after the first time may be small, and then holds rounding.
    """
    inside = known.T @ image
    fresh, outside = _orthonormal(image - known @ inside)
    again = known.T @ fresh
    fresh, turn = _orthonormal(fresh - known @ again)
    return fresh, inside + again @ outside, turn @ outside


def _orthonormal(block: Reals) -> tuple[Reals, Reals]:
    """Q and R of a tall block; by a Cholesky factor of its products, where that is exact."""
    try:
        right = scipy.linalg.cholesky(block.T @ block, check_finite=False)
    except scipy.linalg.LinAlgError:
        return np.linalg.qr(block)
    pivots = np.abs(right.diagonal())
    if pivots.min() < 1e-5 * pivots.max():  # its square would lose most digits
        return np.linalg.qr(block)
    inverse = scipy.linalg.solve_triangular(right, np.eye(len(right)), check_finite=False)
    return block @ inverse, right
