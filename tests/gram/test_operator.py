"""An operator is a SciPy LinearOperator that solves, and takes little memory."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh, lsqr

import mercer as mc
from mercer.errors import InvalidInput, NotConverged, NotPositiveDefinite
from mercer.loops import available

METHODS = ["dense", "blocked"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 3))


@pytest.mark.parametrize("method", METHODS)
def test_scipy_takes_it(rng, X, method):
    A, K = mc.operator(mc.Gaussian(), X, plan=method), mc.Gaussian()(X)
    assert isinstance(A, LinearOperator)
    assert aslinearoperator(A) is A
    values = eigsh(A, k=3, v0=np.ones(80), return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(K)[-3:])
    shifted = A + aslinearoperator(np.eye(80))
    solution, failure = cg(shifted, np.ones(80), rtol=1e-10)
    assert failure == 0
    np.testing.assert_allclose(K @ solution + solution, np.ones(80), rtol=1e-8)
    block = mc.operator(mc.Gaussian(), X, X[:7], plan=method)
    found = lsqr(block, K[:, :7] @ np.arange(7), atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(found, np.arange(7), atol=1e-6)
    np.testing.assert_allclose((2 * A) @ np.ones(80), 2 * K.sum(axis=1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [1e-3, 1.0])
@pytest.mark.parametrize("width", [None, 1, 4])
def test_solve(rng, X, method, shift, width):
    b = rng.normal(size=80 if width is None else (80, width))
    A, K = mc.operator(mc.Gaussian(), X, plan=method), mc.Gaussian()(X)
    found = A.solve(b, shift)
    assert found.shape == b.shape
    # Both methods promise a relative residual of 1e-8, which is an error of |b| 1e-8 / shift.
    exact = np.linalg.solve(K + shift * np.eye(80), b)
    assert np.linalg.norm(found - exact) <= 2e-8 * np.linalg.norm(b) / shift


def test_solve_does_not_change_the_matrix(rng, X):
    A = mc.operator(mc.Gaussian(), X, plan="dense")
    before, b = A.to_dense(), rng.normal(size=80)
    first = A.solve(b, 0.1)
    np.testing.assert_array_equal(A.to_dense(), before)
    np.testing.assert_array_equal(A.solve(b, 0.1), first)
    changed = A.to_dense()
    changed[:] = 0
    np.testing.assert_array_equal(A.to_dense(), before)
    own = A.diagonal()
    own[:] = 0
    assert (A.diagonal() == 1).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_singular_matrix_says_so(method):
    A = mc.operator(mc.Linear(), [[1.0], [1.0], [2.0]], plan=method)
    with pytest.raises(NotPositiveDefinite, match="shift"):
        A.solve([1.0, -1.0, 0.0])
    with pytest.raises(NotPositiveDefinite, match="shift"):
        A.solve([1.0, 0.0, 0.0], -2.0)
    np.testing.assert_array_equal(A.solve(np.zeros(3), 1.0), np.zeros(3))
    np.testing.assert_allclose(A.solve([1.0, 1.0, 2.0], 1.0), [1 / 7, 1 / 7, 2 / 7])


def test_what_needs_one_batch(X):
    block = mc.operator(mc.Gaussian(), X, X[:5])
    with pytest.raises(InvalidInput, match="one batch"):
        block.diagonal()
    with pytest.raises(InvalidInput, match="one batch"):
        block.solve(np.ones(80))
    with pytest.raises(InvalidInput):
        mc.operator(mc.Gaussian(), X).solve(np.ones(79))


@pytest.mark.parametrize("method", METHODS)
def test_transposed(rng, X, method):
    A = mc.operator(mc.Gaussian(), X, X[:7], plan=method)
    assert A.T.shape == (7, 80)
    assert A.T.T.shape == (80, 7)
    np.testing.assert_allclose(A.T.to_dense(), A.to_dense().T, atol=1e-12)
    np.testing.assert_allclose(A.T.T.to_dense(), A.to_dense())
    square = mc.operator(mc.Gaussian(), X, plan=method)
    assert square.T is square
    assert square.H is square


def peak(work):
    work()  # once before, to compile
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_product_stores_no_matrix(rng):
    count, width, threads, columns = 4000, 3, 2, 2
    X, V = rng.normal(size=(count, width)), rng.normal(size=(count, columns))
    plan = mc.Plan(method="blocked", threads=threads)

    def work():
        return mc.operator(mc.Gaussian(), X, plan=plan) @ V

    # Tiles of each thread; the points moved, scaled and packed, each twice; sums of 16 groups
    # and a few copies of the right-hand sides.
    tiles = threads * 144 * 1152 * 8
    points = 8 * count * (width + 1) * 8
    sums = (16 + 6) * count * columns * 8
    assert peak(work) < tiles + points + sums + 1e6
    assert tiles + points + sums + 1e6 < count * count * 8 / 10


def test_sums_and_products_of_kernels_store_no_second_matrix(rng):
    X = rng.normal(size=(1500, 3))
    out = np.empty((1500, 1500))
    kernel = mc.Gaussian() * mc.Linear() + mc.Laplacian() * mc.Matern() + mc.Polynomial()

    def work():
        kernel(X, out=out)

    # At most one scratch tile for each of the five kernels, on two or more threads.
    assert peak(work) < max(2, available()) * 5 * 144 * 9216 * 8 + 4e6
    assert peak(lambda: mc.Gaussian()(X, out=out)) < 2e6


def test_a_residual_that_is_too_large_is_told(rng):
    # 1e-8 cannot be reached in float32: the products themselves are off by about 1e-7.
    X = rng.normal(size=(600, 3)).astype(np.float32)
    A = mc.operator(mc.Gaussian(), X, plan="blocked")
    with pytest.raises(NotConverged, match="float64"):
        A.solve(np.ones(600), shift=1e-2)
    exact = mc.operator(mc.Gaussian(), X, plan=mc.Plan(method="blocked", precision="float64"))
    solution = exact.solve(np.ones(600), shift=1e-2)
    residual = np.ones(600) - (exact @ solution + 1e-2 * solution)
    assert np.linalg.norm(residual) <= 1e-7 * np.sqrt(600)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_complex_right_hand_sides(rng, X, method, dtype):
    K, A = mc.Gaussian()(X), mc.operator(mc.Gaussian(), X.astype(dtype), plan=method)
    B = mc.operator(mc.Gaussian(), X.astype(dtype), X[:7].astype(dtype), plan=method)
    v = rng.normal(size=(80, 2)) + 1j * rng.normal(size=(80, 2))
    for found, exact in ((A @ v, K @ v), (B.H @ v, K[:7] @ v), (B @ v[:7], K[:, :7] @ v[:7])):
        assert found.dtype == np.complex128
        np.testing.assert_allclose(found, exact, atol=1e-12 if dtype == np.float64 else 1e-4)
    assert (A @ v.astype(np.complex64)).dtype == (
        np.complex64 if dtype == np.float32 else np.complex128
    )
    if dtype == np.float64:
        solution = A.solve(v, 1.0)
        np.testing.assert_allclose(K @ solution + solution, v, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_right_hand_side(X, method):
    A = mc.operator(mc.Gaussian(), X, plan=method)
    for wrong in (["a"] * 80, [{}] * 80, np.full(80, np.nan), [None] * 80):
        with pytest.raises(InvalidInput, match="right-hand side"):
            A @ wrong
        with pytest.raises(InvalidInput, match="right-hand side"):
            A.solve(wrong, 1.0)
    for wrong in (np.ones((80, 2, 2)), np.ones((80, 1, 1)), np.ones((1, 80)), 3.0):
        with pytest.raises(InvalidInput, match="right-hand side of shape"):
            A @ wrong
    for wrong in (np.nan, np.inf, "1", 1j, None):
        with pytest.raises(InvalidInput, match="shift"):
            A.solve(np.ones(80), wrong)
    numbers = np.array([1.0] * 80, dtype=object)
    np.testing.assert_array_equal(A @ numbers, A @ np.ones(80))
    np.testing.assert_array_equal(A @ sp.eye_array(80).tocsr(), A @ np.eye(80))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [2.0**-660, 2.0**660])
def test_systems_of_any_size(rng, X, method, size):
    b, A = rng.normal(size=80), mc.operator(mc.Gaussian(), X, plan=method)
    np.testing.assert_array_equal(A.solve(size * b, 1.0) / size, A.solve(b, 1.0))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(80, 2, 3), (80, 0)])
def test_shapes_of_solutions(rng, X, method, shape):
    A, b = mc.operator(mc.Gaussian(), X, plan=method), rng.normal(size=shape)
    found = A.solve(b, 1.0)
    assert found.shape == shape
    flat = A.solve(b.reshape(80, -1), 1.0)
    np.testing.assert_allclose(found.reshape(80, -1), flat, rtol=1e-12, atol=1e-14)


def test_a_pivot_that_is_a_rounding_error(rng):
    # The same point twice; rounding leaves a positive pivot, and a solution of 1e15.
    A = mc.operator(mc.Linear() + mc.Bias(), [[0.07], [0.0], [0.07]], plan="dense")
    with pytest.raises(NotPositiveDefinite, match="shift"):
        A.solve(rng.normal(size=3))
    assert np.abs(A.solve(np.ones(3), 1e-6)).max() < 1e7


@pytest.mark.parametrize("columns", [1, 30, 200])
def test_a_product_keeps_to_the_budget(rng, columns):
    X, V = rng.normal(size=(3000, 3)), rng.normal(size=(3000, columns))
    budget = 4_000_000
    A = mc.operator(mc.Gaussian(), X, plan=mc.Plan(method="blocked", threads=2, memory=budget))
    # The result belongs to the caller.
    assert peak(lambda: A @ V) <= budget + V.nbytes + 1e5
    np.testing.assert_allclose(A @ V, mc.Gaussian()(X) @ V, atol=1e-10)


def test_scratch_tiles_are_in_the_plan(rng):
    X = rng.normal(size=(3000, 3))
    kernel = mc.Gaussian() * mc.Linear() + mc.Laplacian() * mc.Matern()
    plan = mc.Plan(method="blocked", threads=2)
    A = mc.operator(kernel, X, plan=plan)
    sums = 17 * 3000 * 8
    assert peak(lambda: A @ np.ones(3000)) <= A.plan_.memory + sums + 2e5
    assert A.plan_.memory > mc.operator(mc.Gaussian(), X, plan=plan).plan_.memory
    wide = sp.random_array((300, 100_000), density=1e-4, rng=rng, format="csr")
    A = mc.operator(mc.Linear(), wide, plan=plan)
    assert peak(lambda: A @ np.ones(300)) <= A.plan_.memory + 1e5


def test_a_transposed_block_is_not_copied(rng):
    X = rng.normal(size=(1500, 3))
    A = mc.operator(mc.Gaussian(), X, X[:1000], plan=mc.Plan(method="dense", threads=2))
    assert peak(lambda: A.T @ np.ones(1500)) < A.plan_.memory / 3


def test_a_factor_takes_one_copy_or_there_is_none(rng):
    X, b = rng.normal(size=(800, 3)), rng.normal(size=800)
    size = 800 * 800 * 8
    roomy = mc.operator(mc.Gaussian(), X, plan=mc.Plan(memory=2 * size))
    assert roomy.plan_.method == "dense"
    assert size <= peak(lambda: roomy.solve(b, 1.0)) < 1.2 * size
    tight = mc.operator(mc.Gaussian(), X, plan=mc.Plan(memory=2 * size - 1))
    assert tight.plan_.method == "dense"
    assert peak(lambda: tight.solve(b, 1.0)) < 0.2 * size
    gap = np.linalg.norm(tight.solve(b, 1.0) - roomy.solve(b, 1.0))
    assert gap <= 2e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "kernel", [mc.Gaussian(), mc.GeneralizedGaussian(30.0, 1.5, 0.5) * mc.Linear()], ids=str
)
def test_it_can_be_pickled(rng, X, kernel, method):
    square = mc.operator(kernel, X, plan=method)
    block = mc.operator(kernel, X, X[:7] + 1.0, plan=method)
    for A in (square, block, block.T):
        again = pickle.loads(pickle.dumps(A))
        np.testing.assert_array_equal(again.to_dense(), A.to_dense())
        np.testing.assert_array_equal(again.T.to_dense(), A.T.to_dense())
        assert (again.plan_, again.is_symmetric) == (A.plan_, A.is_symmetric)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(square)).diagonal(), kernel.diagonal(X)
    )


def test_a_pickle_holds_a_stored_matrix_once(X):
    block = mc.operator(mc.Gaussian(), X, X + 1.0, plan="dense")
    assert len(pickle.dumps(block)) < 1.5 * block.to_dense().nbytes


def test_the_upper_half_and_other_types(rng):
    A = mc.operator(mc.Gaussian(), rng.normal(size=(300, 3)), plan="blocked")
    whole = A.to_dense()
    np.testing.assert_array_equal(np.triu(A.upper()), np.triu(whole))
    for found in (A.to_dense(np.float32), np.triu(A.upper(np.float32))):
        assert found.dtype == np.float32
    np.testing.assert_array_equal(A.to_dense(np.float32), whole.astype(np.float32))
    half = np.triu(whole).astype(np.float32)
    np.testing.assert_array_equal(np.triu(A.upper(np.float32)), half)
