"""Tight clusters far from the origin, where |x|^2 + |y|^2 - 2 x'y loses every digit."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gamma, kv

import mercer as mc
from mercer.testing import check_kernel

SPREAD, OFFSET = 1e-3, 1e6


def wide(X, Y):
    """All differences, in long doubles: exact for numbers this close."""
    return X.astype(np.longdouble)[:, None, :] - Y.astype(np.longdouble)[None, :, :]


def l2(gaps, s):
    return np.sqrt((gaps**2).sum(axis=-1)) / s


def wave(g, period):
    """What is left of a difference after whole periods, exactly."""
    return np.fmod(g, np.longdouble(period)) / period


def matern(nu):
    def profile(t):
        t = np.sqrt(2 * nu) * np.maximum(t.astype(float), 1e-300)
        return np.where(t < 1e-12, 1.0, 2 ** (1 - nu) / gamma(nu) * t**nu * kv(nu, t))

    return profile


KERNELS = {
    "gaussian": (mc.Gaussian, lambda g, s: np.exp(-(l2(g, s) ** 2) / 2)),
    "scales": (
        lambda s: mc.Gaussian((s, 2 * s, s / 2)),
        lambda g, s: np.exp(-(l2(g / np.array([1, 2, 0.5]), s) ** 2) / 2),
    ),
    "metric": (
        lambda s: mc.Gaussian(s, [[4.0, 0, 0], [0, 1.0, 0], [0, 0, 0.25]]),
        lambda g, s: np.exp(-(l2(g * np.array([2, 1, 0.5]), s) ** 2) / 2),
    ),
    "exponential": (mc.Exponential, lambda g, s: np.exp(-l2(g, s))),
    "laplacian": (
        mc.Laplacian, lambda g, s: np.exp(-np.abs(g).sum(axis=-1) / s)
    ),
    "matern32": (
        lambda s: mc.Matern(1.5, s),
        lambda g, s: (1 + 3**0.5 * l2(g, s)) * np.exp(-(3**0.5) * l2(g, s)),
    ),
    "matern52": (
        lambda s: mc.Matern(2.5, s),
        lambda g, s: (
            (1 + 5**0.5 * l2(g, s) + 5 / 3 * l2(g, s) ** 2) * np.exp(-(5**0.5) * l2(g, s))
        ),
    ),
    "matern07": (lambda s: mc.Matern(0.7, s), lambda g, s: matern(0.7)(l2(g, s))),
    "quadratic": (
        lambda s: mc.RationalQuadratic(s, 0.75), lambda g, s: (1 + l2(g, s) ** 2 / 1.5) ** -0.75
    ),
    "wendland": (
        lambda s: mc.Wendland(1, 4 * s),
        lambda g, s: np.maximum(1 - l2(g, 4 * s), 0) ** 4 * (4 * l2(g, 4 * s) + 1),
    ),
    "generalized": (
        lambda s: mc.GeneralizedGaussian(s, 1.5, 0.5),
        lambda g, s: np.exp(-(((np.abs(g) ** 1.5).sum(axis=-1) ** (1 / 1.5) / s) ** 0.5)),
    ),
    "periodic": (
        lambda s: mc.Periodic(8 * s, 1.0),
        lambda g, s: np.exp(-2 * (np.sin(np.pi * wave(g, 8 * s)) ** 2).sum(axis=-1)),
    ),
    "power": (lambda s: mc.Gaussian(s) ** 3, lambda g, s: np.exp(-1.5 * l2(g, s) ** 2)),
}  # fmt: skip


def cluster(rng, offset=OFFSET):
    return offset + SPREAD * rng.normal(size=(12, 3))


def two_clusters(rng):
    return np.concatenate([cluster(rng), cluster(rng, -OFFSET)])


@pytest.fixture(params=KERNELS)
def family(request):
    return KERNELS[request.param]


@pytest.mark.parametrize("place", [cluster, two_clusters], ids=["one", "two"])
@pytest.mark.parametrize("scale", [0.1, 1e-3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_cluster_far_away_keeps_its_values_and_its_eigenvalues(
    rng, family, place, scale, form
):
    make, formula = family
    kernel, X = make(scale), place(rng)
    exact = formula(wide(X, X), scale)
    K = kernel(form(X))
    assert np.abs(K - exact).max() <= 1e-9
    assert np.linalg.eigvalsh(K)[0] >= -1e-12
    assert (K.diagonal() == 1).all()
    np.testing.assert_array_equal(K, K.T)
    block = kernel(form(X), form(X[::-1].copy()))
    assert np.abs(block - exact[:, ::-1]).max() <= 1e-9
    v = rng.normal(size=len(X))
    for method in ("dense", "blocked"):
        found = mc.operator(kernel, form(X), plan=method) @ v
        assert np.abs(found - exact.astype(float) @ v).max() <= 1e-9 * np.abs(v).sum()


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6, 1e9])
def test_clusters_keep_the_laws(rng, family, offset):
    check_kernel(family[0](0.1), offset + SPREAD * rng.normal(size=(12, 3)))


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3])
def test_a_cluster_in_float32(rng, family, offset):
    # The points as they were rounded have an exact matrix; the values promise 2^-15.
    make, formula = family
    X = (offset + 0.05 * rng.normal(size=(40, 3))).astype(np.float32)
    K = make(0.1)(X)
    assert K.dtype == np.float32
    assert np.abs(K - formula(wide(X, X), 0.1)).max() <= 2.0**-15
    assert (K.diagonal() == 1).all()
    assert np.linalg.eigvalsh(K.astype(float))[0] >= -40 * 2.0**-15


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_many_points_in_two_clusters(rng, dtype, form):
    # Blocks of the matrix see one cluster or both: the way of computing must not show.
    X = np.concatenate([1e4 + rng.normal(size=(150, 2)), rng.normal(size=(150, 2))]).astype(
        dtype
    )
    exact = np.exp(-(wide(X, X) ** 2).sum(axis=-1) / 2)
    K = mc.Gaussian()(form(X))
    limit = 2.0**-40 if dtype == np.float64 else 2.0**-15
    assert np.abs(K - exact).max() <= limit
    assert (K.diagonal() == 1).all()


def test_a_row_does_not_depend_on_the_other_rows(rng):
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    for kernel in (mc.Gaussian(), mc.Matern(), mc.Laplacian(), mc.RationalQuadratic()):
        whole = kernel(X, Y)
        far = kernel(np.concatenate([X[:1], X[1:] + 100]), Y)
        np.testing.assert_allclose(far[0], whole[0], rtol=0, atol=2.0**-40)


@pytest.mark.parametrize("pair", [(0.1, 0.1 + 1e-9), (1e6, 1e6 + 1e-9), (1e-200, 2e-200)])
def test_two_points_nearly_equal(pair):
    for kernel in (mc.Exponential(1e-8), mc.Laplacian(1e-8), mc.Matern(1.5, 1e-8)):
        X = np.array(pair)[:, None]
        gap = abs(float(np.longdouble(pair[1]) - np.longdouble(pair[0]))) * 1e8
        exact = (
            (1 + 3**0.5 * gap) * np.exp(-(3**0.5) * gap)
            if "matern" in str(kernel)
            else np.exp(-gap)
        )
        assert abs(kernel(X)[0, 1] - exact) <= 1e-12
