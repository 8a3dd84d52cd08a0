"""K @ V of every operator against numpy on the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.loops import product
from mercer.loops.tiles import COLUMNS, ROWS

KERNELS = [
    mc.Gaussian(), mc.Laplacian(), mc.Matern(0.7), mc.Polynomial(3), mc.Tanimoto(),
    mc.Gaussian() * mc.Linear() + 0.1 * mc.White(), mc.Linear().exp().normalized(),
    mc.from_function(lambda A, B: np.exp(-np.abs(A[:, :1] - B[:, :1].T)), vectorized=True,
                     domain=mc.Gaussian().domain),
]  # fmt: skip


def bound(K, V):
    """A piece of 1152 terms is added up in the type of K."""
    units = min(K.shape[1], COLUMNS) + 5
    return units * np.finfo(K.dtype).eps * (np.abs(K).astype(float) @ np.abs(V))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_products_with_the_gram_matrix(rng, kernel, form, dtype):
    if form is sp.csr_array and "function" in str(kernel):
        pytest.skip("the function reads arrays")
    X = form(rng.normal(size=(2 * ROWS + 7, 3)).astype(dtype))
    V = rng.normal(size=(2 * ROWS + 7, 5))
    K = kernel(X)
    for method in ("dense", "blocked"):
        A = mc.operator(kernel, X, plan=method)
        assert A.plan_.method == method
        assert A.shape == K.shape
        assert A.is_symmetric
        assert np.all(np.abs(A @ V - K.astype(float) @ V) <= bound(K, V))
        assert np.all(np.abs(A @ V[:, 0] - K.astype(float) @ V[:, 0]) <= bound(K, V)[:, 0])
        assert np.all(np.abs(A.T @ V - K.astype(float) @ V) <= bound(K, V))
        np.testing.assert_array_equal(A.to_dense(), K)
        np.testing.assert_array_equal(A.diagonal(), kernel.diagonal(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_products_with_a_block(rng, kernel, dtype):
    X, Y = (rng.normal(size=(n, 3)).astype(dtype) for n in (ROWS + 5, COLUMNS + 9))
    V, W = rng.normal(size=(COLUMNS + 9, 3)), rng.normal(size=(ROWS + 5, 2))
    K = kernel(X, Y)
    for method in ("dense", "blocked"):
        A = mc.operator(kernel, X, Y, plan=method)
        assert not A.is_symmetric
        assert np.all(np.abs(A @ V - K.astype(float) @ V) <= bound(K, V))
        back = K.T.astype(float)
        # The transposed block is computed anew, from the other side.
        slack = 2.0**-38 if K.dtype == np.float64 else 2.0**-13
        allowed = bound(K.T, W) + slack * np.abs(W).sum(axis=0) * np.abs(K).max()
        for found in (A.T @ W, A.H @ W, A.rmatmat(W)):
            assert np.all(np.abs(found - back @ W) <= allowed)


@pytest.mark.parametrize("columns", [1, 2, 16, 100])
def test_many_right_hand_sides(rng, columns, monkeypatch):
    X, V = rng.normal(size=(500, 3)), rng.normal(size=(500, columns))
    A = mc.operator(mc.Gaussian(), X, plan="blocked")
    wanted = mc.Gaussian()(X) @ V
    np.testing.assert_allclose(A @ V, wanted, rtol=1e-10, atol=1e-10)
    # With too many for the scratch memory, every entry is computed twice instead.
    monkeypatch.setattr(product, "SCRATCH", product.GROUPS * 500 * 8 * 10)
    np.testing.assert_allclose(A @ V, wanted, rtol=1e-10, atol=1e-10)


def test_layouts_and_types_of_right_hand_sides(rng):
    X, V = rng.normal(size=(200, 3)), rng.normal(size=(200, 4))
    A = mc.operator(mc.Gaussian(), X, plan="blocked")
    wanted = A @ V
    for other in (np.asfortranarray(V), np.repeat(V, 2, axis=1)[:, ::2], V[::-1].copy()[::-1]):
        np.testing.assert_array_equal(A @ other, wanted)
    V.flags.writeable = False
    np.testing.assert_array_equal(A @ V, wanted)
    whole = np.arange(200)
    np.testing.assert_allclose(A @ whole, A @ whole.astype(float))
    assert (A @ np.empty((200, 0))).shape == (200, 0)
    assert (A @ V).flags.c_contiguous
    single = mc.operator(mc.Gaussian(), X.astype(np.float32), plan="blocked")
    assert (single @ V.astype(np.float32)).dtype == np.float32
    assert (single @ V).dtype == np.float64


@pytest.mark.parametrize("method", ["dense", "blocked"])
def test_bitwise_the_same_for_any_number_of_threads(rng, method):
    X, Y, V = (rng.normal(size=shape) for shape in ((700, 3), (900, 3), (700, 4)))
    kernel = mc.Gaussian() * mc.Linear() + mc.Laplacian()
    plans = [mc.Plan(method=method, threads=n) for n in (1, 2, 3, 5)]
    square = [mc.operator(kernel, X, plan=plan) for plan in plans]
    block = [mc.operator(kernel, Y, X, plan=plan) for plan in plans]
    for operators in (square, block):
        for other in operators[1:]:
            np.testing.assert_array_equal(other @ V, operators[0] @ V)
            np.testing.assert_array_equal(other.to_dense(), operators[0].to_dense())


@pytest.mark.parametrize("columns", [1, 64, 200])
def test_bitwise_the_same_under_a_tight_budget(rng, columns):
    X, V = rng.normal(size=(1500, 3)), rng.normal(size=(1500, columns))
    for memory in ("4 MB", "8 MB", "16 MB", "1 GB"):
        plans = [mc.Plan(method="blocked", threads=n, memory=memory) for n in (1, 2, 3)]
        one, *others = (mc.operator(mc.Gaussian(), X, plan=plan) @ V for plan in plans)
        for other in others:
            np.testing.assert_array_equal(other, one)
