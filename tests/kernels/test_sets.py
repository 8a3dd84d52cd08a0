"""Kernels on sets, against Python's sets."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.errors import InvalidInput, InvalidType, NoFeatureMap, NotAKernel
from mercer.loops import dense, symmetric

CASES = [
    (mc.SetIntersection(), lambda a, b: len(a & b)),
    (mc.SetPower(), lambda a, b: 2.0 ** len(a & b)),
    (mc.SetPower(1.0), lambda a, b: 1.0),
    (mc.SetPower(1.5), lambda a, b: 1.5 ** len(a & b)),
    (mc.Jaccard(), lambda a, b: len(a & b) / len(a | b) if a | b else 1.0),
]
KERNELS = [case[0] for case in CASES]
names = {"ids": lambda value: str(value) if isinstance(value, mc.Kernel) else None}

items = st.sampled_from(["beer", "bread", "milk", 1, 2, 3, (1, 2), None])
baskets = st.lists(st.frozensets(items, max_size=6), min_size=1, max_size=7)


@pytest.mark.parametrize(("kernel", "formula"), CASES)
@given(left=baskets, right=baskets)
def test_is_its_formula(kernel, formula, left, right):
    expected = np.array([[formula(a, b) for b in right] for a in left])
    # Counts and quotients are exact; np.power is right to a unit or so.
    np.testing.assert_allclose(kernel(left, right), expected, rtol=4 * 2.0**-53, atol=0)
    K = kernel(left)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diagonal(left))
    np.testing.assert_allclose(K, kernel(left, list(left)), rtol=0, atol=0)
    assert np.linalg.eigvalsh(K)[0] >= -len(left) * 8 * 2.0**-53 * K.max()


@pytest.mark.parametrize("kernel", KERNELS, **names)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_indicator_matrices_are_sets(rng, kernel, dtype):
    X = (rng.random((300, 12)) < 0.3).astype(dtype)
    sets = [frozenset(np.flatnonzero(x).tolist()) for x in X]
    expected = kernel(sets)
    assert expected.dtype == np.float64
    assert np.array_equal(kernel(X), expected)
    assert np.array_equal(kernel(sparse.csr_array(X)), expected)
    assert np.array_equal(np.diag(kernel(X)), kernel.diagonal(X))


def test_empty_sets():
    empty = [set(), set()]
    assert np.array_equal(mc.SetIntersection()(empty), np.zeros((2, 2)))
    assert np.array_equal(mc.SetPower()(empty), np.ones((2, 2)))
    assert np.array_equal(mc.Jaccard()(empty), np.ones((2, 2)))
    assert np.array_equal(mc.Jaccard()([set()], [{1}]), [[0.0]])
    A = mc.SetPower().domain.encode(empty)
    assert np.array_equal(symmetric(mc.SetPower().normalized_tiles(A, A)), np.ones((2, 2)))


def test_jaccard_is_tanimoto_of_indicators(rng):
    X = (rng.random((50, 30)) < 0.2).astype(float)
    X[0] = 0
    assert np.array_equal(mc.Jaccard()(X), mc.Tanimoto()(X))


def test_set_power_counts_common_subsets():
    def subsets(a):
        return {
            frozenset(x for i, x in enumerate(sorted(a)) if m >> i & 1)
            for m in range(2 ** len(a))
        }

    a, b = {1, 2, 3, 4}, {3, 4, 5}
    assert mc.SetPower().pair(a, b) == len(subsets(a) & subsets(b))


# Features


@pytest.mark.parametrize("kernel", KERNELS[:-1], **names)
def test_features_have_the_gram_matrix(rng, kernel):
    X = rng.random((9, 6)) < 0.5
    features = kernel.features(X)
    assert features.shape == (9, 64 if isinstance(kernel, mc.SetPower) else 6)
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-14)


def test_the_subsets_of_many_items_are_refused():
    assert mc.SetPower().features(np.ones((1, 16))).shape == (1, 2**16)
    with pytest.raises(NoFeatureMap, match=r"2\^21"):
        mc.SetPower().features(np.ones((1, 21)))
    with pytest.raises(NoFeatureMap):
        mc.Jaccard().features(np.ones((1, 2)))


# Large sets


def test_wide_indicator_matrices_cost_only_the_items_that_meet(rng):
    X = sparse.random_array((20, 1 << 21), density=1e-4, rng=rng, format="csr")
    X.data[:] = 1
    common = (X @ X.T).toarray()
    sizes = np.diff(X.indptr)
    assert np.array_equal(mc.SetIntersection()(X), common)
    expected = common / (sizes[:, None] + sizes - common)
    assert np.array_equal(mc.Jaccard()(X), expected)
    assert np.array_equal(mc.Jaccard()(X, X[:7]), expected[:, :7])


def test_large_sets_overflow_and_say_so():
    large = [set(range(2000)), {1, 2}]
    with pytest.raises(InvalidInput, match=r"normalized\(\)"):
        mc.SetPower()(large)
    assert mc.SetPower(1.2)(large[:1])[0, 0] == pytest.approx(1.2**2000, rel=1e-13)


@pytest.mark.parametrize("base", [1.0, 1.3, 2.0, 1e6])
def test_normalized_sets_do_not_overflow(rng, base):
    kernel = mc.SetPower(base)
    X = rng.random((200, 3000)) < 0.9
    X[1] = X[0]
    X[2] = X[0]
    X[2, :2] = ~X[2, :2]
    A, B = kernel.domain.encode(X), kernel.domain.encode(X.copy())
    K = symmetric(kernel.normalized_tiles(A, A))
    assert (np.diag(K) == 1).all()
    assert K[0, 1] == 1
    assert K[0, 2] == pytest.approx(1 / base)
    differences = (X[:, None, :60] != X[:, :60]).sum(axis=-1)
    few = kernel.domain.encode(X[:, :60])
    expected = base ** (-differences / 2)
    # An exponent t has the relative error t eps, and t e^-t <= 1.
    np.testing.assert_allclose(
        symmetric(kernel.normalized_tiles(few, few)), expected, rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(dense(kernel.normalized_tiles(A, B)), K, rtol=0, atol=1e-15)
    np.testing.assert_allclose(kernel.normalized()(X), K, rtol=0, atol=1e-15)


def test_parameter_gradient_is_the_slope(rng):
    X, Y, step = rng.random((5, 8)) < 0.5, rng.random((4, 8)) < 0.5, 1e-5
    kernel = mc.SetPower(1.5)
    up, down = (mc.SetPower(1.5 * math.exp(s))(X, Y) for s in (step, -step))
    found = kernel.parameter_gradient(X, Y)
    assert set(found) == {"base"}
    np.testing.assert_allclose(found["base"], (up - down) / (2 * step), rtol=1e-7, atol=1e-8)


# The kernels as values


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_proof_text_and_pickle(kernel):
    kernel.proof().check()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert mc.kernel(str(kernel)) == kernel
    assert eval(repr(kernel), vars(mc)) == kernel


def test_text_form_and_properties():
    assert str(mc.SetPower(3)) == "set_power(3.0)"
    assert str(mc.SetIntersection()) == "set_intersection"
    assert mc.SetPower().is_strict
    assert not mc.SetPower(1.0).is_strict
    assert mc.Jaccard().is_strict
    assert not mc.SetIntersection().is_strict
    assert not mc.Jaccard().is_stationary


def test_what_is_not_a_kernel_cannot_be_built():
    with pytest.raises(NotAKernel, match="base >= 1"):
        mc.SetPower(0.9)
    # And why: at base 0.5 two sets with one common element have the determinant 1/4 - 1.
    K = 0.5 ** np.array([[1, 0], [0, 1]])
    assert np.linalg.det(K) < 0


def test_what_is_not_a_set_is_refused():
    with pytest.raises(InvalidType):
        mc.Jaccard()(["milk"])
    with pytest.raises(InvalidInput, match="columns"):
        mc.Jaccard()(np.ones((1, 2)), np.ones((1, 3)))
