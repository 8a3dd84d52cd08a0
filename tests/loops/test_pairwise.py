"""Packing, and the bound that decides between products and differences."""

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
    dense,
    product_is_safe,
    profiles,
    symmetric,
)
from mercer.loops.pairwise import pack, repack, squared_norms

LIMIT = {np.float64: 2.0**-40, np.float32: 2.0**-15}


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (8, 3), (9, 1), (17, 4)])
@pytest.mark.parametrize("size", [1, 4, 8])
def test_points_are_packed_coordinate_by_coordinate(rng, shape, size):
    points = rng.normal(size=shape)
    packed = pack(points, size)
    panels = -(-shape[0] // size)
    assert packed.shape == (panels * size * shape[1],)
    table = packed.reshape(panels, shape[1], size).transpose(0, 2, 1).reshape(-1, shape[1])
    np.testing.assert_array_equal(table[: shape[0]], points)
    assert not table[shape[0] :].any()


@pytest.mark.parametrize("size", [1, 4, 48])
def test_points_that_were_packed_are_packed_again(rng, size):
    points = rng.normal(size=(101, 3))
    chosen = rng.integers(0, 101, 57)  # some of them twice
    found = repack(pack(points, size), size, 3, chosen)
    np.testing.assert_array_equal(found, pack(points[chosen], size))


PLAIN = {
    DOT: lambda x, y: x @ y,
    SQUARED: lambda x, y: ((x - y) ** 2).sum(),
    MANHATTAN: lambda x, y: np.abs(x - y).sum(),
    MINIMUM: lambda x, y: np.minimum(x, y).sum(),
    CHI2: lambda x, y: ((x - y) ** 2 / (x + y)).sum(),
}


@pytest.mark.parametrize("operation", PLAIN)
@pytest.mark.parametrize("count", [1, 2, 60])
def test_some_rows_and_columns_of_a_matrix(rng, operation, count):
    X, Y = rng.uniform(0.5, 1, (50, 3)), rng.uniform(0.5, 1, (60, 3))
    X[7] = np.nan
    tiles = Pairwise(X, Y, operation, Profile())
    rows, columns = rng.integers(0, 50, count), rng.integers(0, 60, 77)
    rows[0] = 7
    wanted = np.array([[PLAIN[operation](x, y) for y in Y] for x in X[rows]])
    # Three terms of at most 1, each rounded twice, and their sum.
    np.testing.assert_allclose(dense(tiles.picked(rows)), wanted, atol=10 * 2.0**-53)
    both = dense(tiles.picked(rows, columns))
    np.testing.assert_allclose(both, wanted[:, columns], atol=10 * 2.0**-53)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 30])
def test_a_part_of_a_symmetric_matrix_is_symmetric(rng, dtype, rows):
    X = rng.normal(size=(rows, 4)).astype(dtype)
    squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    tiles = Pairwise(
        X, X, DOT, Profile(profiles.GAUSSIAN, 0.3), norms=(squares,) * 2, product=True,
        own=np.zeros(rows),
    )  # fmt: skip
    chosen = rng.integers(0, rows, 41)
    gaps = X.astype(float)[chosen][:, None] - X.astype(float)[chosen][None]
    exact = np.exp(-0.3 * (gaps**2).sum(axis=-1))
    part = dense(tiles.picked(chosen, chosen))
    assert np.abs(part - exact).max() <= LIMIT[dtype]
    assert (np.diagonal(part) == 1).all()
    np.testing.assert_array_equal(symmetric(tiles.picked(chosen, chosen)), part)
    other = dense(tiles.picked(chosen, chosen[::-1].copy()))  # nothing is exact by itself here
    assert np.abs(other - exact[:, ::-1]).max() <= LIMIT[dtype]


@pytest.mark.parametrize("count", [1, 2, 143, 145, 300, 2_400])
@pytest.mark.parametrize("missing", [False, True])
def test_one_thread_fills_a_symmetric_matrix_as_several_do(rng, count, missing):
    X = rng.uniform(size=(count, 2))
    X[count // 2] = np.nan if missing else 0
    tiles = Pairwise(X, X, MINIMUM, Profile())
    wanted = np.minimum(X[:, :1], X[:, 0]) + np.minimum(X[:, 1:], X[:, 1])
    for threads in (1, 3):
        np.testing.assert_allclose(symmetric(tiles, threads=threads), wanted, rtol=2.0**-52)
    upper = symmetric(tiles, np.zeros((count, count)), 1, mirror=False)
    np.testing.assert_array_equal(np.triu(upper), np.triu(symmetric(tiles, threads=3)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1, 3, 50, 2000])
@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0, 1e5])
@pytest.mark.parametrize("kind", ["cluster", "cloud", "shell"])
def test_where_the_product_form_is_allowed_it_is_exact_enough(rng, dtype, width, spread, kind):
    # Points at about the largest distance from the centre that the bound allows, some close.
    X = {
        "cloud": rng.normal(size=(60, width)),
        "cluster": 1 + 1e-3 * rng.normal(size=(60, width)),
        "shell": np.sign(rng.normal(size=(60, width))) + 1e-6 * rng.normal(size=(60, width)),
    }[kind]
    X = (spread * X / width**0.5).astype(dtype)
    squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    slope = 0.5
    if not product_is_safe((squares, squares), width, slope, np.dtype(dtype)):
        return
    tiles = Pairwise(
        X, X, DOT, Profile(profiles.GAUSSIAN, slope), norms=(squares,) * 2, product=True
    )
    gaps = X.astype(np.longdouble)[:, None] - X.astype(np.longdouble)[None]
    exact = np.exp(-slope * (gaps**2).sum(axis=-1))
    assert np.abs(dense(tiles) - exact).max() <= LIMIT[dtype]


def test_the_product_form_is_not_refused_without_need():
    for dtype, largest in ((np.float64, 30.0), (np.float32, 10.0)):
        squares = np.full(5, largest)
        assert product_is_safe((squares, squares), 50, 0.5, np.dtype(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_product_form_is_refused(dtype):
    for slope, largest in (
        (0.5, 1e12),
        (np.inf, 1.0),
        (1e20, 1.0),
        (0.5, np.inf),
        (0.5, np.nan),
    ):
        squares = np.array([0.0, largest])
        assert product_is_safe((squares, squares), 3, slope, np.dtype(dtype)) is False
        assert product_is_safe((squares, np.zeros(1)), 3, slope, np.dtype(dtype)) is False


def test_the_points_are_copied(rng):
    X = rng.normal(size=(20, 3))
    for operation in (DOT, SQUARED):
        tiles = Pairwise(X, X, operation, Profile())
        before = dense(tiles)
        X += 1
        np.testing.assert_array_equal(dense(tiles), before)


def largest_slope(squares, width, dtype):
    """The largest slope for which the product form is allowed."""
    low, high = 1e-12, 1e12
    for _ in range(60):
        middle = (low * high) ** 0.5
        if product_is_safe((squares, squares), width, middle, np.dtype(dtype)):
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [7, 50, 500, 20_000])
@pytest.mark.parametrize("kind", ["alike", "lost"])
def test_the_bound_holds_where_all_roundings_go_the_same_way(rng, dtype, width, kind):
    if kind == "alike":
        X = rng.uniform(0.5, 1, (20, 1)) * np.ones(width)
    else:  # each term is just too small to change the sum of those before it
        X = np.full((3, width), (0.45 * np.finfo(dtype).eps) ** 0.5)
        X[:, 0] = 1
    X = X.astype(dtype)
    wide = X.astype(np.longdouble)
    squares = (wide**2).sum(axis=1)
    slope = largest_slope(squares, width, dtype)
    profile, norms = Profile(profiles.GAUSSIAN, slope), (squares.astype(float),) * 2
    exact = np.exp(-slope * np.stack([((x - wide) ** 2).sum(axis=1) for x in wide]))
    S = sp.csr_array(X)
    for tiles in (
        Pairwise(X, X, DOT, profile, norms=norms, product=True),
        SparsePairwise(S, S, profile, norms=norms, product=True),
    ):
        assert np.abs(dense(tiles) - exact).max() <= LIMIT[dtype]


def test_norms_are_right_to_two_units(rng):
    X = rng.uniform(0.5, 1, (5, 1)) * np.ones(30_001)
    found = squared_norms(X.ravel(), np.arange(6) * 30_001)
    exact = (X.astype(np.longdouble) ** 2).sum(axis=1)
    assert np.abs(found - exact).max() <= 2 * np.spacing(found.max())
    assert np.isnan(squared_norms(np.array([1.0, np.nan]), np.array([0, 2])))
    assert squared_norms(np.empty(0), np.zeros(3, int)).tolist() == [0, 0]
