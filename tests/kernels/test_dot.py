"""Kernels of the inner product, against plain loops and against scikit-learn."""

from __future__ import annotations

import math
import pickle

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NoFeatureMap, NotAKernel, NotSmooth
from mercer.kernels import dot

METRIC = ((2.0, 0.5, 0.0), (0.5, 1.0, 0.25), (0.0, 0.25, 0.5))


def inner(x, y):
    return math.fsum(a * b for a, b in zip(x.tolist(), y.tolist(), strict=True))


def length(x):
    return math.sqrt(inner(x, x))


def linear(x, y):
    return inner(x, y)


def metric(x, y):
    return float(x @ np.array(METRIC) @ y)


def cosine(x, y):
    return inner(x, y) / (length(x) * length(y)) if length(x) * length(y) else 0.0


def tanimoto(x, y):
    union = inner(x, x) + inner(y, y) - inner(x, y)
    return inner(x, y) / union if union else 1.0


def polynomial(degree, offset, scale=1.0):
    def formula(x, y):
        return (inner(x / np.asarray(scale), y / np.asarray(scale)) + offset) ** degree

    return formula


# A kernel, its plain formula, and the largest value that the absolute terms of its sums can
# reach, for vectors with |x|^2, |y|^2 <= 16: rounding is relative to that.
CASES = [
    (mc.Linear(), linear, 16.0),
    (mc.Linear(METRIC), metric, 16 * 3.0),
    (mc.Polynomial(), polynomial(2, 1.0), 17.0**2),
    (mc.Polynomial(3, 0.0), polynomial(3, 0.0), 16.0**3),
    (mc.Polynomial(1, 2.5, 3.0), polynomial(1, 2.5, 3.0), 16 / 9 + 2.5),
    (mc.Polynomial(4, 0.5, (1.0, 2.0, 4.0)), polynomial(4, 0.5, (1.0, 2.0, 4.0)), 16.5**4),
    (mc.Polynomial(40, 0.5, 4.0), polynomial(40, 0.5, 4.0), 1.5**40),
    (mc.Cosine(), cosine, 1.0),
    (mc.Tanimoto(), tanimoto, 2.0),
]
KERNELS = [case[0] for case in CASES]
names = {"ids": lambda value: str(value) if isinstance(value, mc.Kernel) else None}


def points(rng, n, dtype=np.float64):
    """Points with zeros, a zero row and a repeated row; |x|^2 <= 16."""
    X = np.clip(rng.normal(size=(n, 3)), -2, 2) * (rng.random((n, 3)) < 0.7)
    X[0], X[-1] = 0, X[n // 2]
    return X.astype(dtype)


def degree(kernel):
    return getattr(kernel, "degree", 1)


def tolerance(kernel, largest, dtype):
    # Three products and sums, a division, two norms; a power of a number with relative error e
    # has the relative error n e, and one rounding a factor; the metric's root adds its own
    # n eps: all within 24 n units.
    return 24 * degree(kernel) * float(np.finfo(dtype).eps) / 2 * largest


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["dense", "sparse", "left", "right"])
@pytest.mark.parametrize(("kernel", "formula", "largest"), CASES, **names)
def test_is_its_formula(rng, kernel, formula, largest, storage, dtype):
    X, Y = points(rng, 9, dtype), points(rng, 7, dtype)
    U = sparse.csr_array(X) if storage in {"sparse", "left"} else X
    V = sparse.csr_array(Y) if storage in {"sparse", "right"} else Y
    bound = tolerance(kernel, largest, dtype)
    for values, left, right in ((kernel(U, V), X, Y), (kernel(U), X, X)):
        plain = [[formula(x, y) for y in right.astype(float)] for x in left.astype(float)]
        assert values.dtype == dtype
        assert np.abs(values - np.array(plain)).max() <= bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("kernel", "formula", "largest"), CASES, **names)
def test_gram_matrix_is_symmetric_and_psd(rng, kernel, formula, largest, as_stored, dtype):
    X = as_stored(points(rng, 40, dtype))
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diagonal(X))
    # Entries off by e move an eigenvalue by at most n e.
    lowest = np.linalg.eigvalsh(K.astype(float))[0]
    assert lowest >= -40 * tolerance(kernel, largest, dtype)
    np.testing.assert_allclose(kernel(X[[3]]), kernel.diagonal(X)[3:4, None], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [mc.Cosine(), mc.Tanimoto()], **names)
def test_unit_diagonal_is_exact(rng, kernel, dtype):
    X = (rng.normal(size=(200, 50)) * 10.0 ** rng.integers(-6, 6, (200, 1))).astype(dtype)
    for points_ in (X, sparse.csr_array(X)):
        assert (np.diag(kernel(points_)) == 1).all()
        assert (kernel.diagonal(points_) == 1).all()


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_float32_and_float64_make_float64(rng, kernel):
    X, Y = points(rng, 5, np.float32), points(rng, 4)
    assert kernel(X, Y).dtype == kernel(Y, X).dtype == np.float64
    assert kernel(sparse.csr_array(X), Y).dtype == np.float64


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != mc.Tanimoto()], **names)
def test_features_have_the_gram_matrix(rng, kernel):
    X = points(rng, 8)
    if degree(kernel) == 40:
        X = X[:, :1]
    features = kernel.features(X)
    largest = np.abs(kernel(X)).max()
    np.testing.assert_allclose(
        features @ features.T, kernel(X), rtol=0, atol=1e-13 * degree(kernel) * largest
    )
    np.testing.assert_allclose(kernel.features(sparse.csr_array(X)), features)


@pytest.mark.parametrize("offset", [0.0, 0.7])
@pytest.mark.parametrize("degree", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_monomials_are_counted_once(rng, width, degree, offset):
    kernel = mc.Polynomial(degree, offset, scale=1.5)
    X = rng.normal(size=(6, width))
    features = kernel.features(X)
    variables = width + (offset > 0)
    assert features.shape == (6, math.comb(variables + degree - 1, degree))
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-11, atol=1e-11)


def test_features_of_degree_two_are_the_textbook_ones():
    a, b = 3.0, 5.0
    root = math.sqrt(2)
    expected = [1, root * a, root * b, a * a, root * a * b, b * b]
    np.testing.assert_allclose(mc.Polynomial(2).features([[a, b]]), [expected])


def test_a_map_of_millions_of_features_is_refused():
    with pytest.raises(NoFeatureMap, match="more than"):
        mc.Polynomial(5).features(np.ones((2, 100)))


def test_tanimoto_has_no_finite_feature_map():
    with pytest.raises(NoFeatureMap):
        mc.Tanimoto().features([[1.0]])


# Gradients


SMOOTH = [k for k in KERNELS if k != mc.Tanimoto()]


def central(function, x, step):
    return (function(x + step) - function(x - step)) / (2 * step)


@pytest.mark.parametrize("kernel", SMOOTH, **names)
def test_gradient_is_the_slope(rng, kernel):
    X, Y = rng.uniform(0.5, 1.5, (4, 3)), np.vstack([rng.normal(size=(4, 3)), np.zeros(3)])
    gradient = kernel.gradient(X, Y)
    assert gradient.shape == (4, 5, 3)
    step = 1e-5
    for c in range(3):
        unit = np.eye(3)[c]
        slope = central(lambda t, u=unit: kernel(X + t * u, Y), 0.0, step)
        # The remainder is step^2 / 6 times a third derivative, and rounding is eps / step.
        size = degree(kernel) ** 3 * (1 + np.abs(kernel(X, Y)).max() + np.abs(gradient).max())
        np.testing.assert_allclose(gradient[:, :, c], slope, rtol=0, atol=2e-9 * size)
    assert np.array_equal(kernel.gradient(sparse.csr_array(X), Y), gradient)


@pytest.mark.parametrize("kernel", SMOOTH, **names)
def test_parameter_gradient_is_the_slope(rng, kernel):
    X, Y = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    slopes = kernel.parameter_gradient(X, Y)
    assert set(slopes) == set(kernel.parameters()) - {"degree", "metric"}
    for name, slope in slopes.items():
        value = np.asarray(kernel.parameters()[name])
        moves = np.eye(value.size) if value.ndim else np.ones((1, 1))
        for c, move in enumerate(moves):

            def moved(t, name=name, value=value, move=move):
                factor = np.exp(t * move)
                changed = value * (factor if value.ndim else factor[0])
                return kernel.replace(**{name: changed.tolist()})(X, Y)

            expected = central(moved, 0.0, 1e-5)
            found = slope[..., c] if value.ndim else slope
            size = degree(kernel) ** 3 * (1 + np.abs(kernel(X, Y)).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-8 * size)


def test_offset_zero_has_slope_zero(rng):
    X = rng.normal(size=(3, 2))
    assert not mc.Polynomial(3, 0.0).parameter_gradient(X)["offset"].any()


def test_cosine_has_no_gradient_at_zero():
    with pytest.raises(NotSmooth, match="row 1"):
        mc.Cosine().gradient([[1.0, 2.0], [0.0, 0.0]])


# Hard data


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e300])
def test_direction_does_not_depend_on_length(size):
    X = np.array([[3.0, 4.0], [5.0, 0.0], [0.0, 0.0]])
    expected = np.array([[1, 0.6, 0], [0.6, 1, 0], [0, 0, 0]])
    for scaled in (X * size, sparse.csr_array(X * size)):
        np.testing.assert_allclose(mc.Cosine()(scaled), expected, atol=1e-15)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_tanimoto_depends_on_ratios_alone(rng, size, as_stored):
    X = np.vstack([np.zeros((2, 4)), rng.uniform(-1, 1, (6, 4))])
    K = mc.Tanimoto()(as_stored(X * size))
    np.testing.assert_allclose(K, mc.Tanimoto()(X), atol=2e-13)
    assert (np.diag(K) == 1).all()


def test_tanimoto_of_very_different_lengths_is_small_and_not_wrong():
    X = np.array([[1e-200, 0.0], [2e-200, 0.0], [1e200, 0.0], [0.0, 0.0]])
    expected = np.eye(4)
    expected[0, 1] = expected[1, 0] = 2 / (1 + 4 - 2)
    np.testing.assert_allclose(mc.Tanimoto()(X), expected, atol=1e-12)
    np.testing.assert_allclose(mc.Tanimoto()(X, X.copy()), expected, atol=1e-12)


def test_tanimoto_of_float32_squares_that_leave_float32():
    X = np.array([[1e-25, 2e-25], [2e-25, 1e-25], [1e20, 0.0]], dtype=np.float32)
    K = mc.Tanimoto()(X)
    np.testing.assert_allclose(K[:2, :2], [[1, 4 / 6], [4 / 6, 1]], rtol=1e-6)
    np.testing.assert_allclose(K[2], [0, 0, 1], atol=1e-12)


def test_zero_vectors_under_tanimoto():
    K = mc.Tanimoto()([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert np.array_equal(K, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


bits = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 9), st.integers(1, 40)), elements=st.integers(0, 1)
)


@given(bits)
def test_tanimoto_of_bits_is_exact(X):
    sets = [frozenset(np.flatnonzero(x).tolist()) for x in X]
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets]
    assert np.array_equal(mc.Tanimoto()(X), expected)
    assert np.array_equal(mc.Tanimoto()(X, X.copy()), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tanimoto_of_counts_is_exact_dense_and_lean(rng, dtype, monkeypatch):
    X = rng.poisson(0.1, (60, 300)).astype(dtype)
    lean = mc.Tanimoto()(X)
    monkeypatch.setattr(dot, "LEAN", 0.0)
    assert np.array_equal(mc.Tanimoto()(X), lean)
    common = X.astype(float) @ X.T
    own = np.diag(common)
    expected = common / (own[:, None] + own - common)
    assert np.array_equal(lean, expected.astype(dtype))


def test_tanimoto_of_counts_beyond_float32_stays_close():
    # 2^24 + 1 is no float32: the counts are rounded, and the ratio is right all the same.
    X = np.array([[5000.0, 4000.0], [4999.0, 4001.0], [4999.0, 4001.0]], dtype=np.float32)
    K = mc.Tanimoto()(X)
    np.testing.assert_allclose(K, mc.Tanimoto()(X.astype(float)), rtol=0, atol=8 * 2.0**-24)
    assert (np.diag(K) == 1).all()


def test_wide_sparse_rows_cost_only_the_columns_that_meet(rng):
    wide = 1 << 21
    X = sparse.random_array((20, wide), density=1e-4, rng=rng, format="csr")
    Y = sparse.random_array((15, wide), density=1e-4, rng=rng, format="csr")
    np.testing.assert_allclose(mc.Linear()(X, Y), (X @ Y.T).toarray(), rtol=1e-13)
    np.testing.assert_allclose(mc.Linear()(X), (X @ X.T).toarray(), rtol=1e-13)
    apart = sparse.csr_array(([1.0], ([0], [wide - 1])), shape=(1, wide))
    other = sparse.csr_array(([1.0], ([0], [wide - 2])), shape=(1, wide))
    assert mc.Linear()(apart, other)[0, 0] == 0


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_extreme_scales_divide_first(scale):
    kernel = mc.Polynomial(2, 1.0, scale)
    assert kernel([[scale]])[0, 0] == pytest.approx(4.0)
    single = mc.Polynomial(2, 1.0, 1e20)(np.array([[1e20]], dtype=np.float32))
    assert single[0, 0] == pytest.approx(4.0)


def test_overflow_is_an_error():
    with pytest.raises(InvalidInput, match="overflows"):
        mc.Linear()([[1e200]])
    with pytest.raises(InvalidInput, match="overflows"):
        mc.Polynomial(40)([[1e10]])
    with pytest.raises(InvalidInput, match="overflows"):
        mc.Polynomial(8)(np.array([[1e5]], dtype=np.float32))


# scikit-learn


def test_scikit_learn_has_the_same_polynomial(rng):
    X, Y = rng.normal(size=(8, 5)), rng.normal(size=(6, 5))
    expected = polynomial_kernel(X, Y, degree=3, gamma=0.25, coef0=1.5)
    np.testing.assert_allclose(mc.Polynomial(3, 1.5, 2.0)(X, Y), expected, rtol=1e-12)


def test_scikit_learn_has_the_same_cosine(rng):
    X, Y = rng.normal(size=(8, 5)), rng.normal(size=(6, 5))
    X[0] = 0
    np.testing.assert_allclose(mc.Cosine()(X, Y), cosine_similarity(X, Y), atol=1e-15)


# The kernels as values


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_proof_text_and_pickle(kernel):
    kernel.proof().check()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert mc.kernel(str(kernel)) == kernel
    assert eval(repr(kernel), vars(mc)) == kernel


def test_text_form():
    assert str(mc.Linear()) == "linear"
    assert str(mc.Polynomial(3)) == "polynomial(3)"
    assert str(mc.Polynomial(2, 0.0, (1, 2))) == "polynomial(2, 0.0, (1.0, 2.0))"


def test_properties():
    assert not mc.Linear().is_stationary
    assert mc.Tanimoto().is_strict
    assert not mc.Polynomial().is_strict
    assert "unit" in mc.Tanimoto().proof().facts
    assert "bounded" in mc.Cosine().proof().facts


def test_what_is_not_a_kernel_cannot_be_built():
    with pytest.raises(NotAKernel, match="degree"):
        mc.Polynomial(1.5)
    with pytest.raises(NotAKernel, match="degree"):
        mc.Polynomial(0)
    with pytest.raises(NotAKernel, match="offset"):
        mc.Polynomial(2, -1.0)
    with pytest.raises(NotAKernel, match="scale"):
        mc.Polynomial(2, 1.0, 0.0)
    with pytest.raises(NotAKernel, match="positive semidefinite"):
        mc.Linear([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InvalidParameter, match="number"):
        mc.Polynomial(2, "much")


def test_widths_have_to_fit():
    with pytest.raises(InvalidInput, match="coordinates"):
        mc.Cosine()(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(InvalidInput, match="2 scales"):
        mc.Polynomial(2, 1.0, (1.0, 2.0))(np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="metric for 3"):
        mc.Linear(METRIC)(np.ones((2, 2)))
    with pytest.raises(InvalidInput, match="metric for 3"):
        mc.Linear(METRIC).features(np.ones((2, 2)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Cosine(),
        mc.Linear(np.diag([0.3, 0.7, 1.1])),
        mc.Polynomial(1, 0.5, 7.0),
        mc.Polynomial(33, 0.5, (7.0, 3.0, 11.0)),
    ],
    ids=str,
)
def test_float32_against_float64_has_the_digits_of_float64(rng, kernel, form):
    X, Y = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(4, 3))
    exact = kernel(X.astype(float), Y)
    size = np.sqrt(np.outer(kernel.diagonal(X.astype(float)), kernel.diagonal(Y)))
    assert np.all(np.abs(kernel(form(X), form(Y)) - exact) <= 1e-12 * size)
