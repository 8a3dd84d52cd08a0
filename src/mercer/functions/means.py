r"""Distances between samples, and their dependence, by barycentres in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Batch
from mercer.errors import InvalidInput
from mercer.functions.geometry import barycenter, encoded
from mercer.functions.rounding import Reals, finite, product
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.loops import Applied, Combined, Tiles, multiply
from mercer.types import Array


def mmd(k: Kernel | str, X: Any, Y: Any, unbiased: bool = False) -> float:
    r"""Maximum mean discrepancy of two samples of sizes $n$ and $m$.

    By default the distance of their barycentres, $\|\mu_X - \mu_Y\|$: the largest difference of
    the means of a function of norm one. It is zero exactly when the barycentres are one, and
    for a characteristic kernel (Gaussian) exactly for equal samples. Its square,
    $\frac{1}{n^2}\sum_{ij} k(x_i, x_j) + \frac{1}{m^2}\sum_{ij} k(y_i, y_j)
    - \frac{2}{nm}\sum_{ij} k(x_i, y_j)$, overestimates that of the two distributions.

    With `unbiased` the *squared* distance is estimated without that bias, which leaves out the
    pairs of a row with itself:
    $\frac{1}{n(n-1)}\sum_{i \ne j} k(x_i, x_j) + \frac{1}{m(m-1)}\sum_{i \ne j} k(y_i, y_j)
    - \frac{2}{nm}\sum_{ij} k(x_i, y_j)$. It may be negative.

    Args:
        k: A kernel, or its text.
        X: The first sample.
        Y: The second sample.
        unbiased: Return the unbiased estimate of the square instead of the distance.

    Example:
        >>> import mercer as mc
        >>> mc.mmd(mc.Linear(), [[0.0], [2.0]], [[4.0]])  # between the means
        3.0
        >>> mc.mmd(mc.Linear(), [[0.0], [2.0]], [[3.0], [5.0]], unbiased=True)
        7.0
    """
    k = as_kernel(k)
    if not unbiased:
        return float((barycenter(k, X) - barycenter(k, Y)).norm())
    A, B = encoded(k, X), encoded(k, Y)
    for sample in (A, B):
        if len(sample) < 2:
            raise InvalidInput(
                "the unbiased estimate needs two rows a sample: it compares different rows of "
                "one.\nUse unbiased=False, or more rows."
            )
    with np.errstate(over="ignore", invalid="ignore"):  # told in the end
        across = product(k, A, B, np.ones((len(B), 1))).sum() / (len(A) * len(B))
        found = _mean_of_others(k, A) + _mean_of_others(k, B) - 2 * across
    return float(finite(found, "the estimate"))


def _mean_of_others(k: Kernel, A: Batch) -> float:
    """The mean of k(x_i, x_j) over the pairs of different rows."""
    count = len(A)
    everything = product(k, A, A, np.ones((count, 1))).sum()
    own = k.diag(A).sum(dtype=np.float64)
    return float(everything - own) / (count * (count - 1))


def hsic(
    k: Kernel | str,
    l: Kernel | str,  # noqa: E741 - the kernel beside k, as in the papers
    X: Any,
    Y: Any,
    unbiased: bool = False,
) -> float:
    r"""Hilbert-Schmidt independence criterion of two paired samples of size $n$.

    It is the squared Hilbert-Schmidt norm of the cross-covariance of $\Phi_k(x)$ and
    $\Phi_l(y)$. By default it is that of the sample itself,
    $\frac{1}{n^2} \operatorname{tr}(K H L H) = \frac{1}{n^2} \sum_{ij} K^c_{ij} L^c_{ij}$ with
    $H = I - \frac1n \mathbf 1 \mathbf 1^\top$: never negative, and zero if one side is
    constant. For linear kernels it is the sum of the squared covariances of the coordinates.

    With `unbiased` it is the estimate of Song et al. (2012) without bias,
    $\frac{1}{n(n-3)} \left[ \operatorname{tr}(\tilde K \tilde L)
    + \frac{\mathbf 1^\top \tilde K \mathbf 1\, \mathbf 1^\top \tilde L \mathbf 1}{(n-1)(n-2)}
    - \frac{2}{n-2} \mathbf 1^\top \tilde K \tilde L \mathbf 1 \right]$, where the diagonals of
    $\tilde K$ and $\tilde L$ are zero. It may be negative.

    Args:
        k: A kernel for the first sample, or its text.
        l: A kernel for the second sample, or its text.
        X: The first sample.
        Y: The second sample, row by row the partner of the first.
        unbiased: Return the unbiased estimate.

    Example:
        >>> import mercer as mc
        >>> X, Y = [[0.0], [2.0]], [[1.0], [5.0]]  # their covariance is 2
        >>> mc.hsic(mc.Linear(), mc.Linear(), X, Y)
        4.0
    """
    first, second = as_kernel(k), as_kernel(l)
    A, B = encoded(first, X), encoded(second, Y)
    count, least = len(A), 4 if unbiased else 1
    if count != len(B) or count < least:
        raise InvalidInput(
            f"hsic compares rows in pairs, at least {least}: the samples have {count} and "
            f"{len(B)} rows."
        )
    # Both matrices are centred a tile at a time, and neither is stored.
    left, right = _Centred(first, A), _Centred(second, B)
    with np.errstate(over="ignore", invalid="ignore"):  # told in the next line
        sums = _sums(Combined(left.tiles, right.tiles, np.multiply)).sum()
    total = float(finite(sums, "the estimate"))
    if not unbiased:
        # A sum of squares (of the entries of the cross-covariance), up to rounding.
        return max(total, 0.0) / count**2
    # The estimate does not change when the data are moved in feature space, so it may be
    # computed from the centred matrices, which lose fewer digits. Their rows sum to zero, so
    # those of K~ sum to minus the diagonal.
    own, other = left.diagonal, right.diagonal
    trace = total - float(own @ other)
    corners = float(own.sum() * other.sum()) / ((count - 1) * (count - 2))
    mixed = 2 * float(own @ other) / (count - 2)
    return (trace + corners - mixed) / (count * (count - 3))


class _Centred:
    """The centred Gram matrix of a sample, as tiles, and its diagonal."""

    def __init__(self, k: Kernel, A: Batch) -> None:
        inner = k.tiles(A, A)
        means = _sums(inner) / len(A)
        level = float(means.mean())

        def move(tile: Array, rows: slice, columns: slice) -> None:
            tile -= (means[rows, None] + means[None, columns] - level).astype(tile.dtype)

        self.tiles: Tiles = Applied(inner, move)
        self.diagonal: Reals = k.diag(A).astype(np.float64) - 2 * means + level


def _sums(tiles: Tiles) -> Reals:
    """The sums of the rows of a symmetric matrix."""
    return multiply(tiles, np.ones((tiles.shape[0], 1)), is_symmetric=True)[:, 0]
