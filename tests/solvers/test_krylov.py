"""Leading eigenpairs, against LAPACK on the matrix itself, and against theory."""

import numpy as np
import pytest
from scipy.linalg import eigh

import mercer as mc
from mercer.errors import NotConverged, NotPositiveDefinite
from mercer.gram import Operator
from mercer.machines.precomputed import Precomputed
from mercer.plan import Plan
from mercer.solvers.eigen import Centred, of_features, spectral
from mercer.solvers.krylov import krylov, largest, require_converged, until_share

EPS = np.finfo(float).eps


def chance():
    return np.random.RandomState(0)


def centred(K, weights):
    """The matrix P S K S P, by its definition."""
    roots = np.sqrt(weights)
    P = np.eye(len(K)) - np.outer(roots, roots) / weights.sum()
    return P @ (roots[:, None] * K * roots) @ P


def plain(K, weights):
    """All eigenpairs by the definition, the largest first."""
    values, vectors = eigh(centred(K, weights))
    return values[::-1], vectors[:, ::-1]


@pytest.fixture
def cloud(rng):
    X = rng.normal(size=(400, 4))
    return X, rng.uniform(0.5, 2.0, size=400)


def made(K, weights):
    """A matrix that somebody gave, behind the operator."""
    kernel = Precomputed.of(K)
    return Centred(mc.operator(kernel, kernel.every), weights)


@pytest.mark.parametrize("method", ["dense", "blocked"])
def test_block_lanczos_finds_what_lapack_finds(cloud, method):
    X, weights = cloud
    kernel = mc.Gaussian(scale=2.0)
    matrix = Centred(mc.operator(kernel, X, plan=method), weights)
    found = krylov(matrix, 7, tolerance=1e-9, chance=chance())
    values, vectors = plain(kernel(X), weights)
    # An eigenvalue is as close as its residual (Weyl), and rounding of the twin besides.
    rounding = 400 * EPS * values[0]
    assert found.converged
    assert (np.abs(found.values - values[:7]) <= found.residuals + rounding).all()
    # The sine of an angle is at most residual / distance to the others (Davis and Kahan).
    gaps = np.minimum(-np.diff(values[:8]), np.r_[np.inf, -np.diff(values[:7])])
    cosines = np.abs((found.vectors * vectors[:, :7]).sum(axis=0))
    assert (1 - cosines**2 <= ((found.residuals + rounding) / gaps) ** 2 + 10 * EPS).all()


def test_residuals_that_are_told_are_those_of_the_pairs(cloud):
    X, weights = cloud
    kernel = mc.Laplacian(scale=3.0)
    A = centred(kernel(X), weights)
    for tolerance in (1e-3, 1e-6, 1e-10):
        matrix = Centred(mc.operator(kernel, X), weights)
        found = krylov(matrix, 5, tolerance=tolerance, chance=chance())
        true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
        # Full orthogonalisation: what the recurrence says differs by rounding alone.
        assert (np.abs(true - found.residuals) <= 1e4 * EPS * found.values[0]).all()
        assert (found.residuals <= tolerance * found.values).all()


def test_restarts_end_at_the_same_pairs(cloud):
    X, weights = cloud
    matrix = Centred(mc.operator(mc.Exponential(scale=1.0), X), weights)
    large = krylov(matrix, 6, tolerance=1e-10, chance=chance())
    small = krylov(matrix, 6, tolerance=1e-10, chance=chance(), room=40, block=8)
    assert small.steps > 4  # the basis of 40 was full, and more than once
    assert np.abs(small.values - large.values).max() <= 2e-10 * large.values[0]


def test_all_methods_give_one_projector(cloud):
    X, weights = cloud
    matrix = Centred(mc.operator(mc.Linear(), X), weights)
    dense = spectral(matrix)
    features = of_features(X, weights)
    few = krylov(matrix, 4, tolerance=1e-10, chance=chance())
    for found in (dense, features, few):
        assert len(found.values) == 4  # X has four columns
        assert np.allclose(found.values, features.values, rtol=1e-10, atol=0)
        assert np.abs(found.total / features.values.sum() - 1) < 1e-12
        same = found.vectors @ found.vectors.T - features.vectors @ features.vectors.T
        assert np.abs(same).max() < 1e-8
        assert np.abs(found.mean - X @ (weights @ X) / weights.sum()).max() < 1e-12


def test_x_transposed_x_and_x_x_transposed_share_their_spectrum(rng):
    X = rng.normal(size=(40, 6)) * np.arange(1, 7)
    X -= X.mean(axis=0)
    inner = np.linalg.eigvalsh(X.T @ X)[::-1]
    outer = spectral(Centred(mc.operator(mc.Linear(), X), np.ones(40)))
    assert len(outer.values) == 6
    assert np.abs(outer.values - inner).max() <= 40 * EPS * inner[0]
    # and the eigenvectors are related: X' u has the direction of v, and the length of its root.
    v = X.T @ outer.vectors
    assert np.allclose(np.linalg.norm(v, axis=0) ** 2, inner)
    assert np.allclose(X.T @ X @ v, v * inner)


def test_equal_eigenvalues_are_all_found(rng):
    # Six copies of the largest eigenvalue: one vector would meet it once, a block does not.
    Q, _ = np.linalg.qr(np.column_stack([np.ones(500), rng.normal(size=(500, 20))]))
    values = np.r_[[5.0] * 6, np.linspace(3, 1, 14)]
    K = (Q[:, 1:] * values) @ Q[:, 1:].T
    found = krylov(made((K + K.T) / 2, np.ones(500)), 8, tolerance=1e-9, chance=chance())
    assert np.abs(found.values - values[:8]).max() < 1e-7


def test_a_matrix_of_low_rank_has_no_more_pairs_than_its_rank(rng):
    X = rng.normal(size=(600, 2))
    matrix = Centred(mc.operator(mc.Linear(), X), np.ones(600))
    assert len(krylov(matrix, 9, tolerance=1e-8, chance=chance()).values) == 2


def test_points_that_coincide_in_feature_space_have_no_pairs():
    for find in (spectral, lambda A: krylov(A, 2, tolerance=1e-8, chance=chance())):
        matrix = Centred(mc.operator(mc.Bias(), np.arange(300.0)[:, None]), np.ones(300))
        assert find(matrix).values.size == 0


@pytest.mark.parametrize("find", ["spectral", "krylov"])
def test_a_negative_eigenvalue_is_an_error_and_no_nan(rng, find):
    Q, _ = np.linalg.qr(np.column_stack([np.ones(300), rng.normal(size=(300, 3))]))
    K = (Q[:, 1:] * [4.0, 2.0, -3.0]) @ Q[:, 1:].T
    matrix = made((K + K.T) / 2, np.ones(300))
    with pytest.raises(NotPositiveDefinite, match="eigenvalue of -3"):
        spectral(matrix) if find == "spectral" else krylov(
            matrix, 2, tolerance=1e-8, chance=chance()
        )


def test_what_has_not_converged_says_so(rng):
    X = rng.normal(size=(700, 8))
    matrix = Centred(mc.operator(mc.Gaussian(scale=0.7), X), np.ones(700))
    found = krylov(matrix, 6, tolerance=1e-12, chance=chance(), passes=3)
    assert not found.converged
    assert found.residual > 1e-12
    with pytest.raises(NotConverged, match="after 3 products"):
        require_converged(found, 1e-12)


def test_single_precision_stops_at_its_own_rounding(rng):
    X = rng.normal(size=(400, 3))
    plan = Plan(precision="float32")
    matrix = Centred(mc.operator(mc.Gaussian(scale=2.0), X, plan=plan), np.ones(400))
    found = krylov(matrix, 4, tolerance=1e-12, chance=chance())
    values, _ = plain(mc.Gaussian(scale=2.0)(X), np.ones(400))
    assert found.converged
    # Each entry is off by 2**-15 at most, and typically by a few units: the norm is below that.
    assert np.abs(found.values - values[:4]).max() < 1e-5 * values[0]


def test_as_many_pairs_as_hold_a_share(rng):
    X, weights = rng.normal(size=(700, 2)), np.ones(700)
    matrix = Centred(mc.operator(mc.Gaussian(scale=2.0), X), weights)
    every = spectral(matrix)

    def find(count, start):
        return krylov(matrix, count, tolerance=1e-9, chance=chance(), start=start)

    for share in (0.3, 0.8, 0.9):
        found = until_share(find, share, largest(700))
        held = np.cumsum(every.values) / every.values.sum()
        assert len(found.values) == int((held < share).sum()) + 1
    assert until_share(find, 0.9999999, largest(700)) is None


def test_the_trace_and_the_mean_take_no_product_of_their_own(cloud):
    X, weights = cloud
    operator = mc.operator(mc.Gaussian(), X)
    products = []

    class Counted(Operator):
        def __matmul__(self, V):
            products.append(np.shape(V))
            return super().__matmul__(V)

    operator.__class__ = Counted
    matrix = Centred(operator, weights)
    matrix @ np.ones((400, 3))
    K = mc.Gaussian()(X)
    assert np.isclose(matrix.trace, np.trace(centred(K, weights)), rtol=1e-12)
    assert np.allclose(matrix.mean, K @ weights / weights.sum(), rtol=1e-12)
    assert products == [(400, 4)]
