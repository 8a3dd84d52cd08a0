"""Kernels that know only whether two points are equal."""

from __future__ import annotations

import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.domains import Anything, Categories, Vectors
from mercer.errors import InvalidInput, InvalidType, NoFeatureMap, NotSmooth

KERNELS = [mc.Delta(), mc.White(), mc.Bias()]
names = {"ids": lambda value: str(value) if isinstance(value, mc.Kernel) else None}

things = st.sampled_from(["a", "b", "", 1, 2.5, (1, 2), frozenset({1}), None])


@given(
    left=st.lists(things, min_size=1, max_size=8),
    right=st.lists(things, min_size=1, max_size=8),
)
def test_delta_is_equality(left, right):
    assert np.array_equal(mc.Delta()(left, right), [[a == b for b in right] for a in left])
    assert np.array_equal(mc.Delta()(left), [[a == b for b in left] for a in left])
    assert np.array_equal(mc.Bias()(left, right), np.ones((len(left), len(right))))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["dense", "sparse", "left", "right"])
@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_vectors(rng, kernel, storage, dtype):
    X, Y = (rng.integers(0, 2, (n, 2)).astype(dtype) for n in (170, 9))
    Y[0] = -0.0
    U = sparse.csr_array(X) if storage in {"sparse", "left"} else X
    V = sparse.csr_array(Y) if storage in {"sparse", "right"} else Y
    equal = (X[:, None] == Y).all(axis=-1)
    domain = Vectors()
    values = kernel.block(domain.encode(U), domain.encode(V))
    assert values.dtype == dtype
    assert np.array_equal(values, equal if kernel != mc.Bias() else np.ones((170, 9)))
    A = domain.encode(U)
    K = kernel.square(A)
    assert np.array_equal(K, K.T)
    assert (kernel.diag(A) == 1).all()
    assert (np.diag(K) == 1).all()
    assert np.linalg.eigvalsh(K)[0] >= -170 * 170 * np.finfo(dtype).eps
    assert kernel.block(domain.encode(U), domain.encode(Y.astype(float))).dtype == np.float64


def test_white_reads_vectors_alone():
    assert mc.White().domain == Vectors()
    assert mc.Delta().domain == mc.Bias().domain == Anything()
    with pytest.raises((InvalidInput, InvalidType)):
        mc.White()(["red", "blue"])
    assert np.array_equal(
        mc.White()([[1, 2], [1, 2], [2, 1]]), mc.Delta()([[1, 2], [1, 2], [2, 1]])
    )


def test_batches_of_other_domains():
    batch = Categories().encode(["red", None, "red"])
    assert np.array_equal(mc.Delta()(batch), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert mc.Delta()(batch, Categories().encode(["red"])).ravel().tolist() == [1, 0, 1]
    assert mc.Delta()(batch, ["red"]).ravel().tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([1, 0], [True, False], [[1, 0], [0, 1]]),
        ([1.5, float("nan")], [None], [[0], [1]]),
        ([1, 0], [None], [[0], [0]]),
        ([date(2020, 1, 1), date(2021, 1, 1)], [None], [[0], [0]]),
        ([2**60, 1], [1], [[0], [1]]),
        (["a", "1"], [1], [[0], [0]]),
        ([{1}, {2}], [{2}, None], [[0, 0], [1, 0]]),
    ],
)
def test_a_column_that_two_tables_read_in_two_ways(left, right, same):
    kernel = mc.Delta().on("b")
    assert kernel({"b": left}, {"b": right}).tolist() == same
    assert kernel({"b": right}, {"b": left}).tolist() == np.transpose(same).tolist()
    for other in (kernel.normalized(), (0 * mc.Delta()).normalized().on("b")):
        assert other({"b": left}, {"b": right}).tolist() == same


def test_vectors_are_compared_with_vectors():
    with pytest.raises(InvalidInput, match="same form") as caught:
        mc.Delta()(sparse.csr_array(np.eye(2)), np.eye(2))
    assert "Batch" not in str(caught.value)
    with pytest.raises(InvalidInput, match="same form"):
        mc.Delta().on("b")({"b": np.eye(2)}, {"b": ["red"]})
    column = sparse.csr_array(np.eye(2))
    assert np.array_equal(mc.Delta().on("b")({"b": np.eye(2)}, {"b": column}), np.eye(2))
    one = sparse.csr_array([[1.0], [0.0]])
    assert np.array_equal(mc.Delta().on("b")({"b": [1, 0]}, {"b": one}), np.eye(2))


@pytest.mark.parametrize("other", [np.array, lambda rows: list(map(tuple, rows)), pd.DataFrame])
def test_rows_in_two_forms_are_refused(other):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    for pair in ((rows, other(rows)), (other(rows), rows)):
        with pytest.raises(InvalidInput, match="of type"):
            mc.Delta()(*pair)
    assert np.array_equal(mc.Delta()(other(rows), other(rows[::-1])), np.eye(2)[::-1])


def test_an_array_of_objects_holds_the_same_points():
    rows = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert np.array_equal(mc.Delta()(rows, rows.astype(object)), np.eye(2))
    words = np.array([["a", 1], ["b", None]], dtype=object)
    assert np.array_equal(mc.Delta()(words, words.copy()), np.eye(2))


def test_columns_in_another_order_are_other_points():
    table = pd.DataFrame({"a": ["x"], "b": ["y"]})
    with pytest.raises(InvalidInput, match="'a' in one table and 'b' in the other"):
        mc.Delta()(table, table[["b", "a"]])
    assert mc.Delta()(table, table.copy()) == 1


def test_in_sums_with_kernels_on_vectors(rng):
    X = rng.normal(size=(5, 2))
    noisy = mc.Gaussian() + 0.5 * mc.White() + 2 * mc.Bias()
    np.testing.assert_allclose(noisy(X), mc.Gaussian()(X) + 0.5 * np.eye(5) + 2, rtol=1e-15)
    np.testing.assert_allclose((mc.Gaussian() * mc.Delta())(X), np.eye(5))
    shifted = mc.Linear() + 2.0
    np.testing.assert_allclose(shifted.features(X) @ shifted.features(X).T, X @ X.T + 2)
    np.testing.assert_allclose(shifted.gradient(X), mc.Linear().gradient(X))
    assert noisy(X.astype(np.float32)).dtype == np.float32


def test_features_and_gradients():
    assert np.array_equal(mc.Bias().features(["a", "b"]), np.ones((2, 1)))
    for kernel in (mc.Delta(), mc.White()):
        with pytest.raises(NoFeatureMap):
            kernel.features([[1.0]])
        with pytest.raises(NotSmooth):
            kernel.gradient([[1.0]])
    with pytest.raises(NotSmooth, match="vectors"):
        mc.Bias().gradient(["a"])
    for kernel in KERNELS:
        assert kernel.parameter_gradient([[1.0]]) == {}


@pytest.mark.parametrize("kernel", KERNELS, **names)
def test_proof_text_and_pickle(kernel):
    kernel.proof().check()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert mc.kernel(str(kernel)) == kernel
    assert eval(repr(kernel), vars(mc)) == kernel
    assert kernel == type(kernel)()


def test_properties():
    assert mc.White() != mc.Delta()
    assert mc.White().is_stationary
    assert mc.White().is_strict
    assert mc.Delta().is_strict
    assert not mc.Delta().is_stationary
    assert mc.Bias().is_isotropic
    assert not mc.Bias().is_strict
    assert (mc.Delta() ** 0.5).pair("a", "a") == 1
