r"""The search for points and weights that prove a function not positive definite.

>>> import time
>>> from mercer.proofs.reading import read
>>> print(refute(read("max(x, y)", "nonnegative"), time.monotonic() + 5))
max(x, y) is not positive definite on the numbers >= 0:
  points   0, 1
  weights  1, -1
the sum of w_i w_j k(x_i, x_j) is -1.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.proofs.certificates import Refutation
from mercer.proofs.reading import Formula
from mercer.proofs.refute_callable import Evidence, attack_callable
from mercer.proofs.refute_cases import NOISE, Case, cases, dimensions, finite, lowest
from mercer.proofs.refute_descent import descended
from mercer.proofs.refute_points import arrangements, random_batches, simple_points
from mercer.proofs.refute_settle import precisely, settle
from mercer.proofs.refute_waves import close_points, waves

__all__ = ["Evidence", "attack_callable", "refute"]

_ENTRIES = 60_000
"""Entries of Gram matrices that are worked out at once: a few milliseconds."""

_FAINT = 1e-10
"""An eigenvalue above minus this one may be rounding: it is looked at later, in many digits."""


_CLEAR = 1e-3
"""Simple points are taken only when they refute with short weights."""


def refute(formula: Formula, deadline: float, seed: int = 0) -> Refutation | None:
    """A refutation that has been checked, or None if none is found in time.

    Args:
        formula: The function.
        deadline: The time, of `time.monotonic`, at which to give up.
        seed: The same seed tries the same points in the same order.
    """
    hunt = _Hunt(formula, deadline, seed)
    # Thousands of small eigenvalue problems: the threads of BLAS would wait for each other.
    with threadpool_limits(1, "blas"), suppress(TimeoutError):
        return hunt.run()
    return None


class _Hunt:
    """One search. What looks negative in floats is settled exactly, or it does not count."""

    def __init__(self, formula: Formula, deadline: float, seed: int) -> None:
        self.formula, self.deadline, self.start = formula, deadline, time.monotonic()
        self.rng = np.random.default_rng(seed)
        self.cases = cases(formula)
        self.dimensions = dimensions(formula)
        self.faint: list[tuple[float, Case, NDArray[Any]]] = []
        self.lost = 0.0

    def run(self) -> Refutation | None:
        """All stages in rising cost."""
        for dimension in self.dimensions:
            points = simple_points(self.formula.space, dimension)
            for case in self.cases:
                if (found := self._simply(case, points)) is not None:
                    return found
        for batch in self._structured():
            for case in self.cases:
                if (found := self._look(case, batch)) is not None:
                    return found
        return self._closely() or self._endlessly()

    def _structured(self) -> Iterator[NDArray[Any]]:
        for dimension in self.dimensions:
            yield from arrangements(self.formula.space, dimension, self.rng)

    def _simply(self, case: Case, points: NDArray[Any]) -> Refutation | None:
        """One, two or three points that are easy to write."""
        K = case.gram(points)
        for size in (1, 2, 3):
            subsets = _subsets(len(points), size)
            bottoms = lowest(K[subsets[:, :, None], subsets[:, None, :]])
            for n in np.flatnonzero(bottoms < -_CLEAR)[:2]:
                self._hurry()
                found = self._settle(case, points[subsets[n]], float(bottoms[n]))
                if found is not None:
                    return found
        return None

    def _look(self, case: Case, batch: NDArray[Any]) -> Refutation | None:
        """The batch in parts that take a few milliseconds."""
        share = max(1, _ENTRIES // batch.shape[1] ** 2)
        for start in range(0, len(batch), share):
            self._hurry()
            part = batch[start : start + share]
            K = case.gram(part)
            bottoms = lowest(K)
            for n in np.argsort(bottoms, kind="stable")[:2]:
                if bottoms[n] < -NOISE:
                    found = self._settle(case, part[n], float(bottoms[n]))
                    if found is not None:
                        return found
            found = self._partly(case, part[np.isinf(bottoms)])
            if found is not None:
                return found
        return None

    def _partly(self, case: Case, batch: NDArray[Any]) -> Refutation | None:
        """Arrangements with points at which the function is undefined: those that are left."""
        for P in batch[:: max(1, len(batch) // 6)]:
            self._hurry()
            rest, K = finite(P, case.gram(P))
            if len(rest) and (bottom := float(lowest(K))) < -NOISE:
                found = self._settle(case, rest, bottom)
                if found is not None:
                    return found
        return None

    def _settle(self, case: Case, P: NDArray[Any], bottom: float) -> Refutation | None:
        """Exact arithmetic on a suspect, unless too much time went into vain ones already."""
        if bottom > -_FAINT:
            self.faint.append((bottom, case, P))
            return None
        start = time.monotonic()
        if self.lost > 0.1 + 0.4 * (start - self.start):
            return None
        found = settle(case, P, min(self.deadline, start + 1.0))
        if found is None:
            self.lost += time.monotonic() - start
        return found

    def _closely(self) -> Refutation | None:
        """What is negative only in many digits, and what waves and close points show."""
        for case in self.cases:
            for P in waves(case):
                self._hurry()
                if (found := self._settle(case, P, -1.0)) is not None:
                    return found
        self.faint.sort(key=lambda entry: entry[0])
        for _, case, P in self.faint[:6]:
            self._hurry()
            found = settle(case, P, min(self.deadline, time.monotonic() + 0.2))
            if found is not None:
                return found
        for case in self.cases:
            for points in close_points(self.formula.space, self.dimensions):
                self._hurry()
                if (found := precisely(case, points, self.deadline)) is not None:
                    return found
        return None

    def _endlessly(self) -> Refutation | None:
        """Random clouds, and descent from the lowest of them."""
        streams = [random_batches(self.formula.space, d, self.rng) for d in self.dimensions]
        while True:
            for stream, case in product(streams, self.cases):
                batch = next(stream)
                if (found := self._look(case, batch)) is not None:
                    return found
                lower = descended(case, batch, self._soon(), self.rng)
                found = None if lower is None else self._look(case, lower[None])
                if found is not None:
                    return found

    def _soon(self) -> float:
        return min(self.deadline, time.monotonic() + 0.15)

    def _hurry(self) -> None:
        if time.monotonic() > self.deadline:
            raise TimeoutError


@lru_cache(maxsize=64)
def _subsets(count: int, size: int) -> NDArray[np.int64]:
    """All subsets, those of the first points first."""
    subsets = sorted(combinations(range(count), size), key=lambda subset: (subset[-1], subset))
    return np.array(subsets)
