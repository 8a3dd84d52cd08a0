"""Every number that one eigendecomposition gives, against what it stands for."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import mercer as mc
from mercer.errors import NotPositiveDefinite
from mercer.solvers.spectral import Spectrum

N, SHIFT = 17, 0.3
# Condition numbers stay below 1e4, so 1e-9 is a thousand times the rounding.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=[True, False], ids=["offset", "no offset"])
def has_offset(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["weights", "equal"])
def weights(request, rng):
    return rng.uniform(0.2, 3.0, N) if request.param else np.ones(N)


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 2))


@pytest.fixture
def Y(rng):
    return rng.normal(size=(N, 2)) + 3.0


def plain(K, Y, weights, shift, has_offset):
    """The equations of the seeds, written out: (K + mu / W) a + b = y, sum(a) = 0."""
    n = len(K)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.diag(shift / weights)
    right = np.zeros((n + 1, Y.shape[1]))
    right[:n] = Y
    if has_offset:
        system[:n, n] = system[n, :n] = 1.0
    else:
        system[n, n] = 1.0
    found = np.linalg.solve(system, right)
    return found[:n], found[n]


def of(K, weights, has_offset):
    return Spectrum.of(K.copy(), weights, has_offset=has_offset)


def test_solutions_are_those_of_the_equations(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    spectrum = of(K, weights, has_offset)
    for shift in (1e-3, SHIFT, 50.0):
        a, b = spectrum.solve(Y, shift)
        wanted, offset = plain(K, Y, weights, shift, has_offset)
        np.testing.assert_allclose(a, wanted, **CLOSE)
        np.testing.assert_allclose(b, offset, **CLOSE)
        assert spectrum.residual(Y, a, shift) < 1e-12
        assert spectrum.residual(Y, 1.01 * a, shift) == pytest.approx(0.01, rel=1e-6)


def test_leave_one_out_is_a_fit_without_the_row(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    errors = of(K, weights, has_offset).left_out(Y, SHIFT)
    for row in range(N):
        rest = np.delete(np.arange(N), row)
        a, b = plain(K[np.ix_(rest, rest)], Y[rest], weights[rest], SHIFT, has_offset)
        np.testing.assert_allclose(errors[row], Y[row] - K[row, rest] @ a - b, **CLOSE)


def test_the_error_of_a_path_is_the_weighted_mean_over_rows_and_targets(
    X, Y, weights, has_offset
):
    spectrum = of(mc.Gaussian()(X), weights, has_offset)
    shifts = np.array([0.01, 1.0, 10.0])
    errors = spectrum.errors(Y, shifts)
    for shift, error in zip(shifts, errors, strict=True):
        squares = (spectrum.left_out(Y, shift) ** 2).sum(axis=1)
        assert error == pytest.approx(np.average(squares, weights=weights), rel=1e-12)


def test_gains_are_the_diagonal_of_the_projected_inverse(X, weights, has_offset):
    K = mc.Gaussian()(X)
    roots = np.sqrt(weights)
    P = np.eye(N)
    if has_offset:
        P -= np.outer(roots, roots) / weights.sum()
    # The inverse on what is orthogonal to the constant, zero on the constant.
    inverse = np.linalg.pinv(P @ (roots[:, None] * K * roots + SHIFT * np.eye(N)) @ P)
    gains = of(K, weights, has_offset).gains(np.array([SHIFT]))[:, 0]
    np.testing.assert_allclose(gains, np.diag(inverse), **CLOSE)


def test_generalised_errors_are_the_rotation_invariant_form(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    roots = np.sqrt(weights)
    # H maps the weighted targets to the weighted fitted values.
    H = np.column_stack(
        [
            roots * (K @ a[:, 0] + b[0])
            for a, b in (
                plain(K, (e / roots)[:, None], weights, SHIFT, has_offset) for e in np.eye(N)
            )
        ]
    )
    rest = roots[:, None] * Y - H @ (roots[:, None] * Y)
    wanted = (rest**2).sum() / N / ((N - np.trace(H)) / N) ** 2
    found = of(K, weights, has_offset).generalized_errors(Y, np.array([SHIFT]))
    assert found[0] == pytest.approx(wanted, rel=1e-9)


def test_the_likelihood_is_that_of_a_gaussian_process(X, Y, weights):
    K = mc.Gaussian(scale=0.7)(X)
    spectrum = of(K, weights, False)
    found, variance = spectrum.log_likelihood(Y, SHIFT), spectrum.variance(Y, SHIFT)
    for t in range(2):

        def told(v, t=t):
            process = GaussianProcessRegressor(
                ConstantKernel(v) * RBF(0.7), alpha=v * SHIFT / weights, optimizer=None
            )
            return process.fit(X, Y[:, t]).log_marginal_likelihood_value_

        assert found[t] == pytest.approx(told(variance[t]), rel=1e-9)
        best = minimize_scalar(
            lambda log: -told(np.exp(log)), bounds=(-5, 5), method="bounded",
            options={"xatol": 1e-9},
        )  # fmt: skip
        # Near a maximum the value is exact to the square of the distance.
        assert found[t] == pytest.approx(-best.fun, rel=1e-9)


def test_with_an_offset_the_likelihood_is_its_integral_over_the_offset(X, Y, weights):
    K = mc.Gaussian()(X)
    spectrum = of(K, weights, True)
    # N - 1 combinations of the targets that no constant moves, orthonormal.
    A = np.linalg.svd(np.ones((1, N)))[2][1:]
    for t in range(2):
        v = spectrum.variance(Y, SHIFT)[t]
        C = v * A @ (K + SHIFT * np.diag(1 / weights)) @ A.T
        z = A @ Y[:, t]
        told = -0.5 * (
            z @ np.linalg.solve(C, z) + np.linalg.slogdet(C)[1] + (N - 1) * np.log(2 * np.pi)
        )
        # An offset of density one moves the mean, whose unit vector is 1 / sqrt(N).
        told -= 0.5 * np.log(N)
        assert spectrum.log_likelihood(Y, SHIFT)[t] == pytest.approx(told, rel=1e-9)


def test_explained_leaves_the_variance_of_a_gaussian_process(X, Y, weights, rng):
    Z = rng.normal(size=(5, 2))
    k = mc.Gaussian(scale=0.7)
    process = GaussianProcessRegressor(RBF(0.7), alpha=SHIFT / weights, optimizer=None)
    _, deviation = process.fit(X, Y[:, 0]).predict(Z, return_std=True)
    found = 1 - of(k(X), weights, False).explained(k(X, Z), SHIFT)
    np.testing.assert_allclose(found, deviation**2, **CLOSE)


def test_with_an_offset_explained_is_the_best_unbiased_forecast(X, weights, rng):
    """Universal kriging: the least variance among weights that sum to one."""
    Z = rng.normal(size=(5, 2))
    k = mc.Gaussian()
    C = k(X) + np.diag(SHIFT / weights)
    system = np.block([[C, np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]])
    cross = k(X, Z)
    found = np.linalg.solve(system, np.vstack([cross, np.ones(5)]))[:N]
    variance = 1 - 2 * (found * cross).sum(axis=0) + (found * (C @ found)).sum(axis=0)
    spectrum = of(k(X), weights, True)
    np.testing.assert_allclose(1 - spectrum.explained(cross, SHIFT), variance, **CLOSE)
    np.testing.assert_allclose(spectrum.smoother(cross, SHIFT), found, **CLOSE)


def test_the_smoother_makes_the_predictions(X, Y, weights, has_offset, rng):
    Z = rng.normal(size=(5, 2))
    k = mc.Gaussian()
    spectrum = of(k(X), weights, has_offset)
    a, b = spectrum.solve(Y, SHIFT)
    smoother = spectrum.smoother(k(X, Z), SHIFT)
    np.testing.assert_allclose(smoother.T @ Y, k(Z, X) @ a + b, **CLOSE)


@pytest.mark.parametrize("white", [True, False])
def test_features_give_what_their_matrix_gives(X, Y, weights, has_offset, white, rng):
    """The primal side and the dual side are one problem."""
    features = np.column_stack([X, X**2, X[:, :1] * X[:, 1:]])
    K = features @ features.T
    primal = Spectrum.of_features(features.copy(), weights, has_offset=has_offset, white=white)
    dual = of(K, weights, has_offset)
    cross = rng.normal(size=(4, 5)) @ features.T
    assert not primal.is_full
    # The products of features have the square of their condition number.
    close = {"rtol": 1e-7, "atol": 1e-7} if white else CLOSE
    for shift in (0.01, 3.0):
        a, b = primal.solve(Y, shift)
        wanted, offset = dual.solve(Y, shift)
        np.testing.assert_allclose(K @ a + b, K @ wanted + offset, **close)
        np.testing.assert_allclose(a, wanted, rtol=1e-6, atol=1e-6)
        assert primal.residual(Y, a, shift) < 1e-9
        np.testing.assert_allclose(primal.left_out(Y, shift), dual.left_out(Y, shift), **close)
        np.testing.assert_allclose(
            primal.log_likelihood(Y, shift), dual.log_likelihood(Y, shift), **close
        )
        shifts = np.array([shift])
        np.testing.assert_allclose(
            primal.generalized_errors(Y, shifts), dual.generalized_errors(Y, shifts), **close
        )
        np.testing.assert_allclose(
            primal.explained(cross.T, shift),
            dual.explained(cross.T, shift),
            rtol=1e-6,
            atol=1e-6,
        )


def test_at_no_penalty_it_is_the_solution_of_least_norm(rng):
    """Rank-aware: what is rounding counts as zero."""
    F = rng.normal(size=(12, 4))
    y = rng.normal(size=(12, 1))
    a, _ = of(F @ F.T, np.ones(12), False).solve(y, 0.0)
    # f = F' a is the least-squares solution, and a itself lies in the range of K.
    np.testing.assert_allclose(F.T @ a, np.linalg.lstsq(F, y, rcond=None)[0], **CLOSE)
    np.testing.assert_allclose(F @ np.linalg.lstsq(F, a, rcond=None)[0], a, **CLOSE)


def test_the_norm_is_that_of_the_function(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    spectrum = of(K, weights, has_offset)
    norms = spectrum.squared_norms(Y)
    for shift in (0.01, 1.0, 30.0):
        a, _ = spectrum.solve(Y, shift)
        assert norms(shift) == pytest.approx(np.trace(a.T @ K @ a), rel=1e-9)


def test_a_matrix_that_is_none_of_a_kernel_is_refused():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(NotPositiveDefinite, match=r"repair") as caught:
        Spectrum.of(K, np.ones(2), has_offset=False)
    assert "eigenvalue -1" in str(caught.value)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_of_equal_points_is_not_refused(offset, rng):
    X = offset + 1e-3 * np.repeat(rng.normal(size=(20, 3)), 10, axis=0)
    spectrum = Spectrum.of(mc.Gaussian(0.1)(X), np.ones(200), has_offset=True)
    assert (spectrum.values >= 0).all()


def test_one_row(has_offset):
    spectrum = Spectrum.of(np.array([[2.0]]), np.ones(1), has_offset=has_offset)
    a, b = spectrum.solve(np.array([[3.0]]), 1.0)
    assert (a[0, 0], b[0]) == ((0.0, 3.0) if has_offset else (1.0, 0.0))
    # Nothing else is there to predict it from: the prediction is zero.
    assert spectrum.left_out(np.array([[3.0]]), 1.0)[0, 0] == 3.0
