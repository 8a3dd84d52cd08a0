"""The rows of one Gram matrix, for several problems over parts of its points."""

from __future__ import annotations

import numpy as np

from mercer.domains import Batch
from mercer.gram.rows import KernelRows
from mercer.kernels import Kernel
from mercer.plan import Plan
from mercer.types import Array, Indices


class SharedRows(KernelRows):
    """The rows of all points, computed once where they fit in the memory that rows may take.

    Args:
        kernel: The kernel.
        points: All points.
        plan: The memory that rows may take, and the threads.
        sharp: Whether the values are kept in float64.
    """

    def __init__(self, kernel: Kernel, points: Batch, plan: Plan, *, sharp: bool) -> None:
        super().__init__(kernel, points, plan)
        self._all, self._sharp = points, sharp
        if sharp:
            self.sharpen()
        if self._room == self.size:
            self._fill()

    def part(self, places: Indices, plan: Plan) -> KernelRows:
        """The rows and columns of some points.

        Args:
            places: Which points.
            plan: The memory that these rows may take, and the threads.
        """
        part = _Part(self._kernel, self._all[places], plan)
        if self._sharp:
            part.sharpen()
        if self.is_whole:
            part.take(self._kept(), places)
        return part


class _Part(KernelRows):
    """Some rows and columns of a matrix whose values may be there already."""

    def take(self, whole: Array, places: Indices) -> None:
        """Copy the values, if they have the precision that is wanted here, and room."""
        if whole.dtype == self._dtype and self._room == self.size:
            self._kept()[...] = whole[np.ix_(places, places)]
            self._place = np.arange(self.size)
            self._computed, self._is_whole = self.size, True
