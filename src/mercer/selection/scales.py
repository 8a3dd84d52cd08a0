"""Which kernel, when none is given: lengths from the spread, tuned by leave-one-out.

One length a feature from its weighted spread makes units irrelevant. Then three families are
tried with one factor for all lengths, on few rows; and the best of them gets a length for each
feature, on more rows, as far as the data insist (`selection.relevance`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.domains import Batch, SetBatch, SparseBatch
from mercer.kernels import Delta, Jaccard, Kernel
from mercer.selection.parts import FAMILIES, Parts, parts_of
from mercer.selection.penalties import leave_one_out
from mercer.selection.relevance import FEATURES, Relevance, refined
from mercer.solvers.spectral import Spectrum

Reals = NDArray[np.float64]

FEW, ROWS = 500, 800
"""Rows on which families and a common factor are tried, and on which lengths are tuned."""

EXPONENTS = (-1.0, 0.0, 1.0, 2.0)
"""The common factors that are tried first, as powers of two."""

POWERS = (-2.0, -1.0, 0.0, 1.0, 2.0)
"""The common factors, as powers of two, among which folds choose."""

FARTHEST = 6.0
"""The largest power of two, either way."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A kernel that was chosen."""

    kernel: Kernel


def start(points: Batch, weights: Reals) -> Chosen:
    """A kernel that suits the points, before anything is tuned."""
    if isinstance(points, SetBatch):
        return Chosen(Jaccard())
    parts = parts_of(points, weights)
    if parts is None:
        return Chosen(Delta())
    return Chosen(parts.kernel("gaussian", parts.start("gaussian", 0.0)))


def multiples(points: Batch, weights: Reals) -> list[Kernel]:
    """A kernel that suits the points, with all its lengths times several factors."""
    parts = parts_of(points, weights)
    if parts is None or not (parts.moving or parts.compared):
        return [start(points, weights).kernel]
    return [parts.kernel("gaussian", parts.start("gaussian", power)) for power in POWERS]


def tune(chosen: Kernel, points: Batch, targets: Reals, weights: Reals, chance: Any) -> Kernel:
    """The kernel for such points whose leave-one-out error on the targets is least.

    Args:
        chosen: What `start` found. Where there is nothing to tune, it is returned as it is.
        points: Distinct points.
        targets: A column each.
        weights: The weights of the points.
        chance: Draws the rows, where there are many.
    """
    found = tuned(points, targets, weights, chance)
    return chosen if found is None else found.kernel


@dataclass(frozen=True, eq=False)
class Tuned:
    """A kernel that was tuned, by its parts.

    Attributes:
        parts: What the points are made of.
        family: The kernel of numbers.
        logs: Logarithms of inverse lengths, and of rates.
    """

    parts: Parts
    family: str
    logs: Reals

    @property
    def kernel(self) -> Kernel:
        return self.parts.kernel(self.family, self.logs)

    def times(self, power: float) -> Kernel:
        """The kernel with all lengths times a power of two."""
        same = self.parts.start(self.family, 0.0)
        return self.parts.kernel(
            self.family, self.logs + self.parts.start(self.family, power) - same
        )


def tuned(points: Batch, targets: Reals, weights: Reals, chance: Any) -> Tuned | None:
    """What `tune` finds; None where there is nothing to tune."""
    parts = parts_of(points, weights)
    if parts is None or not (parts.moving or parts.compared) or len(points) < 3:
        return None
    centred = _centred(targets, weights)
    if centred is None:
        return None
    rows = subset(len(points), chance, ROWS)
    few = rows[:: -(-len(rows) // FEW)]
    # NumPy and SciPy have a BLAS each, whose threads wait for work in turns: matrices of so few
    # rows are done before both have woken up.
    with threadpool_limits(1, "blas"):
        family, logs, shift = _by_factor(parts, points[few], centred[few], weights[few])
        if isinstance(points, SparseBatch) or len(logs) > FEATURES:
            return Tuned(parts, family, logs)
        criterion = Relevance.of(
            parts, family, rows, points[rows], centred[rows], weights[rows]
        )
        return Tuned(parts, family, refined(criterion, logs, shift))


def _centred(targets: Reals, weights: Reals) -> Reals | None:
    """Targets without their mean, in units of their spread; None if they have none."""
    share = weights / weights.sum()
    mean = share @ targets
    moved = targets - mean
    spread = float(np.sqrt(share @ (moved**2).sum(axis=1)))
    if not spread > 1e-12 * float(np.abs(mean).max(initial=np.finfo(float).tiny)):
        return None
    scaled: Reals = moved / spread
    return scaled


def _by_factor(
    parts: Parts, points: Batch, targets: Reals, weights: Reals
) -> tuple[str, Reals, float]:
    """The family and the common factor with the least leave-one-out error, and the ridge."""
    tried: dict[tuple[str, float], tuple[float, float]] = {}

    def error(family: str, exponent: float) -> float:
        key = (family, exponent)
        if key not in tried:
            kernel = parts.kernel(family, parts.start(family, exponent))
            values = kernel.square(points).astype(np.float64, copy=False)
            path = leave_one_out(Spectrum.of(values, weights, has_offset=True), targets)
            tried[key] = float(path.errors.min()), path.best * float(weights.sum())
        return tried[key][0]

    families = [name for name in FAMILIES if parts.moving or name == "gaussian"]
    if isinstance(points, SparseBatch):
        families.remove("laplacian")
    for family in families:
        errors = [error(family, exponent) for exponent in EXPONENTS]
        at = int(np.argmin(errors))
        best = EXPONENTS[at]
        # Go on while the end of the range is the best.
        step = {0: -1.0, len(EXPONENTS) - 1: 1.0}.get(at)
        while (
            step is not None
            and abs(best) < FARTHEST
            and error(family, best + step) < error(family, best)
        ):
            best += step
        for other in (best - 0.5, best + 0.5):
            error(family, other)
    family, exponent = min(tried, key=lambda key: tried[key][0])
    shift = tried[family, exponent][1] / float(weights.mean())
    return family, parts.start(family, exponent), shift


def subset(rows: int, chance: Any, most: int = ROWS) -> NDArray[np.int64]:
    """At most so many rows, drawn without replacement, in ascending order."""
    if rows <= most:
        return np.arange(rows)
    drawn: NDArray[np.int64] = np.sort(chance.permutation(rows)[:most])
    return drawn
