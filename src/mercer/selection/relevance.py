r"""How much each feature matters: lengths and rates that lower the leave-one-out error.

With $A = K + \mu V^{-1}$ for relative weights V, and G its inverse on what is orthogonal to
the constant (the offset costs nothing), a row that is left out is missed by
$e_i = (G y)_i / G_{ii}$. From $dG = -G\, dK\, G$ the slope of the mean of $v_i e_i^2$ is
$\operatorname{tr}(M\, dK)$ for one matrix M, whatever the parameter: so all of them cost little
more than one. What is lowered is

$$\tfrac{n}{2} \log \sum_i v_i e_i^2 + \frac{1}{2 \sigma^2} \sum_c \delta_c^2,$$

where $\delta_c$ is how far the logarithm of a length is from what they have in common. The
second term is a prior: lengths differ by a factor of $e^\sigma$ or so, unless the data insist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer.domains import Batch
from mercer.kernels import Delta, Laplacian, Missing
from mercer.loops.gaps import gap_sums
from mercer.selection.parts import FAMILIES, Parts

Reals = NDArray[np.float64]

SPREAD = 0.3
"""The standard deviation of the prior on the logarithms of lengths."""

STEPS = 25
"""Steps of the search."""

FEATURES = 300
"""Features and columns up to which each gets a length of its own."""

SHIFTS = (1e-8, 1e3)
"""The least and the largest ridge, relative to k(x, x)."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """The criterion, for one family.

    Attributes:
        family: The kernel of numbers.
        numbers: The features that move, in units of their spreads.
        apart: For each compared column, squared distances over the unit, over 2: 0 or 1 for
            labels.
        targets: Centred, with a mean square of 1.
        weights: Relative weights, with a mean of 1.
    """

    family: str
    numbers: Reals
    apart: tuple[NDArray[Any], ...]
    targets: Reals
    weights: Reals

    @classmethod
    def of(
        cls, parts: Parts, family: str, rows: Any, points: Batch, targets: Reals, weights: Reals
    ) -> Relevance:
        """The criterion on some rows of the points that the parts describe."""
        moving = np.zeros((len(rows), 0))
        if parts.numbers is not None:
            keep = parts.numbers.moving
            moving = parts.numbers.values[np.ix_(rows, keep)]
            moving = (moving - parts.numbers.fills[keep]) / parts.numbers.spreads[keep]
        apart = []
        for part in parts.compared:
            kernel = part.kernel()
            own = kernel.diag(points)
            squared = own[:, None] + own - 2 * kernel.square(points)
            kind = np.uint8 if isinstance(part.leaf, Delta | Missing) else np.float32
            apart.append((squared / part.unit).astype(kind))
        return cls(family, moving, tuple(apart), targets, weights / weights.mean())

    def matrices(self, logs: Reals) -> tuple[Reals, Reals]:
        """The Gram matrix, and what turns squared gaps into its slopes in the logarithms of
        inverse lengths (gaps themselves for the Laplacian).
        """
        width = self.numbers.shape[1]
        scaled = self.numbers * np.exp(logs[:width])
        if self.family == "laplacian":
            values = np.ones((len(scaled),) * 2)
            if width:
                values *= Laplacian()(scaled)
            slopes = -values
        else:
            norms = np.einsum("ij,ij->i", scaled, scaled)
            squared = np.maximum(norms[:, None] + norms - 2 * scaled @ scaled.T, 0.0)
            np.fill_diagonal(squared, 0.0)
            radial = FAMILIES[self.family]()
            slopes = 2 * radial.slope(squared)
            values = radial.profile(squared)
        if self.apart:
            total = np.zeros_like(values)
            for rate, apart in zip(np.exp(logs[width:]), self.apart, strict=True):
                total += 2 * rate * apart
            factor = np.exp(-total)
            values *= factor
            slopes *= factor
        return values, slopes

    def __call__(self, logs: Reals, shift: float) -> tuple[float, Reals, float]:
        """The logarithm of the leave-one-out error times n / 2, and its slopes in the
        logarithms of inverse lengths and rates, and of the shift.
        """
        values, slopes = self.matrices(logs)
        found = left_out(values, shift / self.weights, self.targets, self.weights)
        if found is None:
            return np.inf, np.zeros_like(logs), 0.0
        error, turn = found
        rows = len(self.targets)
        width = self.numbers.shape[1]
        slope = np.zeros_like(logs)
        scaled = self.numbers * np.exp(logs[:width])
        pull = turn * slopes
        if self.family == "laplacian":
            slope[:width] = gap_sums(pull, scaled)
        else:
            slope[:width] = 2 * (
                pull.sum(axis=1) @ scaled**2 - np.einsum("ic,ic->c", scaled, pull @ scaled)
            )
        turned = (turn * values).ravel()
        for at, apart in enumerate(self.apart, start=width):
            slope[at] = -2 * np.exp(logs[at]) * float(turned @ apart.ravel())
        along = shift * float((np.diagonal(turn) / self.weights).sum())
        scale = 0.5 * rows / error
        return 0.5 * rows * np.log(error), scale * slope, scale * along


def left_out(
    values: Reals, ridge: Reals, targets: Reals, weights: Reals
) -> tuple[float, Reals] | None:
    """The mean squared leave-one-out error, and the matrix M of which tr(M dK) is its slope.

    None where the matrix cannot be factored.
    """
    rows = len(targets)
    matrix = values.copy()
    matrix[np.diag_indices(rows)] += ridge
    factor, flaw = scipy.linalg.lapack.dpotrf(matrix.T, lower=0, overwrite_a=True)
    if flaw:
        return None
    inverse, flaw = scipy.linalg.lapack.dpotri(factor, lower=0, overwrite_c=True)
    if flaw:
        return None
    inverse = np.triu(inverse)
    inverse += np.triu(inverse, 1).T
    ones = inverse.sum(axis=1)
    inverse -= np.multiply.outer(ones, ones / ones.sum())
    own = np.diagonal(inverse).copy()
    coefficients = inverse @ targets
    if not (own > 0).all():
        return None
    errors = coefficients / own[:, None]
    share = weights / weights.sum()
    error = float(share @ (errors**2).sum(axis=1))
    if not (np.isfinite(error) and error > 0):
        return None
    pull = inverse @ (2 * share[:, None] * errors / own[:, None])
    turn = -(pull @ coefficients.T)
    turn = 0.5 * (turn + turn.T)
    # Sum of d_i (G dK G)_ii with d_i >= 0: a product of a matrix with its transpose.
    half = inverse * np.sqrt(2 * share * (errors**2).sum(axis=1) / own)
    turn += half @ half.T
    return error, turn


def refined(criterion: Relevance, logs: Reals, shift: float) -> Reals:
    """Lengths and rates of their own, from those that are alike."""
    width = len(logs)

    def lowered(place: Reals) -> tuple[float, Reals]:
        common, own, exponent = place[0], place[1:-1], place[-1]
        value, slope, along = criterion(logs + common + own, float(np.exp(exponent)))
        if not np.isfinite(value):
            return 1e300, np.zeros_like(place)
        value += 0.5 * float(own @ own) / SPREAD**2
        return value, np.concatenate([[slope.sum()], slope + own / SPREAD**2, [along]])

    low, high = np.log(SHIFTS)
    start = np.concatenate([np.zeros(width + 1), [np.clip(np.log(shift), low, high)]])
    found = minimize(
        lowered,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-4, 4)] + [(-6, 4)] * width + [(low, high)],
        options={"maxiter": STEPS, "maxfun": STEPS + STEPS // 4},
    )
    if not found.fun < 1e300:
        return logs
    better: Reals = logs + found.x[0] + found.x[1:-1]
    return better
