r"""Kernels of the inner product $x^\top y$: linear, polynomial, cosine, Tanimoto."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer.domains import Batch, Domain, Vectors
from mercer.errors import NotSmooth
from mercer.kernels import parameters
from mercer.kernels.base import Kernel, check_map
from mercer.kernels.parameters import Lengths, Matrix
from mercer.kernels.points import (
    FLOAT32_LENGTHS,
    Points,
    both_of,
    check_vectors,
    dense_of,
    meeting,
    points_of,
    row_sums,
    rows_of,
    squares,
)
from mercer.kernels.radial import Gaussian
from mercer.loops import (
    DOT,
    Applied,
    Pairwise,
    Profile,
    SparsePairwise,
    Tiles,
    compressed,
    profiles,
)
from mercer.types import Array

REPEATED = 32
"""The degree up to which a power is computed as products."""

LEAN = 1 / 8
"""The share of non-zeros below which skipping zeros beats multiplying by them."""


ORDINARY = {"float32": (1e-30, 1e37), "float64": (1e-280, 1e300)}
"""Squared norms between which no product of coordinates that matters leaves the range."""


class Dot(Kernel):
    r"""A kernel of $\langle \phi(x), \phi(y) \rangle$, where $\phi(x)$ is as wide as $x$."""

    @property
    def domain(self) -> Domain:
        return Vectors()

    def reduced(self, points: Points) -> Points:
        r"""The rows $\phi(x)$."""
        return points

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """What becomes of the inner product, as a compiled loop."""

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        points, others = both_of(A, B)
        X = self.reduced(points)
        Y = X if A is B else self.reduced(others)
        return products(X, Y, self.profile, own=squares(X) if A is B else None)

    def cosines(self, A: Batch, B: Batch) -> Tiles:
        """The same for the directions of the rows: their lengths may have no squares."""
        check_vectors(self, A, B)
        points, others = both_of(A, B)
        U, _ = directions(self.reduced(points))
        return products(U, U if A is B else directions(self.reduced(others))[0], self.profile)

    def diag(self, A: Batch) -> Array:
        check_vectors(self, A, A)
        X = self.reduced(points_of(A))
        with np.errstate(over="ignore"):
            return squares(X).astype(X.dtype)


def products(
    X: Points,
    Y: Points,
    profile: Profile,
    *,
    norms: tuple[Array, Array] | None = None,
    own: Array | None = None,
) -> Tiles:
    """Tiles of `profile(x'y)`, by the loop that suits how the points are stored.

    The arguments are those of `Pairwise`, but either matrix may be sparse.
    """
    dtype = np.result_type(X.dtype, Y.dtype)
    X, Y = X.astype(dtype, copy=False), Y.astype(dtype, copy=False)
    if not (sparse.issparse(X) or sparse.issparse(Y)):
        return Pairwise(X, Y, DOT, profile, norms=norms, own=own)
    X, Y = meeting(sparse.csr_array(X), sparse.csr_array(Y))
    return SparsePairwise(X, Y, profile, norms=norms, own=own)


def directions(points: Points) -> tuple[Points, Array]:
    """The rows divided by their lengths, and the logarithms of these; a zero row stays."""
    # Division by the largest entry first: the squares then neither overflow nor vanish.
    if sparse.issparse(points):
        largest = np.asarray(abs(points).max(axis=1).todense(), dtype=np.float64).ravel()
        stored = rows_of(points)
        data = points.data / largest[stored]
        length = np.sqrt(row_sums(points, data**2))
        data = (data / length[stored]).astype(points.dtype)
        units = sparse.csr_array((data, points.indices, points.indptr), shape=points.shape)
    else:
        largest = np.abs(points).max(axis=1).astype(np.float64)
        moved = points / np.where(largest > 0, largest, 1.0)[:, None]
        length = np.sqrt(squares(moved))
        moved /= np.where(length > 0, length, 1.0)[:, None]
        units = moved.astype(points.dtype, copy=False)
    with np.errstate(divide="ignore"):
        return units, np.log(largest) + np.log(length)


@dataclass(frozen=True)
class Linear(Dot):
    r"""Linear kernel, $k(x, y) = x^\top y$, or $x^\top A y$ with a metric.

    Why it is a kernel (feature map): it is the inner product itself,
    $\sum_{ij} c_i c_j x_i^\top x_j = |\sum_i c_i x_i|^2 \ge 0$. A p.s.d. metric is
    $A = L L^\top$, so $x^\top A y$ is the inner product of $L^\top x$ and $L^\top y$.

    Args:
        metric: A p.s.d. matrix $A$; by default the identity.

    Example:
        >>> import mercer as mc
        >>> mc.Linear().pair([1.0, 2.0], [3.0, 4.0])
        11.0
    """

    word = "linear"

    metric: Matrix | None = None

    def __post_init__(self) -> None:
        if self.metric is not None:
            matrix = parameters.psd_matrix("Linear", "metric", self.metric)
            object.__setattr__(self, "metric", matrix)

    @property
    def profile(self) -> Profile:
        return Profile()

    def bell(self, rate: float) -> Kernel:
        return Gaussian((2 * rate) ** -0.5, self.metric)

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.cosines(A, B)

    def reduced(self, points: Points) -> Points:
        if self.metric is None:
            return points
        return np.asarray(points @ parameters.root(self.metric), dtype=points.dtype)

    def feature_map(self, A: Batch) -> Array:
        check_vectors(self, A, A)
        features: Array = self.reduced(dense_of(A))
        return features

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        width = check_vectors(self, A, B)
        slope = dense_of(B) if self.metric is None else dense_of(B) @ np.asarray(self.metric)
        return np.broadcast_to(slope, (len(A), len(B), width)).copy()

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        # The entries of a metric have no logarithm: some may be negative.
        return {}


@dataclass(frozen=True)
class Polynomial(Dot):
    r"""Polynomial kernel, $k(x, y) = (x^\top y / s^2 + c)^n$.

    Why it is a kernel (power series): by the binomial theorem it is
    $\sum_m \binom{n}{m} c^{n-m} (x^\top y / s^2)^m$, and whole powers of a kernel are kernels
    (Schur), as are their sums with weights that are not negative. Multiplied out, its features
    are all monomials of degree $n$ in $(\sqrt c, x_1 / s, ..., x_d / s)$, each weighted by the
    root of its multinomial coefficient; without offset those in $x$ alone.

    Args:
        degree: The power $n$, one of 1, 2, 3, ...
        offset: The constant $c \ge 0$ that mixes in lower degrees; 0: degree $n$ alone.
        scale: The length $s$ that the coordinates are divided by; one, or one a feature.

    Example:
        >>> import mercer as mc
        >>> k = mc.Polynomial(degree=2)
        >>> k.pair([1.0, 2.0], [3.0, 4.0])
        144.0
        >>> k.features([[1.0, 2.0]]).shape
        (1, 6)
    """

    word = "polynomial"

    degree: int = 2
    offset: float = 1.0
    scale: Lengths = 1.0

    def __post_init__(self) -> None:
        owner = "Polynomial"
        object.__setattr__(self, "degree", parameters.whole(owner, "degree", self.degree))
        object.__setattr__(self, "offset", parameters.nonnegative(owner, "offset", self.offset))
        object.__setattr__(self, "scale", parameters.lengths(owner, "scale", self.scale))

    @property
    def profile(self) -> Profile:
        whole = self.degree if self.degree <= REPEATED else 1
        return Profile(profiles.POLYNOMIAL, 1.0, self.offset, whole)

    def reduced(self, points: Points) -> Points:
        if self.scale == 1.0:
            return points
        lengths = np.asarray(self.scale)
        tiny, huge = FLOAT32_LENGTHS
        dtype = points.dtype
        if dtype == np.float32 and not ((lengths > tiny) & (lengths < huge)).all():
            dtype = np.dtype(np.float64)
        if not sparse.issparse(points):
            return (points / lengths).astype(dtype)
        divisors = lengths[points.indices] if lengths.ndim else lengths
        data = (points.data / divisors).astype(dtype)
        return sparse.csr_array((data, points.indices, points.indptr), shape=points.shape)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        pairs = super().tiles(A, B)
        if self.degree <= REPEATED:
            return pairs

        def raise_power(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            np.power(tile, tile.dtype.type(self.degree), out=tile)

        return Applied(pairs, raise_power)

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        if self.degree == 1:
            return None if self.offset else self.cosines(A, B)
        once = replace(self, degree=1)
        return self.rules.power(once, self.degree).normalized_tiles(A, B)

    def diag(self, A: Batch) -> Array:
        return self._values(super().diag(A))

    def _values(self, sums: Array, fewer: int = 0) -> Array:
        """The power of inner products, of the degree or of one or two fewer."""
        with np.errstate(over="ignore", under="ignore"):
            base = sums + sums.dtype.type(self.offset)
            if self.degree > REPEATED:
                return np.power(base, base.dtype.type(self.degree - fewer))
            values = np.ones_like(base)
            for _ in range(self.degree - fewer):
                values *= base
            return values

    def feature_map(self, A: Batch) -> Array:
        check_vectors(self, A, A)
        X = self.reduced(dense_of(A))
        if self.offset > 0:
            X = np.hstack([np.full((len(X), 1), math.sqrt(self.offset), X.dtype), X])
        variables = X.shape[1]
        width = math.comb(variables + self.degree - 1, self.degree)
        check_map(self, width)
        # A monomial of degree n is one of degree n-1 times a variable that does not come
        # before its last one. Its multinomial coefficient grows by n over the new exponent.
        features = np.ones((len(X), 1), X.dtype)
        last, exponent = np.zeros((2, 1), dtype=np.int64)
        for n in range(1, self.degree + 1):
            choices = variables - last
            parent = np.repeat(np.arange(len(last)), choices)
            start = np.repeat(np.cumsum(choices) - choices, choices)
            new = last[parent] + np.arange(len(parent)) - start
            exponent = np.where(new == last[parent], exponent[parent], 0) + 1
            weights = np.sqrt(n / exponent).astype(X.dtype)
            features = features[:, parent] * (X[:, new] * weights)
            last = new
        return features

    def _slopes(self, A: Batch, B: Batch) -> tuple[Array, Array, Array]:
        """The reduced points, and the derivative of the power at each inner product."""
        check_vectors(self, A, B)
        # In float64: rounded before they are multiplied, the sums would lose digits.
        X, Y = (self.reduced(dense_of(batch).astype(np.float64)) for batch in (A, B))
        return X, Y, self.degree * self._values(X @ Y.T, fewer=1)

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        _, Y, slope = self._slopes(A, B)
        gradient: Array = slope[..., None] * (Y / np.asarray(self.scale, Y.dtype))
        return gradient

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        X, Y, slope = self._slopes(A, B)
        # x_c y_c / s_c^2 has the derivative -2 x_c y_c / s_c^2 in log s_c.
        if isinstance(self.scale, tuple):
            by_scale = -2 * slope[..., None] * (X[:, None, :] * Y)
        else:
            by_scale = -2 * slope * (X @ Y.T)
        return {"offset": self.offset * slope, "scale": by_scale}


@dataclass(frozen=True)
class Cosine(Dot):
    r"""Cosine kernel, $k(x, y) = x^\top y / |x| |y|$, and 0 where a vector is zero.

    Why it is a kernel (feature map): it is the inner product of the directions $x / |x|$ and
    $y / |y|$. The zero vector has none; it is mapped to zero.

    Example:
        >>> import mercer as mc
        >>> mc.Cosine().pair([3.0, 4.0], [6.0, 8.0])
        1.0
        >>> round(mc.Cosine().pair([3.0, 4.0], [5.0, 0.0]), 6)
        0.6
    """

    word = "cosine"

    @property
    def profile(self) -> Profile:
        return Profile()

    def reduced(self, points: Points) -> Points:
        return directions(points)[0]

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        points, others = both_of(A, B)
        X = self.reduced(points)
        Y = X if A is B else self.reduced(others)
        return products(X, Y, self.profile, own=self.diag(A) if A is B else None)

    def diag(self, A: Batch) -> Array:
        points = points_of(A)
        filled = np.diff(points.indptr) > 0 if sparse.issparse(points) else points.any(axis=1)
        ones: Array = filled.astype(points.dtype)
        return ones

    def feature_map(self, A: Batch) -> Array:
        features: Array = self.reduced(dense_of(A))
        return features

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        check_vectors(self, A, B)
        (U, log_lengths), (V, _) = directions(dense_of(A)), directions(dense_of(B))
        zero = np.flatnonzero(np.isneginf(log_lengths))
        if len(zero):
            raise NotSmooth(
                f"{self} has no gradient at zero, where the direction jumps, and row {zero[0]} "
                "is zero. Leave such rows out."
            )
        moved = V - (U @ V.T)[..., None] * U[:, None, :]
        gradient: Array = moved / np.exp(log_lengths).astype(U.dtype)[:, None, None]
        return gradient


@dataclass(frozen=True)
class Tanimoto(Dot):
    r"""Tanimoto kernel, $k(x, y) = x^\top y / (|x|^2 + |y|^2 - x^\top y)$.

    On vectors of zeros and ones, such as molecular fingerprints, it is the share of what two
    points have in common in what either has. Two zero vectors are equal, so the value is 1.

    Why it is a kernel (Laplace transform): the denominator $D$ is positive, so
    $1 / D = \int_0^\infty e^{-t|x|^2} e^{t x^\top y} e^{-t|y|^2} dt$. Each integrand is an
    exponential of a kernel times $f(x) f(y)$, hence a kernel; so is their mixture, and its
    product with $x^\top y$ (Schur).

    Example:
        >>> import mercer as mc
        >>> mc.Tanimoto().pair([1, 1, 0, 1], [1, 0, 0, 1])
        0.6666666666666666
    """

    word = "tanimoto"

    @property
    def profile(self) -> Profile:
        return Profile(profiles.TANIMOTO)

    # Sums of non-negative terms are right to a few units, and so is the value: the
    # denominator is at least (|x|^2 + |y|^2) / 2, so an error e |x||y| of x'y changes the
    # value by at most 2 e. Counts below 2^53 (2^24 in float32) have no error at all.
    def tiles(self, A: Batch, B: Batch) -> Tiles:
        check_vectors(self, A, B)
        X = _lean(points_of(A))
        Y = X if A is B else _lean(points_of(B))
        norms = squares(X), squares(Y)
        if not (_ordinary(X, norms[0]) and _ordinary(Y, norms[1])):
            X, Y = X.astype(np.float64), Y.astype(np.float64)
            if not (_ordinary(X, norms[0]) and _ordinary(Y, norms[1])):
                return self._by_directions(X, Y, same=A is B)
        return products(X, Y, self.profile, norms=norms, own=norms[0] if A is B else None)

    @staticmethod
    def _by_directions(X: Points, Y: Points, *, same: bool) -> Tiles:
        """The same values from the cosine c and the lengths a, b, as c / (a/b + b/a - c), for
        points whose squares leave the range of floating point.
        """
        U, a = directions(X)
        V, b = directions(Y)
        own = np.isfinite(a).astype(np.float64) if same else None

        def finish(tile: Array, rows: slice, columns: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                gap = a[rows, None] - b[None, columns]
                np.divide(tile, 2 * np.cosh(gap) - tile, out=tile)
            tile[np.isnan(gap)] = 1.0

        return Applied(products(U, V, Profile(), own=own), finish)

    def diag(self, A: Batch) -> Array:
        return np.ones(len(A), points_of(A).dtype)


def _lean(points: Points) -> Points:
    """A sparse matrix where most numbers are zero, else the points as they are."""
    lean = None if sparse.issparse(points) else compressed(points, LEAN)
    return points if lean is None else lean


def _ordinary(points: Points, norms: Array) -> bool:
    """Whether the squared norms of all rows but zero rows are well inside the range."""
    low, high = ORDINARY[points.dtype.name]
    empty = np.flatnonzero(norms < low)
    zero = points[empty].nnz == 0 if sparse.issparse(points) else not points[empty].any()
    return bool(zero and norms.max(initial=0) <= high)
