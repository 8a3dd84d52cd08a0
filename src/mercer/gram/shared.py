"""The rows of one Gram matrix, for several problems over parts of its points."""

from __future__ import annotations

from copy import copy

import numpy as np

from mercer.domains import Batch
from mercer.gram.rows import KernelRows
from mercer.kernels import Kernel
from mercer.loops import available
from mercer.plan import Plan
from mercer.types import Array, Indices

FEW = 1_000
"""Rows up to which kernel values are kept in float64: single precision would save nothing."""


def is_sharp(rows: int, plan: Plan) -> bool:
    """Whether kernel values between so many rows are kept in float64."""
    return plan.precision == "float64" or (plan.precision == "auto" and rows <= FEW)


class SharedRows(KernelRows):
    """The rows of all points, computed once where they fit in the memory that rows may take.

    Args:
        kernel: The kernel.
        points: All points.
        plan: The memory that rows may take, and the threads.
        sharp: Whether the values are kept in float64.
        lasting: Whether so many problems will read them that all the memory is worth taking.
    """

    def __init__(
        self, kernel: Kernel, points: Batch, plan: Plan, *, sharp: bool, lasting: bool = False
    ) -> None:
        super().__init__(kernel, points, plan)
        self._all, self._sharp = points, sharp
        if lasting:
            self._budget = plan.budget()
            self._begin(self._dtype)
        if sharp:
            self.sharpen()
        if self._room == self.size:
            self._fill()

    def part(self, places: Indices, plan: Plan) -> KernelRows:
        """The rows and columns of some points.

        Args:
            places: Which points, all different, in ascending order.
            plan: The memory that these rows may take, and the threads.
        """
        if self.is_whole and len(places) == self.size:
            return self._lent(plan)
        part = _Part(self._kernel, self._all[places], plan)
        if self._sharp:
            part.sharpen()
        if self.is_whole:
            part.take(self._kept(), places)
        return part

    def _lent(self, plan: Plan) -> KernelRows:
        """The whole matrix, which is only read from now on, for one thread or more."""
        lent = copy(self)
        lent.threads = plan.crew() or available()
        lent._copy = np.empty(0, self._dtype)  # each writes to its own
        return lent


class _Part(KernelRows):
    """Some rows and columns of a matrix whose values may be there already."""

    def take(self, whole: Array, places: Indices) -> None:
        """Copy the values, if they have the precision that is wanted here, and room."""
        if whole.dtype == self._dtype and self._room == self.size:
            self._kept()[...] = whole[np.ix_(places, places)]
            self._place = np.arange(self.size)
            self._computed, self._is_whole = self.size, True
