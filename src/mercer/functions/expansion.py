r"""Elements of an RKHS: functions $f = \sum_i c_i\, k(z_i, \cdot)$."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.domains import Batch
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, InvalidType
from mercer.functions.batches import concatenate, merge
from mercer.functions.rounding import Reals, finite, lengths, norms, orthonormal, product
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.loops import pieces
from mercer.types import Array, Indices

PAIRS = 1 << 16
"""Pairs of points whose gradients are held at once."""

FAR = 256
"""The binary exponent of a length beyond which its square may leave the range of numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class Function:
    r"""An element of the RKHS of a kernel, $f = \sum_i c_i\, k(z_i, \cdot)$.

    With several columns of coefficients it is as many functions at once, and each number
    below becomes one an output.

    The inner product `f @ g` is $\sum_{ij} a_i b_j\, k(z_i, w_j) = \sum_i a_i\, g(z_i)$. The
    last form shows that it does not depend on the expansion chosen for $g$ (nor, by symmetry,
    for $f$), and for $f = k(x, \cdot)$ it is the reproducing property
    $g(x) = \langle g, k(x, \cdot) \rangle$.

    Args:
        kernel: The kernel $k$, or its text: it fixes the space.
        anchors: The points $z_i$, raw or encoded.
        coefficients: The numbers $c_i$: shape (anchors,) or (anchors, outputs).

    Example:
        >>> import mercer as mc
        >>> f = mc.Function(mc.Linear(), [[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0])
        >>> f([[2.0, 1.0]])
        array([10.])
        >>> f.norm()
        5.0
    """

    # What may be passed is wider than what is kept: a Kernel, a Batch and a float64 array.
    kernel: Any
    anchors: Any
    coefficients: Any

    # Without this NumPy would take `2.0 * f`, for a NumPy number 2.0, into its own hands.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        kernel = as_kernel(self.kernel)
        anchors = kernel.domain.encode(self.anchors)
        kernel.check_finite(anchors)
        numbers = _numbers(self.coefficients)
        if numbers.ndim not in (1, 2) or len(numbers) != len(anchors) or not numbers.size:
            raise InvalidInput(
                f"{len(anchors)} anchors need as many coefficients, and perhaps a column for "
                f"each output: the shape is {numbers.shape}, not ({len(anchors)},) or "
                f"({len(anchors)}, outputs)."
            )
        if not np.isfinite(numbers).all():
            raise InvalidInput("coefficients must be finite, and some are NaN or infinite.")
        numbers.setflags(write=False)
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "anchors", anchors)
        object.__setattr__(self, "coefficients", numbers)

    def __repr__(self) -> str:
        several = "" if self.coefficients.ndim == 1 else f", {self._columns.shape[1]} outputs"
        return f"Function({self.kernel}, {len(self.anchors)} anchors{several})"

    # The function as a function

    def __call__(self, X: Any) -> Reals:
        """The values f(x): shape (points,) or (points, outputs). K is never stored."""
        A = self.kernel.domain.encode(X)
        self.kernel.check_finite(A)
        values: Reals = finite(self._shaped(self._values(A)), "a value of the function")
        return values

    def gradient(self, X: Any) -> Reals:
        """The derivatives of f at points: shape (points, features) or (.., .., outputs).

        Raises:
            NotSmooth: The kernel is not differentiable.
        """
        A = self.kernel.domain.encode(X)
        wide = min(len(self.anchors), PAIRS)
        parts = []
        for rows in pieces(len(A), max(1, PAIRS // wide)):
            total: Any = 0.0
            for columns in pieces(len(self.anchors), wide):
                anchors, weights = self.anchors[slice(*columns)], self._columns[slice(*columns)]
                slopes = self.kernel.gradient_block(A[slice(*rows)], anchors)
                total = total + np.einsum("ijc,jp->icp", slopes, weights)
            parts.append(total)
        gradient: Reals = finite(np.concatenate(parts), "a derivative of the function")
        return gradient[..., 0] if self.coefficients.ndim == 1 else gradient

    # The function as a vector

    def __add__(self, other: Any) -> Function:
        if not isinstance(other, Function):
            return NotImplemented
        return self._plus(other, 1.0)

    def __radd__(self, other: Any) -> Function:
        # sum() starts from 0, which is the zero of every space.
        return self if isinstance(other, Real) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Function:
        if not isinstance(other, Function):
            return NotImplemented
        return self._plus(other, -1.0)

    def __neg__(self) -> Function:
        return self._with(-self.coefficients)

    def __mul__(self, number: Any) -> Function:
        if not isinstance(number, Real):
            return NotImplemented
        with np.errstate(over="ignore", invalid="ignore"):  # told by the new function
            return self._with(float(number) * self.coefficients)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Function:
        if not isinstance(number, Real):
            return NotImplemented
        if number == 0:
            raise InvalidParameter("a function cannot be divided by 0.")
        with np.errstate(over="ignore", invalid="ignore"):
            return self._with(self.coefficients / float(number))

    def __matmul__(self, other: Any) -> Any:
        r"""The inner product $\langle f, g \rangle$: a number, or for several outputs an array
        with an axis for those of f, then one for those of g.
        """
        if not isinstance(other, Function):
            return NotImplemented
        self._require_same_space(other)
        with np.errstate(over="ignore", invalid="ignore"):
            inner = self._columns.T @ other._values(self.anchors)
        finite(inner, "an inner product")
        shape = self.coefficients.shape[1:] + other.coefficients.shape[1:]
        return inner.reshape(shape) if shape else float(inner[0, 0])

    def norm(self) -> Any:
        r"""The norm $\|f\| = \sqrt{c^\top K c}$, one number an output, never NaN.

        It bounds the values, $|f(x)| \le \|f\| \sqrt{k(x, x)}$, and the slopes (`lipschitz`).
        Terms that cancel take digits with them: the norm is right to about $10^{-8}$ times
        $\sum_i |c_i| \sqrt{k(z_i, z_i)}$, and not better.

        Raises:
            NotPositiveDefinite: The square is negative beyond rounding: a kernel that was
                assumed is none.
            InvalidInput: The norm is beyond the range of numbers.
        """
        with np.errstate(over="ignore"):
            size = norms(self.kernel, self.anchors) @ np.abs(self._columns)
        # A power of two has no rounding, and its square stays in the range of numbers.
        exponents = np.frexp(finite(size, "the norm"))[1]
        exponents = np.where(np.abs(exponents) > FAR, exponents, 0)
        columns = np.ldexp(self._columns, -exponents)
        values = product(self.kernel, self.anchors, self.anchors, columns)
        squared = np.einsum("ip,ip->p", columns, values)
        dtype = self.kernel.diag(self.anchors[:1]).dtype
        found = np.ldexp(lengths(squared, np.ldexp(size, -exponents), dtype), exponents)
        return found if self.coefficients.ndim == 2 else float(found[0])

    def lipschitz(self) -> Any:
        r"""A constant $L$ with $|f(x) - f(y)| \le L\, d_k(x, y)$ for all points.

        It is $\|f\|$: $f(x) - f(y) = \langle f, k(x, \cdot) - k(y, \cdot) \rangle$, and $d_k$
        (`k.distance`) is the length of the difference of the two sections.
        """
        return self.norm()

    def distance(self, other: Function) -> Any:
        r"""The distance $\|f - g\|$. It bounds $|f(x) - g(x)|$ by
        $\|f - g\| \sqrt{k(x, x)}$, so convergence in the space is convergence at every point.
        """
        return (self - other).norm()

    def project(self, anchors: Any) -> Function:
        r"""The closest function of the form $\sum_j c_j\, k(w_j, \cdot)$, for given $w_j$.

        The rest $f - Pf$ is orthogonal to every $k(w_j, \cdot)$, that is, zero at every $w_j$.
        So $Pf$ has the values of $f$ there and the smallest norm of all functions that have
        them: the proof of the representer theorem. Sections that depend on each other are
        no problem: an eigenvalue of their Gram matrix that rounding made counts as zero.

        Args:
            anchors: The points $w_j$, raw or encoded.
        """
        batch = self.kernel.domain.encode(anchors)
        self.kernel.check_finite(batch)
        basis = orthonormal(self.kernel, batch)
        found = basis @ (basis.T @ self._values(batch))
        return Function(self.kernel, batch, self._shaped(found))

    def compress(self, m: int) -> Function:
        """A function close to f with at most m anchors, chosen among those of f.

        They are chosen one by one, each the one that brings the projection on their span
        closest to f (a Cholesky factor of the Gram matrix with this pivot), and f is
        projected on the span in the end. `f.distance(f.compress(m))` says how close it is.
        """
        if not isinstance(m, Integral) or isinstance(m, bool) or m < 1:
            raise InvalidParameter(f"compress needs a whole number of anchors >= 1, got {m!r}.")
        if m >= len(self.anchors):
            return self
        return self.project(self.anchors[self._pivots(int(m))])

    def to_features(self) -> Reals:
        r"""The weights $w = \sum_i c_i \Phi(z_i)$ with $f(x) = w^\top \Phi(x)$, where
        $\Phi$ is `kernel.features`: shape (features,) or (features, outputs).

        Other weights can give the same function if the features depend on each other; these
        are the shortest, because they lie in the span of the image, and $|w| = \|f\|$. Features
        of sets stand for the items of a batch: pass indicator matrices, with the same columns.

        Raises:
            NoFeatureMap: The kernel has none of finite width.
        """
        features = np.asarray(self.kernel.feature_map(self.anchors), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            weights: Reals = finite(features.T @ self.coefficients, "a weight")
        return weights

    # Parts

    @property
    def _columns(self) -> Array:
        columns: Array = self.coefficients.reshape(len(self.coefficients), -1)
        return columns

    def _values(self, A: Batch) -> Reals:
        return product(self.kernel, A, self.anchors, self._columns)

    def _shaped(self, columns: Reals) -> Reals:
        return columns[:, 0] if self.coefficients.ndim == 1 else columns

    def _with(self, coefficients: Array) -> Function:
        return Function(self.kernel, self.anchors, coefficients)

    def _require_same_space(self, other: Function) -> None:
        if self.kernel != other.kernel:
            raise DomainMismatch(
                f"one function is in the space of {self.kernel} and the other in that of "
                f"{other.kernel}: they have no inner product and no sum.\nUse one kernel for "
                "both."
            )

    def _plus(self, other: Function, sign: float) -> Function:
        self._require_same_space(other)
        left, right = self.coefficients, sign * other.coefficients
        if left.shape[1:] != right.shape[1:]:
            raise InvalidInput(
                f"{self} and {other} cannot be added: they have different numbers of outputs."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            if self.anchors is other.anchors:
                return self._with(left + right)
            together = concatenate(self.anchors, other.anchors, self.kernel.domain)
            return Function(self.kernel, *merge(together, np.concatenate([left, right])))

    def _pivots(self, m: int) -> Indices:
        """Greedy choice of anchors, by a partial Cholesky factor of their Gram matrix."""
        own = norms(self.kernel, self.anchors)
        # The choice is that of any multiple of f, and one of a size near one has squares.
        exponent = np.frexp(own @ np.abs(self._columns))[1].max()
        columns = np.ldexp(self._columns, -exponent)
        rest = product(self.kernel, self.anchors, self.anchors, columns)
        left = own**2
        unit = float(np.finfo(self.kernel.diag(self.anchors[:1]).dtype).eps)
        floor = len(own) * unit * left
        # Below this, what is left of the values is rounding.
        noise = unit**2 * float(((own @ np.abs(columns)) ** 2).sum())
        factor = np.zeros((len(own), m))
        chosen: list[int] = []
        for step in range(m):
            gain = np.zeros_like(own)
            np.divide((rest**2).sum(axis=1), left, out=gain, where=left > floor)
            at = int(gain.argmax())
            if not gain[at] > noise:
                break
            column = self.kernel.block(self.anchors, self.anchors[np.array([at])])[:, 0]
            column = (column - factor @ factor[at]) / np.sqrt(left[at])
            rest = rest - column[:, None] * (rest[at] / np.sqrt(left[at]))
            left = left - column**2
            left[at] = 0.0
            factor[:, step] = column
            chosen.append(at)
        return np.array(chosen or [0], dtype=np.int64)


def _numbers(values: Any) -> Array:
    """A copy of the values in double precision."""
    try:
        given = np.asarray(values)
        # NumPy would drop the imaginary part of an array, with a warning.
        numbers = None if given.dtype.kind == "c" else given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidType(f"coefficients must be numbers ({error}).") from error
    if numbers is None:
        raise InvalidType("coefficients must be numbers, and these are complex.")
    return numbers


def section(k: Kernel | str, x: Any) -> Function:
    r"""The function $K_x = k(x, \cdot)$ of one point, its image in the RKHS.

    Args:
        k: A kernel, or its text.
        x: One point.

    Example:
        >>> import mercer as mc
        >>> f = mc.section(mc.Min(), 0.5)
        >>> f([0.25, 0.5, 2.0])
        array([0.25, 0.5 , 0.5 ])
        >>> f @ mc.section(mc.Min(), 0.25)  # the reproducing property
        0.25
    """
    k = as_kernel(k)
    one = k.domain.encode(x if sp.issparse(x) else [x])
    if len(one) != 1:
        raise InvalidInput(f"a section belongs to one point, and {len(one)} were given.")
    return Function(k, one, np.ones(1))
