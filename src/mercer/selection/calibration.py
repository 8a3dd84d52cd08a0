r"""Probabilities from decisions: how often a decision of this size was right.

A decision f says the class by its sign, and how surely by its size. On rows that the function
has not seen, the share of right ones among those of size $|f|$ is followed by
$1 / (1 + e^{-(c + s |f|)})$ with $c, s \ge 0$, two numbers for each side, found by maximum
likelihood. So the probability grows with the decision, and the class that `predict` names has
the larger one. Where rows say otherwise, because the decisions of a side are wrong more often
than right, it is about 1/2 there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Reals = NDArray[np.float64]

SLOPES = 1e-3, 1e3
"""Slopes that are looked at, for decisions whose mean size is 1."""

STARTS = 0.0, 50.0
"""Log-odds at 0 that are looked at."""

SURE = 1e-7
"""The least probability of one of a pair, as in LIBSVM: the system is regular then."""


@dataclass(frozen=True)
class Sigmoids:
    """Probabilities of the positive class.

    Attributes:
        below: The numbers c and s for negative decisions.
        above: Those for the others.

    Example:
        >>> Sigmoids((0.0, 1.0), (0.5, 2.0))(np.array([-1.0, 0.0, 1.0])).round(2)
        array([0.27, 0.62, 0.92])
    """

    below: tuple[float, float]
    above: tuple[float, float]

    @classmethod
    def of(cls, decisions: Reals, signs: Reals, weights: Reals) -> Sigmoids:
        """The numbers that rows which were held out make most likely.

        Args:
            decisions: What was said of them.
            signs: 1 or -1: what they are.
            weights: Their weights.
        """
        sizes = np.abs(decisions)
        unit = float(np.average(sizes, weights=weights)) or 1.0
        right = (decisions >= 0) == (signs > 0)
        found = []
        for side in (decisions < 0, decisions >= 0):
            mine = side if side.any() else np.ones_like(side)
            start, slope = _likeliest(sizes[mine] / unit, right[mine], weights[mine])
            found.append((start, slope / unit))
        return cls(*found)

    def __call__(self, decisions: Reals) -> Reals:
        sizes = np.abs(decisions)
        below, above = (start + slope * sizes for start, slope in (self.below, self.above))
        found: Reals = expit(np.where(decisions < 0, -below, above))
        return found


def _likeliest(sizes: Reals, right: NDArray[np.bool_], weights: Reals) -> tuple[float, float]:
    """The most likely log-odds at 0, and their slope.

    One more row that is right and one that is wrong are counted, spread over all, as Platt
    has it: without them decisions that are all right would ask for an infinite slope.
    """
    good, bad = float(weights[right].sum()), float(weights[~right].sum())
    wanted = np.where(right, (good + 1) / (good + 2), 1 / (bad + 2))
    share = weights / weights.sum()

    def loss(at: Reals) -> tuple[float, Reals]:
        odds = at[0] + at[1] * sizes
        pull = share * (expit(odds) - wanted)
        value = float(share @ (np.logaddexp(0.0, odds) - wanted * odds))
        return value, np.array([pull.sum(), pull @ sizes])

    found = minimize(
        loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B", bounds=[STARTS, SLOPES],
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 200},
    )  # fmt: skip
    return float(found.x[0]), float(found.x[1])


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
