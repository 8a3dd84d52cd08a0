r"""Kernels whose distance grows with a Euclidean one, so that both have the same neighbours.

The distance of a linear kernel is the Euclidean one. That of a Gaussian is
$\sqrt{2 - 2 e^{-r^2 / 2 s^2}}$, which grows with r: so who is nearest is known without one
exponential, and also where all values of the kernel have become 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.functions.batches import coordinates
from mercer.kernels import (
    Bias,
    Exponential,
    Gaussian,
    Kernel,
    Linear,
    Matern,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)
from mercer.kernels.parameters import Lengths, Matrix, root
from mercer.kernels.points import check_vectors
from mercer.types import Array

Reals = NDArray[np.float64]

DENSE = 1 << 24
"""Coordinates that sparse points may have and still be written out."""


@dataclass(frozen=True)
class Euclidean:
    """How the distance of a kernel follows from a Euclidean one.

    Attributes:
        lengths: What the features are divided by first, a number each; 1 for none.
        metric: The metric of the Euclidean distance, None for the identity.
        gap: From the Euclidean distance r to the squared one in feature space.
        own: The values k(x, x) if all are the same, else None.
    """

    lengths: Lengths
    metric: Matrix | None
    gap: Callable[[Reals], Reals]
    own: float | None

    def same_coordinates(self, other: Euclidean) -> bool:
        """Whether both distances are in one space. A constant is in every one."""
        return self.lengths == other.lengths and self.metric == other.metric

    def points(self, batch: DenseBatch | SparseBatch) -> Array:
        """Points in coordinates whose distance, once divided by the lengths, is that of r."""
        if isinstance(batch, DenseBatch) and self.metric is None:
            return batch.values
        found = coordinates(batch)
        return found if self.metric is None else np.ascontiguousarray(found @ root(self.metric))

    def written(self, batch: DenseBatch | SparseBatch) -> int:
        """The bytes that such points take beside the given ones."""
        same = isinstance(batch, DenseBatch) and self.metric is None
        return 0 if same else 8 * len(batch) * batch.width

    def factor(self, width: int) -> Reals:
        """What each coordinate is multiplied by."""
        return np.broadcast_to(1.0 / np.asarray(self.lengths), (width,)).astype(np.float64)

    def distances(self, r: Reals) -> Reals:
        """Distances in feature space."""
        with np.errstate(over="ignore", under="ignore"):
            squared = self.gap(r)
        found: Reals = np.sqrt(np.maximum(squared, 0.0))
        return found


def euclidean(kernel: Kernel) -> Euclidean | None:
    """The Euclidean distance with which that of a kernel grows; None if none is known.

    Example:
        >>> import mercer as mc
        >>> euclidean(2 * mc.Gaussian(0.5)).distances(np.array([0.0, np.inf]))
        array([0., 2.])
    """
    match kernel:
        case Linear():
            return Euclidean(1.0, kernel.metric, np.square, None)
        case Gaussian() | Exponential() | Matern() | RationalQuadratic():
            return _radial(kernel)
        case Scaled(weight=weight) if weight > 0:
            inner = euclidean(kernel.kernel)
            return None if inner is None else _scaled(weight, inner)
        case Sum() | Product():
            return _both(kernel)
    return None


def neighbours_by_distance(kernel: Kernel, A: Batch, B: Batch) -> Euclidean | None:
    """The Euclidean distance by which these points are ordered as by the kernel, if they have
    few enough coordinates to be written out.
    """
    vectors = DenseBatch | SparseBatch
    if not (isinstance(A, vectors) and isinstance(B, vectors)):
        return None
    thin = all(
        isinstance(part, DenseBatch) or len(part) * part.width <= DENSE for part in (A, B)
    )
    view = euclidean(kernel) if thin else None
    if view is not None:
        check_vectors(kernel, A, B)
    return view


def _radial(kernel: Any) -> Euclidean:
    # One length for all is part of the profile, so that two of them are in one space.
    one = not isinstance(kernel.scale, tuple)
    scale = kernel.scale if one else 1.0

    def gap(r: Reals) -> Reals:
        reduced = r / scale
        match kernel:
            case Gaussian():  # 1 - exp(-t) without cancelling
                return np.asarray(-2 * np.expm1(-0.5 * np.square(reduced)))
            case Exponential():
                return np.asarray(-2 * np.expm1(-reduced))
        return np.asarray(2 * (1 - kernel.profile(np.square(reduced))))

    return Euclidean(1.0 if one else kernel.scale, kernel.metric, gap, 1.0)


def _scaled(weight: float, inner: Euclidean) -> Euclidean:
    return Euclidean(
        inner.lengths,
        inner.metric,
        lambda r: weight * inner.gap(r),
        None if inner.own is None else weight * inner.own,
    )


def _both(kernel: Sum | Product) -> Euclidean | None:
    """A sum of growing distances grows, and so does that of a product of falling profiles."""
    for part, rest in ((kernel.left, kernel.right), (kernel.right, kernel.left)):
        level = _constant(part)
        if level is not None:  # adds nothing to a distance, or multiplies it
            inner = euclidean(rest)
            if inner is None or (isinstance(kernel, Product) and level == 0):
                return None
            return inner if isinstance(kernel, Sum) else _scaled(level, inner)
    left, right = euclidean(kernel.left), euclidean(kernel.right)
    if left is None or right is None or not left.same_coordinates(right):
        return None
    a, b, gap = left.own, right.own, left.gap
    other = right.gap
    if isinstance(kernel, Sum):
        own = None if a is None or b is None else a + b
        return Euclidean(left.lengths, left.metric, lambda r: gap(r) + other(r), own)
    if a is None or b is None:
        return None

    def product(r: Reals) -> Reals:
        # a b - (a - g/2)(b - h/2), twice.
        g, h = gap(r), other(r)
        return a * h + b * g - g * h / 2

    return Euclidean(left.lengths, left.metric, product, a * b)


def _constant(kernel: Kernel) -> float | None:
    """The value of a constant kernel."""
    match kernel:
        case Bias():
            return 1.0
        case Scaled(weight=weight):
            inner = _constant(kernel.kernel)
            return None if inner is None else weight * inner
    return None
