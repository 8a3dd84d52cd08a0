"""The kernels against scikit-learn and SciPy, and a few against mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise as sk

import mercer as mc

DTYPES = [np.float64, np.float32]


def both(ours, theirs, dtype, size=1.0):
    assert ours.dtype == dtype
    limit = (2.0**-40 if dtype == np.float64 else 2.0**-15) * size
    assert np.abs(ours - np.asarray(theirs, float)).max() <= 2 * limit


@pytest.fixture(params=DTYPES)
def data(request, rng):
    return (rng.normal(size=(n, 5)).astype(request.param) for n in (160, 90))


PAIRS = {
    "gaussian": (mc.Gaussian(1.5), lambda X, Y: sk.rbf_kernel(X, Y, gamma=0.5 / 1.5**2)),
    "laplacian": (mc.Laplacian(2.0), lambda X, Y: sk.laplacian_kernel(X, Y, gamma=0.5)),
    "linear": (mc.Linear(), sk.linear_kernel),
    "polynomial": (
        mc.Polynomial(3, 1.5, 2.0),
        lambda X, Y: sk.polynomial_kernel(X, Y, degree=3, gamma=0.25, coef0=1.5),
    ),
    "cosine": (mc.Cosine(), sk.cosine_similarity),
    "normalized": (mc.Linear().normalized(), sk.cosine_similarity),
    "gp rbf": (mc.Gaussian((1.0, 2.0, 3.0, 4.0, 5.0)), gp.RBF([1, 2, 3, 4, 5])),
    "matern 0.5": (mc.Matern(0.5, 1.3), gp.Matern(1.3, nu=0.5)),
    "matern 1.5": (mc.Matern(1.5, 1.3), gp.Matern(1.3, nu=1.5)),
    "matern 2.5": (mc.Matern(2.5, 1.3), gp.Matern(1.3, nu=2.5)),
    "matern 0.7": (mc.Matern(0.7, 1.3), gp.Matern(1.3, nu=0.7)),
    "exponential": (mc.Exponential(1.3), gp.Matern(1.3, nu=0.5)),
    "quadratic": (
        mc.RationalQuadratic(1.3, 0.7),
        gp.RationalQuadratic(length_scale=1.3, alpha=0.7),
    ),
    "dot product": (mc.Linear() + 4.0, gp.DotProduct(sigma_0=2.0)),
    "constant": (0 * mc.Gaussian() + 3, gp.ConstantKernel(3.0)),
    "generalized": (
        mc.GeneralizedGaussian(2.0, 1.5, 0.75),
        lambda X, Y: np.exp(-((cdist(X, Y, "minkowski", p=1.5) / 2) ** 0.75)),
    ),
    "composed": (
        2 * mc.Gaussian() * mc.Matern(2.5) + mc.RationalQuadratic() ** 2,
        gp.ConstantKernel(2.0) * gp.RBF() * gp.Matern(nu=2.5) + gp.RationalQuadratic() ** 2,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_scikit_learn_agrees(name, data):
    kernel, theirs = PAIRS[name]
    X, Y = data
    exact = theirs(X.astype(float), Y.astype(float))
    size = max(1.0, kernel.diagonal(X).max(), kernel.diagonal(Y).max())
    both(kernel(X, Y), exact, X.dtype, size)
    both(kernel(X), theirs(X.astype(float), X.astype(float)), X.dtype, size)
    # Sparse storage is another path to the same numbers.
    # (Zero rows are left out: two of them are alike here, and not in scikit-learn.)
    sparse_X, sparse_Y = (np.where((np.abs(Z) > 1) | (np.arange(5) == 0), Z, 0) for Z in (X, Y))
    exact = theirs(sparse_X.astype(float), sparse_Y.astype(float))
    both(kernel(sp.csr_array(sparse_X), sp.csr_array(sparse_Y)), exact, X.dtype, size)
    both(kernel(sp.csr_array(sparse_X), sparse_Y), exact, X.dtype, size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_periodic_kernel_of_one_coordinate(rng, dtype):
    # scikit-learn takes the sine of the norm, which is a kernel on the line only.
    X, Y = (rng.normal(size=(n, 1)).astype(dtype) for n in (50, 40))
    theirs = gp.ExpSineSquared(length_scale=0.8, periodicity=1.7)(
        X.astype(float), Y.astype(float)
    )
    both(mc.Periodic(1.7, 0.8)(X, Y), theirs, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_on_histograms(rng, dtype):
    X, Y = (rng.gamma(1.0, size=(n, 6)).astype(dtype) for n in (50, 40))
    theirs = sk.chi2_kernel(X.astype(float), Y.astype(float), gamma=0.5)
    both(mc.Chi2()(X, Y), theirs, dtype)
    additive = (2 * X[:, None] * Y / (X[:, None] + Y).astype(float)).sum(axis=-1)
    both(mc.AdditiveChi2()(X, Y), additive, dtype, size=30)
    both(mc.Intersection()(X, Y), np.minimum(X[:, None], Y).sum(axis=-1), dtype, size=30)


@pytest.mark.parametrize("density", [0.02, 0.5])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_jaccard_and_tanimoto_agree_with_scipy(rng, density, form):
    X, Y = ((rng.random(size=(n, 200)) < density).astype(float) for n in (60, 50))
    theirs = 1 - cdist(X.astype(bool), Y.astype(bool), "jaccard")
    for kernel in (mc.Tanimoto(), mc.Jaccard()):
        np.testing.assert_allclose(kernel(form(X), form(Y)), theirs, rtol=1e-15, atol=1e-15)


def test_a_tight_cluster_where_scikit_learn_fails(rng):
    X = 1e6 + 1e-3 * rng.normal(size=(12, 3))
    right = gp.RBF(0.1)(X)  # by differences
    assert np.abs(mc.Gaussian(0.1)(X) - right).max() < 1e-9
    assert np.abs(sk.rbf_kernel(X, gamma=50.0) - right).max() > 1e-3  # by products


# ----------------------------------------------------------------------------------- mpmath

mp = mpmath.mp.clone()
mp.dps = 40


def mp_matern(nu):
    def value(x, y):
        t = mp.sqrt(2 * nu) * mp_l2(x, y)
        return mp.mpf(1) if t == 0 else 2 ** (1 - nu) / mp.gamma(nu) * t**nu * mp.besselk(nu, t)

    return value


def mp_l2(x, y):
    return mp.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (mc.Gaussian(0.75), lambda x, y: mp.exp(-((mp_l2(x, y) / 0.75) ** 2) / 2)),
        (mc.Exponential(), lambda x, y: mp.exp(-mp_l2(x, y))),
        (mc.Matern(0.7), mp_matern(mp.mpf(0.7))),
        (mc.Matern(1.5), mp_matern(mp.mpf(1.5))),
        (mc.Matern(2.5), mp_matern(mp.mpf(2.5))),
        (mc.Matern(4.25), mp_matern(mp.mpf(4.25))),
        (
            mc.RationalQuadratic(1.0, 0.375),
            lambda x, y: (1 + mp_l2(x, y) ** 2 / 0.75) ** -0.375,
        ),
        (
            mc.Periodic(0.75, 2.0),
            lambda x, y: mp.exp(
                -sum(mp.sin(mp.pi * (a - b) / 0.75) ** 2 for a, b in zip(x, y, strict=True)) / 2
            ),
        ),
        (
            mc.Wendland(2, 4.0, 3),
            lambda x, y: (
                max(0, 1 - mp_l2(x, y) / 4) ** 6
                * (35 * (mp_l2(x, y) / 4) ** 2 + 18 * mp_l2(x, y) / 4 + 3)
                / 3
            ),
        ),
        (mc.Polynomial(7, 0.5), lambda x, y: (x[0] * y[0] + x[1] * y[1] + 0.5) ** 7),
        (
            mc.Tanimoto(),
            lambda x, y: (
                (x[0] * y[0] + x[1] * y[1])
                / (x[0] ** 2 + x[1] ** 2 + y[0] ** 2 + y[1] ** 2 - x[0] * y[0] - x[1] * y[1])
            ),
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_forty_digits_agree(rng, kernel, formula):
    X = rng.normal(size=(9, 2))
    K, size = kernel(X), np.sqrt(kernel.diagonal(X))
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            exact = formula(*([mp.mpf(float(c)) for c in point] for point in (x, y)))
            assert abs(K[i, j] - exact) <= 1e-12 * size[i] * size[j]
