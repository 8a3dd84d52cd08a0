"""The vector searches and the loops around them, against plain NumPy."""

import numba
import numpy as np
import pytest

from mercer.loops.smo import (
    LANES,
    add_rows,
    find_partner,
    move_and_find,
    pick,
    solve_within,
)

DTYPES = [np.float32, np.float64]


@numba.njit
def move(H, A, a, b, x, y, E, start, stop):
    return move_and_find(H, A, a, b, x, y, E, start, stop)


@numba.njit
def partner(H, A, a, D, E, least, own, tau, start, stop, top):
    return find_partner(H, A, a, D, E, least, own, tau, start, stop, top)


def problem(rng, dtype, n=4 * LANES):
    root = rng.normal(size=(n, n))
    K = (root @ root.T / n).astype(dtype)
    H = rng.normal(size=n).astype(dtype)
    up = np.where(rng.random(n) < 0.3, np.inf, 0).astype(dtype)
    down = np.where(rng.random(n) < 0.3, -np.inf, 0).astype(dtype)
    return K, H, up, down


@pytest.mark.parametrize("dtype", DTYPES)
def test_slopes_move_and_the_least_is_found(rng, dtype):
    for _ in range(50):
        K, H, up, _ = problem(rng, dtype)
        n, (i, j) = len(H), rng.integers(0, len(H), 2)
        x, y = dtype(rng.normal()), dtype(rng.normal())
        start, stop = LANES, 3 * LANES
        expected = H.copy()
        expected[start:stop] += x * K[i, start:stop] + y * K[j, start:stop]
        found = move(H, K.ravel(), i * n, j * n, x, y, up, start, stop)
        # Three roundings of numbers of this size, contracted or not.
        scale = np.abs(expected).max() + np.abs(x * K[i]).max() + np.abs(y * K[j]).max()
        np.testing.assert_allclose(H, expected, atol=4 * np.finfo(dtype).eps * scale)
        assert found == start + np.argmin(H[start:stop] + up[start:stop])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_partner_gains_most(rng, dtype):
    for _ in range(50):
        K, H, up, down = problem(rng, dtype)
        n = len(H)
        i = int(np.argmin(H + up))
        D, top, tau = np.diagonal(K).copy(), np.zeros(2, dtype), dtype(1e-12)
        found = partner(H, K.ravel(), i * n, D, down, H[i], D[i], tau, 0, n, top)
        gap = H.astype(float) + down - H[i]
        curve = np.maximum(D[i] + D.astype(float) - 2 * K[i], tau)
        gain = np.where(gap > 0, gap, 0) ** 2 / curve
        assert top[0] == np.max(H + down)
        # Differences and squares of numbers of size 1 are right to a few units, and one over a
        # number to 14 bits.
        rounded = 100 * float(np.finfo(dtype).eps) + 2.0**-14
        assert gain[found] >= gain.max() * (1 - 2 * rounded)
        assert top[1] == pytest.approx(gain.max(), rel=rounded)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_equal_ones_the_first_is_taken(dtype):
    n = 4 * LANES
    K, nothing = np.eye(n, dtype=dtype), np.zeros(n, dtype)
    H = np.ones(n, dtype)
    H[[LANES + 3, 2 * LANES + 1, 3 * LANES]] = -1
    assert move(H, K.ravel(), 0, 0, dtype(0), dtype(0), nothing, 0, n) == LANES + 3
    top, ones = np.zeros(2, dtype), np.ones(n, dtype)
    found = partner(H, K.ravel(), (LANES + 3) * n, ones, nothing, dtype(-1), dtype(1),
                    dtype(1e-12), 0, n, top)  # fmt: skip
    assert found == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_that_is_blocked_is_found(dtype):
    n = 2 * LANES
    K, H = np.eye(n, dtype=dtype), -np.arange(n, dtype=dtype)
    up = np.full(n, np.inf, dtype)
    up[5] = 0
    assert move(H, K.ravel(), 0, 0, dtype(0), dtype(0), up, 0, n) == 5
    top = np.zeros(2, dtype)
    partner(H, K.ravel(), 0, np.ones(n, dtype), -up - 0, dtype(-5), dtype(1), dtype(1e-12),
            0, n, top)  # fmt: skip
    assert top[0] == -5
    assert top[1] == 0


def plain(K, H, b, low, high, goal, steps):
    """Second-order SMO as in the papers, one comparison at a time."""
    for step in range(steps):
        up, down = np.flatnonzero(b < high), np.flatnonzero(b > low)
        i = up[np.argmin(H[up])]
        gaps = H[down] - H[i]
        if gaps.max() < goal:
            return step
        curve = np.maximum(K[i, i] + np.diagonal(K)[down] - 2 * K[i, down], 1e-12)
        j = down[np.argmax(np.where(gaps > 0, gaps**2 / curve, 0))]
        length = min(
            (H[j] - H[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12),
            high[i] - b[i],
            b[j] - low[j],
        )
        b[i], b[j] = b[i] + length, b[j] - length
        H += length * (K[i] - K[j])
    return steps


def test_pairs_are_those_of_a_plain_loop(rng):
    n = 6 * LANES
    K, H, _, _ = problem(rng, np.float64, n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    low, high = np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0)
    b, twin, slopes = np.zeros(n), np.zeros(n), H.copy()
    steps = solve_within(
        K.ravel(), n, np.diagonal(K).copy(), H, np.where(b < high, 0, np.inf),
        np.where(b > low, 0, -np.inf), b, low, high, np.array([0, n]), 1e-12, 1e-9, 10**6,
        np.inf, np.zeros(2),
    )  # fmt: skip
    assert 0 < steps < 10**6
    plain(K, slopes, twin, low, high, 1e-9, 10**6)
    # Both are within the violation 1e-9 of the one minimum; the least eigenvalue is no smaller
    # than that of a random matrix, and the variables differ by the gap over its root at most.
    np.testing.assert_allclose(b, twin, atol=1e-4)
    assert b.sum() == pytest.approx(0, abs=1e-12)
    assert (low <= b).all()
    assert (b <= high).all()


def test_a_pair_stays_in_its_group(rng):
    n = 4 * LANES
    K, H, _, _ = problem(rng, np.float64, n)
    b, low, high = np.full(n, 0.5), np.zeros(n), np.ones(n)
    solve_within(
        K.ravel(), n, np.diagonal(K).copy(), H, np.zeros(n), np.zeros(n), b, low, high,
        np.array([0, LANES, n]), 1e-12, 1e-6, 10**5, np.inf, np.zeros(2),
    )  # fmt: skip
    assert b[:LANES].sum() == pytest.approx(LANES / 2, rel=1e-12)
    assert b[LANES:].sum() == pytest.approx(3 * LANES / 2, rel=1e-12)
    for part in (slice(0, LANES), slice(LANES, n)):
        assert H[part][b[part] > 0].max() - H[part][b[part] < 1].min() < 1e-6


def test_steps_are_counted_and_limited(rng):
    K, H, _, _ = problem(rng, np.float64)
    n = len(H)
    arguments = (K.ravel(), n, np.diagonal(K).copy(), H, np.zeros(n), np.zeros(n), np.zeros(n),
                 np.full(n, -1.0), np.ones(n), np.array([0, n]), 1e-12, 1e-9)  # fmt: skip
    assert solve_within(*arguments, 7, np.inf, np.zeros(2)) == 7


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_rows_are_added_in_float64(rng, dtype, count):
    store = rng.normal(size=(12, 5_000)).astype(dtype)
    rows, factors = rng.permutation(12)[:count], rng.normal(size=count)
    out = np.ones(5_000)
    add_rows(store.ravel(), 5_000, rows, factors, 10, 4_990, out)
    expected = np.ones(5_000)
    expected[10:4_990] += factors @ store[rows, 10:4_990].astype(float)
    np.testing.assert_allclose(out, expected, atol=1e-13)


def test_entries_are_picked(rng):
    store = rng.normal(size=(9, 9))
    rows, columns = rng.integers(0, 9, 5), rng.integers(0, 9, 7)
    out = np.zeros((5, 7))
    pick(store.ravel(), 9, rows, columns, 1, 5, out.reshape(-1), 7)
    np.testing.assert_array_equal(out[1:], store[np.ix_(rows, columns)][1:])
    assert not out[0].any()


def test_nan_slopes_are_never_taken(rng):
    K, H, _, _ = problem(rng, np.float64)
    H[[0, 5]] = np.nan
    nothing = np.zeros(len(H))
    assert move(H, K.ravel(), 0, 0, 0.0, 0.0, nothing, 0, len(H)) == np.nanargmin(H)
