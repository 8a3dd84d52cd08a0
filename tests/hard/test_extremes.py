"""Scales, coordinates and shapes at their ends: right values or an error; never NaN."""

import numpy as np
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.errors import MercerError
from mercer.loops.tiles import COLUMNS, ROWS
from mercer.testing import check_kernel

UNIT = [
    mc.Gaussian(0.3),
    mc.Gaussian((0.5, 1.0, 2.0)),
    mc.Gaussian(metric=np.diag([1.0, 2.0, 0.0])),
    mc.Exponential(0.3),
    mc.Matern(0.5),
    mc.Matern(1.5),
    mc.Matern(2.5),
    mc.Matern(0.9),
    mc.RationalQuadratic(0.7, 2.0),
    mc.Wendland(0),
    mc.Wendland(2, 3.0),
    mc.Laplacian(2.0),
    mc.GeneralizedGaussian(1.0, 1.5, 1.0),
    mc.Periodic(0.7),
    mc.Tanimoto(),
    mc.White(),
    mc.Delta(),
    mc.Bias(),
    mc.Gaussian() * mc.Matern(),
    mc.Gaussian() ** 2,
    mc.Gaussian() ** 0.3,
    mc.Linear().normalized(),
    mc.Polynomial().normalized(),
    (mc.Gaussian() + mc.Linear()).normalized(),
    (0.1 * mc.Linear()).exp().normalized(),
    mc.Schoenberg(0.3, mc.Linear()),
    mc.Schoenberg(0.3, mc.Polynomial() + mc.Exponential()),
    mc.Gaussian().on(0, 2),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", UNIT, ids=str)
def test_the_diagonal_of_a_unit_kernel_is_exactly_one(rng, kernel, form, dtype):
    assert (
        "unit" in kernel.proof().facts or "linear" in str(kernel) or "polynomial" in str(kernel)
    )
    for count in (1, ROWS - 1, ROWS + 1, COLUMNS + 1):
        for offset in (0.0, 1000.0) if count <= ROWS + 1 else (3.0,):
            X = form((offset + rng.normal(size=(count, 3))).astype(dtype))
            assert (kernel(X).diagonal() == 1).all()
            assert (kernel.diagonal(X) == 1).all()
    X = form(rng.normal(size=(300, 3)).astype(dtype))
    for method in ("dense", "blocked"):
        operator = mc.operator(kernel, X, plan=method)
        assert (operator.to_dense().diagonal() == 1).all()
        assert (operator.diagonal() == 1).all()


@pytest.mark.parametrize("kernel", [mc.Chi2(), mc.Tanimoto(), mc.Jaccard()], ids=str)
def test_the_diagonal_of_a_unit_kernel_on_counts_is_exactly_one(rng, kernel):
    X = (rng.random(size=(COLUMNS + 1, 5)) < 0.3).astype(float)
    assert (kernel(X).diagonal() == 1).all()
    assert (kernel(sp.csr_array(X)).diagonal() == 1).all()


SMOOTH = [
    mc.Linear(),
    mc.Polynomial(),
    mc.Polynomial(40),
    mc.Cosine(),
    mc.Tanimoto(),
    mc.Gaussian(),
    mc.Gaussian((1.0, 2.0)),
    mc.Gaussian(metric=[[2.0, 0.5], [0.5, 1.0]]),
    mc.Exponential(),
    mc.Matern(0.5),
    mc.Matern(1.5),
    mc.Matern(2.5),
    mc.Matern(0.7),
    mc.Matern(5.0),
    mc.RationalQuadratic(),
    mc.RationalQuadratic(alpha=1e-3),
    mc.RationalQuadratic(alpha=1e6),
    mc.Wendland(0),
    mc.Wendland(1),
    mc.Wendland(3),
    mc.Laplacian(),
    mc.Laplacian((1.0, 2.0)),
    mc.GeneralizedGaussian(),
    mc.GeneralizedGaussian(1.0, 1.0, 0.5),
    mc.Periodic(),
    mc.White(),
    mc.Bias(),
    mc.Linear().normalized(),
    mc.Linear().exp(),
    mc.Linear().exp().normalized(),
    mc.Linear().exp().exp().normalized(),
    mc.Schoenberg(1.0, mc.Linear()),
    mc.Gaussian() ** 0.5,
    mc.series(mc.Linear(), (1.0, 2.0, 3.0)),
    mc.Linear() + mc.Gaussian(),
    1e300 * mc.Gaussian(),
    1e-300 * mc.Linear(),
    mc.Linear() * mc.Gaussian(),
    mc.Linear().on(0) + mc.Matern().on(1),
]
HISTOGRAMS = [
    mc.Chi2(),
    mc.Chi2((1.0, 2.0)),
    mc.AdditiveChi2(),
    mc.Intersection(),
    mc.Tanimoto(),
]
EXTREME = {
    "1e200": [[1e200, 0.0], [2e200, 1e200], [0.0, 0.0], [1e200, 0.0]],
    "the largest": [[1.7e308, 0.0], [-1.7e308, 1.0], [1.7e308, 1.7e308], [-1.7e308, -1e308]],
    "mostly the largest": [[1.7e308, 0.0], [1.6e308, 0.0], *[[-1.7e308, 0.0]] * 4],
    "1e154": [[1.2e154, 0.0], [0.0, 1.2e154], [-1.2e154, 0.0]],
    "denormal": [[5e-324, 0.0], [1e-310, 5e-324], [0.0, 0.0], [1e-310, 5e-324]],
    "tiny": [[1e-160, 0.0], [2e-160, 1e-160], [1e-170, 0.0]],
    "mixed": [[1e300, 1e-300], [1e-300, 1e300], [1.0, 1.0]],
    "one row": [[0.5, -0.25]],
    "zero": [[0.0, 0.0]],
    "equal": [[0.1, 0.7]] * 5,
    "negative zero": [[0.0, -0.0], [-0.0, 0.0]],
}


def never_a_silent_nan(kernel, X):
    """The values, or None where the kernel says that they overflow."""
    try:
        K, block, own = kernel(X), kernel(X, X.copy()), kernel.diagonal(X)
        far = kernel.distance(X)
    except MercerError:
        with pytest.raises(MercerError, match=r"overflow|finite|Rescale"):
            kernel(X)
        return None
    size = np.sqrt(np.abs(own.astype(float)))
    allowed = 1e-4 if K.dtype == np.float32 else 1e-9
    for table in (K, block):
        assert np.isfinite(table).all()
        assert np.all(np.abs(table) <= np.outer(size, size) * (1 + allowed) + 1e-300)
    assert not np.isnan(far).any()
    assert np.all(np.abs(K - block) <= allowed * np.outer(size, size) + 1e-300)
    return K


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
def test_extreme_points(kernel, form, name):
    never_a_silent_nan(kernel, form(np.array(EXTREME[name])))


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", HISTOGRAMS, ids=str)
def test_extreme_histograms(kernel, form, name):
    never_a_silent_nan(kernel, form(np.abs(EXTREME[name])))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
@pytest.mark.parametrize("size", [1e30, 3e38, 1e-30, 1e-44])
def test_extreme_points_in_float32(kernel, form, size):
    X = np.array([[size, 0.0], [-size, size], [0.0, size / 2]], np.float32)
    never_a_silent_nan(kernel, form(X))


@pytest.mark.parametrize(
    "make",
    [
        mc.Gaussian,
        mc.Exponential,
        mc.Laplacian,
        mc.RationalQuadratic,
        mc.GeneralizedGaussian,
        *(lambda s, nu=nu: mc.Matern(nu, s) for nu in (0.5, 0.7, 1.5, 2.5)),
        lambda s: mc.Wendland(2, s),
        lambda s: mc.Periodic(1.0, s),
        lambda s: mc.Periodic(s, 1.0),
        lambda s: mc.Polynomial(3, 1.0, s),
        lambda s: mc.Gaussian((s, 1.0)),
        lambda s: mc.Gaussian(s, [[2.0, 0.5], [0.5, 1.0]]),
    ],
)
@pytest.mark.parametrize("scale", [1e-150, 1e-40, 1e-20, 1e20, 1e40, 1e150])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_extreme_scales(make, scale, dtype, form):
    kernel = make(scale)
    X = np.array([[0.5, 1.0], [1.5, -0.25], [0.5, 1.0], [0.0, 0.0]], dtype)
    K = never_a_silent_nan(kernel, form(X))
    if K is not None and isinstance(kernel, mc.Gaussian | mc.Laplacian | mc.Matern):
        # Tiny scales tell all points apart, huge ones none (along the scaled feature).
        assert K[0, 2] == 1
        assert K[0, 1] == 0 if scale < 1 else K[0, 3] > 0.3


@pytest.mark.parametrize("width", [1, 2000])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Linear(),
        mc.Polynomial(3, scale=30.0),
        mc.Gaussian(30.0),
        mc.Laplacian(1500.0),
        mc.Matern(2.5, 50.0),
        mc.Cosine(),
        mc.Tanimoto(),
        mc.RationalQuadratic(30.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_feature_and_two_thousand(rng, kernel, width, dtype):
    X = rng.normal(size=(15, width)).astype(dtype)
    check_kernel(kernel, X)
    check_kernel(kernel, sp.csr_array(np.where(np.abs(X) > 2, X, 0)))


def test_large_sets_do_not_overflow_silently():
    sets = [frozenset(range(n)) for n in (0, 1, 1000, 1030, 5000)]
    with pytest.raises(MercerError, match="normalized"):
        mc.SetPower(2)(sets)
    K = mc.SetPower(2).normalized()(sets)
    assert np.isfinite(K).all()
    assert K[2, 3] == pytest.approx(2.0**-15)
    assert (2 * mc.SetPower(2)).normalized()(sets)[2, 3] == pytest.approx(2.0**-15)
    assert (mc.SetPower(2) ** 3).normalized()(sets)[2, 3] == pytest.approx(2.0**-45)
    for kernel in (2 * mc.SetPower(3), mc.SetPower(2) ** 3):
        with pytest.raises(MercerError, match="overflow"):
            kernel(sets)
    for kernel in (
        mc.SetPower(2) * mc.SetPower(3),
        mc.SetPower(2) + 1,
        mc.Schoenberg(1.0, mc.SetPower()),
    ):
        for other in (kernel, kernel.normalized()):
            with pytest.raises(MercerError, match="overflow"):
                other(sets)
            with pytest.raises(MercerError, match="overflow"):
                mc.operator(other, sets)
