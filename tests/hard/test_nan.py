"""Encoded points hold no NaN, but if one came in it must come out: no loop may hide it."""

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
    multiply,
    profiles,
)

OPERATIONS = [DOT, SQUARED, MANHATTAN, MINIMUM, CHI2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_nan_in_a_point_is_in_all_its_values(rng, operation, dtype, side):
    X, Y = (rng.random(size=(shape, 3)).astype(dtype) for shape in (150, 60))
    (X if side == "rows" else Y)[37, 1] = np.nan
    for kind in (profiles.RAW, profiles.GAUSSIAN, profiles.EXPONENTIAL, profiles.MATERN52):
        found = np.isnan(dense(Pairwise(X, Y, operation, Profile(kind))))
        wanted = np.zeros_like(found)
        wanted[(37, slice(None)) if side == "rows" else (slice(None), 37)] = True
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("side", [0, 1])
def test_nan_in_the_product_form(rng, dtype, side):
    X, Y = (rng.random(size=(shape, 3)).astype(dtype) for shape in (150, 60))
    (X, Y)[side][37, 1] = np.nan
    norms = (X**2).sum(axis=1), (Y**2).sum(axis=1)
    for tiles in (
        Pairwise(X, Y, DOT, Profile(profiles.GAUSSIAN), norms=norms, product=True),
        SparsePairwise(
            sp.csr_array(X),
            sp.csr_array(Y),
            Profile(profiles.GAUSSIAN),
            norms=norms,
            product=True,
        ),
    ):
        found = np.isnan(dense(tiles))
        assert found.take(37, axis=side).all()
        assert found.sum() == found.shape[1 - side]


@pytest.mark.parametrize("kind", [profiles.RAW, profiles.POLYNOMIAL, profiles.TANIMOTO])
def test_nan_in_sparse_points(rng, kind):
    X = sp.csr_array([[1.0, 2.0], [np.nan, 1.0], [3.0, 0.0]])
    norms = np.ones(3), np.ones(3)
    found = np.isnan(dense(SparsePairwise(X, X, Profile(kind), norms=norms)))
    assert found[1].all()
    assert found[:, 1].all()
    assert not found[::2, ::2].any()


@pytest.mark.parametrize("symmetric", [True, False])
def test_nan_reaches_the_products(rng, symmetric):
    X = rng.normal(size=(300, 2))
    X[5, 0] = np.nan
    product = multiply(
        Pairwise(X, X, DOT, Profile()), np.ones((300, 1)), is_symmetric=symmetric
    )
    assert np.isnan(product).all()
