"""A Gram matrix of low rank by its features: K = F F', and only F is stored.

Landmarks make the features of any kernel. With T such that T' K_mm T is the identity, the rows
of F = K_nm T are the kernel sections of the points, projected on the span of those of the
landmarks: inner products and norms are theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch
from mercer.errors import InvalidInput
from mercer.gram.rows import Rows
from mercer.kernels import Kernel, Linear
from mercer.loops import available, dense, multiply, pieces, run, symmetric
from mercer.loops.descent import add_weights, images_of, lengths_of
from mercer.plan import Plan
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

BLOCK = 1 << 21
"""Numbers of features that a thread makes at a time, in float64, before they are rounded."""

PARTS = 16
"""Parts whose sums are kept apart: sums do not depend on the threads then."""

SMALL = 1 << 18
"""Numbers below which a second thread costs more than it saves."""


@dataclass(frozen=True)
class Approximation:
    r"""How far kernel sections are from the span of landmarks.

    The distance of a section k(x, .) from the span is $r(x) = \sqrt{k(x, x) - |F(x)|^2}$. For
    every function f of the space and its projection Pf on the span, Cauchy and Schwarz say

    $$|f(x) - Pf(x)| = |\langle f,\, k(x, \cdot) - P k(x, \cdot) \rangle| \le \|f\|\, r(x),$$

    so a decision value moves by no more than the norm times this distance.

    Attributes:
        anchors: The landmarks.
        missed: The share of the trace of the Gram matrix that they miss: the mean of r(x)^2
            over that of k(x, x).
        typical: The median of the distances, each relative to the length of its section.
        farthest: The largest of them.
    """

    anchors: int
    missed: float
    typical: float
    farthest: float

    def __str__(self) -> str:
        return (
            f"landmarks miss {100 * self.missed:.2g}% of the trace: sections k(x, .) are off "
            f"their span by {self.typical:.2g} of their length (at most {self.farthest:.2g})"
        )


class FeatureRows(Rows):
    """The matrix F F' of features, which is never formed.

    Args:
        features: A row a point, C-contiguous, in float32 or float64.
        threads: How many threads; by default as many as are available.
        approximation: How far the features are from the kernel; None where they are exact.
        places: Which rows count, in which order; by default all.
        lengths: The squared length of each row, if they are known.

    Raises:
        InvalidInput: A feature is not finite.
    """

    def __init__(
        self,
        features: Array,
        threads: int | None = None,
        approximation: Approximation | None = None,
        *,
        places: Indices | None = None,
        lengths: Reals | None = None,
    ) -> None:
        self.features, self.approximation = features, approximation
        self.places = np.arange(len(features)) if places is None else places
        self.size, self.width = len(self.places), features.shape[1]
        self.threads = available() if threads is None else threads
        self.unit, self.is_cheap = float(np.finfo(np.float64).eps), True
        self.is_whole = False
        self.flat = features.reshape(-1)
        self._lengths = squared_lengths(features, self.threads) if lengths is None else lengths
        if not np.isfinite(self._lengths).all():
            raise InvalidInput(
                "features are NaN or infinite, or too large to be squared.\nRescale the data "
                "or the parameters of the kernel."
            )
        self.diagonal = self._lengths[self.places]

    def part(self, places: Indices, plan: Plan) -> FeatureRows:
        """Some of the points, with the same features.

        Args:
            places: Which points.
            plan: The threads.
        """
        return FeatureRows(
            self.features, plan.crew(), self.approximation,
            places=self.places[places], lengths=self._lengths,
        )  # fmt: skip

    # What every Gram matrix can do

    def tile(self, chosen: Indices, *, once: bool = False) -> tuple[Array, int]:
        rows = DenseBatch(self.features[self.places[chosen]])
        return symmetric(_INNER.tiles(rows, rows), threads=self.threads).reshape(-1), len(
            chosen
        )

    def block(self, rows: Indices, columns: Indices) -> Reals:
        left = self._exactly(rows)
        right = left if columns is rows else self._exactly(columns)
        write = symmetric if right is left else dense
        return write(_INNER.tiles(left, right), threads=self.threads).astype(
            np.float64, copy=False
        )

    def _exactly(self, chosen: Indices) -> DenseBatch:
        return DenseBatch(self.features[self.places[chosen]].astype(np.float64))

    def add(self, chosen: Indices, factors: Reals, out: Reals) -> None:
        self._add_images(self._weights(self.places[chosen], factors), out)

    def product(self, factors: Reals) -> Reals:
        return self.images(self.weights(factors))

    # What features can do

    def weights(self, factors: Reals) -> Reals:
        """The weights w = F' b: the function with the coefficients b, as features see it."""
        return self._weights(self.places, factors)

    def images(self, weights: Reals) -> Reals:
        """The values F w of all points."""
        out = np.zeros(self.size)
        self._add_images(weights, out)
        return out

    def _weights(self, places: Indices, factors: Reals) -> Reals:
        sums = np.zeros((PARTS, self.width))
        size = -(-len(places) // PARTS) or 1

        def work(task: tuple[int, tuple[int, int]], _: None) -> None:
            part, (start, stop) = task
            add_weights(self.flat, self.width, places, factors, start, stop, sums[part])

        tasks = enumerate(pieces(len(places), size))
        run(work, tasks, self._crew(len(places)), lambda: None)
        total: Reals = sums.sum(axis=0)
        return total

    def _add_images(self, weights: Reals, out: Reals) -> None:
        def work(part: tuple[int, int], _: None) -> None:
            images_of(self.flat, self.width, self.places, *part, weights, out)

        crew = self._crew(self.size)
        run(work, pieces(self.size, -(-self.size // (4 * crew)) or 1), crew, lambda: None)

    def _crew(self, rows: int) -> int:
        return self.threads if rows * self.width > SMALL else 1


_INNER = Linear()


def squared_lengths(features: Array, threads: int) -> Reals:
    """The squared length of each row, in float64."""
    out = np.empty(len(features))
    flat, width = features.reshape(-1), features.shape[1]

    def work(part: tuple[int, int], _: None) -> None:
        lengths_of(flat, width, *part, out)

    run(work, pieces(len(features), 1 << 14), threads, lambda: None)
    return out


def projected(
    kernel: Kernel, points: Batch, anchors: Batch, turn: Reals, dtype: Any, plan: Plan
) -> FeatureRows:
    """The features of points that landmarks make.

    Args:
        kernel: The kernel.
        points: The points.
        anchors: The landmarks.
        turn: The matrix T: whitens the kernel values among the landmarks.
        dtype: The type in which the features are kept; they are made in float64.
        plan: The threads.
    """
    width = turn.shape[1]
    features, lengths = np.empty((len(points), width), dtype), np.empty(len(points))

    def work(part: tuple[int, int], _: None) -> None:
        rows = slice(*part)
        block = multiply(
            kernel.tiles(points[rows], anchors), turn, is_symmetric=False, threads=1
        )
        features[rows] = block
        lengths[rows] = np.einsum("ij,ij->i", block, block)

    crew = kernel.tiles(points[:1], anchors[:1]).crew(len(points) * len(anchors), plan.crew())
    run(work, pieces(len(points), max(BLOCK // max(width, 1), 64)), crew, lambda: None)
    own = kernel.diag(points).astype(np.float64)
    return FeatureRows(features, plan.crew(), measured(own, lengths, len(anchors)))


def measured(own: Reals, lengths: Reals, anchors: int) -> Approximation:
    """How far sections are from a span.

    Args:
        own: The values k(x, x).
        lengths: The squared lengths of their projections.
        anchors: The landmarks.
    """
    rest = np.maximum(own - lengths, 0.0)
    total = float(own.sum())
    shares = np.sqrt(np.divide(rest, own, out=np.zeros(len(own)), where=own > 0))
    return Approximation(
        anchors,
        float(rest.sum()) / total if total > 0 else 0.0,
        float(np.median(shares)),
        float(shares.max(initial=0.0)),
    )
