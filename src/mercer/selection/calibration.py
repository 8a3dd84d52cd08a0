r"""Probabilities from decisions: how often a decision of this size was right.

A decision f says the class by its sign, and how surely by its size. On rows that the function
has not seen, the share of right ones among those of size $|f|$ is followed by
$1 / (1 + e^{-s |f|})$, with a slope s for each side, found by maximum likelihood. So the
probability grows with the decision, is 1/2 where the decision changes its mind, and names the
class that `predict` names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

Reals = NDArray[np.float64]

LEAST, MOST = 1e-3, 1e3
"""Slopes between which the likelihood is looked at, for decisions whose mean size is 1."""


SURE = 1e-7
"""The least probability of one of a pair, as in LIBSVM: the system is regular then."""


@dataclass(frozen=True)
class Sigmoid:
    """Probabilities of the positive class.

    Attributes:
        below: The slope for negative decisions.
        above: The slope for positive decisions.

    Example:
        >>> Sigmoid(1.0, 2.0)(np.array([-1.0, 0.0, 1.0])).round(2)
        array([0.27, 0.5 , 0.88])
    """

    below: float
    above: float

    @classmethod
    def of(cls, decisions: Reals, signs: Reals, weights: Reals) -> Sigmoid:
        """The slopes that rows which were held out make most likely.

        Args:
            decisions: What was said of them.
            signs: 1 or -1: what they are.
            weights: Their weights.
        """
        sizes = np.abs(decisions)
        mean = float(np.average(sizes, weights=weights)) or 1.0
        right = decisions * signs > 0
        both = _slope(sizes / mean, right, weights)
        below, above = (
            _slope(sizes[side] / mean, right[side], weights[side]) if side.any() else both
            for side in (decisions < 0, decisions > 0)
        )
        return cls(below / mean, above / mean)

    def __call__(self, decisions: Reals) -> Reals:
        slopes = np.where(decisions < 0, self.below, self.above)
        found: Reals = expit(slopes * decisions)
        return found


def _slope(sizes: Reals, right: NDArray[np.bool_], weights: Reals) -> float:
    """The most likely slope.

    One more row that is right and one that is wrong are counted, spread over all: without
    them decisions that are all right would ask for an infinite slope.
    """
    mass, good = float(weights.sum()), float(weights[right].sum())
    hit, miss = (good + 1) / (good + 2), 1 / (mass - good + 2)
    wanted = np.where(right, hit, miss)

    def slope_of_loss(logarithm: float) -> float:
        return float(weights @ (sizes * (expit(np.exp(logarithm) * sizes) - wanted)))

    low, high = float(np.log(LEAST)), float(np.log(MOST))
    if slope_of_loss(low) >= 0:
        return LEAST
    if slope_of_loss(high) <= 0:
        return MOST
    return float(np.exp(brentq(slope_of_loss, low, high, xtol=1e-10)))


def coupled(pairs: Reals) -> Reals:
    r"""The probabilities of the classes, from those between each two of them.

    With $r_{ij}$ the probability of i among i and j, they minimise
    $\sum_{i < j} (r_{ji} p_i - r_{ij} p_j)^2$ with the sum 1, as in LIBSVM: one linear system
    a row.

    Args:
        pairs: Of shape (rows, classes, classes): `pairs[:, i, j]` is $r_{ij}$; the diagonal is
            not read.
    """
    classes = pairs.shape[1]
    pairs = np.clip(pairs, SURE, 1 - SURE)
    turned = pairs.transpose(0, 2, 1)
    system = np.zeros((len(pairs), classes + 1, classes + 1))
    system[:, :classes, :classes] = -turned * pairs
    own = np.arange(classes)
    squares = turned**2
    squares[:, own, own] = 0.0
    system[:, own, own] = squares.sum(axis=2)
    system[:, classes, :classes] = system[:, :classes, classes] = 1.0
    right = np.zeros((len(pairs), classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    shares: Reals = found / found.sum(axis=1, keepdims=True)
    return shares
