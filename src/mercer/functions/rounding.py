r"""What rounding can do to lengths in a Hilbert space, and what it cannot.

A kernel value is off by at most $\delta \sqrt{k(x, x)\, k(y, y)}$, where $\delta$ is what
`mercer.loops.product_is_safe` promises. So the squared length of $\sum_i c_i k(z_i, \cdot)$
is off by at most $\delta\, (\sum_i |c_i| \sqrt{k(z_i, z_i)})^2$, and each eigenvalue of a Gram
matrix by at most $\delta \operatorname{tr} K$. What is more negative than that is no kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.errors import InvalidInput, NotPositiveDefinite
from mercer.kernels import Kernel
from mercer.loops import multiply
from mercer.types import Array

Reals = NDArray[np.float64]


def promise(dtype: np.dtype[Any]) -> float:
    """How exact kernel values are, relative to the diagonal, and sums of a tile of them."""
    # The promise of the loops, and as much again for each sum and difference taken here.
    return 2.0**-38 if dtype == np.float64 else 2.0**-13


def lengths(squared: Reals, size: Reals, dtype: np.dtype[Any]) -> Reals:
    """The roots of squared lengths, which rounding may have pushed below zero.

    Args:
        squared: The squared lengths.
        size: For each, the sum of the lengths of the terms that were added up.
        dtype: The type of the kernel values.

    Raises:
        NotPositiveDefinite: A square is so negative that rounding cannot be the reason.
        InvalidInput: A square is beyond the range of numbers.
    """
    with np.errstate(over="ignore"):  # told in the next line
        excess = finite(squared + promise(dtype) * size**2, "a squared length")
    if (excess < 0).any():
        at = np.unravel_index(int(np.argmin(excess)), excess.shape)
        raise NotPositiveDefinite(
            f"a squared length is {squared[at]:.3g}, more negative than rounding explains: the "
            "kernel is not positive definite, so it measures no lengths.\nLook at k.proof() "
            "for what is assumed, and ask mercer.testing.check_kernel(k, X)."
        )
    # What is left below zero is rounding, and the length is as good as zero.
    return np.sqrt(np.maximum(squared, 0.0))


def finite(values: Any, what: str) -> Any:
    """The values, unless they have left the range of numbers.

    Raises:
        InvalidInput: They have.
    """
    if not np.isfinite(values).all():
        raise InvalidInput(
            f"{what} overflows: it is beyond the range of numbers.\nRescale the coefficients, "
            "the data or the kernel."
        )
    return values


def norms(kernel: Kernel, batch: Batch) -> Reals:
    """The lengths of the points in feature space, the roots of k(x, x).

    Raises:
        NotPositiveDefinite: k(x, x) < 0 for one of them, beyond rounding.
    """
    given = kernel.diag(batch)
    own = np.asarray(given, dtype=np.float64)
    # Differences, in a function of the user's, leave a part of the largest value.
    if own.min() < -promise(given.dtype) * max(own.max(), 0.0):
        raise NotPositiveDefinite(
            f"k(x, x) = {own.min():.3g} for the point in row {own.argmin()}, and a squared "
            "length is not negative: the kernel is not positive definite.\nLook at k.proof() "
            "for what is assumed, and ask mercer.testing.check_kernel(k, X)."
        )
    return np.sqrt(np.maximum(own, 0.0))


def eigen(K: Array) -> tuple[Reals, Reals]:
    r"""The eigenvalues of a Gram matrix above rounding, the largest first, and their vectors.

    An eigenvalue counts as zero below $n\,u\,\lambda_{\max}$, the error of the decomposition,
    and below the size of the most negative one: that shows how noisy the entries are.

    Raises:
        NotPositiveDefinite: An eigenvalue is more negative than rounding explains.
    """
    values, vectors = np.linalg.eigh(K.astype(np.float64, copy=False))
    allowed = promise(K.dtype) * float(np.trace(K))
    if values[0] < -max(allowed, 0.0):
        raise NotPositiveDefinite(
            f"the Gram matrix has the eigenvalue {values[0]:.3g}, more negative than rounding "
            f"explains ({allowed:.1g}): the kernel is not positive definite, so no feature map "
            "gives it.\nLook at k.proof() for what is assumed, and ask "
            "mercer.testing.check_kernel(k, X)."
        )
    return above_noise(values, vectors, float(np.finfo(K.dtype).eps))


def above_noise(values: Reals, vectors: Reals, unit: float) -> tuple[Reals, Reals]:
    """The eigenvalues that are not noise, the largest first, of all in ascending order."""
    floor = max(len(values) * unit * values[-1], -values[0])
    kept = np.flatnonzero(values > floor)[::-1]
    chosen = vectors[:, kept]
    # An eigenvector is known up to its sign: its largest entry is made positive.
    if chosen.size:
        largest = np.abs(chosen).argmax(axis=0)
        chosen = chosen * np.sign(chosen[largest, np.arange(len(kept))])
    return values[kept], chosen


def orthonormal(kernel: Kernel, batch: Batch) -> Reals:
    r"""A matrix $W$ such that the $u_l = \sum_i W_{il}\, k(z_i, \cdot)$ are an orthonormal
    basis of the span of the sections: $W^\top K W = I$, whatever the rank of $K$.
    """
    # Sections of one length first: a span does not care, and rounding does.
    own = norms(kernel, batch)
    K = kernel.square(batch)
    # Squares below the smallest normal number have no digits: such a section counts as zero.
    floor = float(np.finfo(K.dtype).tiny) ** 0.5
    scale = np.divide(1.0, own, out=np.zeros_like(own), where=own > floor)
    if (np.abs(K[own <= floor]) > promise(K.dtype) * own.max() ** 2 + floor**2).any():
        raise NotPositiveDefinite(
            "k(x, x) = 0 for a point and k(x, y) is not: |k(x, y)|^2 <= k(x, x) k(y, y) fails "
            "(Cauchy-Schwarz), so the kernel is not positive definite.\nLook at k.proof() for "
            "what is assumed, and ask mercer.testing.check_kernel(k, X)."
        )
    scaled = (K * scale[:, None] * scale).astype(K.dtype)
    values, vectors = eigen(scaled)
    return scale[:, None] * vectors / np.sqrt(values)


def product(kernel: Kernel, A: Batch, B: Batch, V: Array) -> Reals:
    """K(A, B) @ V, a tile at a time: K is never stored."""
    return multiply(kernel.tiles(A, B), V, is_symmetric=A is B)
