"""What is rounding is forgiven, and what is not is said."""

import numpy as np
import pytest

import mercer as mc
from mercer.domains import Vectors
from mercer.errors import NotPositiveDefinite
from mercer.functions.rounding import eigen, lengths, orthonormal, product, promise

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def test_a_square_just_below_zero_is_zero():
    squared = np.array([-1e-15, 0.0, 4.0])
    np.testing.assert_array_equal(lengths(squared, np.ones(3), DOUBLE), [0.0, 0.0, 2.0])


def test_a_square_far_below_zero_is_an_error():
    with pytest.raises(NotPositiveDefinite, match=r"-0\.25"):
        lengths(np.array([1.0, -0.25]), np.ones(2), DOUBLE)


def test_single_precision_is_forgiven_more():
    assert promise(SINGLE) > promise(DOUBLE)
    assert lengths(np.array([-1e-5]), np.ones(1), SINGLE)[0] == 0.0
    with pytest.raises(NotPositiveDefinite):
        lengths(np.array([-1e-5]), np.ones(1), DOUBLE)


def test_eigenvalues_of_a_matrix_of_known_rank(rng):
    X = rng.normal(size=(30, 4))
    values, vectors = eigen(X @ X.T)
    assert len(values) == 4
    assert (np.diff(values) < 0).all()
    # Backward stability: a few times the dimension times 2^-53 of the norm.
    np.testing.assert_allclose((vectors * values) @ vectors.T, X @ X.T, rtol=0, atol=1e-12)
    assert (vectors[np.abs(vectors).argmax(axis=0), range(4)] > 0).all()


def test_the_zero_matrix_has_no_eigenvalues():
    values, vectors = eigen(np.zeros((3, 3)))
    assert values.shape == (0,)
    assert vectors.shape == (3, 0)


@pytest.mark.parametrize(
    "matrix", [[[0.0, 1.0], [1.0, 0.0]], [[-1.0]], [[1.0, 2.0], [2.0, 1.0]]]
)
def test_an_indefinite_matrix_is_refused(matrix):
    with pytest.raises(NotPositiveDefinite, match="eigenvalue -1"):
        eigen(np.array(matrix))


@pytest.mark.parametrize("kernel", [mc.Gaussian(), mc.Polynomial(2), mc.Linear()])
def test_an_orthonormal_basis_of_the_span(kernel, rng):
    batch = Vectors().encode(np.repeat(rng.normal(size=(6, 2)), 2, axis=0))
    W = orthonormal(kernel, batch)
    assert W.shape[1] == np.linalg.matrix_rank(kernel.square(batch))
    # W'KW is off by the error of K, 12 * 2^-53 or so, over the least eigenvalue that is kept,
    # which is above 1e-6 for these points.
    np.testing.assert_allclose(W.T @ kernel.square(batch) @ W, np.eye(W.shape[1]), atol=1e-8)


def test_product_of_tiles_is_the_product_of_the_matrix(rng):
    k, V = mc.Gaussian(), rng.normal(size=(200, 3))
    A, B = (
        Vectors().encode(rng.normal(size=(300, 4))),
        Vectors().encode(rng.normal(size=(200, 4))),
    )
    # Sums of 200 terms of size 1, each way off by at most 200 * 2^-53 of their sum.
    np.testing.assert_allclose(product(k, A, B, V), k.block(A, B) @ V, rtol=0, atol=1e-11)
    np.testing.assert_allclose(product(k, B, B, V), k.square(B) @ V, rtol=0, atol=1e-11)
