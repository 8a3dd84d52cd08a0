"""Sparse rows: their formats, and the scratch they leave behind."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from mercer.loops import (
    Combined,
    Pairwise,
    Profile,
    SparsePairwise,
    Workspace,
    compressed,
    dense,
    profiles,
)
from mercer.loops.pairwise import DOT


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_indices_of_both_types(rng, index, dtype):
    X = sp.random_array((30, 50), density=0.2, rng=rng, format="csr", dtype=dtype)
    Y = sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    np.testing.assert_array_equal(
        dense(SparsePairwise(Y, Y, Profile())), dense(SparsePairwise(X, X, Profile()))
    )


def test_scratch_is_left_clean(rng):
    work, out = Workspace(), np.empty((20, 30))
    X, Y = (sp.random_array((n, 40), density=0.3, rng=rng, format="csr") for n in (20, 30))
    narrow = X[:, :10], Y[:, :10]
    for left, right in ((X, Y), narrow, (X, Y)):
        SparsePairwise(left, right, Profile()).fill((0, 20), (0, 30), out, work)
        np.testing.assert_allclose(out, (left @ right.T).toarray(), atol=1e-14)
    assert not work.zeros(1, np.dtype(float)).any()


@pytest.mark.parametrize("columns", [1, 30])
def test_some_rows_and_columns_of_a_sparse_matrix(rng, columns):
    X, Y = (sp.random_array((n, 40), density=0.3, rng=rng, format="csr") for n in (20, columns))
    norms = X.power(2).sum(axis=1), Y.power(2).sum(axis=1)
    tiles = SparsePairwise(X, Y, Profile(profiles.GAUSSIAN, 0.2), norms=norms, product=True)
    rows, others = rng.integers(0, 20, 31), rng.integers(0, columns, 17)
    exact = np.exp(-0.2 * cdist(X.toarray(), Y.toarray(), "sqeuclidean"))
    np.testing.assert_allclose(dense(tiles.picked(rows)), exact[rows], rtol=1e-13)
    found = dense(tiles.picked(rows, others))
    np.testing.assert_allclose(found, exact[np.ix_(rows, others)], rtol=1e-13)


def test_two_sparse_matrices_of_different_widths_share_a_thread(rng):
    X = sp.random_array((200, 40), density=0.3, rng=rng, format="csr")
    both = Combined(
        SparsePairwise(X, X, Profile()),
        SparsePairwise(X[:, :7], X[:, :7], Profile()),
        np.multiply,
    )
    exact = (X @ X.T).toarray() * (X[:, :7] @ X[:, :7].T).toarray()
    np.testing.assert_allclose(dense(both, threads=2), exact, atol=1e-13)


def test_sparse_and_dense_in_one_pass(rng):
    X = sp.random_array((200, 40), density=0.3, rng=rng, format="csr", dtype=np.float32)
    Z = X.toarray()
    both = Combined(
        SparsePairwise(X, X, Profile()), Pairwise(Z, Z, DOT, Profile()), np.subtract
    )
    assert np.abs(dense(both)).max() <= 1e-5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 7, 2000])
def test_dense_rows_are_compressed_as_scipy_does_it(rng, dtype, rows):
    points = sp.random_array((rows, 90), density=0.1, rng=rng, dtype=dtype).toarray()
    points[0, 3], points[-1, 5], points[rows // 2] = np.nan, -0.0, 0.0
    found, wanted = compressed(points, 1.0), sp.csr_array(points)
    assert found.has_canonical_format
    assert found.dtype == dtype
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))


def test_rows_that_are_not_lean_are_left_alone(rng):
    points = rng.normal(size=(10, 10))
    points[:5] = 0
    assert compressed(points, 0.49) is None
    assert compressed(points, 0.5).nnz == 50
