"""Points on the line: one number each, perhaps from an interval, perhaps whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains.base import Batch, Domain
from mercer.domains.coordinates import DenseBatch, SparseBatch
from mercer.domains.vectors import Vectors, read_vectors, reject_missing
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.types import Array


def _bound(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidParameter(f"Numbers needs a number for {name}, or None, got {value!r}.")
    return float(value)


@dataclass(frozen=True)
class Numbers(Domain):
    """Real numbers between two bounds. One-dimensional data are a list of points here.

    Args:
        low: The lower bound, None for none.
        high: The upper bound, None for none.
        open_low: Is the lower bound itself outside?
        open_high: Is the upper bound itself outside?
        whole: Whole numbers only?

    Example:
        >>> Numbers(low=0, whole=True).encode([3, 1, 4]).values.shape
        (3, 1)
        >>> Numbers(low=0).meet(Numbers(high=1, open_high=True)).name
        'numbers in [0, 1)'
    """

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        low = -math.inf if self.low is None else _bound("low", self.low)
        high = math.inf if self.high is None else _bound("high", self.high)
        first, last = low, high
        if self.whole and math.isfinite(low):
            first = math.floor(low) + 1.0 if self.open_low else float(math.ceil(low))
        if self.whole and math.isfinite(high):
            last = math.ceil(high) - 1.0 if self.open_high else float(math.floor(high))
        point_removed = not self.whole and (self.open_low or self.open_high)
        if not first <= last or (first == last and (point_removed or math.isinf(first))):
            raise InvalidParameter(
                f"no number lies between the bounds of Numbers(low={self.low}, high="
                f"{self.high}, open_low={self.open_low}, open_high={self.open_high}, whole="
                f"{self.whole}).\nGive low < high."
            )
        # One spelling for each domain, so that equal domains are equal values.
        for name, bound in (("low", low), ("high", high)):
            finite = math.isfinite(bound)
            object.__setattr__(self, name, bound if finite else None)
            object.__setattr__(self, f"open_{name}", getattr(self, f"open_{name}") and finite)

    @property
    def name(self) -> str:
        kind = "whole numbers" if self.whole else "numbers"
        match self.low, self.high:
            case None, None:
                return kind
            case low, None:
                return f"{kind} {'>' if self.open_low else '>='} {low:g}"
            case None, high:
                return f"{kind} {'<' if self.open_high else '<='} {high:g}"
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        return f"{kind} in {left}{self.low:g}, {self.high:g}{right}"

    def encode(self, raw: Any) -> DenseBatch:
        if isinstance(raw, Batch):
            if not isinstance(raw, DenseBatch | SparseBatch):
                raise self.misread(raw)
            batch = self._one_column(raw)
        else:
            batch = self._one_column(read_vectors(raw, line=True))
            reject_missing(batch)
        self._check(batch.values[:, 0])
        return batch

    def _one_column(self, batch: DenseBatch | SparseBatch) -> DenseBatch:
        if batch.width != 1:
            raise InvalidInput(
                f"the points have {batch.width} columns, and {self.name} have one.\n"
                "Select a column, or use a kernel on vectors."
            )
        if isinstance(batch, SparseBatch):
            return DenseBatch(batch.matrix.toarray(), batch.columns)
        return batch

    def _check(self, values: Array) -> None:
        self._reject(values, self._outside(values), "is outside the domain")
        if not self.whole:
            return
        self._reject(values, values != np.floor(values), "is not whole")
        # The limit itself is also what the whole number after it was rounded to.
        limit = 2.0 ** (np.finfo(values.dtype).nmant + 1)
        self._reject(
            values, np.abs(values) >= limit, f"is too large to be told apart in {values.dtype}"
        )

    def _outside(self, values: Array) -> NDArray[np.bool_]:
        outside = np.zeros(values.shape, dtype=bool)
        if self.low is not None:
            outside |= values <= self.low if self.open_low else values < self.low
        if self.high is not None:
            outside |= values >= self.high if self.open_high else values > self.high
        return outside

    def _reject(self, values: Array, wrong: NDArray[np.bool_], why: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise InvalidInput(
                f"the number {values[row]!s} at row {row} {why}: {self.name} are asked for, "
                f"and {int(wrong.sum())} of {len(values)} points are not.\n"
                "Drop or mend those rows, or use a kernel that is positive definite on them."
            )

    def _intersect(self, other: Domain) -> Domain | None:
        if isinstance(other, Vectors):
            other = Numbers(low=0) if other.nonnegative else Numbers()
        if not isinstance(other, Numbers):
            return None
        # The larger lower bound wins; of two equal ones, the open one.
        low, open_low = max(
            (-math.inf if d.low is None else d.low, d.open_low) for d in (self, other)
        )
        high, closed_high = min(
            (math.inf if d.high is None else d.high, not d.open_high) for d in (self, other)
        )
        try:
            return Numbers(low, high, open_low, not closed_high, self.whole or other.whole)
        except InvalidParameter as error:
            raise DomainMismatch(
                f"one kernel reads {self.name} and the other reads {other.name}: no number "
                "belongs to both.\nCombine kernels on the same numbers."
            ) from error


def interval(low: float, high: float) -> Numbers:
    """The numbers strictly between two bounds.

    Example:
        >>> interval(-1, 1).name
        'numbers in (-1, 1)'
    """
    return Numbers(low, high, open_low=True, open_high=True)


REALS = Numbers()
NONNEGATIVE = Numbers(low=0)
POSITIVE = Numbers(low=0, open_low=True)
NATURALS = Numbers(low=1, whole=True)
"""The whole numbers from 1."""
