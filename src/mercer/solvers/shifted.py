r"""What any factor of a weighted Gram matrix tells, once it solves for every penalty.

With $S = \operatorname{diag}(\sqrt{w})$ and the projection P that takes the constant out (the
offset b costs nothing), $A = P S K S P$ and $\mu = \lambda \sum w$, the coefficients are
$a = S (A + \mu)^{-1} P S y$, and the prediction for a row that was left out, with all its
weight, misses by $a_i / (w_i g_i)$, where $g_i = (P (A + \mu)^{-1} P)_{ii}$: no second fit is
needed (Rifkin and Lippert).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mercer.errors import NotPositiveDefinite

Reals = NDArray[np.float64]

COLUMNS = 256
"""Right-hand sides, one a target and shift, that are solved for together."""


def weigh(out: Reals, roots: Reals) -> Reals:
    """Weigh the rows and columns of a Gram matrix, in place.

    Returns:
        Its mean over the rows.
    """
    if not (roots == 1).all():
        out *= roots
        out *= roots[:, None]
    mean: Reals = out @ roots / float(roots @ roots)
    return mean


def rounding(gram: Reals, weights: Reals) -> float:
    """How far below zero rounding may move an eigenvalue of the weighted matrix."""
    number = np.finfo(np.float64)
    trace = float(weights @ np.diagonal(gram))
    return max(4 * len(gram) * float(number.eps) * trace, 2.0**-38 * trace, float(number.tiny))


def not_positive(value: float, floor: float) -> NotPositiveDefinite:
    """The error for an eigenvalue that rounding does not explain."""
    return NotPositiveDefinite(
        f"the Gram matrix has the eigenvalue {value:.3g}, more negative than "
        f"rounding explains ({floor:.1g}): the kernel is not positive definite.\nAsk "
        "mercer.testing.check_kernel(k, X); mercer.repair(K) mends a matrix for "
        'kernel="precomputed".'
    )


class Shifted(ABC):
    """A factor of a weighted Gram matrix without its constant.

    Attributes:
        vectors: Orthonormal columns, orthogonal to the constant.
        roots: The roots of the weights.
        mean: The mean of the weighted Gram matrix over its rows: what the offset needs.
        has_offset: Whether the constant was taken out.
    """

    vectors: Reals
    roots: Reals
    mean: Reals
    has_offset: bool

    @abstractmethod
    def gains(self, shifts: Reals) -> Reals:
        r"""The numbers $g_i$ for each shift > 0: shape (rows, shifts). They are positive, and
        $\mu g_i$ is one minus the leverage of a row.
        """

    @abstractmethod
    def residual(self, targets: Reals, coefficients: Reals, shift: float) -> float:
        """How far coefficients are from solving the equations, relative to the targets."""

    @abstractmethod
    def _scaled(self, targets: Reals, shifts: Reals) -> Reals:
        """The coefficients divided by the roots of the weights: shape (shifts, rows,
        targets).
        """

    @abstractmethod
    def _log_determinant(self, shift: float) -> float:
        """The logarithm of the determinant of A + shift, where the constant is not."""

    def solve(self, targets: Reals, shift: float) -> tuple[Reals, Reals]:
        """The coefficients and the offset of each target, at lambda sum(w) = shift.

        At zero, for which eigenvalues are needed, it is the solution of least norm: those that
        are rounding count as zero.
        """
        scaled = self._at(targets, shift)
        offset = np.zeros(targets.shape[1])
        if self.has_offset:
            share = self.roots**2 / (self.roots @ self.roots)
            offset = share @ targets - self.mean @ scaled
        return self.roots[:, None] * scaled, offset

    def left_out(self, targets: Reals, shift: float) -> Reals:
        """The error on each row, y_i less the prediction, when the fit has not seen it."""
        gains = self.gains(np.array([shift]))
        return self._left_out(self._at(targets, shift), targets, gains)

    def errors(self, targets: Reals, shifts: Reals) -> Reals:
        """The mean squared error of what is left out, over the targets, for each shift."""
        total = float(self.roots @ self.roots)
        gains = self.gains(shifts)
        found = np.empty(len(shifts))
        step = max(COLUMNS // max(targets.shape[1], 1), 1)
        for start in range(0, len(shifts), step):
            some = self._scaled(targets, shifts[start : start + step])
            for at, scaled in enumerate(some, start):
                errors = self._left_out(scaled, targets, gains[:, at, None])
                found[at] = float((self.roots**2 @ errors**2).sum()) / total
        return found

    def generalized_errors(self, targets: Reals, shifts: Reals) -> Reals:
        """Generalised cross-validation: every row is given the mean leverage."""
        gains = self.gains(shifts)
        count = len(self.roots)
        squared = np.array([(self._at(targets, float(s)) ** 2).sum() for s in shifts])
        found: Reals = squared / count / gains.mean(axis=0) ** 2
        return found

    def log_likelihood(self, targets: Reals, shift: float) -> Reals:
        r"""The logarithm of the marginal likelihood of each target under a Gaussian process
        with the covariance $v k$ and noise of variance $v \mu / w_i$, at the best v; with an
        offset, integrated over it (the restricted likelihood).
        """
        count = len(self.roots) - self.has_offset
        variance = self.variance(targets, shift)
        spread = self._log_determinant(shift) - 2 * np.log(self.roots).sum()
        if self.has_offset:
            spread += np.log(self.roots @ self.roots)
        found: Reals = -0.5 * (count * (np.log(2 * np.pi * variance) + 1) + spread)
        return found

    def variance(self, targets: Reals, shift: float) -> Reals:
        """The factor v of the covariance that makes each target most likely."""
        count = max(len(self.roots) - self.has_offset, 1)
        energy = np.einsum("it,it->t", self._centred(targets), self._at(targets, shift))
        found: Reals = np.maximum(energy / count, np.finfo(np.float64).tiny)
        return found

    def explained(self, cross: Reals, shift: float) -> Reals:
        r"""How much of $k(x, x)$ the data explain, for columns of kernel values of new points:
        $k_x^\top (K + \mu W^{-1})^{-1} k_x$, less what the uncertain offset adds.

        With an offset of unknown size f(x) + b is foretold best, without bias, by weights that
        sum to one; the mean of the targets is such a forecast, and the rest is a projection.
        """
        if not self.has_offset:
            plain: Reals = np.einsum("ix,ix->x", self._centred(cross), self._at(cross, shift))
            return plain
        total = float(self.roots @ self.roots)
        apart = cross - (self.mean / self.roots)[:, None]
        inner = np.einsum("ix,ix->x", self._centred(apart), self._at(apart, shift))
        mean = self.roots**2 @ cross / total
        found: Reals = inner + 2 * mean - (float(self.roots @ self.mean) + shift) / total
        return found

    def smoother(self, cross: Reals, shift: float) -> Reals:
        """The weights of the targets in the predictions, for columns of kernel values of new
        points: a column each.
        """
        if not self.has_offset:
            return self.roots[:, None] * self._at(cross, shift)
        apart = cross - (self.mean / self.roots)[:, None]
        share = self.roots**2 / float(self.roots @ self.roots)
        weights: Reals = self.roots[:, None] * self._at(apart, shift) + share[:, None]
        return weights

    def _at(self, targets: Reals, shift: float) -> Reals:
        found: Reals = self._scaled(targets, np.array([shift]))[0]
        return found

    def _left_out(self, scaled: Reals, targets: Reals, gains: Reals) -> Reals:
        """The error, with what is known. Where no row is left, nothing is predicted: zero."""
        size = self.roots[:, None] * gains
        errors: Reals = np.divide(scaled, size, out=targets.astype(np.float64), where=size > 0)
        return errors

    def _centred(self, targets: Reals) -> Reals:
        weighted: Reals = self.roots[:, None] * targets
        if self.has_offset:
            total = float(self.roots @ self.roots)
            weighted = weighted - np.multiply.outer(self.roots, self.roots @ weighted / total)
        return weighted
