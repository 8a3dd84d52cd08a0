"""The Gram matrix as an operator: something to multiply by, stored or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from mercer.errors import InvalidInput, NotConverged, NotPositiveDefinite
from mercer.loops import Narrowed, Stored, Tiles, dense, multiply, pieces, symmetric
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
        room: The bytes left for right-hand sides and sums, whatever the number of threads.
        threads: The number of threads, None for as many as are available; fewer than were
            asked for where the budget has no room for a tile each.
        tolerance: The relative residual at which an iterative solver stops.
    """

    method: str
    why: str
    memory: int
    budget: int
    room: int
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
        source: Callable[[], Tiles],
        diagonal: Array | None = None,
        turned: Callable[[], Tiles] | None = None,
    ) -> None:
        super().__init__(dtype=tiles.dtype, shape=tiles.shape)
        self._tiles, self._diagonal = tiles, diagonal
        self._source, self._turned = source, turned
        self.plan_, self.is_symmetric = plan, turned is None

    def __getstate__(self) -> dict[str, Any]:
        # Tiles hold functions that no pickle takes; what they are made from can be pickled.
        return {name: value for name, value in vars(self).items() if name != "_tiles"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _tiles=state["_source"]())

    def __matmul__(self, V: Any) -> Any:
        known = isinstance(V, LinearOperator) or sparse.issparse(V)
        right = V if known else np.asarray(V)
        if right.shape[:1] != self.shape[1:] or len(right.shape) > 2:
            raise InvalidInput(
                f"a matrix of shape {self.shape} cannot multiply a right-hand side of shape "
                f"{right.shape}: it needs {self.shape[1]} rows, and one column a vector."
            )
        return super().__matmul__(right)

    def _matmat(self, V: Array) -> Array:
        right = _numbers(V)
        kind = np.result_type(self.dtype, right.dtype)
        product = np.empty((self.shape[0], right.shape[1]), kind)
        if np.iscomplexobj(right):  # the matrix is real, so it takes the parts one by one
            self._multiply(right.real, product.real)
            self._multiply(right.imag, product.imag)
        else:
            self._multiply(right, product)
        return product

    def _multiply(self, V: Array, out: Array) -> None:
        """Write the product to `out`: as many columns at a time as the budget has room for."""
        rows, columns = self.shape
        room, count = self.plan_.room, V.shape[1]
        # A column takes its copy, one more in float64 beside float32, and its sums.
        lot = max(1, room // (8 * (rows + 2 * columns)))
        # All lots are added up in one way, so equal columns have equal results.
        scratch = max(room - 16 * columns * count, 0) if count <= lot else 0
        for k, m in pieces(count, lot):
            out[:, k:m] = multiply(
                self._tiles,
                V[:, k:m],
                is_symmetric=self.is_symmetric,
                threads=self.plan_.threads,
                scratch=scratch,
            )

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
        return Operator(self._turned(), self.plan_, source=self._turned, turned=self._source)

    def diagonal(self) -> Array:
        """The diagonal: the values k(x, x)."""
        if self._diagonal is None:
            raise InvalidInput("Only the Gram matrix of one batch has a diagonal of its own.")
        return self._diagonal.copy()

    def to_dense(self, dtype: Any = None) -> Array:
        """The whole matrix, as an array; in another type, such as float32, if it is given."""
        write = symmetric if self.is_symmetric else dense
        return write(self._in(dtype), threads=self.plan_.threads)

    def upper(self, dtype: Any = None) -> Array:
        """A Gram matrix on and above its diagonal. What is below is memory as it came: a
        triangular factor does not read it.
        """
        return symmetric(self._in(dtype), threads=self.plan_.threads, mirror=False)

    def _in(self, dtype: Any) -> Tiles:
        if dtype is None or np.dtype(dtype) == self._tiles.dtype:
            return self._tiles
        return Narrowed(self._tiles, np.dtype(dtype))

    def solve(self, b: Array, shift: float = 0.0) -> Array:
        """The solution of (K + shift I) a = b.

        A dense operator takes a Cholesky factor, if the budget has room for one more copy of
        the matrix in float64. Otherwise it is conjugate gradients.

        Raises:
            InvalidInput: The right-hand side, or the shift, does not suit.
            NotPositiveDefinite: K + shift I is not positive definite, or too close to
                singular for the tolerance.
        """
        right, shift = _numbers(b), _shift(shift)
        if not self.is_symmetric or right.shape[:1] != self.shape[:1]:
            raise InvalidInput(
                "solve needs the Gram matrix of one batch and a right-hand value for each row, "
                f"got a matrix of shape {self.shape} and values of shape {right.shape}."
            )
        whole = np.iscomplexobj(right)
        parts = (right.real, right.imag) if whole else (right,)
        columns = np.hstack([part.reshape(len(right), -1) for part in parts])
        factor = 8 * len(right) ** 2
        fits = isinstance(self._tiles, Stored) and (
            self.plan_.memory + factor <= self.plan_.budget
        )
        solved = (self._factorize if fits else self._iterate)(columns.astype(float), shift)
        if not whole:
            return solved.reshape(right.shape)
        real, imaginary = np.hsplit(solved, 2)
        result: Array = (real + 1j * imaginary).reshape(right.shape)
        return result

    def _factorize(self, b: Array, shift: float) -> Array:
        K = self.to_dense().astype(np.float64, copy=False)
        K[np.diag_indices_from(K)] += shift
        # A pivot of a singular matrix is a rounding error, at most n units of the diagonal.
        least = len(K) * np.finfo(np.float64).eps * float(K.diagonal().max())
        why = "a pivot is a rounding error"
        try:
            # Transposed it is the same matrix in LAPACK's layout, which is not copied.
            factor = cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
            exact = bool((factor[0].diagonal() ** 2 > least).all())
        except LinAlgError as error:
            exact, why = False, str(error)
        if not exact:
            raise NotPositiveDefinite(
                f"K + {shift:g} I has no Cholesky factor ({why}): points coincide, or nearly "
                "so, or the kernel is not strictly positive definite.\nRaise the shift to "
                "about 1e-10 times the largest diagonal entry."
            )
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
        solutions = np.empty_like(b)
        # Powers of two keep the squares of large and of small numbers in range.
        _, powers = np.frexp(np.abs(b).max(axis=0, initial=0.0))
        for place, column in enumerate(np.ldexp(b, -powers).T):
            solution, failure = cg(shifted, column, rtol=self.plan_.tolerance, atol=0.0)
            if failure:
                raise NotPositiveDefinite(
                    f"conjugate gradients did not reach a residual of {self.plan_.tolerance:g} "
                    f"in {failure} steps: K + {shift:g} I is too close to singular.\nRaise "
                    'the shift, or the memory, and store the matrix: plan="dense".'
                )
            self._check_residual(column - (self @ solution + shift * solution), column)
            solutions[:, place] = solution
        return np.ldexp(solutions, powers)


def _numbers(values: Any) -> Array:
    """A right-hand side: finite numbers as an array, else an error."""
    right = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if right.dtype.kind not in "biufc":
        try:
            right = right.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The right-hand side has to be numbers, got {right.dtype} ({error})."
            ) from error
    if not np.isfinite(right).all():
        raise InvalidInput("The right-hand side has NaN or infinite entries.")
    return right


def _shift(value: Any) -> float:
    if not isinstance(value, Real) or not math.isfinite(value):
        raise InvalidInput(f"The shift has to be a finite number, got {value!r}.")
    return float(value)
