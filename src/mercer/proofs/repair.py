r"""Mend a similarity matrix that is not positive semidefinite, and the rows that come later.

With $K = V \Lambda V^\top$ there are four ways (Chen et al. 2009, Higham 2002):

- "clip" sets the negative eigenvalues to zero, $V \Lambda_+ V^\top$. No positive semidefinite
  matrix is nearer in the Frobenius norm. New rows are projected, $s \mapsto s V_+ V_+^\top$.
- "flip" turns their signs, $V |\Lambda| V^\top$, and new rows are multiplied by $V
  \operatorname{sign}(\Lambda) V^\top$: for similarities whose negative part has a meaning.
- "shift" adds $-\lambda_{\min}$ to the diagonal, and the rounding of its computation. Only
  the similarity of a point with itself changes, so new rows stay as they are.
- "nearest" is the nearest positive semidefinite matrix with the diagonal of $K$; for a unit
  diagonal, the nearest correlation matrix. It is $(K + \operatorname{Diag}(y))_+$ for some
  $y$, and new rows are projected on the positive eigenvectors of $K + \operatorname{Diag}(y)$.

"shift" and "nearest" add something to the similarity of a point with itself, which a new point
does not have. So they give the row of a training point only if told that it is that point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, cg

from mercer.errors import InvalidInput, InvalidParameter, NotConverged
from mercer.proofs.matrices import UNIT, Reals, powered, scaled, symmetric
from mercer.types import Array

How: TypeAlias = Literal["clip", "flip", "shift", "nearest"]

MOST_STEPS = 100
"""Newton's method for "nearest" takes up to twenty, if the diagonal spans a factor of 1e4."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Repaired:
    """A similarity matrix made positive semidefinite, and what becomes of new rows.

    Attributes:
        matrix: The matrix that came of it, exactly symmetric, and positive semidefinite up to
            the rounding of its entries.
        how: The way it was mended: "clip", "flip", "shift" or "nearest".
        eigenvalues: The eigenvalues before, in ascending order.
        change: The Frobenius norm of what was changed.
        projection: What new rows are multiplied by; None if they stay as they are.
    """

    matrix: Reals
    how: How
    eigenvalues: Reals
    change: float
    projection: Reals | None = None

    def transform(self, rows: ArrayLike, same: ArrayLike | None = None) -> Reals:
        """The similarities of new points to the training points, after the repair.

        For "clip" and "flip", and for a matrix that needed no repair, the rows of the old
        matrix become those of the new one. "shift" and "nearest" need to know which points
        are training points.

        Args:
            rows: A row a new point, or one row: its similarity to each training point.
            same: For each row the number of the training point that it is, -1 for none.
                Such a point has the row of the repaired matrix, whatever `rows` says.

        Raises:
            InvalidInput: The rows have not one finite number a training point.

        Example:
            >>> from mercer.proofs.repair import repair
            >>> mended = repair([[1, 2], [2, 1]], how="shift")
            >>> mended.transform([[1, 2], [1, 2]], same=[-1, 0])
            array([[1., 2.],
                   [2., 2.]])
        """
        n = len(self.matrix)
        given = np.array(rows, dtype=np.float64)
        if given.ndim not in {1, 2} or given.shape[-1] != n or not np.isfinite(given).all():
            raise InvalidInput(
                f"a new point has one finite similarity to each of the {n} training points, "
                f"got the shape {given.shape}{' with NaN or inf' * (given.shape[-1:] == (n,))}."
                f"\nPass an array of shape (points, {n})."
            )
        result = given if self.projection is None else given @ self.projection
        if same is None:
            return np.asarray(result)
        known = np.array(same)
        if known.shape != given.shape[:-1] or not np.isin(known, np.arange(-1, n)).all():
            raise InvalidInput(
                f"`same` names a training point from 0 to {n - 1} for each row, or -1 for "
                f"none, got {same!r}.\nPass whole numbers of the shape {given.shape[:-1]}."
            )
        which = np.atleast_1d(known).astype(np.int64)
        table = np.atleast_2d(result)
        table[which >= 0] = self.matrix[which[which >= 0]]
        return np.asarray(table.reshape(given.shape))

    def __repr__(self) -> str:
        return f"Repaired({self})"

    def __str__(self) -> str:
        n, negative = len(self.matrix), int((self.eigenvalues < 0).sum())
        if not self.change:
            return f"{n} x {n}: nothing to mend"
        return (
            f"{n} x {n}, how={self.how!r}: {negative} negative eigenvalues, from "
            f"{self.eigenvalues[0]:.3g}; changed by {self.change:.3g} in the Frobenius norm"
        )


def repair(K: Any, how: How = "clip") -> Repaired:
    """Mend a symmetric matrix that is not positive semidefinite.

    A matrix that has no eigenvalue below -n u |K|, the error of computing it, when its points
    are brought to one scale, is returned as it is, bit by bit: no method gives a better one.

    Args:
        K: The similarities between the points of one list.
        how: "clip" for the nearest matrix, "flip" to keep the size of the negative part,
            "shift" to change only the diagonal, "nearest" to keep it.

    Raises:
        InvalidInput: K is not square, not symmetric up to rounding, empty or not finite; or
            its diagonal is negative and should be kept.
        NotConverged: Some similarities of points to themselves are so small beside the others
            (1e-6 and less, and not zero) that the "nearest" matrix was not found.
        InvalidParameter: There is no such way.

    Example:
        >>> from mercer.proofs.repair import repair
        >>> mended = repair([[1, 2], [2, 1]])
        >>> mended.matrix
        array([[1.5, 1.5],
               [1.5, 1.5]])
        >>> mended.transform([1, 0])
        array([0.5, 0.5])
    """
    if how not in get_args(How):
        raise InvalidParameter(
            f"repair knows how='clip', 'flip', 'shift' and 'nearest', not {how!r}.\nPass "
            "'clip' for the nearest positive semidefinite matrix."
        )
    S = symmetric(K).part
    # Squares and sums of the entries stay in range, and powers of two do not round.
    power = int(np.frexp(np.abs(S).max())[1])
    A = powered(S, -power)
    values, vectors = np.linalg.eigh(A)
    mended, projection = A, None
    if not _is_fine(A):
        match how:
            case "clip":
                mended, projection = _projected(values, vectors, values > 0)
            case "flip":
                signs = np.where(values > 0, 1.0, -1.0)
                mended, projection = _projected(values, vectors, signs)
            case "shift":
                # The computed eigenvalue may be too large by its error.
                mended = A + (max(-values[0], 0.0) + _error(values)) * np.eye(len(A))
            case "nearest":
                mended, projection = _nearest(A)
    change = powered(np.asarray(np.linalg.norm(mended - A)), power)
    matrix = S.copy() if mended is A else powered(mended, power)
    matrix.setflags(write=False)
    return Repaired(matrix, how, powered(values, power), float(change), projection)


def _error(values: Array) -> float:
    """How far computed eigenvalues may be off: n u |K|."""
    return len(values) * UNIT * float(np.abs(values).max())


def _is_fine(A: Reals) -> bool:
    """Is no eigenvalue surely negative? On one scale, so that no point hides behind another."""
    live = A.diagonal() > 0
    if A[~live].any():
        return False
    B, _ = scaled(A[np.ix_(live, live)])
    if not np.isfinite(B).all():
        return False
    values = np.linalg.eigvalsh(B)
    return not len(values) or bool(values[0] >= -_error(values))


def _projected(values: Reals, vectors: Reals, signs: NDArray[Any]) -> tuple[Reals, Reals]:
    """The matrix V |signs L| V' and the projection V diag(signs) V', exactly symmetric."""
    # As a product P'P its rounding is relative to the lengths of the columns, so small points
    # keep their digits, and it stays positive semidefinite, beside large ones.
    P = np.sqrt(np.abs(signs * values))[:, None] * vectors.T
    mended, projection = P.T @ P, (vectors * signs) @ vectors.T
    return (mended + mended.T) / 2, (projection + projection.T) / 2


def _nearest(A: Reals) -> tuple[Reals, Reals]:
    r"""The nearest positive semidefinite matrix that keeps the diagonal, and the projection.

    A row whose diagonal entry is zero has to be zero; the others are as if alone.
    """
    own = A.diagonal()
    if own.min() < 0:
        i = int(np.argmin(own))
        raise InvalidInput(
            f"K[{i}, {i}] is negative, and no positive semidefinite matrix has a negative "
            "entry on its diagonal: it cannot be kept.\nPass how='clip', or correct the "
            "similarity."
        )
    mended, projection = np.zeros_like(A), np.zeros_like(A)
    if not own.any():
        return mended, projection
    live = np.ix_(own > 0, own > 0)
    found = _keeping(A[live])
    X, projection[live] = _projected(found.values, found.vectors, found.values > 0)
    # The last digits of the diagonal: shrinking rows and columns alike, and then adding to the
    # diagonal, keeps it positive semidefinite.
    kept = own[own > 0]
    fix = np.sqrt(kept / np.maximum(X.diagonal(), kept))
    X = X * (fix[:, None] * fix)
    np.fill_diagonal(X, kept)
    mended[live] = X
    return mended, projection


@dataclass(frozen=True, eq=False, slots=True)
class _Dual:
    r"""A point y of the dual problem, $\min_y |(A + \operatorname{Diag}(y))_+|^2 / 2 - d'y$.

    Its gradient is what the diagonal of $X = (A + \operatorname{Diag}(y))_+$ has too much, and
    where that is zero X is the nearest matrix. Higham's alternating projections, with Dykstra's
    correction, are the steps $y \leftarrow y - \text{gradient}$, for
    $R_{k+1} = R_k + \operatorname{Diag}(d - \operatorname{diag} X_k)$. Newton's method (Qi and
    Sun 2006) reaches the same point in a few steps instead of hundreds.
    """

    A: Reals
    y: Reals
    values: Reals
    vectors: Reals

    @classmethod
    def at(cls, A: Reals, y: Reals) -> _Dual:
        return cls(A, y, *np.linalg.eigh(A + np.diag(y)))

    @property
    def gradient(self) -> Reals:
        diagonal: Reals = self.vectors**2 @ np.maximum(self.values, 0.0)
        return diagonal - self.A.diagonal()

    @property
    def objective(self) -> float:
        above = np.maximum(self.values, 0.0)
        return float(above @ above / 2 - self.A.diagonal() @ self.y)

    def newton(self) -> Reals:
        """The direction of Newton's method: downhill, as the Hessian is positive."""
        gradient, V, n = self.gradient, self.vectors, len(self.y)
        above = np.maximum(self.values, 0.0)
        gaps = np.abs(self.values[:, None]) + np.abs(self.values)
        # The slope of the positive part between two eigenvalues; 1 for two positive ones.
        sums = above[:, None] + above
        slopes = np.divide(sums, gaps, out=np.zeros_like(gaps), where=gaps > 0)
        squares = V**2
        own = ((squares @ slopes) * squares).sum(axis=1)
        # More of the Hessian's own diagonal keeps it away from singular (Levenberg, Marquardt),
        # and dies out: the steps stay fast near the end.
        size = float(np.linalg.norm(gradient) / np.linalg.norm(self.A))
        own = np.maximum(own, UNIT)
        more = min(size, 0.01) * own

        def hessian(h: Reals) -> Reals:
            inner = slopes * (V.T @ (h.ravel()[:, None] * V))
            result: Reals = ((V @ inner) * V).sum(axis=1) + more * h.ravel()
            return result

        operator = LinearOperator((n, n), matvec=hessian, dtype=np.float64)
        scaling = LinearOperator((n, n), matvec=lambda h: h.ravel() / own, dtype=np.float64)
        # A direction as inexact as the point is far off.
        rtol = max(min(0.1, size), 1e-6)
        return np.asarray(cg(operator, -gradient, rtol=rtol, maxiter=n, M=scaling)[0])


def _keeping(A: Reals) -> _Dual:
    """The solution of the dual problem for a matrix with a positive diagonal."""
    here = _Dual.at(A, np.zeros(len(A)))
    for _ in range(MOST_STEPS):
        # The values, the vectors (twice) and the sum are each right to n u |K + Diag(y)|.
        if np.abs(here.gradient).max() <= 4 * _error(here.values):
            return here
        here = _downhill(here)
    raise NotConverged(
        f"the nearest matrix with this diagonal was not found in {MOST_STEPS} steps: the "
        f"diagonal is still off by {np.abs(here.gradient).max():.1g}.\nRescale the points to "
        "one diagonal entry, K[i, j] / sqrt(K[i, i] K[j, j]), or pass how='clip'."
    )


def _downhill(here: _Dual) -> _Dual:
    """A step that lowers the objective enough (Armijo), or the gradient where floats cannot
    tell the objectives apart; else one step of the alternating projections, which always does.
    """
    step, gradient = here.newton(), here.gradient
    slope, size = float(gradient @ step), float(np.linalg.norm(gradient))
    for halvings in range(30):
        there = _Dual.at(here.A, here.y + step / 2**halvings)
        enough = there.objective <= here.objective + 1e-4 * slope / 2**halvings
        if (slope < 0 and enough) or np.linalg.norm(there.gradient) <= size / 2:
            return there
    return _Dual.at(here.A, here.y - gradient)
