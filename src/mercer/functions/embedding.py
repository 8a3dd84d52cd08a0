r"""Points as vectors: the feature map of a finite set, and random functions on it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from mercer.domains import distinct
from mercer.errors import InvalidParameter
from mercer.functions.geometry import encoded
from mercer.functions.rounding import Reals, eigen
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.types import Indices


def embed(k: Kernel | str, X: Any) -> Reals:
    r"""The finite Aronszajn map: vectors, a row a point, whose inner products are the kernel's.

    The Gram matrix is diagonalised, $K = \sum_l \lambda_l u_l u_l^\top$, and
    $\Phi(x_i) = (\sqrt{\lambda_1}\, u_{1i}, \dots, \sqrt{\lambda_r}\, u_{ri})$, so
    $K = \Phi \Phi^\top$: on a finite set every kernel is an inner product of vectors. The
    columns are orthogonal, the longest first, and as many as the rank of $K$: eigenvalues that
    are zero up to rounding are left out. Equal points have equal rows.

    Args:
        k: A kernel, or its text.
        X: Points; the cost grows with the cube of their number.

    Raises:
        NotPositiveDefinite: K has a negative eigenvalue that rounding does not explain.

    Example:
        >>> import mercer as mc
        >>> mc.embed(mc.Min(), [1.0, 1.0]).round(6)
        array([[1.],
               [1.]])
    """
    features, labels = _embedded(as_kernel(k), X)
    return features[labels]


def sample(k: Kernel | str, X: Any, draws: int = 1, random_state: Any = None) -> Reals:
    r"""Values of random functions: draws of the Gaussian process of mean zero and covariance k.

    The values at the points are $\Phi z$ with independent standard normal numbers $z$ and the
    map of `embed`, so their covariance is $\Phi \Phi^\top = K$. They do not depend on the order
    of the points, and equal points have equal values.

    Args:
        k: A kernel, or its text.
        X: Points; the cost grows with the cube of their number.
        draws: How many functions.
        random_state: None, a whole number, or a generator of NumPy.

    Returns:
        The values, a row a function.

    Example:
        >>> import mercer as mc
        >>> paths = mc.sample(mc.Min(), [0.0, 0.5, 1.0], draws=2, random_state=0)
        >>> paths.shape, paths[:, 0]  # Brownian motion starts at zero
        ((2, 3), array([0., 0.]))
    """
    if not isinstance(draws, Integral) or isinstance(draws, bool) or draws < 1:
        raise InvalidParameter(f"sample needs a whole number of draws >= 1, got {draws!r}.")
    features, labels = _embedded(as_kernel(k), X)
    chance = _chance(random_state)
    values: Reals = chance.standard_normal((int(draws), features.shape[1])) @ features.T
    return values[:, labels]


def _chance(random_state: Any) -> Any:
    if isinstance(random_state, np.random.RandomState):  # the older kind of generator
        return random_state
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"random_state is None, a whole number or a generator, got {random_state!r}."
        ) from error


def _embedded(k: Kernel, X: Any) -> tuple[Reals, Indices]:
    """The map on the distinct points, in canonical order, and where each row is among them."""
    once = distinct(encoded(k, X))
    # With points repeated w times K has the eigenvectors u = v / sqrt(w), for the eigenvectors
    # v of sqrt(w_i) k(x_i, x_j) sqrt(w_j).
    repeats = np.sqrt(once.weights)
    K = k.square(once.points)
    values, vectors = eigen((K * (repeats[:, None] * repeats)).astype(K.dtype))
    return vectors * np.sqrt(values) / repeats[:, None], once.labels
