"""Sums, products, multiples and powers."""

import numpy as np
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import Vectors
from mercer.errors import (
    DomainMismatch,
    InvalidInput,
    InvalidParameter,
    NoFeatureMap,
    NotAKernel,
    NotSmooth,
)
from mercer.testing import check_kernel

g, p, line = mc.Gaussian(0.7), mc.Polynomial(2), mc.Linear()


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 3))


def test_the_operators_build_these():
    assert g + line == mc.Sum(g, line)
    assert g * line == mc.Product(g, line)
    assert 2 * g == g * 2 == mc.Scaled(2.0, g) == np.float64(2) * g == g * np.int64(2)
    assert g / 4 == mc.Scaled(0.25, g)
    assert g**2 == mc.Power(2, g) == g**2.0 == g ** np.int64(2)
    assert g + 3 == mc.Sum(g, mc.Scaled(3.0, mc.Bias()))
    assert 3 + g == mc.Sum(mc.Scaled(3.0, mc.Bias()), g)
    assert g + 0 == 0 + g == g
    assert sum([g, line, p]) == mc.Sum(mc.Sum(g, line), p)
    assert g.exp() == mc.Exp(g)
    assert g.normalized() == mc.Normalized(g)
    assert mc.series(g, [1, 2]) == mc.Series((1.0, 2.0), g)
    assert g.on(0, 1) == mc.Column((0, 1), g)


@pytest.mark.parametrize("other", ["a", None, [1.0], np.ones(3), object(), 1j])
def test_kernels_are_combined_with_kernels_and_numbers(other):
    for operation in (
        lambda: g + other,
        lambda: g * other,
        lambda: other + g,
        lambda: other * g,
    ):
        with pytest.raises(TypeError):
            operation()


def test_values(X):
    G, L = g(X), line(X)
    np.testing.assert_allclose((g + line)(X), G + L, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose((g * line)(X), G * L, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose((3 * line)(X), 3 * L, rtol=1e-15)
    for n in (1, 2, 3, 5, 8, 13):
        np.testing.assert_allclose((g**n)(X), G**n, rtol=1e-13, atol=0)
        np.testing.assert_allclose((g**n).diagonal(X), 1)
    np.testing.assert_allclose((g**0.3)(X), G**0.3, rtol=1e-13)
    np.testing.assert_allclose((0 * line)(X), 0)


def test_values_over_many_tiles(rng):
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(1300, 2))
    G, L = g(X, Y), line(X, Y)
    np.testing.assert_allclose(
        (g * line + 2 * g**2)(X, Y), G * L + 2 * G**2, rtol=1e-13, atol=1e-13
    )
    K = (g * line + 2 * g**2)(Y)
    np.testing.assert_array_equal(K, K.T)


def test_types_of_mixed_precision(X):
    single = X.astype(np.float32)
    for kernel in (g + line, g * line, 2 * g, g**2, g**0.5, g + 1):
        assert kernel(single).dtype == kernel.diagonal(single).dtype
    assert (g + line)(single).dtype == np.float32
    assert (2 * g)(single).dtype == np.float32
    assert (g**0.5)(single).dtype == np.float32


def test_features(X):
    for kernel in (
        line + p,
        line * p,
        3 * line,
        line**3,
        (line + 1) ** 2,
        mc.series(line, (1.0, 0.0, 2.0)),
        0 * line,
    ):
        phi = kernel.features(X)
        np.testing.assert_allclose(phi @ phi.T, kernel(X), rtol=1e-10, atol=1e-10)
    for kernel in (line + g, line * g, g**2, 2 * g, g**0.5):
        with pytest.raises(NoFeatureMap, match="embed"):
            kernel.features(X)


def test_slopes(X):
    smooth = mc.Gaussian((0.5, 1.0, 2.0)) * line + 2 * mc.RationalQuadratic() ** 3 + p**1
    report = check_kernel(smooth, X[:6])
    assert not {law for law in report.skipped if "slope" in law}
    names = set(smooth.parameter_gradient(X))
    assert names == {
        "left__left__left__scale", "left__right__weight", "left__right__kernel__kernel__scale",
        "left__right__kernel__kernel__alpha", "right__kernel__offset", "right__kernel__scale",
    }  # fmt: skip
    for rough in (
        line + mc.Exponential(),
        line * mc.Exponential(),
        2 * mc.Laplacian(),
        mc.Laplacian() ** 2,
    ):
        with pytest.raises(NotSmooth):
            rough.gradient(X)


def test_parameters_are_named_and_replaced():
    kernel = 2 * g + line * p
    assert kernel.parameters() == {
        "left__weight": 2.0, "left__kernel__scale": 0.7, "left__kernel__metric": None,
        "right__left__metric": None, "right__right__degree": 2, "right__right__offset": 1.0,
        "right__right__scale": 1.0,
    }  # fmt: skip
    assert kernel.replace(left__kernel__scale=3, right__right__degree=5) == (
        2 * mc.Gaussian(3.0) + line * mc.Polynomial(5)
    )
    assert kernel.replace(left=g) == g + line * p
    assert kernel.replace(left=g, left__scale=2.0) == mc.Gaussian(2.0) + line * p
    for wrong in (
        "scale",
        "left__scale",
        "middle",
        "left__kernel__width",
        "right__right__scale__x",
    ):
        with pytest.raises(InvalidParameter, match="no parameter"):
            kernel.replace(**{wrong: 1.0})
    with pytest.raises(NotAKernel):
        kernel.replace(left__weight=-1.0)


def test_powers():
    assert (mc.Linear() ** 3).exponent == 3
    for exponent in (0.5, -1, -2, 2.5, float("nan"), float("inf"), True, "2", None, 1j):
        with pytest.raises(NotAKernel, match="not a kernel in general") as caught:
            line**exponent
        assert "whole powers" in str(caught.value)
    for exponent in (0.5, 2.5, 1e-3):
        (g**exponent).proof().check()
    for exponent in (-0.5, float("nan"), float("inf"), "2"):
        with pytest.raises(NotAKernel):
            g**exponent
    for kernel in (line, g):
        with pytest.raises(NotAKernel, match=r"the constant 1.*\n.*mercer\.Bias\(\)"):
            kernel**0


def test_what_a_square_root_would_do(X):
    # (x'y)^2 has the root |x'y|, which is no kernel: the reason for the error above.
    assert np.linalg.eigvalsh(np.abs(line(X)))[0] < -0.1


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: g - line, "cone"), (lambda: 1 - g, "diagonal"), (lambda: -g, "diagonal"),
        (lambda: -2 * g, "diagonal"), (lambda: g / line, "normalized"),
        (lambda: 1 / g, "series"),
        (lambda: g / -2, "diagonal"), (lambda: g + -2, "diagonal"), (lambda: g - 0, "cone"),
    ],
)  # fmt: skip
def test_messages_say_why_and_what_to_do(attempt, words):
    with pytest.raises(NotAKernel, match=words):
        attempt()


def test_differences_can_be_indefinite(X):
    assert np.linalg.eigvalsh(g(X) - line(X))[0] < -0.1


def test_domains_are_combined():
    assert (mc.Min() + g).domain == mc.Min().domain
    assert (mc.Min() * mc.GCD()).domain == mc.GCD().domain
    assert (g + mc.Delta()).domain == g.domain
    assert (mc.Chi2() + g).domain == mc.Chi2().domain
    with pytest.raises(DomainMismatch):
        g + mc.Jaccard()


def test_deep_expressions(X):
    kernel = line
    for _ in range(40):
        kernel = 0.5 * kernel + g
    assert mc.kernel(str(kernel)) == kernel
    check = kernel(X[:5])
    exact = line(X[:5])
    for _ in range(40):
        exact = 0.5 * exact + g(X[:5])
    np.testing.assert_allclose(check, exact, rtol=1e-12)
    kernel.proof().check()


def test_bishops_chain_to_the_gaussian(X):
    # exp(x'y / s^2) f(x) f(y) with f(x) = exp(-|x|^2 / 2 s^2).
    chain = (mc.Linear() / 0.49).exp().weighted(lambda x: np.exp(-(x @ x) / 0.98))
    np.testing.assert_allclose(chain(X), g(X), rtol=1e-10)
    assert chain.proof().check() is None


# -------------------------------------------------------------------- nothing else can be built


HUGE = 10**400


@pytest.mark.parametrize(
    "build",
    [
        lambda: HUGE * line,
        lambda: line / HUGE,
        lambda: line + HUGE,
        lambda: g**HUGE,
        lambda: mc.Gaussian(HUGE),
        lambda: mc.Series((1, HUGE), line),
    ],
)
def test_whole_numbers_beyond_every_float(build):
    with pytest.raises(NotAKernel):
        build()


def test_a_degree_is_an_exact_float():
    with pytest.raises(InvalidParameter, match="2 \\*\\* 53"):
        mc.Polynomial(HUGE)


@pytest.mark.parametrize(
    "build",
    [
        lambda: mc.Sum(5, g),
        lambda: mc.Product(g, "linear"),
        lambda: mc.Scaled(2.0, 5),
        lambda: (2 * g).replace(kernel=5),
        lambda: mc.Power(2, None),
        lambda: mc.Exp(5),
        lambda: mc.Normalized(None),
        lambda: mc.Series((1.0,), 5),
        lambda: mc.Schoenberg(1.0, 5),
        lambda: mc.Weighted(len, 5),
        lambda: mc.Pullback(len, 5),
        lambda: mc.Column("age", 5),
    ],
)
def test_only_kernels_are_combined(build):
    with pytest.raises(InvalidParameter, match="combines kernels"):
        build()


def test_zero_has_one_text():
    assert str(-0.0 * g) == str(0.0 * g)


# ----------------------------------------------------------------------------- roots and limits


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Gaussian(),
        mc.Gaussian((1.0,)),
        mc.Gaussian(metric=[[2.0]]),
        mc.Exponential(0.05),
        mc.Laplacian((0.05,)),
        mc.Matern(0.5, 0.05),
        mc.GeneralizedGaussian(1.0, 1.9, 1.8),
        mc.RationalQuadratic(0.1, 200.0),
        mc.Periodic(1000.0, 0.003),
        mc.Chi2(0.1),
        mc.Schoenberg(0.5, mc.Gaussian() + 2 * line),
        line.exp().normalized(),
        2 * mc.Gaussian() * mc.Laplacian(),
        mc.Gaussian() ** 2,
        mc.Gaussian().on(0),
        mc.Gaussian().normalized(),
        mc.Gaussian().map(lambda x: x),
    ],
    ids=str,
)
def test_a_root_sees_values_that_are_too_small(kernel, dtype):
    # k(x, y) underflows where its root does not: the same root a step at a time, near by.
    X = np.array([[1.0], [41.0]], dtype)
    root, r = kernel**1e-3, 1e-3
    far = root(X)[0, 1]
    assert kernel(X)[0, 1] < np.finfo(dtype).tiny
    # log k is -psi, and for these kernels psi(0, 40) is found from a power that is in range.
    tame = kernel**0.01
    assert far == pytest.approx(tame(X)[0, 1] ** (r / 0.01), rel=1e-4)
    assert 1e-6 < far < 1
    assert (root(X).diagonal() == root.diagonal(X)).all()


def test_the_root_of_a_gaussian_far_away():
    X = np.array([[0.0], [40.0]])
    root = mc.Gaussian() ** 0.001
    assert root(X)[0, 1] == pytest.approx(np.exp(-0.8), rel=1e-12)
    assert root.gradient(X)[0, 1, 0] == pytest.approx(0.04 * np.exp(-0.8), rel=1e-12)
    slope = root.parameter_gradient(X)["kernel__scale"]
    assert slope[0, 1] == pytest.approx(1.6 * np.exp(-0.8), rel=1e-12)
    with pytest.raises(InvalidInput, match="underflows"):
        ((2 * mc.Gaussian()) ** 0.001).parameter_gradient(X)


def test_roots_that_have_no_form_of_their_own():
    X = np.array([[0.0], [4000.0]])
    with pytest.raises(InvalidInput, match="underflows"):
        (mc.Matern(1.5) ** 0.001)(X)
    assert (mc.Matern(1.5) ** 0.5)(X)[0, 1] == 0
    assert (mc.White() ** 0.001)(X)[0, 1] == 0
    assert (mc.SumPower(2.0) ** 0.001)([-1e6]) == pytest.approx(np.exp2(-2000.0))


def test_feature_maps_that_would_not_fit():
    X = np.ones((2, 3))
    for kernel in (line**10**9, line**20, (line**9) * (line**9), mc.series(line, (1.0,) * 30)):
        with pytest.raises(NoFeatureMap, match="would not fit"):
            kernel.features(X)
    np.testing.assert_array_equal((line**10**9).features([[1.0], [0.5]]), [[1.0], [0.0]])


@pytest.mark.parametrize(
    "kernel",
    [
        g,
        mc.GeneralizedGaussian(30.0, 1.5, 0.5),
        mc.from_function(lambda A, B: A @ B.T, vectorized=True, domain=Vectors()),
        line.map(lambda x: x),
        line.on("a"),
    ],
    ids=str,
)
def test_values_are_not_written_over_the_points(rng, kernel):
    X = rng.normal(size=(200, 200))
    points = {"a": X} if isinstance(kernel, mc.Column) else X
    before = X.copy()
    with pytest.raises(InvalidParameter, match=r"shares its memory.*\n.*another array"):
        kernel(points, out=X)
    with pytest.raises(InvalidParameter, match="shares its memory"):
        kernel({"a": before} if points is not X else before, points, out=X)
    np.testing.assert_array_equal(X, before)
    apart = np.empty((200, 200))
    assert kernel(points, out=apart) is apart


def test_values_are_not_written_over_sparse_points():
    X = sp.csr_array(np.ones((3, 3)))
    with pytest.raises(InvalidParameter, match="shares its memory"):
        line(X, out=X.data.reshape(3, 3))


@pytest.mark.parametrize("exponent", [0.3, 0.5, 1.7])
@pytest.mark.parametrize("kernel", [mc.ProductPower(1.5), mc.SumPower(1.5)], ids=str)
def test_the_slope_of_a_root_in_the_base(kernel, exponent):
    x, step = [0.5, 1.0, 2.0], 2.0**-17
    power = kernel**exponent
    up, down = (power.replace(kernel__base=1.5 * np.exp(sign * step))(x) for sign in (1, -1))
    slope = power.parameter_gradient(x)["kernel__base"]
    # A difference of this step is off by a third derivative times 2^-36, and 2^-53 / 2^-17.
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-8)
