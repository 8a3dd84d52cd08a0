"""Features over which support vectors are found: of landmarks, or the kernel's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from threadpoolctl import threadpool_limits

from mercer.domains import Batch
from mercer.errors import InvalidInput
from mercer.functions import Function
from mercer.gram.features import BLOCK, FeatureRows, projected
from mercer.gram.rows import FLOAT32
from mercer.kernels import Kernel
from mercer.loops import pieces
from mercer.plan import Plan
from mercer.selection.scales import subset
from mercer.solvers.landmarks import whitening

Reals = NDArray[np.float64]

TIMES = 4
"""Points among which those that span all are looked for, for each feature."""

APART = 1e-6
"""The smallest pivot, relative to the largest: below, a sum over them would lose digits."""

SPANNED = 1e-12
"""What a feature may have outside of the span, relative to the largest: a rounding error."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points whose kernel sections span the functions that are searched.

    Attributes:
        anchors: The points.
        turn: What makes coefficients of weights; where it makes the features as well, it
            whitens the kernel values among the points.
    """

    anchors: Batch
    turn: Reals

    @classmethod
    def of(cls, kernel: Kernel, points: Batch, count: int, chance: Any) -> Self:
        """Some of the points, drawn without regard to their targets."""
        kernel.check_finite(points)
        anchors = points[subset(len(points), chance, count)]
        square = kernel.square(anchors).astype(np.float64)
        if not np.isfinite(square).all():
            raise InvalidInput(
                "kernel values are NaN or infinite.\nRescale the data or the parameters of the "
                "kernel."
            )
        # Threads of BLAS wait for each other longer than one takes for so few rows.
        with threadpool_limits(1, "blas"):
            return cls(anchors, whitening(square))

    def function(self, kernel: Kernel, weights: Reals) -> Function:
        """The function that has these weights: it is a sum over the landmarks."""
        return Function(kernel, self.anchors, self.turn @ weights)


def by_landmarks(
    kernel: Kernel, points: Batch, landmarks: Landmarks, plan: Plan, *, sharp: bool
) -> FeatureRows:
    """The features that landmarks make of points.

    Args:
        kernel: The kernel.
        points: The points.
        landmarks: The landmarks.
        plan: The threads.
        sharp: Whether they are kept in float64; else it is float32, if that holds them.
    """
    largest = float(kernel.diag(points).max(initial=0.0))
    tiny, huge = FLOAT32
    single = not sharp and (largest == 0 or tiny < largest < huge)
    kind = np.float32 if single else np.float64
    return projected(kernel, points, landmarks.anchors, landmarks.turn, kind, plan)


def by_features(
    kernel: Kernel, points: Batch, plan: Plan
) -> tuple[FeatureRows, Landmarks | None]:
    """The kernel's own features, which are exact, and points whose sections span all others:
    functions are sums over those. None where no few are found.

    Args:
        kernel: The kernel.
        points: The points.
        plan: The threads.
    """
    kernel.check_finite(points)
    features = np.array(kernel.feature_map(points), dtype=np.float64, order="C")
    return FeatureRows(features, plan.crew()), _spanning(points, features)


def _spanning(points: Batch, features: Reals) -> Landmarks | None:
    """Few points whose features span those of all, by a factor with pivots of a sample."""
    rows, width = features.shape
    sample = np.linspace(0, rows - 1, min(rows, TIMES * width)).astype(np.int64)
    if not len(sample):
        return None
    with threadpool_limits(1, "blas"):
        basis, factor, order = qr(features[sample].T, mode="economic", pivoting=True)
    sizes = np.abs(np.diagonal(factor))
    kept = sizes > width * np.finfo(np.float64).eps * sizes[0]
    rank = int(np.count_nonzero(kept))
    if not rank or sizes[rank - 1] < APART * sizes[0]:
        return None
    basis = basis[:, :rank]
    for start, stop in pieces(rows, BLOCK // width + 1):
        block = features[start:stop]
        rest = block - (block @ basis) @ basis.T
        if np.abs(rest).max() > SPANNED * np.abs(block).max():
            return None
    turn = solve_triangular(factor[:rank, :rank], basis.T)
    return Landmarks(points[sample[order[:rank]]], turn)
