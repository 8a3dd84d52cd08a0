r"""Which kernel, when none is given: one length a feature, times a factor for all.

For vectors the lengths are the weighted standard deviations, times the root of their number:
so a typical pair of points is at a distance of about $\sqrt 2$ whatever the units of the
features and however many there are. Then one factor is tuned for all, on at most `ROWS` rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, RecordBatch, SetBatch, SparseBatch
from mercer.kernels import Delta, Exponential, Gaussian, Jaccard, Kernel
from mercer.selection.penalties import leave_one_out
from mercer.solvers.spectral import Spectrum

Reals = NDArray[np.float64]

ROWS = 1_000
"""Rows on which the factor is searched."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A kernel that was chosen, and the reason in words."""

    kernel: Kernel
    words: str


def automatic(points: Batch) -> bool:
    """Whether there is a kernel to start from for such points."""
    return isinstance(points, DenseBatch | SparseBatch | RecordBatch | SetBatch)


def lengths(points: DenseBatch | SparseBatch, weights: Reals) -> Reals:
    """One length a feature: its weighted spread, times the root of the number of features."""
    share = weights / weights.sum()
    if isinstance(points, SparseBatch):
        mean = points.matrix.T @ share
        squares = points.matrix.multiply(points.matrix).T @ share
        # Sparse features stay where they are: no centring would keep the zeros.
        spread = np.sqrt(np.maximum(np.asarray(squares - mean**2).ravel(), 0.0))
    else:
        values = points.values.astype(np.float64, copy=False)
        mean = share @ values
        spread = np.sqrt(share @ (values - mean) ** 2)
    size = np.abs(np.asarray(mean)).ravel()
    moving = spread > 1e-12 * np.maximum(size, np.finfo(float).tiny)
    found: Reals = np.where(moving, spread, 1.0) * np.sqrt(max(int(moving.sum()), 1))
    return found


def start(points: Batch, weights: Reals) -> Chosen:
    """A kernel that suits the points, before anything is tuned."""
    if isinstance(points, SetBatch):
        return Chosen(Jaccard(), "Jaccard's similarity of sets")
    if isinstance(points, DenseBatch | SparseBatch):
        return _of_vectors(lengths(points, weights))
    return Chosen(Delta(), "equality")


def _of_vectors(own: Reals) -> Chosen:
    scale: Any = tuple(float(f"{s:.6g}") for s in own)
    return Chosen(Gaussian(scale=scale if len(scale) > 1 else scale[0]), "")


def tune(chosen: Kernel, points: Batch, targets: Reals, weights: Reals, chance: Any) -> Kernel:
    """The kernel with its lengths times the factor whose leave-one-out error is least.

    A kernel without lengths is returned as it is.
    """
    if not isinstance(chosen, Gaussian | Exponential):
        return chosen
    rows = subset(len(points), chance)
    points, targets, weights = points[rows], targets[rows], weights[rows]
    base = np.asarray(chosen.scale, dtype=np.float64)
    tried: dict[tuple[Any, float], float] = {}

    def error(kind: Any, exponent: float) -> float:
        key = (kind, exponent)
        if key not in tried:
            kernel = kind(scale=_scaled(base, 2.0**exponent))
            spectrum = Spectrum.of(
                kernel.square(points).astype(np.float64), weights, has_offset=True
            )
            tried[key] = float(leave_one_out(spectrum, targets).errors.min())
        return tried[key]

    kinds: tuple[Any, ...] = (Gaussian, Exponential)
    for kind in kinds:
        exponents = [-1.0, 0.0, 1.0, 2.0]
        errors = [error(kind, e) for e in exponents]
        at = int(np.argmin(errors))
        # Go on while the end of the range is the best.
        step = {0: -1.0, len(exponents) - 1: 1.0}.get(at)
        e = exponents[at]
        while step is not None and abs(e) < 6 and error(kind, e + step) < error(kind, e):
            e += step
        for half in (0.5, 0.25):
            e = min((e - half, e, e + half), key=lambda x: error(kind, x))
    best, exponent = min(tried, key=lambda key: tried[key])
    found: Kernel = best(scale=_scaled(base, 2.0**exponent))
    return found


def _scaled(base: Reals, factor: float) -> Any:
    scaled = base * factor
    return float(scaled) if scaled.ndim == 0 else tuple(float(f"{s:.6g}") for s in scaled)


def subset(rows: int, chance: Any, most: int = ROWS) -> NDArray[np.int64]:
    """At most so many rows, drawn without replacement, in ascending order."""
    if rows <= most:
        return np.arange(rows)
    drawn: NDArray[np.int64] = np.sort(chance.permutation(rows)[:most])
    return drawn
