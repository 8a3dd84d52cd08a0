r"""One eigendecomposition, and every penalty at once: solutions, leave-one-out, evidence.

With $S = \operatorname{diag}(\sqrt{w})$ and the projection P that takes the constant out (the
offset b costs nothing), $P S K S P = U \Lambda U^\top$. Then for $\mu = \lambda \sum w$ the
coefficients are $a = S U (\Lambda + \mu)^{-1} U^\top S y$, and the prediction for a row that
was left out, with all its weight, misses by $a_i / (w_i g_i)$, where
$g_i = \sum_k U_{ik}^2 / (\lambda_k + \mu)$: no second fit is needed (Rifkin and Lippert).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.errors import NotPositiveDefinite

Reals = NDArray[np.float64]

ROWS = 512
"""Rows that are squared at a time."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues and eigenvectors of a weighted Gram matrix without its constant.

    Attributes:
        values: The eigenvalues, in ascending order, none below zero.
        vectors: The eigenvectors, as columns: all of them, or those of a matrix of low rank.
        roots: The roots of the weights.
        mean: The mean of the weighted Gram matrix over its rows: what the offset needs.
        has_offset: Whether the constant was taken out.
    """

    values: Reals
    vectors: Reals
    roots: Reals
    mean: Reals
    has_offset: bool

    @classmethod
    def of(
        cls, out: Reals, weights: Reals, *, has_offset: bool, threads: int | None = None
    ) -> Spectrum:
        """The spectrum of a Gram matrix, which is overwritten.

        Raises:
            NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
        """
        roots = np.sqrt(weights)
        total = float(weights.sum())
        trace = float(weights @ np.diagonal(out))
        out *= roots
        out *= roots[:, None]
        mean = out @ roots / total
        if has_offset:
            # Without the constant, and then with it at an eigenvalue beyond all others: so it
            # is an eigenvector of its own, and the others are orthogonal to it.
            middle = float(roots @ mean) / total
            own = (middle + 2 * trace / total) * roots
            for start in range(0, len(out), ROWS):
                rows = slice(start, start + ROWS)
                out[rows] += np.multiply.outer(roots[rows], own - mean)
                out[rows] -= np.multiply.outer(mean[rows], roots)
        with threadpool_limits(threads, "blas"):
            values, vectors = scipy.linalg.eigh(
                out, driver="evd", overwrite_a=True, check_finite=False
            )
        if has_offset:
            values, vectors = values[:-1], vectors[:, :-1]
        floor = 4 * len(values) * np.finfo(np.float64).eps * max(trace, 0.0)
        if values.size and values[0] < -max(floor, 2.0**-38 * trace, 0.0):
            raise NotPositiveDefinite(
                f"the Gram matrix has the eigenvalue {values[0]:.3g}, more negative than "
                f"rounding explains ({floor:.1g}): the kernel is not positive definite.\nAsk "
                "mercer.testing.check_kernel(k, X); mercer.repair(K) mends a matrix for "
                'kernel="precomputed".'
            )
        return cls(np.maximum(values, 0.0), vectors, roots, mean, has_offset)

    @classmethod
    def of_features(
        cls,
        features: Reals,
        weights: Reals,
        *,
        has_offset: bool,
        white: bool = False,
        threads: int | None = None,
    ) -> Spectrum:
        """The spectrum of features @ features', from their singular values; or, for features
        that are nearly `white`, from the matrix of their products, which is faster. The
        features are overwritten.
        """
        roots = np.sqrt(weights)
        total = float(weights.sum())
        center = weights @ features / total
        mean = roots * (features @ center)
        rows = features
        if has_offset:
            rows -= center
        rows *= roots[:, None]
        unit = np.finfo(np.float64).eps
        with threadpool_limits(threads, "blas"):
            if white:
                values, turns = scipy.linalg.eigh(rows.T @ rows, check_finite=False)
                kept = values > len(values) * unit * max(values[-1], 0.0)
                values, turns = values[kept], turns[:, kept]
                vectors = rows @ (turns / np.sqrt(values))
            else:
                vectors, lengths, _ = scipy.linalg.svd(
                    rows, full_matrices=False, check_finite=False, overwrite_a=True
                )
                kept = lengths > max(rows.shape) * unit * lengths.max(initial=0.0)
                values, vectors = lengths[kept][::-1] ** 2, vectors[:, kept][:, ::-1]
        return cls(values, vectors, roots, mean, has_offset)

    @property
    def is_full(self) -> bool:
        """Whether the vectors span all that is orthogonal to the constant."""
        return len(self.values) == len(self.roots) - self.has_offset

    def project(self, targets: Reals) -> Reals:
        """The weighted targets in the basis of the eigenvectors."""
        found: Reals = self.vectors.T @ (self.roots[:, None] * targets)
        return found

    def solve(self, targets: Reals, shift: float) -> tuple[Reals, Reals]:
        """The coefficients and the offset of each target, at lambda sum(w) = shift.

        At zero it is the solution of least norm: eigenvalues that are rounding count as zero.
        """
        scaled = self._scaled(targets, shift)
        offset = np.zeros(targets.shape[1])
        if self.has_offset:
            share = self.roots**2 / (self.roots @ self.roots)
            offset = share @ targets - self.mean @ scaled
        return self.roots[:, None] * scaled, offset

    def squared_norms(self, targets: Reals) -> Callable[[float], float]:
        """The squared norm of the function, summed over the targets, for a shift."""
        inner = (self.project(targets) ** 2).sum(axis=1)

        def norm(shift: float) -> float:
            return float(self.values * self._inverse(shift) ** 2 @ inner)

        return norm

    def residual(self, targets: Reals, coefficients: Reals, shift: float) -> float:
        """How far coefficients are from solving the equations, relative to the targets."""
        scaled = coefficients / self.roots[:, None]
        inner = self.vectors.T @ scaled
        wanted = self._centred(targets)
        if not shift > 0:  # what no function of the space can reach does not count
            wanted = self.vectors @ (self.vectors.T @ wanted)
        rest = wanted - self.vectors @ (self.values[:, None] * inner) - shift * scaled
        size = float(np.linalg.norm(wanted))
        return float(np.linalg.norm(rest)) / (size or 1.0)

    def _scaled(self, targets: Reals, shift: float) -> Reals:
        """The coefficients divided by the roots of the weights."""
        inner = self.project(targets)
        scaled: Reals = self.vectors @ (self._inverse(shift)[:, None] * inner)
        if not self.is_full and shift > 0:
            # What the vectors do not span has the eigenvalue zero.
            centred = self._centred(targets)
            scaled += (centred - self.vectors @ inner) / shift
        return scaled

    def _inverse(self, shift: float) -> Reals:
        if shift > 0:
            found: Reals = 1 / (self.values + shift)
            return found
        largest = self.values[-1] if self.values.size else 0.0
        kept = self.values > len(self.roots) * np.finfo(np.float64).eps * largest
        return np.divide(1.0, self.values, out=np.zeros_like(self.values), where=kept)

    def _centred(self, targets: Reals) -> Reals:
        weighted: Reals = self.roots[:, None] * targets
        if self.has_offset:
            total = float(self.roots @ self.roots)
            weighted = weighted - np.multiply.outer(self.roots, self.roots @ weighted / total)
        return weighted

    def gains(self, shifts: Reals) -> Reals:
        r"""The numbers $g_i$ for each shift > 0: shape (rows, shifts). They are positive, and
        $\mu g_i$ is one minus the leverage of a row.
        """
        found = np.empty((len(self.roots), len(shifts)))
        inverse = 1 / (self.values[:, None] + shifts)
        lost = 1.0 - self.has_offset * self.roots**2 / float(self.roots @ self.roots)
        for start in range(0, len(self.roots), ROWS):
            rows = slice(start, start + ROWS)
            squares = self.vectors[rows] ** 2
            found[rows] = squares @ inverse
            if not self.is_full:
                rest = np.maximum(lost[rows] - squares.sum(axis=1), 0.0)
                found[rows] += rest[:, None] / shifts
        return found

    def left_out(self, targets: Reals, shift: float) -> Reals:
        """The error on each row, y_i less the prediction, when the fit has not seen it."""
        gains = self.gains(np.array([shift]))
        return self._left_out(self._scaled(targets, shift), targets, gains)

    def _left_out(self, scaled: Reals, targets: Reals, gains: Reals) -> Reals:
        """The same, with what is known. Where no row is left, nothing is predicted: zero."""
        size = self.roots[:, None] * gains
        errors: Reals = np.divide(scaled, size, out=targets.astype(np.float64), where=size > 0)
        return errors

    def errors(self, targets: Reals, shifts: Reals) -> Reals:
        """The mean squared error of what is left out, over the targets, for each shift."""
        total = float(self.roots @ self.roots)
        gains = self.gains(shifts)
        found = np.empty(len(shifts))
        for at, shift in enumerate(shifts):
            scaled = self._scaled(targets, float(shift))
            errors = self._left_out(scaled, targets, gains[:, at, None])
            found[at] = float((self.roots**2 @ errors**2).sum()) / total
        return found

    def generalized_errors(self, targets: Reals, shifts: Reals) -> Reals:
        """Generalised cross-validation: every row is given the mean leverage."""
        gains = self.gains(shifts)
        count = len(self.roots)
        squared = np.array([(self._scaled(targets, float(s)) ** 2).sum() for s in shifts])
        found: Reals = squared / count / gains.mean(axis=0) ** 2
        return found

    def log_likelihood(self, targets: Reals, shift: float) -> Reals:
        r"""The logarithm of the marginal likelihood of each target under a Gaussian process
        with the covariance $v k$ and noise of variance $v \mu / w_i$, at the best v; with an
        offset, integrated over it (the restricted likelihood).
        """
        count = len(self.roots) - self.has_offset
        variance = self.variance(targets, shift)
        spread = np.log(self.values + shift).sum()
        spread += (count - len(self.values)) * np.log(shift)
        spread -= 2 * np.log(self.roots).sum()
        if self.has_offset:
            spread += np.log(self.roots @ self.roots)
        found: Reals = -0.5 * (count * (np.log(2 * np.pi * variance) + 1) + spread)
        return found

    def variance(self, targets: Reals, shift: float) -> Reals:
        """The factor v of the covariance that makes each target most likely."""
        count = max(len(self.roots) - self.has_offset, 1)
        energy = np.einsum("it,it->t", self._centred(targets), self._scaled(targets, shift))
        found: Reals = np.maximum(energy / count, np.finfo(np.float64).tiny)
        return found

    def explained(self, cross: Reals, shift: float) -> Reals:
        r"""How much of $k(x, x)$ the data explain, for columns of kernel values of new points:
        $k_x^\top (K + \mu W^{-1})^{-1} k_x$, less what the uncertain offset adds.

        With an offset of unknown size f(x) + b is foretold best, without bias, by weights that
        sum to one; the mean of the targets is such a forecast, and the rest is a projection.
        """
        if not self.has_offset:
            plain: Reals = np.einsum(
                "ix,ix->x", self._centred(cross), self._scaled(cross, shift)
            )
            return plain
        total = float(self.roots @ self.roots)
        apart = cross - (self.mean / self.roots)[:, None]
        inner = np.einsum("ix,ix->x", self._centred(apart), self._scaled(apart, shift))
        mean = self.roots**2 @ cross / total
        found: Reals = inner + 2 * mean - (float(self.roots @ self.mean) + shift) / total
        return found

    def smoother(self, cross: Reals, shift: float) -> Reals:
        """The weights of the targets in the predictions, for columns of kernel values of new
        points: a column each.
        """
        if not self.has_offset:
            return self.roots[:, None] * self._scaled(cross, shift)
        apart = cross - (self.mean / self.roots)[:, None]
        share = self.roots**2 / float(self.roots @ self.roots)
        weights: Reals = self.roots[:, None] * self._scaled(apart, shift) + share[:, None]
        return weights
