"""Each profile is its formula, and no profile hides a NaN."""

import numpy as np
import pytest

from mercer.loops import profiles
from mercer.loops.profiles import finish, shift

DTYPES = [np.float64, np.float32]
FORMULAS = {
    profiles.RAW: lambda s, p, q, n, a, b: s,
    profiles.GAUSSIAN: lambda s, p, q, n, a, b: np.exp(-p * s),
    profiles.EXPONENTIAL: lambda s, p, q, n, a, b: np.exp(-p * np.sqrt(s)),
    profiles.MATERN32: lambda s, p, q, n, a, b: (p * np.sqrt(s) + q) * np.exp(-p * np.sqrt(s)),
    profiles.MATERN52: lambda s, p, q, n, a, b: (
        (q * p**2 * s + p * np.sqrt(s) + 1) * np.exp(-p * np.sqrt(s))
    ),
    profiles.POLYNOMIAL: lambda s, p, q, n, a, b: (p * s + q) ** n,
    profiles.EXP_DOT: lambda s, p, q, n, a, b: np.exp(p * s + q),
    profiles.TANIMOTO: lambda s, p, q, n, a, b: s / (a + b - s),
    profiles.COSINE: lambda s, p, q, n, a, b: s * a * b,
}


def run(kind, sums, p=1.0, q=1.0, whole=1, a=1.0, norms=None):
    cast = sums.dtype.type
    norms = np.ones_like(sums) if norms is None else norms
    out = np.empty_like(sums)
    finish(sums.copy(), out, kind, cast(p), cast(q), whole, cast(a), norms)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", FORMULAS)
@pytest.mark.parametrize("count", [1, 5, 24, 97])
def test_a_profile_is_its_formula(rng, kind, dtype, count):
    sums = rng.uniform(0, 4, count).astype(dtype)
    norms = rng.uniform(4, 6, count).astype(dtype)
    given = {"p": 0.75, "q": 0.5, "whole": 3, "a": 5.0}
    found = run(kind, sums, **given, norms=norms)
    exact = FORMULAS[kind](sums.astype(float), 0.75, 0.5, 3, 5.0, norms.astype(float))
    # A dozen roundings at most, each of half a unit.
    np.testing.assert_allclose(found, exact, rtol=6 * np.finfo(dtype).eps)
    assert found.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", FORMULAS)
def test_no_profile_hides_a_nan(kind, dtype):
    for at in range(17):
        sums = np.ones(17, dtype)
        sums[at] = np.nan
        found = run(kind, sums, whole=2, a=5.0)
        assert np.flatnonzero(np.isnan(found)).tolist() == [at]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [profiles.TANIMOTO, profiles.COSINE])
def test_no_profile_hides_a_nan_in_the_norms(kind, dtype):
    norms = np.full(5, 3.0, dtype)
    norms[3] = np.nan
    assert np.isnan(run(kind, np.ones(5, dtype), norms=norms)).tolist() == [0, 0, 0, 1, 0]
    assert np.isnan(run(kind, np.ones(5, dtype), a=np.nan)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "kind", [profiles.GAUSSIAN, profiles.EXPONENTIAL, profiles.MATERN32, profiles.MATERN52]
)
def test_what_is_infinitely_far_is_unlike(kind, dtype):
    # A square of a distance overflows, in float32 already for coordinates of 1e20.
    far = np.array([np.inf, np.finfo(dtype).max, 0.0], dtype)
    assert run(kind, far, p=1.0, q=1.0 if kind != profiles.MATERN52 else 1 / 3).tolist() == [
        0,
        0,
        1,
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_empty_points_are_alike(dtype):
    nothing = np.zeros(3, dtype)
    assert run(profiles.TANIMOTO, nothing, a=0.0, norms=nothing).tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_squared_distance_is_completed_and_not_negative(dtype):
    sums = np.array([-8.0, -10.0, np.nan, 4.0], dtype)
    shift(sums, dtype(5), np.full(4, 4.0, dtype), dtype(0))
    np.testing.assert_array_equal(sums, [1.0, 0.0, np.nan, 13.0])
