"""Rows of F F', against the matrix itself, and how far it is from the kernel's."""

import numpy as np
import pytest

import mercer as mc
from mercer.domains import DenseBatch
from mercer.errors import InvalidInput
from mercer.gram import features as module
from mercer.gram.features import Approximation, FeatureRows, measured, projected
from mercer.plan import Plan
from mercer.solvers.landmarks import whitening

PLAN = Plan(threads=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_those_of_the_matrix(rng, dtype, threads, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 1)
    F = rng.normal(size=(90, 17)).astype(dtype)
    K = F.astype(np.float64) @ F.T.astype(np.float64)
    rows = FeatureRows(F, threads)
    assert (rows.size, rows.width) == (90, 17)
    np.testing.assert_allclose(rows.diagonal, np.diagonal(K), rtol=1e-14)
    chosen, other = rng.permutation(90)[:20], rng.permutation(90)[:9]
    np.testing.assert_allclose(rows.block(chosen, other), K[np.ix_(chosen, other)], atol=1e-13)
    square = rows.block(chosen, chosen)
    np.testing.assert_array_equal(square, square.T)
    tile, stride = rows.tile(chosen)
    values = np.lib.stride_tricks.as_strided(
        tile, (20, 20), (stride * tile.itemsize, tile.itemsize)
    )
    np.testing.assert_allclose(values, K[np.ix_(chosen, chosen)], rtol=1e-5, atol=1e-5)
    b, out = rng.normal(size=90) * (rng.random(90) < 0.5), np.ones(90)
    np.testing.assert_allclose(rows.product(b), K @ b, atol=1e-12)
    rows.add(chosen, b[chosen], out)
    np.testing.assert_allclose(out, 1 + K[:, chosen] @ b[chosen], atol=1e-12)
    np.testing.assert_allclose(rows.images(rows.weights(b)), K @ b, atol=1e-12)
    assert not rows.sharpen()


def test_parts_of_parts_share_the_features(rng):
    F = rng.normal(size=(30, 4))
    rows = FeatureRows(F, 2)
    first = np.array([3, 9, 27, 1, 14])
    part = rows.part(first, PLAN).part(np.array([4, 0, 2]), Plan(threads=1))
    assert part.features is F
    assert part.threads == 1
    places = np.array([14, 3, 27])
    K = F @ F.T
    np.testing.assert_allclose(
        part.product(np.array([1.0, 2, 3])), K[np.ix_(places, places)] @ [1, 2, 3]
    )
    np.testing.assert_allclose(part.diagonal, np.diagonal(K)[places])


def test_what_is_not_finite_is_refused(rng):
    F = rng.normal(size=(5, 2)).astype(np.float32)
    F[4, 0] = np.inf
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        FeatureRows(F)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_landmarks_project_sections_on_their_span(rng, dtype, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 1_000)  # several blocks
    X, k = rng.normal(size=(300, 3)), mc.Gaussian()
    A = k.domain.encode(X)
    Z = A[np.arange(0, 300, 10)]
    rows = projected(k, A, Z, whitening(k.square(Z)), dtype, PLAN)
    K, K_nm, K_mm = k(X), k(X, Z.values), k(Z.values)
    nystroem = K_nm @ np.linalg.solve(K_mm, K_nm.T)
    unit = np.finfo(dtype).eps
    # Entries of size one, and the condition of K_mm times roundings of float64.
    near = 10 * unit + 10 * np.linalg.cond(K_mm) * 2.3e-16
    F = rows.features.astype(np.float64)
    np.testing.assert_allclose(F @ F.T, nystroem, atol=near)
    assert rows.features.dtype == dtype
    # The distance from the span, by least squares for each section.
    left = np.maximum(np.diagonal(K - nystroem), 0)
    told = rows.approximation
    assert told.anchors == 30
    assert told.missed == pytest.approx(left.sum() / 300, rel=1e-6)
    assert told.typical == pytest.approx(np.median(left**0.5), rel=1e-6)
    assert told.farthest == pytest.approx(left.max() ** 0.5, rel=1e-6)
    assert f"{100 * told.missed:.2g}% of the trace" in str(told)


def test_values_move_by_no_more_than_the_norm_times_the_distance(rng):
    X, k = rng.normal(size=(60, 2)), mc.Gaussian()
    A = k.domain.encode(X)
    Z = A[np.arange(12)]
    told = projected(k, A, Z, whitening(k.square(Z)), np.float64, PLAN).approximation
    for _ in range(20):
        f = mc.Function(k, X, rng.normal(size=60))
        moved = np.abs(f(X) - f.project(Z)(X))
        assert (moved <= f.norm() * told.farthest * (1 + 1e-6)).all()


def test_a_kernel_that_is_zero_is_missed_by_nothing():
    nothing = np.zeros(3)
    assert measured(nothing, nothing, 2) == Approximation(2, 0.0, 0.0, 0.0)
    # Rounding may make a projection longer than its section.
    assert measured(np.ones(3), np.ones(3) + 1e-15, 2).missed == 0.0


def test_exact_kernels_are_spanned_by_few(rng):
    X, k = rng.normal(size=(50, 3)), mc.Polynomial(degree=2)
    A = k.domain.encode(X)
    rows = projected(
        k, A, A[np.arange(15)], whitening(k.square(A[np.arange(15)])), np.float64, PLAN
    )
    assert rows.width == 10
    np.testing.assert_allclose(
        rows.block(np.arange(50), np.arange(50)), k(X), rtol=1e-9, atol=1e-9
    )
    assert rows.approximation.missed < 1e-12
    assert isinstance(A, DenseBatch)
