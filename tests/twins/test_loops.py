"""Every compiled path against a plain loop over the coordinates."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.loops import (
    CHI2,
    DOT,
    MANHATTAN,
    MINIMUM,
    SQUARED,
    Pairwise,
    Profile,
    SparsePairwise,
    Workspace,
    dense,
    multiply,
    profiles,
    symmetric,
)
from mercer.loops.pairwise import DIRECT, PANELS
from mercer.loops.tiles import COLUMNS, ROWS
from mercer.loops.vector import sparse_wide, wide

DTYPES = [np.float64, np.float32]
TERMS = {
    DOT: lambda x, y: x * y,
    SQUARED: lambda x, y: (x - y) ** 2,
    MANHATTAN: lambda x, y: abs(x - y),
    MINIMUM: np.minimum,
    CHI2: lambda x, y: np.divide(
        (x - y) ** 2, x + y, out=np.zeros_like(x + y), where=x + y != 0
    ),
}
FORMULAS = {
    "raw": (Profile(), lambda s, a, b: s),
    "gaussian": (Profile(profiles.GAUSSIAN, 0.7), lambda s, a, b: np.exp(-0.7 * s)),
    "exponential": (
        Profile(profiles.EXPONENTIAL, 0.7),
        lambda s, a, b: np.exp(-0.7 * np.sqrt(s)),
    ),
    "matern32": (
        Profile(profiles.MATERN32, 0.7),
        lambda s, a, b: (1 + 0.7 * np.sqrt(s)) * np.exp(-0.7 * np.sqrt(s)),
    ),
    "matern52": (
        Profile(profiles.MATERN52, 0.7, 1 / 3),
        lambda s, a, b: (1 + 0.7 * np.sqrt(s) + 0.49 * s / 3) * np.exp(-0.7 * np.sqrt(s)),
    ),
    "polynomial": (
        Profile(profiles.POLYNOMIAL, 0.5, 1.25, 3),
        lambda s, a, b: (0.5 * s + 1.25) ** 3,
    ),
    "exp": (Profile(profiles.EXP_DOT, 0.25, -0.5), lambda s, a, b: np.exp(0.25 * s - 0.5)),
    "tanimoto": (Profile(profiles.TANIMOTO), lambda s, a, b: s / (a + b - s)),
    "cosine": (Profile(profiles.COSINE), lambda s, a, b: s * a * b),
}


def plain(operation, X, Y):
    """The sums, coordinate by coordinate, in float64."""
    X, Y = X.astype(float), Y.astype(float)
    total = np.zeros((len(X), len(Y)))
    for x, y in zip(X.T, Y.T, strict=True):
        total += TERMS[operation](x[:, None], y[None, :])
    return total


def points(rng, rows, columns, width, dtype):
    """Counts and fractions, with zeros and some coordinates in common."""
    X = rng.integers(0, 4, size=(rows, width)) + rng.random(size=(rows, width)).round(1)
    Y = rng.integers(0, 4, size=(columns, width)) * rng.random(size=(columns, width)).round(1)
    return X.astype(dtype), Y.astype(dtype)


def close(found, exact, width, dtype):
    # A sum of d non-negative terms is right to d + 3 units, in every order.
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact, rtol=(width + 3) * np.finfo(dtype).eps, atol=0)


def sizes(dtype):
    w = wide(np.dtype(dtype))
    return [
        (1, 1),
        (1, w),
        (2, w - 1),
        (3, w + 1),
        (7, 2 * w),
        (8, PANELS * w - 1),
        (9, PANELS * w + 1),
        (ROWS - 1, 50),
        (ROWS, 48),
        (ROWS + 1, 97),
        (2 * ROWS + 5, 3),
        (3, COLUMNS - 1),
        (4, COLUMNS),
        (5, COLUMNS + 1),
        (2, DIRECT - 1),
        (1, DIRECT + 1),
        (ROWS + 1, COLUMNS + 1),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", TERMS)
def test_a_double_loop_in_python(rng, operation, dtype):
    X, Y = points(rng, 11, 29, 3, dtype)
    found = dense(Pairwise(X, Y, operation, Profile()))
    for i, x in enumerate(X.astype(float)):
        for j, y in enumerate(Y.astype(float)):
            terms = (
                TERMS[operation](*map(np.atleast_1d, pair))[0]
                for pair in zip(x, y, strict=True)
            )
            assert math.isclose(found[i, j], math.fsum(terms), rel_tol=6 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", TERMS)
def test_all_sizes_around_the_tiles(rng, operation, dtype):
    for rows, columns in sizes(dtype):
        X, Y = points(rng, rows, columns, 3, dtype)
        close(dense(Pairwise(X, Y, operation, Profile())), plain(operation, X, Y), 3, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", TERMS)
@pytest.mark.parametrize("width", [1, 2, 17, 31, 32, 33, 64, 1000, 1023, 1024, 1100])
def test_all_widths(rng, operation, dtype, width):
    X, Y = points(rng, 30, 70, width, dtype)
    close(dense(Pairwise(X, Y, operation, Profile())), plain(operation, X, Y), width, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("operation", TERMS)
def test_all_profiles_of_all_operations(rng, operation, name, dtype):
    profile, formula = FORMULAS[name]
    X, Y = points(rng, 20, 110, 3, dtype)
    a, b = rng.random(20) + 30, rng.random(110) + 30
    found = dense(Pairwise(X, Y, operation, profile, norms=(a, b)))
    exact = formula(plain(operation, X, Y), a[:, None], b[None, :])
    # The sum is off by 6 units, and so is the exponent, which is at most 40 here.
    np.testing.assert_allclose(found, exact, rtol=300 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["raw", "gaussian", "exponential", "matern32", "matern52"])
def test_squared_distances_in_product_form(rng, name, dtype):
    profile, formula = FORMULAS[name]
    for rows, columns in sizes(dtype):
        X, Y = (rng.normal(size=(n, 3)).astype(dtype) for n in (rows, columns))
        norms = tuple((Z.astype(float) ** 2).sum(axis=1) for Z in (X, Y))
        tiles = Pairwise(X, Y, DOT, profile, norms=norms, product=True)
        # Dot product and norms: 6 units of |x|^2 + |y|^2; the root of that at a cusp.
        off = 6 * np.finfo(dtype).eps * (norms[0][:, None] + norms[1][None, :])
        exact = plain(SQUARED, X, Y)
        low, high = np.maximum(exact - off, 0), exact + off
        found, unit = dense(tiles), 20 * np.finfo(dtype).eps
        bounds = [formula(s, None, None) for s in (low, high)]
        assert np.all(found <= np.maximum(*bounds) * (1 + unit))
        assert np.all(found >= np.minimum(*bounds) * (1 - unit))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("product", [True, False])
def test_the_own_sums_stand_on_the_diagonal(rng, dtype, product):
    for count in (1, 5, ROWS - 1, ROWS + 1, COLUMNS + 1):
        X = rng.normal(size=(count, 2)).astype(dtype)
        norms = ((X**2).sum(axis=1),) * 2
        own = np.arange(count) / 1024
        operation = DOT if product else SQUARED
        tiles = Pairwise(X, X, operation, Profile(), norms=norms, product=product, own=own)
        for write in (dense, symmetric):
            matrix = write(tiles)
            np.testing.assert_array_equal(matrix.diagonal(), own.astype(dtype))
        np.testing.assert_array_equal(matrix, matrix.T)
        v = np.zeros((count, 1))
        v[-1] = 1
        found = multiply(tiles, v, is_symmetric=True)
        np.testing.assert_allclose(found[:, 0], matrix[:, -1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["raw", "polynomial", "tanimoto", "cosine", "exp"])
def test_sparse_rows(rng, name, dtype):
    profile, formula = FORMULAS[name]
    w = sparse_wide(np.dtype(dtype))
    shapes = [(1, 1), (3, w - 1), (4, w), (5, w + 1), (ROWS + 1, 2 * w + 3), (2, COLUMNS + 1)]
    for rows, columns in shapes:
        X, Y = (
            sp.random_array((n, 40), density=0.15, rng=rng, format="csr", dtype=dtype)
            for n in (rows, columns)
        )
        a, b = rng.random(rows) + 20, rng.random(columns) + 20
        found = dense(SparsePairwise(X, Y, profile, norms=(a, b)))
        exact = formula(X.toarray().astype(float) @ Y.toarray().T, a[:, None], b[None, :])
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, rtol=100 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_distances_in_product_form(rng, dtype):
    X = sp.random_array((ROWS + 30, 50), density=0.1, rng=rng, format="csr", dtype=dtype)
    squares = X.multiply(X).sum(axis=1)
    own = np.zeros(X.shape[0])
    profile = Profile(profiles.GAUSSIAN, 0.5)
    tiles = SparsePairwise(X, X, profile, norms=(squares, squares), product=True, own=own)
    exact = np.exp(-0.5 * plain(SQUARED, X.toarray(), X.toarray()))
    for matrix in (dense(tiles), symmetric(tiles, threads=3)):
        assert np.abs(matrix - exact).max() <= 60 * np.finfo(dtype).eps * squares.max()
        assert (matrix.diagonal() == 1).all()


def test_sparse_rows_without_entries():
    X = sp.csr_array((5, 3))
    Y = sp.csr_array([[1.0, 0, 2.0]])
    assert dense(SparsePairwise(X, Y, Profile())).tolist() == [[0.0]] * 5
    assert dense(SparsePairwise(Y, X, Profile())).tolist() == [[0.0] * 5]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_tile_may_be_filled_alone(rng, dtype):
    X, Y = rng.normal(size=(310, 4)).astype(dtype), rng.normal(size=(1400, 4)).astype(dtype)
    work = Workspace()
    for tiles in (
        Pairwise(X, Y, DOT, Profile()),
        SparsePairwise(sp.csr_array(X), sp.csr_array(Y), Profile()),
    ):
        whole = dense(tiles)
        for i, j in ((0, ROWS), (ROWS, 2 * ROWS), (2 * ROWS, 310)):
            for k, m in ((0, 10), (144, 300), (288, 1152), (1152, 1400), (0, 1400)):
                out = np.empty((j - i, m - k), dtype)
                tiles.fill((i, j), (k, m), out, work)
                np.testing.assert_array_equal(out, whole[i:j, k:m])
                with tiles.part((i, j), (k, m), work) as (flat, stride):
                    np.testing.assert_array_equal(flat[:stride][: m - k], whole[i, k:m])
