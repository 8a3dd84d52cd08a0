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

from mercer.solvers.shifted import Shifted, not_positive, rounding, weigh

Reals = NDArray[np.float64]

LEAST = 2.0**-1000
"""Stands for the trace of a matrix of zeros."""

ROWS = 512
"""Rows that are squared at a time."""


@dataclass(frozen=True, eq=False)
class Spectrum(Shifted):
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
        floor = rounding(out, weights)
        mean = weigh(out, roots)
        if has_offset:
            # Without the constant, and then with it at an eigenvalue beyond all others: so it
            # is an eigenvector of its own, and the others are orthogonal to it.
            middle = float(roots @ mean) / total
            own = (middle + 2 * (trace or LEAST) / total) * roots
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
        if values.size and values[0] < -floor:
            raise not_positive(float(values[0]), floor)
        return cls(np.maximum(values, 0.0) * (trace > 0), vectors, roots, mean, has_offset)

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

    def squared_norms(self, targets: Reals) -> Callable[[float], float]:
        """The squared norm of the function, summed over the targets, for a shift."""
        inner = (self.project(targets) ** 2).sum(axis=1)

        def norm(shift: float) -> float:
            return float(self.values * self._inverse(shift) ** 2 @ inner)

        return norm

    def residual(self, targets: Reals, coefficients: Reals, shift: float) -> float:
        scaled = coefficients / self.roots[:, None]
        inner = self.vectors.T @ scaled
        wanted = self._centred(targets)
        if not shift > 0:  # what no function of the space can reach does not count
            wanted = self.vectors @ (self.vectors.T @ wanted)
        rest = wanted - self.vectors @ (self.values[:, None] * inner) - shift * scaled
        size = float(np.linalg.norm(wanted))
        return float(np.linalg.norm(rest)) / (size or 1.0)

    def _scaled(self, targets: Reals, shifts: Reals) -> Reals:
        inner = self.project(targets)
        inverses = np.stack([self._inverse(float(shift)) for shift in shifts], axis=-1)
        wide = inner[..., None] * inverses[:, None]
        turned = self.vectors @ wide.reshape(len(inner), inner.shape[1] * len(shifts))
        scaled = np.moveaxis(turned.reshape(-1, *wide.shape[1:]), -1, 0)
        if not self.is_full and (shifts > 0).any():
            # What the vectors do not span has the eigenvalue zero.
            rest = self._centred(targets) - self.vectors @ inner
            positive = np.where(shifts > 0, shifts, np.inf)
            scaled = scaled + rest / positive[:, None, None]
        return scaled

    def _inverse(self, shift: float) -> Reals:
        if shift > 0:
            found: Reals = 1 / (self.values + shift)
            return found
        largest = self.values[-1] if self.values.size else 0.0
        kept = self.values > len(self.roots) * np.finfo(np.float64).eps * largest
        return np.divide(1.0, self.values, out=np.zeros_like(self.values), where=kept)

    def gains(self, shifts: Reals) -> Reals:
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

    def _log_determinant(self, shift: float) -> float:
        missing = len(self.roots) - self.has_offset - len(self.values)
        return float(np.log(self.values + shift).sum() + missing * np.log(shift))
