r"""The geometry of the feature space: angles, barycentres, distances to sets, centring.

Only inner products of points are needed, and those are kernel values: the kernel trick.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Batch, distinct
from mercer.errors import InvalidInput
from mercer.functions.expansion import Function
from mercer.functions.rounding import Reals, lengths, norms, orthonormal, product
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.types import Array

ASYMMETRY = 2.0**-15
"""How far a Gram matrix may be from symmetric, in units of its largest entry: what values in
float32 may be off by."""


def encoded(k: Kernel, X: Any) -> Batch:
    """Points of the kernel's domain, at which the kernel is finite."""
    batch = k.domain.encode(X)
    k.check_finite(batch)
    return batch


def angle(k: Kernel | str, X: Any, Y: Any = None) -> Array:
    r"""Angles in feature space, $\arccos \frac{k(x, y)}{\sqrt{k(x, x)\, k(y, y)}}$, in radians.

    Never NaN: by Cauchy-Schwarz the cosine is between -1 and 1, and rounding is clipped to
    that. A point with $k(x, x) = 0$ has no direction; as in `k.normalized()` its angle is 0
    with itself and 90 degrees with others. An angle near 0 has half the digits of its cosine.

    Args:
        k: A kernel, or its text.
        X: Points.
        Y: Other points; by default X itself.

    Example:
        >>> import mercer as mc
        >>> np.degrees(mc.angle(mc.Linear(), [[1.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])).round(6)
        array([[45., 90.]])
    """
    k = as_kernel(k)
    A = k.domain.encode(X)
    B = A if Y is None or Y is X else k.domain.encode(Y)
    for batch in (A, B):
        norms(k, batch)  # refuses a negative k(x, x), which no angle has
    cosine = k.normalized()(A, None if B is A else B)
    return np.arccos(np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)


def barycenter(k: Kernel | str, S: Any, weights: Any = None) -> Function:
    r"""The barycentre of a set in feature space, $\mu = \sum_i w_i\, k(x_i, \cdot)$ with
    weights that sum to one.

    Its values are mean similarities, and $\langle f, \mu \rangle$ is the mean of $f$ on the
    set. In general no point of the domain is mapped to it (`preimage`).

    Args:
        k: A kernel, or its text.
        S: Points.
        weights: A non-negative weight a point; by default one each.

    Example:
        >>> import mercer as mc
        >>> mu = mc.barycenter(mc.Linear(), [[2.0], [3.0]])
        >>> mu([[1.0]])
        array([2.5])
    """
    k = as_kernel(k)
    once = distinct(k.domain.encode(S), weights)
    return Function(k, once.points, once.weights / once.weights.sum())


def distance_to_set(k: Kernel | str, X: Any, S: Any, weights: Any = None) -> Reals:
    r"""Distances from points to the barycentre of a set,
    $\sqrt{k(x, x) - 2 \mu(x) + \|\mu\|^2}$, never NaN.

    For the linear kernel it is the distance to the mean. For the Gaussian it grows away from
    every point of the set, and a short scale makes it tell the points apart.

    Args:
        k: A kernel, or its text.
        X: Points.
        S: The points of the set.
        weights: A non-negative weight for each point of the set; by default one each.

    Example:
        >>> import mercer as mc
        >>> mc.distance_to_set(mc.Linear(), [[0.0], [2.5]], [[2.0], [3.0]])
        array([2.5, 0. ])
    """
    k = as_kernel(k)
    mean, batch = barycenter(k, S, weights), encoded(k, X)
    own = norms(k, batch)
    with np.errstate(over="ignore"):  # told by lengths
        squared = own**2 - 2 * mean(batch) + mean @ mean
    size = own + norms(k, mean.anchors) @ mean.coefficients
    return lengths(squared, size, k.diag(mean.anchors[:1]).dtype)


def distance_to_span(k: Kernel | str, X: Any, S: Any) -> Reals:
    r"""Distances from points to the span of a set in feature space, never NaN.

    It is the smallest $\|k(x, \cdot) - \sum_i c_i\, k(s_i, \cdot)\|$ over all $c$. Its square
    is $k(x, x) - k_{xS} K_{SS}^{+} k_{Sx}$: what is left of the variance at $x$ of a
    Gaussian process once its values on the set are known.

    Args:
        k: A kernel, or its text.
        X: Points.
        S: The points that span.

    Example:
        >>> import mercer as mc
        >>> mc.distance_to_span(mc.Linear(), [[3.0, 4.0]], [[2.0, 0.0]])
        array([4.])
    """
    k = as_kernel(k)
    batch, points = encoded(k, X), encoded(k, S)
    inside = product(k, batch, points, orthonormal(k, points))
    own = norms(k, batch)
    # Pythagoras: what is inside is at most the whole, and both are off by rounding.
    squared = np.maximum(own**2 - np.einsum("il,il->i", inside, inside), 0.0)
    found: Reals = np.sqrt(squared)
    return found


def gap(k: Kernel | str, X: Any, S: Any, T: Any) -> Reals:
    r"""How much closer points are to T than to S:
    $d_k(x, S)^2 - d_k(x, T)^2 = 2 (\mu_T - \mu_S)(x) + \|\mu_S\|^2 - \|\mu_T\|^2$.

    Positive where the barycentre of T is the nearer one: the simplest classifier. It is an
    element of the RKHS and a constant, because $k(x, x)$ drops out.

    Args:
        k: A kernel, or its text.
        X: Points.
        S: The points of one set.
        T: The points of the other.

    Example:
        >>> import mercer as mc
        >>> mc.functions.gap(mc.Linear(), [[0.0], [2.0], [5.0]], [[1.0]], [[3.0]])
        array([-8.,  0., 12.])
    """
    first, second = barycenter(k, S), barycenter(k, T)
    values: Reals = 2 * (second - first)(X) + (first @ first - second @ second)
    return values


def center(K: Any, rows: Any = None, weights: Any = None) -> Array:
    r"""Centre points in feature space, through their Gram matrix alone.

    With the barycentre $\mu = \sum_i w_i \Phi(x_i)$ the entries become
    $\langle \Phi(x_i) - \mu, \Phi(x_j) - \mu \rangle$. As matrices, with
    $U = \mathbf 1 w^\top$ (all entries $1/n$ without weights),
    $K^c = (I - U) K (I - U^\top)$. New points are centred by the same $\mu$, that of
    the training points: $K^c_* = (K_* - \mathbf 1 w^\top K)(I - U^\top)$.

    Args:
        K: The Gram matrix of the training points.
        rows: Kernel values of new points (rows) with the training points (columns). If given,
            they are what is centred and returned.
        weights: A non-negative weight a training point; by default one each.

    Example:
        >>> import mercer as mc
        >>> k, X = mc.Linear(), [[1.0], [3.0]]  # the mean is 2
        >>> mc.center(k(X))
        array([[ 1., -1.],
               [-1.,  1.]])
        >>> mc.center(k(X), k([[5.0]], X))
        array([[-3.,  3.]])
    """
    K = _matrix(K, "K")
    if K.shape[0] != K.shape[1]:
        raise InvalidInput(
            f"a Gram matrix is square, and this one has shape {K.shape}.\nPass K(X, X) first, "
            "and the values of new points as `rows`: center(K, rows)."
        )
    is_symmetric = np.array_equal(K, K.T)
    if not is_symmetric and np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
        raise InvalidInput(
            "a Gram matrix is symmetric, and this one is not: rounding does not explain the "
            "difference.\nPass K(X, X), with the same points as rows and as columns."
        )
    share = _shares(weights, len(K))
    # A symmetric matrix stays exactly symmetric only if both means are the same numbers.
    means = K @ share
    across = means if is_symmetric else share @ K
    new = K if rows is None else _matrix(rows, "rows")
    if new.shape[1] != len(K):
        raise InvalidInput(
            f"the new rows have {new.shape[1]} columns, and there are {len(K)} training "
            "points: pass k(X_new, X_train)."
        )
    own = means if rows is None else new @ share
    centred: Array = (new - (own[:, None] + across)) + share @ means
    return centred.astype(new.dtype)


def _matrix(values: Any, name: str) -> Array:
    matrix = np.asarray(values)
    if matrix.dtype.kind == "c":
        raise InvalidInput(f"{name} must be a matrix of numbers, and these are complex.")
    if matrix.dtype.kind != "f":
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{name} must be a matrix of numbers ({error}).") from error
    if matrix.ndim != 2 or not matrix.size:
        raise InvalidInput(f"{name} must be a matrix, and its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise InvalidInput(f"{name} has NaN or infinite entries; kernel values are finite.")
    return matrix


def _shares(weights: Any, count: int) -> Reals:
    """Weights that sum to one."""
    share = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != (count,):
        raise InvalidInput(f"{count} points need {count} weights, got shape {share.shape}.")
    if not (np.isfinite(share).all() and (share >= 0).all() and share.any()):
        raise InvalidInput("weights must be finite, not negative, and not all zero.")
    shares: Reals = share / share.sum()
    return shares
