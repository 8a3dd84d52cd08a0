r"""Some penalties from one reduction to a band, without eigenvalues.

Eigenvalues of a dense matrix cost most where it goes from a band to three diagonals, number
by number, and in undoing that. With $A = Q B Q^\top$ and B of a few diagonals a penalty
costs a Cholesky factor of the band, $B + \mu = L L^\top$, and products, as
$g_i = |L^{-1} Q^\top e_i|^2$. Up to some dozens of penalties that is less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from mercer.loops import available, run
from mercer.solvers.reduction import reduce, turn
from mercer.solvers.shifted import Shifted, not_positive, rounding, weigh

Reals = NDArray[np.float64]
Step = tuple[Reals, Reals | None]

WIDTH = 32
"""Diagonals below the middle: more make the products of the reduction faster, and each
penalty dearer."""

ROWS = 256
"""Rows of Q that are solved for together, and so for this many shifts:"""

SHIFTS = 5


@dataclass(frozen=True, eq=False)
class Band(Shifted):
    """A weighted Gram matrix without its constant, as Q B Q'.

    Attributes:
        bands: The diagonals of B from the middle down, as LAPACK stores a lower band.
        vectors: The columns of Q, orthonormal, and orthogonal to the constant.
        roots: The roots of the weights.
        mean: The mean of the weighted Gram matrix over its rows: what the offset needs.
        has_offset: Whether the constant was taken out.
    """

    bands: Reals
    vectors: Reals
    roots: Reals
    mean: Reals
    has_offset: bool

    @classmethod
    def of(
        cls,
        out: Reals,
        weights: Reals,
        *,
        has_offset: bool,
        threads: int | None = None,
        width: int = WIDTH,
    ) -> Band:
        """The band of a Gram matrix, which is overwritten.

        Raises:
            NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
        """
        roots = np.sqrt(weights)
        floor = rounding(out, weights)
        mean = weigh(out, roots)
        first = int(has_offset)
        with threadpool_limits(threads, "blas"):
            mirror = _take_out(out, roots) if has_offset else None
            bands, reflections = reduce(out[first:, first:], width)
            vectors = out[:, first:]  # the band is out, and the rest is free
            vectors[:] = 0.0
            np.fill_diagonal(vectors[first:], 1.0)
            turn(vectors[first:], reflections)
            if mirror is not None:
                vectors -= np.multiply.outer(mirror, mirror @ vectors)
        found = cls(np.asfortranarray(bands), vectors, roots, mean, has_offset)
        found._factor(floor)
        return found

    def gains(self, shifts: Reals) -> Reals:
        rows = len(self.roots)
        found = np.zeros((rows, len(shifts)))
        crew = available()
        with threadpool_limits(1, "blas"):
            for start in range(0, len(shifts), SHIFTS):
                some = slice(start, start + SHIFTS)
                steps = self._steps(shifts[some])

                def work(
                    row: int, _: None, some: slice = some, steps: list[Step] = steps
                ) -> None:
                    part = slice(row, row + ROWS)
                    found[part, some] = _squares(
                        self.vectors[part], steps, found[part, some].shape
                    )

                run(work, range(0, rows, ROWS), crew, lambda: None)
        return found

    def _steps(self, shifts: Reals) -> list[Step]:
        """What a block of columns is multiplied by, for all shifts side by side; and what the
        solution before it is, for each.
        """
        factors = np.stack([self._factor(float(shift)).T for shift in shifts])
        many, rows, width = len(shifts), factors.shape[1], factors.shape[2] - 1
        size, unit = max(width, 1), factors.itemsize
        steps: list[Step] = []
        for start in range(0, rows, size):
            wide = min(size, rows - start)
            # In the storage of a band the next row is one number away, and the next column
            # `width` of them: any block of it is a matrix as it lies.
            strides = (factors.strides[0], unit, width * unit)
            corner = factors.reshape(many, -1)[:, start * (width + 1) :]
            inverse = np.empty((many, wide, wide))
            for at, block in enumerate(as_strided(corner, (many, wide, wide), strides)):
                inverse[at] = lapack.dtrtri(np.tril(block), lower=1)[0].T
            before = None
            if start:
                corner = factors.reshape(many, -1)[:, start + (start - size) * width :]
                block = as_strided(corner, (many, wide, size), strides)
                before = np.triu(block).transpose(0, 2, 1) @ inverse
            steps.append((np.hstack(list(inverse)), before))
        return steps

    def _scaled(self, targets: Reals, shifts: Reals) -> Reals:
        inner = self.vectors.T @ (self.roots[:, None] * targets)
        found = np.empty((*inner.shape, len(shifts)))
        for at, shift in enumerate(shifts):
            factor = self._factor(float(shift))
            found[..., at] = lapack.dpbtrs(factor, inner, lower=1)[0] if inner.size else 0.0
        turned = self.vectors @ found.reshape(len(inner), inner.shape[1] * len(shifts))
        return np.moveaxis(turned.reshape(-1, *found.shape[1:]), -1, 0)

    def _factor(self, shift: float) -> Reals:
        """The Cholesky factor of B + shift, as LAPACK stores a lower band.

        Raises:
            NotPositiveDefinite: It has none.
        """
        bands = np.array(self.bands, order="F")
        if not bands.size:
            return bands
        bands[0] += shift
        factor, failed = lapack.dpbtrf(bands, lower=1, overwrite_ab=1)
        if failed:
            values = scipy.linalg.eigvals_banded(self.bands, lower=True, check_finite=False)
            raise not_positive(float(values[0]), shift)
        found: Reals = factor
        return found

    def _log_determinant(self, shift: float) -> float:
        return 2 * float(np.log(self._factor(shift)[0]).sum())

    def residual(self, targets: Reals, coefficients: Reals, shift: float) -> float:
        scaled = coefficients / self.roots[:, None]
        inner = self.vectors.T @ scaled
        image = self.bands[0][:, None] * inner
        for below, diagonal in enumerate(self.bands[1:], 1):
            image[below:] += diagonal[:-below, None] * inner[:-below]
            image[:-below] += diagonal[:-below, None] * inner[below:]
        wanted = self._centred(targets)
        rest = wanted - self.vectors @ image - shift * scaled
        size = float(np.linalg.norm(wanted))
        return float(np.linalg.norm(rest)) / (size or 1.0)


def _squares(columns: Reals, steps: list[Step], shape: tuple[int, ...]) -> Reals:
    """The squared lengths of L^-1 times rows of Q, for each shift."""
    rows, shifts = shape
    found = np.zeros(shape)
    last = rest = np.empty((rows, shifts, 0))
    start = 0
    for own, before in steps:
        wide = len(own)
        now = (columns[:, start : start + wide] @ own).reshape(rows, shifts, wide)
        if before is not None:
            if rest.shape != now.shape:
                rest = np.empty_like(now)
            np.matmul(last.transpose(1, 0, 2), before, out=rest.transpose(1, 0, 2))
            now -= rest
        found += np.einsum("rsw,rsw->rs", now, now)
        last, start = now, start + wide
    return found


def _take_out(matrix: Reals, roots: Reals) -> Reals:
    """Reflect the constant onto the first axis, below and right of which the rest is then.

    Returns:
        The reflection is I - v v', and this is v.
    """
    mirror = roots / np.linalg.norm(roots)
    mirror[0] += 1.0
    mirror /= np.sqrt(mirror[0])
    image = matrix @ mirror
    image -= (0.5 * (mirror @ image)) * mirror
    for start in range(0, len(matrix), ROWS):
        rows = slice(start, start + ROWS)
        matrix[rows] -= np.multiply.outer(mirror[rows], image)
        matrix[rows] -= np.multiply.outer(image[rows], mirror)
    return mirror
