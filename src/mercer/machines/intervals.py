"""How sure a least-squares prediction is: deviations, and intervals by jackknife+."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.domains.samples import Sample
from mercer.kernels import Kernel
from mercer.solvers.shifted import Shifted

Reals = NDArray[np.float64]

BATCH = 1_024
"""New points that are looked at together."""


def deviations(
    kernel: Kernel, sample: Sample, spectrum: Shifted, shift: float, points: Batch
) -> Reals:
    """The standard deviation of f(x) + b under the Gaussian process, for each target."""
    own = np.asarray(kernel.diag(points), dtype=np.float64)
    rest = np.empty(len(points))
    for start in range(0, len(points), BATCH):
        rows = slice(start, start + BATCH)
        cross = kernel.block(sample.points, points[rows]).astype(np.float64)
        rest[rows] = own[rows] - spectrum.explained(cross, shift)
    scale = np.sqrt(spectrum.variance(sample.targets, shift))
    found: Reals = np.sqrt(np.maximum(rest, 0.0))[:, None] * scale
    return found


def jackknife(
    kernel: Kernel,
    sample: Sample,
    spectrum: Shifted,
    shift: float,
    points: Batch,
    center: Reals,
    coverage: float,
) -> Reals:
    """The ends of the jackknife+ intervals around predictions, for one target."""
    errors = spectrum.left_out(sample.targets, shift)[:, 0]
    size = np.abs(errors)[:, None]
    found = np.empty((len(points), 2))
    for start in range(0, len(points), BATCH):
        rows = slice(start, start + BATCH)
        cross = kernel.block(sample.points, points[rows]).astype(np.float64)
        # Without row i the prediction moves by the weight of y_i in it times the error there.
        moved = center[rows] - spectrum.smoother(cross, shift) * errors[:, None]
        found[rows, 0] = -_upper(size - moved, sample.weights, coverage)
        found[rows, 1] = _upper(moved + size, sample.weights, coverage)
    return found


def _upper(values: Reals, weights: Reals, coverage: float) -> Reals:
    """The least number that at least this share of the weight is below, with one more row at
    infinity: for each column.
    """
    order = np.argsort(values, axis=0)
    mass = np.cumsum(weights[order], axis=0) / (weights.sum() + 1.0)
    place = (mass < coverage - 1e-12).sum(axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    last = np.minimum(place, len(weights) - 1)
    found: Reals = np.where(
        place >= len(weights), np.inf, ranked[last, np.arange(values.shape[1])]
    )
    return found
