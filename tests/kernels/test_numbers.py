"""Kernels on numbers, against exact arithmetic."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.domains import NATURALS, NONNEGATIVE, POSITIVE, REALS, interval
from mercer.errors import InvalidInput, InvalidParameter, NoFeatureMap, NotAKernel, NotSmooth
from mercer.loops import Pairwise


def exactly(formula):
    """A formula worked out in 50 digits."""

    def value(x, y):
        with mpmath.workdps(50):
            return float(formula(mpmath.mpf(float(x)), mpmath.mpf(float(y))))

    return value


# A kernel, its formula, its domain, points of the domain, and the relative error in units: one
# for each rounded operation, more where an exponent of size t makes t times its own error.
CASES = [
    (mc.Min(), exactly(min), NONNEGATIVE, [0.0, 0.1, 2.0, 1e300, 0.1], 0),
    (mc.MinOverMax(), exactly(lambda x, y: min(x, y) / max(x, y)), POSITIVE,
     [0.1, 2.0, 1e300, 3e-300, 2.0], 1),
    (mc.GCD(), lambda x, y: float(math.gcd(int(x), int(y))), NATURALS,
     [1, 6, 4, 360, 2**24 - 1, 6], 0),
    (mc.GCDOverLCM(),
     lambda x, y: math.gcd(int(x), int(y)) / math.lcm(int(x), int(y)), NATURALS,
     [1, 6, 4, 360, 2**24 - 1, 6], 3),
    (mc.Geometric(), exactly(lambda x, y: 1 / (1 - x * y)), interval(-1, 1),
     [0.0, 0.5, -0.5, 0.99, -0.999, 0.5], 12),
    (mc.ProductPower(), exactly(lambda x, y: 2 ** (x * y)), REALS,
     [0.0, 1.0, -2.0, 3.1, 5.0, 1.0], 40),
    (mc.ProductPower(1.5), exactly(lambda x, y: mpmath.mpf(1.5) ** (x * y)), REALS,
     [0.0, 1.0, -2.0, 3.1, 5.0, 1.0], 40),
    (mc.SumPower(), exactly(lambda x, y: 2 ** (x + y)), REALS,
     [0.0, 1.0, -2.0, 3.1, 5.0, 1.0], 20),
    (mc.SumPower(0.5), exactly(lambda x, y: mpmath.mpf(0.5) ** (x + y)), REALS,
     [0.0, 1.0, -2.0, 3.1, 5.0, 1.0], 20),
]  # fmt: skip
COSINE = mc.CosineDifference(1.5)
KERNELS = [case[0] for case in CASES] + [COSINE]
SOME = [1.0, 2.0, 3.0, 5.0, 8.0, 2.0]
names = {"ids": lambda value: str(value) if isinstance(value, mc.Kernel) else None}


def some(kernel):
    """Points that suit the kernel."""
    return np.array(SOME) / (10 if kernel == mc.Geometric() else 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("kernel", "formula", "domain", "points", "units"), CASES, **names)
def test_is_its_formula(kernel, formula, domain, points, units, dtype):
    assert kernel.domain == domain
    X = np.array([x for x in points if abs(x) < 1e30 and x > -1e30 and not 0 < x < 1e-30])
    X = X.astype(dtype) if dtype == np.float32 else np.array(points, dtype=float)
    expected = np.array([[formula(x, y) for y in X] for x in X])
    # Computed in float64, then rounded once.
    error = units * 2.0**-53 + (2.0**-24 if dtype == np.float32 else 0)
    for values in (kernel(X), kernel(X, X.copy()), kernel(X[:, None])):
        assert values.dtype == dtype
        np.testing.assert_allclose(values, expected, rtol=error)
    assert kernel.pair(X[1], X[2]) == kernel(X)[1, 2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_gram_matrix_is_symmetric_and_psd(kernel, dtype):
    X = some(kernel).astype(dtype)
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diagonal(X))
    # Entries off by e move an eigenvalue by at most n e.
    error = len(X) * 8 * float(np.finfo(dtype).eps) * float(np.abs(K).max())
    assert np.linalg.eigvalsh(K.astype(float))[0] >= -error
    assert np.array_equal(kernel(X[[3]]), K[3:4, 3:4])
    assert kernel(X, X.astype(np.float64)).dtype == np.float64
    if "unit" in kernel.proof().facts:
        assert (np.diag(K) == 1).all()


def test_many_points_make_many_tiles(rng):
    X, Y = rng.uniform(-0.9, 0.9, 400), rng.uniform(-0.9, 0.9, 1300)
    np.testing.assert_allclose(mc.Geometric()(X, Y), 1 / (1 - np.multiply.outer(X, Y)))
    K = mc.Geometric()(X)
    assert np.array_equal(np.diag(K), mc.Geometric().diagonal(X))
    A = NONNEGATIVE.encode(np.abs(X))
    assert isinstance(mc.Min().tiles(A, A), Pairwise)


def test_a_sparse_column_is_read():
    X = sparse.csr_array([[0.0], [2.0]])
    assert np.array_equal(mc.Min()(X), [[0, 0], [0, 2]])


# Hard data


@given(st.lists(st.integers(1, 2**53 - 1), min_size=1, max_size=5))
def test_gcd_is_exact_below_two_to_the_53(points):
    assert np.array_equal(mc.GCD()(points), [[math.gcd(x, y) for y in points] for x in points])
    ratios = [[float(Fraction(math.gcd(x, y) ** 2, x * y)) for y in points] for x in points]
    np.testing.assert_allclose(mc.GCDOverLCM()(points), ratios, rtol=4 * 2.0**-53)


def test_whole_numbers_that_floats_cannot_hold_are_refused():
    with pytest.raises(InvalidInput, match="told apart"):
        mc.GCD()([2.0**54])
    with pytest.raises(InvalidInput, match="told apart"):
        mc.GCD()([2**53 + 1, 3])  # as a float it is 2**53, whose divisors are others
    with pytest.raises(InvalidInput, match="told apart"):
        mc.GCD()(np.array([2**24 + 1], dtype=np.float32))
    with pytest.raises(InvalidInput, match="told apart"):
        mc.GCD()(np.array([2.0**25], dtype=np.float32))


def test_smith_determinant():
    # Smith 1875: det gcd(i, j) over 1..n is the product of Euler's phi(i).
    phi = [sum(math.gcd(i, j) == 1 for j in range(1, i + 1)) for i in range(1, 11)]
    assert np.linalg.det(mc.GCD()(range(1, 11))) == pytest.approx(math.prod(phi))


@given(st.floats(2.0**-50, 1e-3), st.floats(2.0**-50, 1e-3), st.sampled_from([1, -1]))
def test_geometric_keeps_its_digits_near_one(p, q, sign):
    x, y = sign * (1 - p), sign * (1 - q)
    with mpmath.workdps(50):
        exact = float(1 / (1 - mpmath.mpf(x) * mpmath.mpf(y)))
    assert mc.Geometric().pair(x, y) == pytest.approx(exact, rel=6 * 2.0**-53)
    assert mc.Geometric().pair(y, x) == mc.Geometric().pair(x, y)


def test_cosine_of_a_difference_far_away():
    # x - y has no rounding error here, while cos x cos y + sin x sin y would have a large one.
    x, y = 1e15 + 0.5, 1e15
    assert COSINE.pair(x, y) == pytest.approx(math.cos(0.75), rel=1e-15)
    X = np.linspace(-3, 3, 9)
    expected = [[math.cos(1.5 * (a - b)) for b in X] for a in X]
    np.testing.assert_allclose(COSINE(X), expected, atol=4 * 2.0**-53 * 9)
    assert mc.CosineDifference(0.0).pair(1.0, 5.0) == 1
    assert mc.CosineDifference(-2.0).pair(1.0, 5.0) == mc.CosineDifference(2.0).pair(1.0, 5.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_overflow_is_an_error(dtype):
    far = 40.0 if dtype == np.float64 else 12.0  # 2^1600, 2^144
    with pytest.raises(InvalidInput, match="overflows"):
        mc.ProductPower()(np.array([1.0, far], dtype=dtype))
    with pytest.raises(InvalidInput, match="overflows"):
        mc.SumPower()(np.array([1.0, far**2], dtype=dtype))
    with pytest.raises(InvalidInput, match="overflows"):
        mc.ProductPower()([1e200])
    assert mc.ProductPower(1.0).pair(1e100, 1e100) == 1


def test_underflow_is_zero():
    assert mc.SumPower().pair(-2000.0, 0.0) == 0
    assert np.array_equal(mc.SumPower().features([-2000.0]), [[0.0]])
    assert mc.ProductPower().pair(-31.0, 31.0) == 2.0**-961


# Features and gradients


@pytest.mark.parametrize("kernel", [mc.SumPower(1.5), COSINE], **names)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_have_the_gram_matrix(kernel, dtype):
    X = np.array(SOME, dtype=dtype)
    features = kernel.features(X)
    assert features.dtype == dtype
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-5, atol=1e-5)
    exact = kernel.features(X.astype(float))
    np.testing.assert_allclose(exact @ exact.T, kernel(X.astype(float)), rtol=1e-13, atol=1e-14)


def test_the_others_have_no_finite_feature_map():
    for kernel in KERNELS:
        if not isinstance(kernel, mc.SumPower | mc.CosineDifference):
            with pytest.raises(NoFeatureMap):
                kernel.features(some(kernel))


SMOOTH = [mc.Geometric(), mc.ProductPower(1.5), mc.SumPower(0.7), COSINE]


@pytest.mark.parametrize("kernel", SMOOTH, **names)
def test_gradients_are_slopes(rng, kernel):
    X, Y, step = rng.uniform(-0.8, 0.8, 6), rng.uniform(-0.8, 0.8, 5), 1e-5
    slope = (kernel(X + step, Y) - kernel(X - step, Y)) / (2 * step)
    gradient = kernel.gradient(X, Y)
    assert gradient.shape == (6, 5, 1)
    # The remainder is step^2 / 6 times a third derivative, and rounding is eps / step.
    np.testing.assert_allclose(gradient[..., 0], slope, rtol=1e-7, atol=1e-8)
    slopes = kernel.parameter_gradient(X, Y)
    assert set(slopes) == set(kernel.parameters())
    for name, found in slopes.items():
        value = kernel.parameters()[name]
        up, down = (kernel.replace(**{name: value * math.exp(s)}) for s in (step, -step))
        slope = (up(X, Y) - down(X, Y)) / (2 * step)
        np.testing.assert_allclose(found, slope, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "kernel", [mc.Min(), mc.MinOverMax(), mc.GCD(), mc.GCDOverLCM()], **names
)
def test_cusps_and_gaps_have_no_gradient(kernel):
    with pytest.raises(NotSmooth):
        kernel.gradient([1, 2])
    assert kernel.parameter_gradient([1, 2]) == {}


# The kernels as values


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_proof_text_and_pickle(kernel):
    kernel.proof().check()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert mc.kernel(str(kernel)) == kernel
    assert eval(repr(kernel), vars(mc)) == kernel


def test_text_form():
    assert str(mc.GCDOverLCM()) == "gcd_over_lcm"
    assert str(mc.ProductPower()) == "product_power"
    assert str(mc.SumPower(3)) == "sum_power(3.0)"
    assert str(mc.CosineDifference(0.5)) == "cosine_difference(0.5)"


def test_properties():
    assert COSINE.is_stationary
    assert not COSINE.is_strict
    assert mc.GCD().is_strict
    assert mc.MinOverMax().is_strict
    assert not mc.Min().is_strict
    assert not mc.SumPower().is_stationary
    assert (mc.GCD() ** 0.5).pair(4, 8) == 2


def test_points_outside_of_the_domain_are_refused():
    for kernel, point in (
        (mc.Min(), -1.0),
        (mc.MinOverMax(), 0.0),
        (mc.GCD(), 0),
        (mc.GCDOverLCM(), 1.5),
        (mc.Geometric(), 1.0),
    ):
        with pytest.raises(InvalidInput):
            kernel([point])
    with pytest.raises(InvalidInput, match="2 columns"):
        COSINE([[1.0, 2.0]])


def test_what_is_not_a_kernel_cannot_be_built():
    with pytest.raises(NotAKernel, match="base >= 1"):
        mc.ProductPower(0.5)
    with pytest.raises(NotAKernel, match="base > 0"):
        mc.SumPower(0.0)
    with pytest.raises(NotAKernel, match="finite"):
        mc.CosineDifference(math.inf)
    with pytest.raises(InvalidParameter):
        mc.CosineDifference("often")


@pytest.mark.parametrize(
    ("frequency", "size"),
    [(1.5, 1e3), (1.0, 1e16), (2 * math.pi / 86400, 1.7e9), (0.001, 1e15), (1e200, 1e100)],
)
def test_a_cosine_keeps_its_digits_after_many_turns(rng, frequency, size):
    k, x = mc.CosineDifference(frequency), size * rng.normal(size=12)
    K, Phi = k(x), k.features(x)
    with mpmath.workdps(400):
        w, points = mpmath.mpf(frequency), [mpmath.mpf(float(a)) for a in x]
        exact = [[float(mpmath.cos(w * (a - b))) for b in points] for a in points]
    # Two angles below pi, each right to a few units of 2^-53, and a cosine.
    np.testing.assert_allclose(K, exact, rtol=0, atol=2e-15)
    np.testing.assert_allclose(Phi @ Phi.T, exact, rtol=0, atol=2e-15)
    assert np.linalg.eigvalsh(K)[0] > -12 * 2e-15
    assert (K.diagonal() == 1).all()
    slope = -frequency * np.sin(k.angle(x[:, None]) - k.angle(x[None, :]))
    np.testing.assert_array_equal(k.gradient(x)[..., 0], slope)


def test_a_cosine_of_more_turns_than_numbers_count_is_told():
    with pytest.raises(InvalidInput, match="overflows"):
        mc.CosineDifference(1e200)([0.0, 1e200])
    with mpmath.workdps(400):
        exact = float(mpmath.cos(2 * mpmath.mpf(1e308)))  # of a difference beyond all numbers
    assert mc.CosineDifference().pair(1e308, -1e308) == pytest.approx(exact, abs=2e-15)
