"""The rows of one Gram matrix, for several problems over parts of its points."""

from __future__ import annotations

from copy import copy

import numpy as np

from mercer.domains import Batch
from mercer.gram.rows import KernelRows
from mercer.kernels import Kernel
from mercer.loops import Tiles, available
from mercer.loops.smo import pick
from mercer.plan import Plan
from mercer.types import Array, Indices

FEW = 1_000
"""Rows up to which kernel values are kept in float64: single precision would save nothing."""


def is_sharp(rows: int, plan: Plan) -> bool:
    """Whether kernel values between so many rows are kept in float64."""
    return plan.precision == "float64" or (plan.precision == "auto" and rows <= FEW)


class SharedRows(KernelRows):
    """The rows of all points, prepared once; and computed once where they fit in the memory
    that rows may take, and take longer than a copy.

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
        if lasting:
            self._budget = plan.budget()
            self._begin(self._dtype)
        if sharp:
            self.sharpen()
        self._whole()  # here, where there is one thread
        if self._room == self.size and (lasting or not self.is_cheap):
            self._fill()

    def part(self, places: Indices, plan: Plan) -> KernelRows:
        """The rows and columns of some points.

        Args:
            places: Which points, all different, in ascending order.
            plan: The memory that these rows may take, and the threads.
        """
        if self.is_whole and len(places) == self.size:
            return self._lent(plan)
        return _Part(self, places, plan)

    def _lent(self, plan: Plan) -> KernelRows:
        """The whole matrix, which is only read from now on."""
        lent = copy(self)
        lent.threads = plan.crew() or available()
        lent._copy = np.empty(0, self._dtype)  # each writes to its own
        return lent


class _Part(KernelRows):
    """Some rows and columns of a matrix whose values may be there already."""

    def __init__(self, shared: SharedRows, places: Indices, plan: Plan) -> None:
        self.size, self.diagonal = len(places), shared.diagonal[places]
        self._shared, self._places, self._kernel = shared, places, shared._kernel
        self.is_cheap = shared.is_cheap
        self._own: Batch | None = None
        self._lend(plan)
        self._begin(shared._dtype)
        if shared.is_whole and self._room == self.size:
            self._take(shared._kept())

    def _take(self, whole: Array) -> None:
        """Copy the values."""
        pick(
            whole.reshape(-1), len(whole), self._places, self._places, 0, self.size,
            self._kept().reshape(-1), self.size,
        )  # fmt: skip
        self._place = np.arange(self.size)
        self._computed, self.is_whole = self.size, True

    def sharpen(self) -> bool:
        self._own = None
        return super().sharpen()

    def _points(self, rows: Indices | None = None) -> Batch:
        return self._shared._points(self._places if rows is None else self._places[rows])

    def _drafts(self, rows: Indices | None = None) -> Batch:
        same = self._dtype == self._shared._dtype
        points = self._shared._drafts if same else self._shared._points
        if rows is not None:
            return points(self._places[rows])
        if self._own is None:
            self._own = points(self._places)
        return self._own

    def _whole(self) -> Tiles:
        if self._matrix is None and self._dtype == self._shared._dtype:
            self._matrix = self._shared._whole().picked(self._places, self._places)
        return super()._whole()
