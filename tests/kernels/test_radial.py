"""Kernels of a distance: lengths, metrics, slopes, and which profile is computed how."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NotAKernel, NotSmooth
from mercer.testing import check_kernel

METRIC = [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 0.5]]
FAMILIES = [
    mc.Gaussian(), mc.Exponential(), mc.Matern(0.5), mc.Matern(1.5), mc.Matern(2.5),
    mc.Matern(0.8), mc.Matern(3.5), mc.RationalQuadratic(), mc.Wendland(0), mc.Wendland(1),
    mc.Wendland(2), mc.Wendland(3),
]  # fmt: skip


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture(params=FAMILIES, ids=str)
def kernel(request):
    return request.param


def test_one_length_is_the_same_length_for_every_feature(kernel, X):
    one, each = kernel.replace(scale=1.7), kernel.replace(scale=(1.7, 1.7, 1.7))
    np.testing.assert_allclose(one(X), each(X), rtol=0, atol=2.0**-40)


def test_lengths_divide_the_features(kernel, X):
    np.testing.assert_allclose(
        kernel.replace(scale=(0.5, 1.0, 2.0))(X),
        kernel(X / [0.5, 1.0, 2.0]),
        rtol=0,
        atol=2.0**-40,
    )


def test_a_diagonal_metric_weighs_the_features(kernel, X):
    metric = np.diag([4.0, 1.0, 0.25])
    np.testing.assert_allclose(
        kernel.replace(metric=metric)(X), kernel(X * [2.0, 1.0, 0.5]), rtol=0, atol=2.0**-38
    )


def test_a_metric_is_the_distance_of_mahalanobis(kernel, X):
    r = cdist(X, X, "mahalanobis", VI=np.array(METRIC))
    line = kernel(
        np.array([[0.0, 0.0, 0.0]]), np.stack([r.ravel(), *np.zeros((2, 1600))], axis=1)
    )
    found = kernel.replace(metric=METRIC)(X)
    np.testing.assert_allclose(found, line.reshape(40, 40), rtol=0, atol=1e-7)
    assert (found.diagonal() == 1).all()


def test_a_flat_metric_ignores_a_direction(kernel):
    flat = kernel.replace(metric=[[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert flat.pair([0.0, 0.0, 0.0], [3.0, 3.0, 5.0]) == pytest.approx(1, abs=1e-7)
    assert not flat.is_strict
    check_kernel(flat, [[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [2.0, 3.0, 0.5]])


def test_sparse_points_have_the_same_values(kernel, X):
    Z = np.where(np.abs(X) > 0.5, X, 0)
    for other in (kernel, kernel.replace(scale=(0.5, 1.0, 2.0)), kernel.replace(metric=METRIC)):
        K = other(Z)
        np.testing.assert_allclose(other(sp.csr_array(Z)), K, rtol=0, atol=2.0**-38)
        np.testing.assert_allclose(
            other(sp.csr_array(Z), Z[:5]), K[:, :5], rtol=0, atol=2.0**-38
        )
        np.testing.assert_allclose(other(Z[:5], sp.csr_array(Z)), K[:5], rtol=0, atol=2.0**-38)


def test_float32_stays_float32(kernel, X):
    K = kernel(X.astype(np.float32))
    assert K.dtype == np.float32
    np.testing.assert_allclose(
        K, kernel(X.astype(np.float32).astype(float)), rtol=0, atol=2.0**-15
    )
    assert kernel(X.astype(np.float32), X).dtype == np.float64


def test_facts(kernel):
    assert kernel.is_stationary
    assert kernel.is_isotropic
    assert kernel.is_strict
    assert not kernel.replace(scale=(1.0, 2.0)).is_isotropic
    assert kernel.replace(scale=(1.0, 2.0)).is_stationary
    assert not kernel.replace(metric=METRIC).is_isotropic
    assert kernel.replace(metric=METRIC).is_strict


@pytest.mark.parametrize(
    "smooth", [mc.Gaussian(), mc.Matern(1.5), mc.Matern(2.5), mc.Matern(1.2), mc.Matern(3.5),
               mc.RationalQuadratic(1.0, 0.5), *(mc.Wendland(n, 3.0) for n in (1, 2, 3))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("change", [{}, {"scale": (0.5, 1.0, 2.0)}, {"metric": METRIC}])
def test_gradients(smooth, change, X):
    other = smooth.replace(**change)
    report = check_kernel(other, X[:8])
    assert "k.gradient(X, Y) is the slope in x" in report.checked
    assert "k.parameter_gradient(X, Y) is the slope in log-parameters" in report.checked
    assert (other.gradient(X[:3])[[0, 1, 2], [0, 1, 2]] == 0).all()


def test_a_cusp_has_no_gradient():
    for cusp in (mc.Exponential(), mc.Matern(0.5), mc.Matern(1.0), mc.Wendland(0)):
        with pytest.raises(NotSmooth, match="cusp"):
            cusp.gradient([[0.0], [1.0]])


def test_the_slope_of_the_exponential_in_its_scale(X):
    for scale in (0.7, (0.5, 1.0, 2.0)):
        check = check_kernel(mc.Exponential(scale), X[:6])
        assert "k.parameter_gradient(X, Y) is the slope in log-parameters" in check.checked


def test_matern_is_known_at_both_ends(X):
    np.testing.assert_allclose(mc.Matern(0.5)(X), mc.Exponential()(X), rtol=1e-12)
    np.testing.assert_allclose(mc.Matern(1e10)(X), mc.Gaussian()(X), atol=1e-9)
    for nu in (0.5, 1.5, 2.5):  # the closed form is the limit of the general one
        near = mc.Matern(nu * (1 + 1e-9))(X)
        np.testing.assert_allclose(near, mc.Matern(nu)(X), atol=1e-7)


@pytest.mark.parametrize(
    "nu",
    [1e-300, 0.01, 0.3, 1.0, 1.7, 3.0, 3.25, 10.0, 40.0, 100.0, 165.0, 199.5, 200.0, 1e3, 1e6],
)
def test_matern_of_every_order(nu):
    # Bessel functions of a large order overflow near 0, those of a small one are steep there.
    mp = mpmath.mp.clone()
    mp.dps = 60
    r = np.array([0.0, 1e-140, 1e-12, 1e-8, 1e-5, 1e-2, 0.1, 1.0, 3.0, 8.0])
    found = mc.Matern(nu)([[0.0]], r[:, None])[0]
    assert found[0] == 1
    for distance, value in zip(r[1:], found[1:], strict=True):
        order = mp.mpf(nu)
        t = mp.sqrt(2 * order) * mp.mpf(float(distance))
        if nu < 1e5:
            exact = 2 ** (1 - order) / mp.gamma(order) * t**order * mp.besselk(order, t)
        else:  # the first term beyond the limit
            square = mp.mpf(float(distance)) ** 2
            exact = mp.exp(-square / 2 + (square**2 / 8 - square / 2) / nu)
        assert abs(value - exact) <= 1e-12


@pytest.mark.parametrize("nu", [0.3, 1.7, 5.0, 150.0, 300.0, 1e14, 1e100])
def test_matern_of_every_distance(nu):
    r = np.array([[0.0], [1e-300], [1.0], [1e3], [1e200], [1e300]])
    K = mc.Matern(nu)(r)
    assert np.isfinite(K).all()
    assert (K[3:, :3] == 0).all()
    assert K[2, 0] == pytest.approx(np.exp(-0.5), abs=1 / nu + 1e-15)


def test_rational_quadratic_is_known_at_the_end(X):
    np.testing.assert_allclose(mc.RationalQuadratic(alpha=1e9)(X), mc.Gaussian()(X), atol=1e-7)


@pytest.mark.parametrize("smoothness", range(4))
@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_wendland(smoothness, dimension):
    kernel = mc.Wendland(smoothness, 2.0, dimension)
    origin = np.zeros((1, dimension))

    def along(r):
        return kernel(origin, np.pad(np.atleast_1d(r)[:, None], ((0, 0), (0, dimension - 1))))[
            0
        ]

    assert (along([2.0, 2.5, 1e9]) == 0).all()
    assert (np.diff(along(np.linspace(0, 2, 200))) < 0).all()
    # It is 2 q times differentiable at the edge: the values vanish at least as t^(2q + 1).
    t = 1e-3
    assert along(2 - 2 * t)[0] <= 100 * t ** (2 * smoothness + 1)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 3, 4)] * min(dimension, 3)), -1).reshape(
        -1, min(dimension, 3)
    )
    check_kernel(kernel, np.pad(grid, ((0, 0), (0, dimension - grid.shape[1]))))


def test_wendland_is_refused_where_it_is_no_kernel():
    kernel = mc.Wendland(1, 1.0, dimension=2)
    with pytest.raises(InvalidInput, match="wider"):
        kernel(np.zeros((2, 3)))
    with pytest.raises(NotAKernel):
        mc.Wendland(4)


def test_a_point_is_infinitely_far(X):
    far = np.array([[1e200, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for family in FAMILIES:
        assert family(far).tolist() == [[1, 0], [0, 1]]


def test_alike_values_of_the_two_ways(X):
    # The same points, near zero and far away: product form, then differences.
    for family in FAMILIES:
        np.testing.assert_allclose(family(X.round(6) + 2.0**20), family(X.round(6)), atol=1e-8)


@pytest.mark.parametrize("matrix", [[[1, 1j], [-1j, 1]], [[1, 2], [3]], "abc", [["1"]]])
def test_a_metric_is_a_matrix_of_numbers(matrix):
    with pytest.raises(InvalidParameter, match="matrix of numbers"):
        mc.Gaussian(metric=matrix)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", [1e-320, 1e-50, 1e-3, 1.0, 1e20, 1e60, 1e200, 1e308])
def test_a_rational_quadratic_of_any_shape(alpha, dtype):
    with mpmath.workdps(400):
        a = mpmath.mpf(alpha)
        exact = float((1 + mpmath.mpf(1) / (2 * a)) ** -a)
    X = np.array([[1.0], [0.0]], dtype)
    kernel = mc.RationalQuadratic(1.0, alpha)
    assert kernel(X)[0, 1] == pytest.approx(exact, rel=1e-6 if dtype == np.float32 else 1e-13)
    assert kernel(X)[0, 0] == 1
    slope = kernel.gradient(X)[0, 1, 0]
    assert slope == pytest.approx(-exact / (1 + 0.5 / alpha if alpha > 1e-300 else np.inf))


def test_a_tail_is_not_over_where_squares_overflow():
    X = np.array([[1e200], [0.0]])
    with pytest.raises(InvalidInput, match="tail"):
        mc.RationalQuadratic(1.0, 1e-3)(X)
    assert mc.RationalQuadratic(1.0, 2.0)(X)[0, 1] == 0


@pytest.mark.parametrize(
    "make", [mc.Gaussian, lambda s: mc.Matern(2.5, s), lambda s: mc.Wendland(1, s)]
)
def test_zero_rows_with_a_tiny_scale_in_float32(make):
    X = sp.csr_array(np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(make(1e-150)(X, X.copy()), np.ones((2, 2)))
