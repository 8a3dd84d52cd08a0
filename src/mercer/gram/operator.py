"""The Gram matrix as an operator: something to multiply by, stored or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from mercer.errors import InvalidInput, NotConverged, NotPositiveDefinite
from mercer.loops import Stored, Tiles, dense, multiply, symmetric
from mercer.plan import readable
from mercer.types import Array


@dataclass(frozen=True)
class GramPlan:
    """What was chosen for a Gram matrix, and why.

    Attributes:
        method: "dense" or "blocked".
        why: The reason, in words.
        memory: The bytes that the matrix takes, or the tiles that stand for it.
        budget: The bytes that were allowed.
        threads: The number of threads, None for as many as are available.
        tolerance: The relative residual at which an iterative solver stops.
    """

    method: str
    why: str
    memory: int
    budget: int
    threads: int | None
    tolerance: float

    def __str__(self) -> str:
        used, allowed = readable(self.memory), readable(self.budget)
        return f"{self.method}: {self.why}; {used} of {allowed} allowed"


class Operator(LinearOperator):  # type: ignore[misc]
    """A matrix of kernel values. `A @ V` multiplies, for one or many right-hand sides.

    It is a SciPy `LinearOperator`, so SciPy's iterative methods take it.

    Attributes:
        plan_: What was chosen, and why; print it.
        is_symmetric: Whether it is the Gram matrix of one batch.
    """

    def __init__(
        self,
        tiles: Tiles,
        plan: GramPlan,
        *,
        diagonal: Array | None = None,
        turned: Callable[[], Tiles] | None = None,
    ) -> None:
        super().__init__(dtype=tiles.dtype, shape=tiles.shape)
        self._tiles, self._diagonal, self._turned = tiles, diagonal, turned
        self.plan_, self.is_symmetric = plan, turned is None

    def __matmul__(self, V: Any) -> Any:
        right = V if isinstance(V, LinearOperator) else np.asarray(V)
        if right.shape[:1] != self.shape[1:]:
            raise InvalidInput(
                f"a matrix of shape {self.shape} cannot multiply a right-hand side of shape "
                f"{right.shape}: it needs {self.shape[1]} rows."
            )
        return super().__matmul__(right)

    def _matmat(self, V: Array) -> Array:
        right = np.asarray(V)
        if not np.isfinite(right).all():
            raise InvalidInput("The right-hand side has NaN or infinite entries.")
        product = multiply(
            self._tiles, right, is_symmetric=self.is_symmetric, threads=self.plan_.threads
        )
        return np.ascontiguousarray(product.astype(np.result_type(self.dtype, right.dtype)))

    def _matvec(self, v: Array) -> Array:
        return self._matmat(np.reshape(v, (-1, 1)))

    def _rmatmat(self, V: Array) -> Array:
        product: Array = self._transpose() @ V
        return product

    def _rmatvec(self, v: Array) -> Array:
        product: Array = self._transpose() @ v
        return product

    def _adjoint(self) -> Operator:
        return self._transpose()

    def _transpose(self) -> Operator:
        if self._turned is None:
            return self
        tiles = self._tiles
        return Operator(self._turned(), self.plan_, turned=lambda: tiles)

    def diagonal(self) -> Array:
        """The diagonal: the values k(x, x)."""
        if self._diagonal is None:
            raise InvalidInput("Only the Gram matrix of one batch has a diagonal of its own.")
        return self._diagonal.copy()

    def to_dense(self) -> Array:
        """The whole matrix, as an array."""
        write = symmetric if self.is_symmetric else dense
        return write(self._tiles, threads=self.plan_.threads)

    def solve(self, b: Array, shift: float = 0.0) -> Array:
        """The solution of (K + shift I) a = b.

        A dense operator takes a Cholesky factor, a blocked one conjugate gradients.

        Raises:
            NotPositiveDefinite: K + shift I is not positive definite, or too close to
                singular for the tolerance.
        """
        right = np.asarray(b, dtype=np.float64)
        if not self.is_symmetric or right.shape[:1] != self.shape[:1]:
            raise InvalidInput(
                "solve needs the Gram matrix of one batch and a right-hand value for each row, "
                f"got a matrix of shape {self.shape} and values of shape {right.shape}."
            )
        if not np.isfinite(right).all():
            raise InvalidInput("The right-hand side has NaN or infinite entries.")
        if isinstance(self._tiles, Stored):
            return self._factorize(right, float(shift))
        return self._iterate(right, float(shift))

    def _factorize(self, b: Array, shift: float) -> Array:
        K = self.to_dense().astype(np.float64)
        K[np.diag_indices_from(K)] += shift
        try:
            factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise NotPositiveDefinite(
                f"K + {shift:g} I has no Cholesky factor ({error}): points coincide, or nearly "
                "so, or the kernel is not strictly positive definite.\nRaise the shift to "
                "about 1e-10 times the largest diagonal entry."
            ) from error
        solution: Array = cho_solve(factor, b, check_finite=False)
        return solution

    def _check_residual(self, residual: Array, b: Array) -> None:
        """Raise unless the true residual is small; the one that steps update drifts."""
        reached = float(np.linalg.norm(residual)) / (float(np.linalg.norm(b)) or 1.0)
        if reached > 10 * self.plan_.tolerance:
            raise NotConverged(
                f"the residual is {reached:.1e} of the right-hand side, and "
                f"{self.plan_.tolerance:g} was asked: products in {self.dtype} are not exact "
                'enough.\nUse mercer.Plan(precision="float64"), a larger tolerance or a larger '
                "shift."
            )

    def _iterate(self, b: Array, shift: float) -> Array:
        def apply(v: Array) -> Array:
            image: Array = self @ v + shift * v
            curvature = float(v.ravel() @ image.ravel())
            if not curvature > 0:
                raise NotPositiveDefinite(
                    f"conjugate gradients met a direction of curvature {curvature:.2e}: "
                    f"K + {shift:g} I is not positive definite, or too close to singular.\n"
                    "Raise the shift."
                )
            return image

        shifted = LinearOperator(self.shape, matvec=apply, dtype=np.float64)
        columns = []
        for column in b.reshape(len(b), -1).T:
            solution, failure = cg(shifted, column, rtol=self.plan_.tolerance, atol=0.0)
            if failure:
                raise NotPositiveDefinite(
                    f"conjugate gradients did not reach a residual of {self.plan_.tolerance:g} "
                    f"in {failure} steps: K + {shift:g} I is too close to singular.\nRaise "
                    'the shift, or store the matrix: plan="dense".'
                )
            self._check_residual(column - (self @ solution + shift * solution), column)
            columns.append(solution)
        return np.stack(columns, axis=-1).reshape(b.shape)
