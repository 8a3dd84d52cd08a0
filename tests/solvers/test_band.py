"""A reduction to a band, and every number that it gives, against what each stands for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import mercer as mc
from mercer.errors import NotPositiveDefinite
from mercer.solvers import band, reduction
from mercer.solvers.band import Band
from mercer.solvers.reduction import reduce, turn
from mercer.solvers.spectral import Spectrum

N = 37
# Condition numbers stay below 1e4, so 1e-9 is a thousand times the rounding.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=[True, False], ids=["offset", "no offset"])
def has_offset(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["weights", "equal"])
def weights(request, rng):
    return rng.uniform(0.2, 3.0, N) if request.param else np.ones(N)


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 2))


@pytest.fixture
def Y(rng):
    return rng.normal(size=(N, 2)) + 3.0


def both(K, weights, has_offset, width=4):
    return (
        Band.of(K.copy(), weights, has_offset=has_offset, width=width),
        Spectrum.of(K.copy(), weights, has_offset=has_offset),
    )


def plain(K, Y, weights, shift, has_offset):
    """The equations of the seeds, written out: (K + mu / W) a + b = y, sum(a) = 0."""
    n = len(K)
    system, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, Y.shape[1]))
    system[:n, :n] = K + np.diag(shift / weights)
    right[:n] = Y
    system[:n, n] = system[n, :n] = float(has_offset)
    system[n, n] = float(not has_offset)
    found = np.linalg.solve(system, right)
    return found[:n], found[n]


def whole(bands):
    """The matrix of a band."""
    matrix = np.zeros((bands.shape[1],) * 2)
    for below, diagonal in enumerate(bands):
        at = np.arange(len(matrix) - below)
        matrix[at + below, at] = matrix[at, at + below] = diagonal[: len(at)]
    return matrix


# The reduction


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_matrix_is_its_band_turned(rows, width, crew, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, rows)) * 10.0 ** rng.integers(-3, 4, rows)
    A = A + A.T
    with threadpool_limits(crew, "blas"):
        bands, reflections = reduce(A.copy(), width)
        Q = np.eye(rows)
        turn(Q, reflections)
    assert len(bands) <= width + 1
    # Each of the reflections rounds by units of the norm.
    unit = 2.0**-52 * rows * np.linalg.norm(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(rows), atol=2.0**-52 * 10 * rows)
    np.testing.assert_allclose(Q @ whole(bands) @ Q.T, A, atol=10 * unit)


def test_strips_and_panels_of_many_sizes_meet(rng, monkeypatch):
    A = rng.normal(size=(N, N))
    A = A + A.T
    for strip in (1, 3, 8, 100):
        for width in (1, 2, 5, N - 1, N, N + 3):
            monkeypatch.setattr(reduction, "STRIP", strip)
            with threadpool_limits(2, "blas"):
                bands, reflections = reduce(A.copy(), width)
                Q = np.eye(N)
                turn(Q, reflections)
            np.testing.assert_allclose(Q @ whole(bands) @ Q.T, A, atol=1e-12)


def test_far_above_the_diagonal_nothing_is_read(rng, monkeypatch):
    monkeypatch.setattr(reduction, "STRIP", 1)
    A = rng.normal(size=(N, N))
    A = A + A.T
    half = np.tril(A) + np.triu(np.full((N, N), np.nan), 5)
    np.testing.assert_array_equal(reduce(half, 5)[0], reduce(A.copy(), 5)[0])


# Against eigenvalues, and what both stand for


@pytest.mark.parametrize("width", [1, 4, 7, 48])
def test_it_tells_what_eigenvalues_tell(X, Y, weights, has_offset, width):
    K = mc.Gaussian()(X)
    found, wanted = both(K, weights, has_offset, width)
    shifts = np.array([1e-2, 0.3, 1.0, 4.0, 50.0, 1e4])
    np.testing.assert_allclose(found.gains(shifts), wanted.gains(shifts), **CLOSE)
    np.testing.assert_allclose(found.errors(Y, shifts), wanted.errors(Y, shifts), **CLOSE)
    cross = mc.Gaussian()(X, X[:5] + 0.2)
    for shift in (1e-2, 1.0, 1e4):
        for name in ("solve", "left_out", "variance", "log_likelihood"):
            one, other = (getattr(of, name)(Y, shift) for of in (found, wanted))
            for a, b in zip(one, other, strict=True):
                np.testing.assert_allclose(a, b, **CLOSE)
        for name in ("explained", "smoother"):
            one, other = (getattr(of, name)(cross, shift) for of in (found, wanted))
            np.testing.assert_allclose(one, other, **CLOSE)


def test_solutions_are_those_of_the_equations(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    found = Band.of(K.copy(), weights, has_offset=has_offset, width=5)
    for shift in (1e-3, 0.3, 50.0):
        a, b = found.solve(Y, shift)
        wanted, offset = plain(K, Y, weights, shift, has_offset)
        np.testing.assert_allclose(a, wanted, **CLOSE)
        np.testing.assert_allclose(b, offset, **CLOSE)
        # Coefficients are as long as targets over the shift: rounding times the condition.
        assert found.residual(Y, a, shift) < 1e-11
        assert found.residual(Y, 1.01 * a, shift) == pytest.approx(0.01, rel=1e-6)


def test_leave_one_out_is_a_fit_without_the_row(X, Y, weights, has_offset):
    K = mc.Gaussian()(X)
    errors = Band.of(K.copy(), weights, has_offset=has_offset, width=5).left_out(Y, 0.3)
    for row in range(N):
        rest = np.delete(np.arange(N), row)
        a, b = plain(K[np.ix_(rest, rest)], Y[rest], weights[rest], 0.3, has_offset)
        np.testing.assert_allclose(errors[row], Y[row] - K[row, rest] @ a - b, **CLOSE)


def test_more_shifts_and_rows_than_are_taken_at_once(X, Y, has_offset, monkeypatch):
    monkeypatch.setattr(band, "ROWS", 8)
    found, wanted = both(mc.Gaussian()(X), np.ones(N), has_offset)
    shifts = np.geomspace(1e-2, 10.0, 2 * band.SHIFTS + 1)
    for crew in (1, 2):
        with threadpool_limits(crew, "blas"):
            gains = found.gains(shifts)
        np.testing.assert_allclose(gains, wanted.gains(shifts), **CLOSE)
        assert (gains > 0).all()


def test_many_targets_are_solved_for_a_few_shifts_at_a_time(X, rng):
    Y = rng.normal(size=(N, 200))
    found, wanted = both(mc.Gaussian()(X), np.ones(N), has_offset=True)
    shifts = np.array([0.1, 1.0, 10.0])
    np.testing.assert_allclose(found.errors(Y, shifts), wanted.errors(Y, shifts), rtol=1e-9)


# Hard data


def test_rank_deficient_matrices_and_duplicates(Y, weights, has_offset, rng):
    few = rng.normal(size=(N, 3))
    few[5:9] = few[4]
    for K in (few @ few.T, mc.Gaussian()(few), np.ones((N, N)), np.zeros((N, N))):
        found, wanted = both(K, weights, has_offset)
        # Eigenvalues round by 1e-14 of the largest, a hundred: 1e-6 of the least shift.
        shifts = np.array([1e-6, 1.0])
        np.testing.assert_allclose(found.gains(shifts), wanted.gains(shifts), rtol=1e-5)
        np.testing.assert_allclose(found.errors(Y, shifts), wanted.errors(Y, shifts), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n, has_offset, rng):
    x = rng.normal(size=(n, 1))
    found, wanted = both(mc.Gaussian()(x), rng.uniform(1, 2, n), has_offset)
    shifts, Y = np.array([0.1, 10.0]), rng.normal(size=(n, 2))
    np.testing.assert_allclose(found.gains(shifts), wanted.gains(shifts), atol=1e-12)
    np.testing.assert_allclose(found.errors(Y, shifts), wanted.errors(Y, shifts), rtol=1e-10)
    for one, other in zip(found.solve(Y, 0.1), wanted.solve(Y, 0.1), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    if n > 1:  # one row, less an offset, has no likelihood to speak of
        one, other = (of.log_likelihood(Y, 0.1) for of in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_the_unit_of_the_kernel_does_not_matter(X, Y, size):
    K = mc.Gaussian()(X)
    one, other = (
        Band.of(c * K, np.ones(N), has_offset=True, width=4).errors(Y, c * np.array([0.1, 2.0]))
        for c in (1.0, size)
    )
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_a_weight_that_is_nearly_all_there_is(X, Y):
    weights = np.full(N, 1e-3)
    weights[3] = 1e6
    found, wanted = both(mc.Gaussian()(X), weights, has_offset=True)
    shifts = np.array([0.1, 10.0])
    # The gain of that row is what cancellation leaves of its weight: nine digits are lost.
    np.testing.assert_allclose(found.gains(shifts), wanted.gains(shifts), rtol=1e-6, atol=1e-15)


def test_negative_eigenvalues_are_named(rng, has_offset):
    X = rng.normal(size=(N, 3))
    K = np.tanh(X @ X.T - 1)
    with pytest.raises(NotPositiveDefinite, match=r"eigenvalue -(.|\n)*repair"):
        Band.of(K, np.ones(N), has_offset=has_offset, width=4)
    with pytest.raises(NotPositiveDefinite):
        Band.of(-np.eye(N), np.ones(N), has_offset=has_offset, width=4)


def test_rounding_below_zero_is_none_of_them(has_offset, rng):
    x = rng.normal(size=(200, 1))
    K = mc.Gaussian(30.0)(x)
    assert np.linalg.eigvalsh(K)[0] < 0
    Band.of(K, np.ones(200), has_offset=has_offset)
