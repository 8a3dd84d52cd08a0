r"""The last digits: Newton's method on the variables strictly inside their box.

Pairs converge slowly where many free variables depend on each other: with a large C, or when
many digits are wanted. On the free variables the problem has only equations,
$K_{FF} \delta + h_F = \rho$ with the fixed sums, and a Cholesky factor solves them. A step that
would leave the box ends at its first wall, and the variable that meets it is free no more: its
row and column leave the inverse by a correction of rank one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from mercer.loops.tiles import mirrored
from mercer.loops.vector import lanes

Reals = NDArray[np.float64]

FEW = 600
"""Free variables up to which Newton's method is worth its many walls."""

MOST = 4_000
"""Free variables that a factor may take where hardly any wall is to be met: 128 MB."""

LEAVING = 4
"""The share of variables, one in so many, that may leave an inverse before it is computed
anew: corrections lose digits."""

CALL = 1e4
"""What a step costs besides, counted in multiplications for each variable."""

STEPS = 6
"""Steps that meet no wall before the free variables count as settled."""


def polish(
    matrix: Reals, slopes: Reals, signed: Reals, low: Reals, high: Reals, groups: Reals,
    goal: float, effort: float,
) -> Reals:  # fmt: skip
    """Free variables after steps to where their slopes are equal in each group.

    Args:
        matrix: The kernel values between them.
        slopes: Their slopes.
        signed: Where they are.
        low: Their lower bounds.
        high: Their upper bounds.
        groups: A column a group, 1 for the variables that belong to it.
        goal: The largest difference of slopes that is left.
        effort: The multiplications that may be spent, before one last inverse.
    """
    moved, slopes = signed.copy(), slopes.copy()
    active = np.arange(len(signed))
    spent = 0.0
    while len(active) > 1 and spent < effort:
        inverse = _inverse(matrix[np.ix_(active, active)])
        if inverse is None:  # the kernel is not positive definite
            break
        walk = _Walk(inverse, slopes[active], moved[active], low[active], high[active])
        settled = walk.run(matrix[np.ix_(active, active)], groups[active], goal)
        moved[active] = walk.at
        slopes = slopes + matrix[:, active] @ (walk.at - walk.start)
        spent += (len(active) ** 2 + CALL) * (len(active) + 20.0 * walk.steps)
        active = active[walk.inside]
        if settled or walk.inside.all():
            break
    return moved


def _inverse(matrix: Reals) -> Reals | None:
    """The inverse of a positive definite matrix, its diagonal raised by what rounding can make
    of an eigenvalue that is 0; None where there is none.
    """
    unit = len(matrix) * np.finfo(np.float64).eps
    matrix = np.asfortranarray(matrix)
    matrix[np.diag_indices_from(matrix)] += unit * float(np.trace(matrix))
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        return None
    found: Reals = inverse.T  # in rows, with what is right of the diagonal
    count = len(found)
    mirrored(found.reshape(-1), count, 0, count, 0, count, lanes(found.dtype))
    return np.asfortranarray(found.T)


class _Walk:
    """Newton steps in a box, from wall to wall.

    Attributes:
        start: Where it began.
        at: Where it is.
        inside: Which variables met no wall.
        steps: How many steps it took.
    """

    def __init__(
        self, inverse: Reals, slopes: Reals, signed: Reals, low: Reals, high: Reals
    ) -> None:
        self._inverse, self._slopes = inverse, slopes
        self.start, self.at, self._low, self._high = signed, signed.copy(), low, high
        self.inside = np.ones(len(signed), np.bool_)
        self.steps = 0

    def run(self, matrix: Reals, groups: Reals, goal: float) -> bool:
        """Go until the slopes are equal, which is told, or too many walls were met."""
        leaving, free = len(self.at) // LEAVING + 1, 0
        while leaving and free < STEPS:
            self.steps += 1
            step, rest = self._step(groups * self.inside[:, None])
            if rest <= goal:
                return True
            change = matrix @ step
            gain, curve = -float(step @ self._slopes), float(step @ change)
            if not gain > 0:
                return free > 0
            # Where the kernel is flat, only a wall ends the step.
            length, wall = self._room(step, gain / curve if curve > 0 else np.inf)
            if not np.isfinite(length):
                return False
            self.at += length * step
            self._slopes = self._slopes + length * change
            if wall is None:
                free += 1
                continue
            leaving -= 1
            self._leave(wall, self._low[wall] if step[wall] < 0 else self._high[wall])
        return free >= STEPS

    def _step(self, groups: Reals) -> tuple[Reals, float]:
        """Newton's step with the sums fixed, and how unequal the slopes still are."""
        own, sums = self._inverse @ self._slopes, self._inverse @ groups
        here = groups.any(axis=0)  # a group may have lost all its variables
        levels = np.zeros(groups.shape[1])
        levels[here] = np.linalg.lstsq(
            groups[:, here].T @ sums[:, here], groups[:, here].T @ own, rcond=None
        )[0]
        step: Reals = np.where(self.inside, sums @ levels - own, 0.0)
        # Rounding must not change the sums.
        count = np.maximum(groups.sum(axis=0), 1)
        step -= groups @ ((groups.T @ step) / count)
        means = groups @ ((groups.T @ self._slopes) / count)
        rest = np.abs(self._slopes - means)[self.inside]
        return step, 2 * float(rest.max(initial=0.0))

    def _room(self, step: Reals, length: float) -> tuple[float, int | None]:
        """How far a step may go, and which variable stops it."""
        walls = np.where(step < 0, self._low, self._high) - self.at
        shares = np.divide(walls, step, out=np.full(len(step), np.inf), where=step != 0)
        first = int(np.argmin(shares))
        return (float(shares[first]), first) if shares[first] < length else (length, None)

    def _leave(self, place: int, value: float) -> None:
        """Put a variable on its wall, and take it out of the inverse."""
        self.at[place], self.inside[place] = value, False
        column = self._inverse[:, place].copy()
        self._inverse = blas.dger(
            -1 / column[place], column, column, a=self._inverse, overwrite_a=1
        )
        self._inverse[place] = self._inverse[:, place] = 0
