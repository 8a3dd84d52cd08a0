"""Kernels that go coordinate by coordinate, against plain loops and against scikit-learn."""

from __future__ import annotations

import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel, laplacian_kernel

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NoFeatureMap, NotAKernel, NotSmooth
from mercer.loops import Pairwise


def entries(x, y, *parameters):
    """The coordinates of two points, with a parameter of each."""
    spread = (np.broadcast_to(np.asarray(p, float), x.shape).tolist() for p in parameters)
    return zip(x.tolist(), y.tolist(), *spread, strict=True)


def laplacian(scale):
    return lambda x, y: math.exp(-math.fsum(abs(a - b) / s for a, b, s in entries(x, y, scale)))


def generalized(scale, p, power):
    def formula(x, y):
        total = math.fsum((abs(a - b) / s) ** p for a, b, s in entries(x, y, scale))
        return math.exp(-(total ** (power / p)))

    return formula


def periodic(period, scale):
    def formula(x, y):
        return math.exp(
            -math.fsum(
                2 * (math.sin(math.pi * (a - b) / p) / s) ** 2
                for a, b, p, s in entries(x, y, period, scale)
            )
        )

    return formula


def intersection(x, y):
    return math.fsum(min(a, b) for a, b in entries(x, y))


def additive_chi2(x, y):
    return math.fsum(2 * a * b / (a + b) for a, b in entries(x, y) if a + b)


def chi2(scale):
    def formula(x, y):
        return math.exp(
            -math.fsum(
                (a - b) ** 2 / (2 * s * s * (a + b))
                for a, b, s in entries(x, y, scale)
                if a + b
            )
        )

    return formula


SCALES = (0.5, 1.0, 2.0)
CASES = [
    (mc.Laplacian(), laplacian(1.0)),
    (mc.Laplacian(SCALES), laplacian(SCALES)),
    (mc.GeneralizedGaussian(), generalized(1.0, 2, 2)),
    (mc.GeneralizedGaussian(SCALES), generalized(SCALES, 2, 2)),
    (mc.GeneralizedGaussian(2.0, 2, 1), generalized(2.0, 2, 1)),
    (mc.GeneralizedGaussian(2.0, 1, 1), generalized(2.0, 1, 1)),
    (mc.GeneralizedGaussian(1.5, 2, 1.5), generalized(1.5, 2, 1.5)),
    (mc.GeneralizedGaussian(SCALES, 2, 1.5), generalized(SCALES, 2, 1.5)),
    (mc.GeneralizedGaussian(1.5, 1, 0.5), generalized(1.5, 1, 0.5)),
    (mc.GeneralizedGaussian(SCALES, 1, 0.5), generalized(SCALES, 1, 0.5)),
    (mc.GeneralizedGaussian(1.5, 1.5, 1.25), generalized(1.5, 1.5, 1.25)),
    (mc.GeneralizedGaussian(SCALES, 0.5, 0.25), generalized(SCALES, 0.5, 0.25)),
    (mc.Periodic(), periodic(1.0, 1.0)),
    (mc.Periodic(2.5, 0.5), periodic(2.5, 0.5)),
    (mc.Periodic((1.0, 2.0, 3.0), SCALES), periodic((1.0, 2.0, 3.0), SCALES)),
    (mc.Periodic(1.0, 0.01), periodic(1.0, 0.01)),
    (mc.Periodic(1.0, 1e-4), periodic(1.0, 1e-4)),
    (mc.Intersection(), intersection),
    (mc.AdditiveChi2(), additive_chi2),
    (mc.Chi2(), chi2(1.0)),
    (mc.Chi2(SCALES), chi2(SCALES)),
    (mc.Chi2(0.1), chi2(0.1)),
]
KERNELS = [case[0] for case in CASES]
UNIT = [k for k in KERNELS if not isinstance(k, mc.Intersection | mc.AdditiveChi2)]
HISTOGRAMS = mc.Intersection | mc.AdditiveChi2 | mc.Chi2
names = {"ids": lambda value: str(value) if isinstance(value, mc.Kernel) else None}


def points(rng, kernel, n, dtype=np.float64):
    """Points with zeros, a zero row and a repeated row; on a coarse grid, in [-4, 4]."""
    X = rng.integers(-64, 65, (n, 3)) / 16 * (rng.random((n, 3)) < 0.7)
    X[0], X[-1] = 0, X[n // 2]
    return (np.abs(X) if isinstance(kernel, HISTOGRAMS) else X).astype(dtype)


def tolerance(kernel, dtype):
    # float64: the promised error, in units of the largest value (12 for the sums of three
    # coordinates up to 4). float32 likewise, and rounding the cast to float32.
    largest = 12.0 if isinstance(kernel, mc.Intersection | mc.AdditiveChi2) else 1.0
    return largest * (2.0**-40 if dtype == np.float64 else 2.0**-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["dense", "sparse", "left", "right"])
@pytest.mark.parametrize(("kernel", "formula"), CASES, **names)
def test_is_its_formula(rng, kernel, formula, storage, dtype):
    X, Y = points(rng, kernel, 9, dtype), points(rng, kernel, 7, dtype)
    U = sparse.csr_array(X) if storage in {"sparse", "left"} else X
    V = sparse.csr_array(Y) if storage in {"sparse", "right"} else Y
    for values, left, right in ((kernel(U, V), X, Y), (kernel(U), X, X)):
        plain = [[formula(x, y) for y in right.astype(float)] for x in left.astype(float)]
        assert np.abs(values - np.array(plain)).max() <= tolerance(kernel, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_gram_matrix_is_symmetric_and_psd(rng, kernel, as_stored, dtype):
    X = as_stored(points(rng, kernel, 40, dtype))
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diagonal(X))
    # Entries off by e move an eigenvalue by at most n e.
    assert np.linalg.eigvalsh(K.astype(float))[0] >= -40 * tolerance(kernel, dtype)
    assert np.array_equal(kernel(X[[3]])[0], kernel.diagonal(X)[3:4])


@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_diagonal_is_exact_across_tiles(rng, kernel, as_stored):
    X = as_stored(np.abs(rng.normal(size=(330, 3))))
    diagonal = np.diag(kernel(X))
    assert np.array_equal(diagonal, kernel.diagonal(X))
    assert (diagonal == 1).all() or kernel not in UNIT


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_float32_and_float64_make_float64(rng, kernel):
    X, Y = points(rng, kernel, 5, np.float32), points(rng, kernel, 4)
    assert kernel(X, Y).dtype == kernel(Y, X).dtype == np.float64
    assert kernel(sparse.csr_array(X), Y).dtype == np.float64
    single = kernel(X)
    assert kernel.diagonal(X).dtype == np.float32
    assert single.dtype == np.float32 or kernel == mc.Periodic(1.0, 1e-4)


def test_none_has_a_finite_feature_map():
    for kernel in KERNELS:
        with pytest.raises(NoFeatureMap):
            kernel.features(np.ones((2, 3)))


# Gradients

SMOOTH = [
    k
    for k in KERNELS
    if isinstance(k, mc.Periodic) or (isinstance(k, mc.GeneralizedGaussian) and k.power > 1)
]
LEARNED = [k for k in KERNELS if not isinstance(k, mc.Intersection | mc.AdditiveChi2)]
SMOOTH, LEARNED = ([k for k in ks if k != mc.Periodic(1.0, 1e-4)] for ks in (SMOOTH, LEARNED))


def central(function, step):
    return (function(step) - function(-step)) / (2 * step)


@pytest.mark.parametrize("kernel", SMOOTH, **names)
def test_gradient_is_the_slope(rng, kernel):
    X = rng.normal(size=(5, 3))
    Y = np.vstack([rng.normal(size=(4, 3)), X[0] + [0.0, 0.5, 0.0]])
    gradient = kernel.gradient(X, Y)
    assert gradient.shape == (5, 5, 3)
    for c in range(3):
        slope = central(lambda t, c=c: kernel(X + t * np.eye(3)[c], Y), 1e-6)
        # Where two coordinates are equal a power p < 2 has a remainder step^(p - 1).
        equal = X[:, None, c] == Y[:, c]
        loose = 1e-6 ** (min(getattr(kernel, "p", 2.0), 2.0) - 1) if kernel.parameters() else 0
        gap = np.abs(gradient[:, :, c] - slope)
        assert gap[~equal].max() <= 1e-7
        assert gap[equal].max(initial=0) <= max(loose, 1e-7)
    assert np.array_equal(kernel.gradient(sparse.csr_array(X), Y), gradient)
    assert not kernel.gradient(X)[np.arange(5), np.arange(5)].any()


@pytest.mark.parametrize("kernel", LEARNED, **names)
def test_parameter_gradient_is_the_slope(rng, kernel):
    X, Y = np.abs(rng.normal(size=(4, 3))), np.abs(rng.normal(size=(5, 3)))
    Y[0] = X[0]
    slopes = kernel.parameter_gradient(X, Y)
    assert set(slopes) == set(kernel.parameters()) - {"p", "power"}
    for name, slope in slopes.items():
        value = np.asarray(kernel.parameters()[name])
        moves = np.eye(value.size) if value.ndim else np.ones((1, 1))
        for c, move in enumerate(moves):

            def moved(t, name=name, value=value, move=move):
                factor = np.exp(t * move)
                changed = value * (factor if value.ndim else factor[0])
                return kernel.replace(**{name: changed.tolist()})(X, Y)

            found = slope[..., c] if value.ndim else slope
            # The remainder is step^2 / 6 times a third derivative, and rounding is eps / step.
            np.testing.assert_allclose(found, central(moved, 1e-5), rtol=0, atol=1e-6)


def test_a_cusp_has_no_gradient():
    X = [[1.0, 2.0]]
    for kernel in (mc.Laplacian(), mc.GeneralizedGaussian(1.0, 1.5, 1.0), mc.Chi2()):
        with pytest.raises(NotSmooth):
            kernel.gradient(X)
    for kernel in (mc.Intersection(), mc.AdditiveChi2()):
        assert kernel.parameter_gradient(X) == {}


# Hard data


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Laplacian(1e-3),
        mc.Laplacian((1e-3, 1e-3, 1e-3)),
        mc.GeneralizedGaussian(1e-3, 2, 1.5),
        mc.GeneralizedGaussian((1e-3, 1e-3, 1e-3), 1, 0.5),
        mc.GeneralizedGaussian(1e-3, 1.5, 1.5),
        mc.Periodic(1.0, 1e-3),
    ],
    **names,
)
def test_a_tight_cluster_far_away_keeps_its_digits(rng, kernel, offset):
    near = rng.integers(-1024, 1025, (12, 3)) / 2.0**20
    X = near + offset  # exact: 20 bits after the point
    assert np.abs(kernel(X) - kernel(near)).max() <= 2.0**-39
    assert np.linalg.eigvalsh(kernel(X))[0] > 0
    pairs = kernel(sparse.csr_array(X))
    assert np.abs(pairs - kernel(near)).max() <= 2.0**-39


def test_per_feature_scales_far_from_the_centre_fall_back_to_differences(rng):
    # Two clusters at a distance of 2^40 scales: dividing first would round away gaps.
    near = rng.integers(-4, 5, (10, 2)) / 4
    second = (np.arange(10) < 5)[:, None]
    expected = mc.Laplacian()(near)
    expected[:5, 5:] = expected[5:, :5] = 0
    for kernel in (mc.Laplacian((1.0, 1.0)), mc.GeneralizedGaussian((1.0, 1.0), 1, 1)):
        np.testing.assert_allclose(kernel(near + 2.0**40 * second), expected, rtol=1e-14)
        single = (near + 2.0**21 * second).astype(np.float32)
        np.testing.assert_allclose(kernel(single), expected, rtol=1e-6)


TWINS = [mc.GeneralizedGaussian(), mc.GeneralizedGaussian(1.0, 2, 1)]
OTHERS = [mc.Laplacian(), mc.Laplacian((1.0, 1.0)), mc.GeneralizedGaussian(1.0, 2, 1.5)]


@pytest.mark.parametrize(("distance", "dtype"), [(2.0**21, np.float32), (2.0**50, np.float64)])
@pytest.mark.parametrize("kernel", [*OTHERS, *TWINS], **names)
def test_a_cluster_at_zero_keeps_its_digits_beside_one_far_away(rng, kernel, distance, dtype):
    X = rng.normal(size=(10, 2)).astype(dtype)
    alone = kernel(X[:5])
    X[5:] += dtype(distance)
    assert np.abs(kernel(X)[:5, :5] - alone).max() <= tolerance(kernel, dtype)


def test_periodic_keeps_digits_after_many_periods():
    # 2^40 periods and a quarter: whole periods go without any rounding.
    X, Y = [[2.0**40 + 0.25]], [[0.0]]
    assert mc.Periodic(1.0)(X, Y)[0, 0] == pytest.approx(math.exp(-1), rel=1e-14)
    assert mc.Periodic(1.0, 1e-1)(X, [[0.25]])[0, 0] == 1.0
    third = mc.Periodic(1 / 3, 0.25)
    with mpmath.workdps(60):
        angle = mpmath.pi * mpmath.mpf(1e9 + 0.123) / mpmath.mpf(1 / 3)
        exact = float(mpmath.exp(-32 * mpmath.sin(angle) ** 2))
    assert third([[1e9 + 0.123]], Y)[0, 0] == pytest.approx(exact, abs=2.0**-40)


def test_the_slope_of_periodic_keeps_digits_after_many_periods(rng):
    x, y = 1e12 * rng.normal(size=(5, 1)), rng.normal(size=(4, 1))
    slope = mc.Periodic(0.7).gradient(x, y)[..., 0]
    with mpmath.workdps(50):
        turn = [[mpmath.pi * (mpmath.mpf(float(a)) - float(b)) / 0.7 for b in y[:, 0]]
                for a in x[:, 0]]  # fmt: skip
        wave = [[float(-mpmath.sin(2 * t) * mpmath.exp(-2 * mpmath.sin(t) ** 2)) for t in row]
                for row in turn]  # fmt: skip
    # A remainder, a difference, three products: a few units of 2^-53 of an angle below pi.
    np.testing.assert_allclose(slope, 2 * np.pi / 0.7 * np.array(wave), atol=1e-13)


@pytest.mark.parametrize("scale", [1e-3, 1e-6, 1e-9])
def test_periodic_with_a_tiny_scale(scale):
    x, gap = 123456.0, scale * 0.7
    y = x + gap
    with mpmath.workdps(60):
        wave = mpmath.sin(mpmath.pi * (mpmath.mpf(y) - mpmath.mpf(x))) / mpmath.mpf(scale)
        exact = float(mpmath.exp(-2 * wave**2))
    assert mc.Periodic(1.0, scale)([[x]], [[y]])[0, 0] == pytest.approx(exact, abs=2.0**-40)


def test_periodic_across_the_end_of_a_period():
    # 3 - e and e are 2 e apart on a circle of length 3.
    e, scale = 2.0**-30, 1e-8
    exact = math.exp(-2 * (math.sin(math.pi * 2 * e / 3) / scale) ** 2)
    value = mc.Periodic(3.0, scale)([[3 - e]], [[e]])[0, 0]
    assert value == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("kernel", [mc.AdditiveChi2(), mc.Chi2(), mc.Intersection()], **names)
@pytest.mark.parametrize("size", [1e-200, 1e-20, 1e20, 1e200])
def test_histograms_of_any_size(rng, kernel, size):
    X, Y = rng.random((7, 4)) * size, rng.random((6, 4)) * size
    X[0] = 0
    X[1, 0] = Y[2, 0] = 0
    if isinstance(kernel, mc.Chi2):
        expected = np.exp(-np.log(chi2_kernel(X / size, Y / size, gamma=1.0)) * -1 * size / 2)
        kernels, unit = [mc.Chi2(), mc.Chi2((1.0,) * 4)], 1.0
    else:
        plain = additive_chi2 if isinstance(kernel, mc.AdditiveChi2) else intersection
        expected = np.array([[plain(x, y) for y in Y / size] for x in X / size])
        kernels, unit = [kernel], size
    for each in kernels:
        np.testing.assert_allclose(each(X, Y) / unit, expected, rtol=1e-9, atol=1e-11)


def test_additive_chi2_of_very_uneven_masses_does_not_cancel(rng):
    X = rng.random((8, 5)) * 10.0 ** np.arange(-12, 12, 3)[:, None]
    expected = np.array([[additive_chi2(x, y) for y in X] for x in X])
    np.testing.assert_allclose(mc.AdditiveChi2()(X), expected, rtol=1e-14)
    single = mc.AdditiveChi2()(X.astype(np.float32))
    np.testing.assert_allclose(single, expected, rtol=1e-6)


def test_additive_chi2_of_disjoint_histograms_is_zero(rng):
    X = np.zeros((2, 200))
    X[0, :100], X[1, 100:] = rng.random((2, 100))
    assert mc.AdditiveChi2()(X)[0, 1] == pytest.approx(0, abs=1e-13)
    assert mc.AdditiveChi2()(X).min() >= 0
    X[1] = 0
    assert mc.AdditiveChi2()(X)[0, 1] == 0
    assert not mc.AdditiveChi2()(0 * X).any()


def test_extreme_scales():
    for scale in (1e-140, 1e-20, 1e20, 1e140):
        for kernel in (mc.Laplacian(scale), mc.Laplacian((scale,))):
            assert kernel([[3 * scale]], [[scale]])[0, 0] == pytest.approx(math.exp(-2))
            assert kernel([[scale]])[0, 0] == 1
        for p, power in ((2, 1.5), (1, 0.5), (1.5, 1.5), (0.5, 0.01), (2, 0.01)):
            for kernel in (
                mc.GeneralizedGaussian(scale, p, power),
                mc.GeneralizedGaussian((scale,), p, power),
            ):
                value = kernel([[3 * scale]], [[scale]])[0, 0]
                assert value == pytest.approx(math.exp(-(2**power)))
    single = mc.Laplacian(1e20)(np.array([[0.0], [1e20]], dtype=np.float32))
    assert single[0, 1] == pytest.approx(math.exp(-1))


def test_a_low_power_sees_gaps_whose_squares_vanish():
    kernel = mc.GeneralizedGaussian(1.0, 2, 0.01)
    for x in (1e-170, 1e-25):
        for dtype in (np.float64, np.float32):
            x_ = np.array([[x]], dtype=dtype)
            expected = math.exp(-(float(x_[0, 0]) ** 0.01))
            assert kernel(x_, 0 * x_)[0, 0] == pytest.approx(expected, rel=1e-6)


def test_coordinates_that_overflow_a_difference_are_far_apart():
    X = np.array([[1.5e308], [-1.5e308]])
    assert np.array_equal(mc.Laplacian()(X), np.eye(2))
    assert np.array_equal(mc.GeneralizedGaussian(1.0, 1.5, 1.0)(X), np.eye(2))


def test_the_compiled_loops_are_used_where_they_are_exact(rng):
    X = np.abs(rng.normal(size=(5, 3)))
    for kernel in (mc.Laplacian(), mc.Laplacian(SCALES), mc.Periodic(), mc.Chi2(SCALES)):
        A = kernel.domain.encode(X)
        assert isinstance(kernel.tiles(A, A), Pairwise)


# scikit-learn


def test_scikit_learn_has_the_same_laplacian(rng):
    X, Y = rng.normal(size=(8, 5)), rng.normal(size=(6, 5))
    expected = laplacian_kernel(X, Y, gamma=0.5)
    np.testing.assert_allclose(mc.Laplacian(2.0)(X, Y), expected, rtol=1e-13)


def test_scikit_learn_has_the_same_chi2(rng):
    X, Y = rng.random((8, 5)), rng.random((6, 5))
    X[0], Y[1, 2] = 0, 0
    np.testing.assert_allclose(mc.Chi2(2.0)(X, Y), chi2_kernel(X, Y, gamma=1 / 8), rtol=1e-13)
    # scikit-learn's additive kernel is minus the chi-squared distance.
    distance = -additive_chi2_kernel(X, Y)
    own = X.sum(axis=1)[:, None] + Y.sum(axis=1)
    np.testing.assert_allclose(mc.AdditiveChi2()(X, Y), (own - distance) / 2, atol=1e-14)


def test_special_cases_agree(rng):
    X = rng.normal(size=(9, 3))
    for scale in (2.0, SCALES):
        root = np.sqrt(2) * np.asarray(scale)
        same = [
            (mc.GeneralizedGaussian(root.tolist()), mc.Gaussian(scale)),
            (mc.GeneralizedGaussian(scale, 2, 1), mc.Exponential(scale)),
            (mc.GeneralizedGaussian(scale, 1, 1), mc.Laplacian(scale)),
        ]
        for special, named in same:
            np.testing.assert_allclose(special(X), named(X), rtol=1e-13)


counts = st.lists(st.integers(0, 5), min_size=3, max_size=3)


@given(st.lists(counts, min_size=1, max_size=6))
def test_intersection_of_counts_is_that_of_multisets(rows):
    expected = [[sum(map(min, x, y)) for y in rows] for x in rows]
    assert np.array_equal(mc.Intersection()(rows), expected)
    assert np.array_equal(mc.Intersection()(rows, list(rows)), expected)


# The kernels as values


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_text_and_pickle(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert mc.kernel(str(kernel)) == kernel
    assert eval(repr(kernel), vars(mc)) == kernel


PERIODS = mc.Periodic((1.0, 2.0, 3.0), SCALES)


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_proof(kernel):
    kernel.proof().check()


def test_properties():
    for kernel in UNIT:
        assert "unit" in kernel.proof().facts
        assert kernel.is_stationary == (not isinstance(kernel, mc.Chi2))
    assert mc.GeneralizedGaussian().is_isotropic
    assert not mc.Laplacian().is_isotropic
    assert mc.Laplacian().is_strict
    assert mc.Chi2().is_strict
    assert not mc.Periodic().is_strict
    assert not mc.Intersection().is_strict


def test_text_form():
    assert str(mc.Laplacian(0.5)) == "laplacian(0.5)"
    assert str(mc.GeneralizedGaussian(1, 1, 0.5)) == "generalized_gaussian(1.0, 1.0, 0.5)"
    assert str(mc.Periodic(7)) == "periodic(7.0)"
    assert str(mc.Intersection() + mc.Chi2()) == "intersection + chi2"


@pytest.mark.parametrize(
    "build",
    [
        lambda: mc.Laplacian(0),
        lambda: mc.Laplacian(-1.0),
        lambda: mc.GeneralizedGaussian(1.0, 3, 1),
        lambda: mc.GeneralizedGaussian(1.0, 1, 2),
        lambda: mc.GeneralizedGaussian(1.0, 1, 0),
        lambda: mc.Periodic(0.0),
        lambda: mc.Chi2((1.0, 0.0)),
    ],
)
def test_what_is_not_a_kernel_cannot_be_built(build):
    with pytest.raises(NotAKernel):
        build()


def test_parameters_are_numbers():
    for build in (mc.Laplacian, mc.Periodic, mc.Chi2, mc.GeneralizedGaussian):
        with pytest.raises(InvalidParameter):
            build("wide")


@pytest.mark.parametrize(("p", "power"), [(4, 2), (4, 1), (1, 2), (2, 3)])
def test_why_other_powers_are_refused(p, power):
    # On a small grid exp(-|x - y|_p^q) has a negative eigenvalue.
    X = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3) / 10
    distances = (np.abs(X[:, None] - X) ** p).sum(axis=-1) ** (1 / p)
    assert np.linalg.eigvalsh(np.exp(-(distances**power)))[0] < -1e-3
    with pytest.raises(NotAKernel, match="power <= p <= 2"):
        mc.GeneralizedGaussian(1.0, p, power)


def test_negative_histograms_are_refused():
    for kernel in (mc.Intersection(), mc.AdditiveChi2(), mc.Chi2()):
        with pytest.raises(InvalidInput, match="below zero"):
            kernel([[1.0, -1.0]])


def test_lengths_have_to_fit():
    X = np.ones((2, 2))
    for kernel in (
        mc.Laplacian(SCALES),
        mc.GeneralizedGaussian(SCALES),
        mc.GeneralizedGaussian(SCALES, 1.5, 1),
        mc.Periodic(1.0, SCALES),
        mc.Periodic(SCALES),
        mc.Chi2(SCALES),
    ):
        for use in (kernel, kernel.diagonal, kernel.parameter_gradient):
            with pytest.raises(InvalidInput, match="features"):
                use(X)
    with pytest.raises(InvalidInput, match="coordinates"):
        mc.Intersection()(X, np.ones((2, 3)))


def test_a_wave_far_beyond_its_period():
    X = np.array([[1.7e308], [-1.7e308], [1.27e192], [0.3]])
    kernel = mc.Periodic(1e-3, 1e-7)
    with mpmath.workdps(400):
        gaps = [[mpmath.mpf(x) - mpmath.mpf(y) for y in X[:, 0]] for x in X[:, 0]]
        waves = [[mpmath.sin(mpmath.pi * g / mpmath.mpf(1e-3)) for g in row] for row in gaps]
        exact = [
            [float(mpmath.exp(-2 * (w / mpmath.mpf(1e-7)) ** 2)) for w in row] for row in waves
        ]
    np.testing.assert_allclose(kernel(X), exact, atol=1e-9)
    turns = 1e6 + np.array([[0.1], [0.35]])
    slope = mc.Periodic(1.0, 1.0).gradient(turns)[0, 1, 0]
    gap = turns[0, 0] - turns[1, 0]
    exact = -np.exp(-2 * np.sin(np.pi * gap) ** 2) * 2 * np.pi * np.sin(2 * np.pi * gap)
    assert slope == pytest.approx(exact, rel=1e-13)


def test_lengths_that_overflow_points_raise_no_warning():
    X = np.array([[1e200, 1.0], [0.0, 0.0]])
    for kernel in (
        mc.Laplacian((1e-150, 7.0)),
        mc.GeneralizedGaussian((1e-150, 7.0), 1.0, 1.0),
    ):
        np.testing.assert_array_equal(kernel(X), np.eye(2))
    wide = sparse.csr_array(np.array([[1e-260, 1e-261], [5e281, 2e282]]))
    assert np.isfinite(mc.AdditiveChi2()(wide)).all()


@pytest.mark.parametrize(
    "kernel", [mc.Periodic(), mc.GeneralizedGaussian(700.0, 1.5, 1.2)], ids=str
)
def test_slopes_of_single_points_far_apart(kernel):
    X, Y = np.array([[1000.3]], np.float32), np.array([[0.1]], np.float32)
    wide = X.astype(np.float64), Y.astype(np.float64)
    np.testing.assert_allclose(kernel.gradient(X, Y), kernel.gradient(*wide), rtol=1e-13)
    slopes, exact = kernel.parameter_gradient(X, Y), kernel.parameter_gradient(*wide)
    for name, slope in slopes.items():
        np.testing.assert_allclose(slope, exact[name], rtol=1e-13)


def test_chi2_slopes_of_single_points():
    X, Y = np.array([[1e38]], np.float32), np.array([[3e38]], np.float32)
    slope = mc.Chi2(1e19).parameter_gradient(X, Y)["scale"]
    half = (float(Y[0, 0]) - float(X[0, 0])) ** 2 / (float(X[0, 0]) + float(Y[0, 0])) / 2e38
    np.testing.assert_allclose(slope, 2 * half * math.exp(-half), rtol=1e-13)


def test_wide_histograms_lose_what_runs_of_terms_lose(rng):
    # A sum of 10 000 terms goes through 199 roundings, and float32 bears them.
    X = rng.uniform(size=(4, 10_000)).astype(np.float32)
    A, B = (mc.AdditiveChi2().domain.encode(part) for part in (X[:2], X[2:]))
    assert mc.AdditiveChi2().tiles(A, B).dtype == np.float32
    wanted = [[additive_chi2(x.astype(float), y.astype(float)) for y in X[2:]] for x in X[:2]]
    np.testing.assert_allclose(mc.AdditiveChi2()(X[:2], X[2:]), wanted, rtol=2.0**-14)
