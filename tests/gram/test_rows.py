"""Rows of a Gram matrix: as many as fit, in either precision, always those of the kernel."""

import numpy as np
import pytest

import mercer as mc
from mercer.gram import rows as module
from mercer.gram.rows import KernelRows, MatrixRows
from mercer.loops import smo as loops
from mercer.plan import Plan


def kept(kernel, X, memory="1 GB", threads=2):
    return KernelRows(kernel, kernel.domain.encode(X), Plan(memory=memory, threads=threads))


@pytest.fixture
def X(rng):
    return rng.normal(size=(300, 4))


@pytest.mark.parametrize("memory", ["1 GB", 300 * 4 * 100, 300 * 4 * 7, 100])
def test_rows_are_those_of_the_kernel_however_many_fit(rng, X, memory):
    kernel = mc.Gaussian(scale=2.0)
    K, rows = kernel(X), kept(kernel, X, memory)
    for count in (3, 20, 60, 90, 150, 300):
        chosen, factors = rng.permutation(300)[:count], rng.normal(size=count)
        out = np.ones(300)
        rows.add(chosen, factors, out)
        # float32 values are promised to 2^-15, and are added up in float64.
        bound = np.abs(factors).sum() * 2.0**-15
        np.testing.assert_allclose(out, 1 + K[:, chosen] @ factors, atol=bound)
        assert rows.memory <= Plan(memory=memory).budget()


def test_the_whole_matrix_is_made_once_a_quarter_was_asked_for(rng, X):
    rows, out = kept(mc.Gaussian(), X), np.zeros(300)
    rows.add(np.arange(70), np.ones(70), out)
    assert not rows.is_whole
    rows.add(np.arange(70, 80), np.ones(10), out)
    assert rows.is_whole
    np.testing.assert_allclose(out, mc.Gaussian()(X)[:, :80].sum(axis=1), atol=80 * 2.0**-15)


@pytest.mark.parametrize("make", [kept, lambda k, X: MatrixRows(k(X), 2)])
def test_tiles_blocks_and_products_agree_with_the_matrix(rng, X, make):
    kernel = mc.Gaussian(scale=2.0)
    K, rows = kernel(X), make(kernel, X)
    chosen, others = rng.permutation(300)[:40], rng.permutation(300)[:9]
    tile, stride = rows.tile(chosen)
    values = np.lib.stride_tricks.as_strided(
        tile, (40, 40), (stride * tile.itemsize, tile.itemsize)
    )
    np.testing.assert_allclose(values, K[np.ix_(chosen, chosen)], atol=2.0**-15)
    np.testing.assert_allclose(
        rows.block(chosen, others), K[np.ix_(chosen, others)], atol=1e-12
    )
    for count in (0, 9, 300):
        factors = np.zeros(300)
        factors[:count] = rng.normal(size=count)
        np.testing.assert_allclose(rows.product(factors), K @ factors, atol=1e-10)
    np.testing.assert_array_equal(rows.diagonal, np.ones(300))


def test_a_tile_of_all_rows_is_the_store_itself(X):
    rows = kept(mc.Gaussian(), X)
    tile, stride = rows.tile(np.concatenate([np.arange(300), np.zeros(4, np.int64)]), once=True)
    assert stride == 300
    assert rows.is_whole
    assert len(tile) >= 300 * 300 + 15
    np.testing.assert_allclose(
        tile[: 300 * 300].reshape(300, 300), mc.Gaussian()(X), atol=2.0**-15
    )


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("compresses", [False, True])
def test_a_tile_of_some_rows_is_copied_from_the_store(
    rng, X, sharp, threads, compresses, monkeypatch
):
    # Off where it is on, never on where the processor does not have it.
    monkeypatch.setattr(loops, "COMPRESSES", loops.COMPRESSES and compresses)
    monkeypatch.setattr(module, "LOT", 16)  # two threads for few rows
    kernel = mc.Gaussian()
    rows = KernelRows(kernel, kernel.domain.encode(X), mc.Plan(threads=threads))
    if sharp:
        rows.sharpen()
    rows.tile(np.arange(300), once=True)
    K = kernel(X)
    for count in (299, 150, 40, 3, 1):
        chosen = np.sort(rng.permutation(300)[:count])
        padded = np.concatenate([chosen, np.repeat(chosen[:1], -count % 16)])
        tile, stride = rows.tile(padded, once=True)
        assert stride == count
        own = tile[: count**2].reshape(count, count)
        np.testing.assert_allclose(own, K[np.ix_(chosen, chosen)], atol=2.0**-15)
        assert len(tile) >= count**2 + 15


def test_rows_can_be_had_in_float64(rng, X):
    kernel, rows = mc.Gaussian(), kept(mc.Gaussian(), X)
    rows.add(np.arange(10), np.ones(10), np.zeros(300))
    assert rows.sharpen()
    assert rows.unit == np.finfo(float).eps
    out = np.zeros(300)
    rows.add(np.arange(10), np.ones(10), out)
    np.testing.assert_allclose(out, kernel(X)[:, :10].sum(axis=1), atol=1e-12)
    assert not rows.sharpen()


def test_values_beyond_single_precision_are_kept_in_double(rng):
    X = 1e20 * rng.normal(size=(50, 2))
    rows, out = kept(mc.Linear(), X), np.zeros(50)
    rows.add(np.arange(3), np.ones(3), out)
    expected = (X @ X.T)[:, :3].sum(axis=1)
    np.testing.assert_allclose(out, expected, atol=1e-12 * np.abs(expected).max())


def test_a_tight_cluster_far_away_keeps_its_digits(rng):
    X = 1e6 + 1e-3 * rng.normal(size=(60, 3))
    kernel, out = mc.Gaussian(scale=1e-3), np.zeros(60)
    rows = kept(kernel, X)
    rows.add(np.arange(60), np.ones(60), out)
    np.testing.assert_allclose(out, kernel(X).sum(axis=1), atol=60 * 2.0**-15)


def test_kernels_of_other_data_have_rows_too(rng):
    points = [set(rng.integers(0, 9, 4).tolist()) for _ in range(40)]
    kernel, out = mc.Jaccard(), np.zeros(40)
    rows = kept(kernel, points)
    rows.add(np.arange(5), np.ones(5), out)
    np.testing.assert_allclose(out, kernel(points)[:, :5].sum(axis=1), atol=5 * 2.0**-15)


def test_the_number_of_threads_changes_nothing(rng, X):
    found = []
    for threads in (1, 3):
        rows, out = kept(mc.Gaussian(), X, threads=threads), np.zeros(300)
        rows.add(np.arange(50), np.linspace(-1, 1, 50), out)
        found.append(out)
    np.testing.assert_array_equal(*found)


def test_points_in_single_precision_have_products_in_double(rng, X):
    single = X.astype(np.float32)
    rows, factors = kept(mc.Gaussian(), single), rng.normal(size=300)
    expected = mc.Gaussian()(single.astype(float)) @ factors
    np.testing.assert_allclose(rows.product(factors), expected, atol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "cheap"),
    [(mc.Gaussian(), True), (mc.Matern(nu=1.3), False), (mc.Gaussian() + mc.Linear(), False)],
)
def test_only_what_is_slow_to_compute_is_kept_beyond_a_bound(monkeypatch, X, kernel, cheap):
    monkeypatch.setattr("mercer.gram.rows.CHEAP", 300 * 4 * 100)
    rows, out = kept(kernel, X), np.zeros(300)
    rows.add(np.arange(60), np.ones(60), out)
    rows.add(np.arange(60, 120), np.ones(60), out)
    assert rows.memory == 300 * 4 * (100 if cheap else 300)
    bound = 120 * 2.0**-15 * kernel(X).max()
    np.testing.assert_allclose(out, kernel(X)[:, :120].sum(axis=1), atol=bound)
