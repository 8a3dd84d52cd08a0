r"""The perceptron in feature space: a function that is mended at each mistake.

Rows are visited in order. One that is not on the right side, $y f(x) \le 0$, adds $y\,k(x,
\cdot)$ to the function. Coefficients are whole numbers here, the counts of mistakes: a rate
multiplies the function and changes no sign. For more than two classes a mistake adds the row
to its own class and takes it from the class that won instead (Kesler's construction), which for
two is the same.

The values of the function are kept for all rows: a mistake adds one column of kernel values to
them (the dual form). With explicit features a weight vector is kept instead, and each visit
takes an inner product (the primal form). Both make the same decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops.mistakes import next_mistake, visit, wrong
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

TOGETHER = 24
"""Columns of kernel values that are computed together: those of one register tile."""

AHEAD = 512
"""Rows among which the next mistakes are looked for."""


@dataclass
class Operations:
    """What a run has cost.

    Attributes:
        visits: Rows that were looked at.
        mistakes: Those on the wrong side, each an update.
        kernel_values: Kernel values that were computed.
        multiplications: Multiplications with an addition, beside those in kernel values.
    """

    visits: int = 0
    mistakes: int = 0
    kernel_values: int = 0
    multiplications: int = 0

    def take(self, other: Operations) -> None:
        """Move the kernel values and multiplications of another to this one."""
        self.kernel_values += other.kernel_values
        self.multiplications += other.multiplications
        other.kernel_values = other.multiplications = 0


@dataclass(frozen=True)
class Update:
    """One change of the coefficients.

    Attributes:
        row: Whose.
        change: What is added, a number an output.
        visits: Rows that had been visited before, this one left out.
    """

    row: int
    change: Reals
    visits: int


@dataclass
class Walk:
    """Where a perceptron is.

    Attributes:
        counts: The coefficients, a row each and a column an output.
        delayed: For each, the sum of its changes times the visits before them: the mean of all
            functions on the way is `counts - delayed / visits`.
        updates: All changes in order, if they are wanted.
        operations: What it has cost.
    """

    counts: Reals
    delayed: Reals
    updates: list[Update] = field(default_factory=list)
    operations: Operations = field(default_factory=Operations)

    def only(self, rows: Indices, places: Indices) -> Walk:
        """The same with some rows alone; those of one place are added up."""
        count = int(places.max(initial=-1)) + 1
        parts = []
        for values in (self.counts, self.delayed):
            sums = np.zeros((count, values.shape[1]))
            np.add.at(sums, places, values[rows])
            parts.append(sums)
        to = dict(zip(rows.tolist(), places.tolist(), strict=True))
        moved = [Update(to[u.row], u.change, u.visits) for u in self.updates]
        return Walk(parts[0], parts[1], moved, self.operations)

    def history(self) -> tuple[Indices, Reals, Reals]:
        """All changes: their rows, what was added, and the share of the visits that met the
        function that each one left.
        """
        rows = np.array([update.row for update in self.updates], dtype=np.int64)
        changes = np.array([update.change for update in self.updates])
        ends = [update.visits for update in self.updates[1:]] + [self.operations.visits]
        starts = np.array([update.visits for update in self.updates])
        return rows, changes, (np.array(ends) - starts) / self.operations.visits


class Form(ABC):
    """How the values of the function are known."""

    operations: Operations

    @abstractmethod
    def next_mistake(self, codes: Indices, start: int) -> int:
        """The first row from `start` on that is on the wrong side; the number of rows if none
        is.
        """

    @abstractmethod
    def values(self, rows: Any) -> Reals:
        """The values of the function at rows, a column an output."""

    @abstractmethod
    def add(self, row: int, change: Reals) -> None:
        """Add to the coefficients of a row."""

    def whole(self, codes: Indices, state: Walk, start: int, *, keep: bool) -> int | None:
        """A whole pass at once, where there is compiled code for it: its mistakes."""
        return None


class Dual(Form):
    """The values at all rows, to which a mistake adds a column of kernel values.

    Args:
        values: The values to begin with, a column an output.
        source: All kernel values, a symmetric matrix; or a function that computes those of
            all rows with some, a column each.
        memory: The bytes that columns may take, to be used again.
    """

    def __init__(
        self, values: Reals, source: Array | Callable[[Indices], Array], memory: int = 0
    ) -> None:
        self._values, self._source = values, source
        self._kept: dict[int, Reals] = {}
        self._room = memory // max(8 * len(values), 1)
        self._codes: Indices = np.zeros(0, dtype=np.int64)
        computed = source.size if isinstance(source, np.ndarray) else 0
        self.operations = Operations(kernel_values=computed)

    def next_mistake(self, codes: Indices, start: int) -> int:
        self._codes = codes
        return int(next_mistake(self._values, codes, start))

    def values(self, rows: Any) -> Reals:
        found: Reals = self._values[rows]
        return found

    def whole(self, codes: Indices, state: Walk, start: int, *, keep: bool) -> int | None:
        if not isinstance(self._source, np.ndarray):
            return None
        found = _whole_pass(
            self._source, self._values, codes, state, start, is_primal=False, keep=keep
        )
        changed = found * min(self._values.shape[1], 2) * len(codes)
        self.operations.multiplications += changed
        return found

    def add(self, row: int, change: Reals) -> None:
        column = self.column(row)
        for output in np.flatnonzero(change):
            self._values[:, output] += change[output] * column
            self.operations.multiplications += len(column)

    def column(self, row: int) -> Reals:
        """The kernel values of all rows with this one."""
        if isinstance(self._source, np.ndarray):
            row_of_all: Reals = self._source[row]
            return row_of_all
        if row in self._kept:
            return self._kept[row]
        rows = self._likely(row)
        found = np.asarray(self._source(rows), dtype=np.float64).T
        self.operations.kernel_values += found.size
        for at, values in zip(rows[: self._room - len(self._kept)], found, strict=False):
            self._kept[int(at)] = values.copy()
        return np.ascontiguousarray(found[0])

    def _likely(self, row: int) -> Indices:
        """This row, and those that come next and are on the wrong side now: a few columns cost
        little more than one, and most of them will be needed.
        """
        rows, end = [row], min(row + AHEAD, len(self._codes))
        most = min(TOGETHER, self._room - len(self._kept))
        at = row + 1
        while len(rows) < most:
            at = int(next_mistake(self._values[:end], self._codes[:end], at))
            if at >= end:
                break
            if at not in self._kept:
                rows.append(at)
            at += 1
        return np.array(rows)


class Primal(Form):
    """A weight vector an output, in the space of explicit features."""

    def __init__(self, features: Array, outputs: int) -> None:
        self._features = np.ascontiguousarray(features, dtype=np.float64)
        self._weights = np.zeros((self._features.shape[1], outputs))
        self.operations = Operations()

    def next_mistake(self, codes: Indices, start: int) -> int:
        found = start
        while found < len(codes):
            self.operations.multiplications += self._weights.size
            if wrong(self.values(found), codes[found]) >= 0:
                break
            found += 1
        return found

    def values(self, rows: Any) -> Reals:
        found: Reals = self._features[rows] @ self._weights
        return found

    def add(self, row: int, change: Reals) -> None:
        for output in np.flatnonzero(change):
            self._weights[:, output] += change[output] * self._features[row]
            self.operations.multiplications += len(self._weights)

    def whole(self, codes: Indices, state: Walk, start: int, *, keep: bool) -> int:
        found = _whole_pass(
            self._features, self._weights, codes, state, start, is_primal=True, keep=keep
        )
        looked = (len(codes) - start) * self._weights.size
        changed = found * min(self._weights.shape[1], 2) * len(self._weights)
        self.operations.multiplications += looked + changed
        return found


def _whole_pass(
    rows: Array,
    values: Reals,
    codes: Indices,
    state: Walk,
    start: int,
    *,
    is_primal: bool,
    keep: bool,
) -> int:
    """A pass in compiled code, and its mistakes in the state."""
    mistakes, winners = np.empty((2, len(codes)), dtype=np.int64)
    began, outputs = state.operations.visits, state.counts.shape[1]
    found = int(
        visit(
            rows, is_primal, values, codes, state.counts, state.delayed, start, began,
            mistakes, winners,
        )
    )  # fmt: skip
    if keep:
        for row, winner in zip(mistakes[:found], winners[:found], strict=True):
            change = _change_of(int(codes[row]), int(winner), outputs)
            state.updates.append(Update(int(row), change, int(began + row - start)))
    return found


def walk(
    form: Form,
    codes: Indices,
    state: Walk,
    *,
    start: int = 0,
    budget: int | None = None,
    own: Reals | None = None,
    keep: bool = False,
) -> int:
    """Visit the rows once, in order, and mend the function at each mistake.

    Args:
        form: The values of the function.
        codes: The class of each row.
        state: Where the perceptron is; it moves on.
        start: The first row to visit.
        budget: How many rows may have a coefficient.
        own: The values k(x, x), needed for a budget.
        keep: Whether all changes are kept in order.

    Returns:
        The number of mistakes.
    """
    done = state.operations
    began = done.visits
    mistakes = form.whole(codes, state, start, keep=keep) if budget is None else None
    if mistakes is None:
        row, mistakes = start, 0
        while (row := form.next_mistake(codes, row)) < len(codes):
            done.visits = began + row - start
            winner = wrong(np.atleast_1d(form.values(row)), codes[row])
            change = _change_of(int(codes[row]), winner, state.counts.shape[1])
            _change(form, state, row, change, keep=keep)
            mistakes += 1
            if budget is not None and own is not None:
                _forget(form, codes, state, budget, own, keep=keep)
            row += 1
    done.visits = began + len(codes) - start
    done.mistakes += mistakes
    done.take(form.operations)
    return mistakes


def _change_of(own: int, winner: int, outputs: int) -> Reals:
    """What a mistake adds to the coefficients of its row."""
    if outputs == 1:
        return np.array([1.0 if own > 0 else -1.0])
    change = np.zeros(outputs)
    change[own], change[winner] = 1.0, -1.0
    return change


def _change(form: Form, state: Walk, row: int, change: Reals, *, keep: bool) -> None:
    form.add(row, change)
    before = state.operations.visits
    state.counts[row] += change
    state.delayed[row] += before * change
    if keep:
        state.updates.append(Update(row, change, before))


def _forget(
    form: Form, codes: Indices, state: Walk, budget: int, own: Reals, *, keep: bool
) -> None:
    """Drop the rows that do best without themselves, until the budget is kept."""
    while True:
        kept = np.flatnonzero(state.counts.any(axis=1))
        if len(kept) <= budget:
            return
        # The margin that is left to each row without its own part (Crammer, Kandola, Singer).
        without = form.values(kept) - own[kept, None] * state.counts[kept]
        if without.shape[1] == 1:
            margins = np.where(codes[kept] > 0, without[:, 0], -without[:, 0])
        else:
            mine = (np.arange(len(kept)), codes[kept])
            others = without.copy()
            others[mine] = -np.inf
            margins = without[mine] - others.max(axis=1)
        row = int(kept[margins.argmax()])
        _change(form, state, row, -state.counts[row], keep=keep)
