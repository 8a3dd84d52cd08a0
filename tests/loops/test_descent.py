"""Coordinate descent and the products around it, against plain NumPy."""

import numpy as np
import pytest

from mercer.loops.descent import add_weights, descend, images_of, lengths_of, respond

DTYPES = [np.float32, np.float64]


def plain(F, order, pull, low, high, group, levels, stiff, excess, b, w):
    """The same moves, one dot product at a time."""
    worst, copies = 0.0, len(b) // len(F)
    moved = np.zeros(len(F), bool)
    for i in order:
        for v in (copy * len(F) + i for copy in range(copies)):
            slope = F[i] @ w + pull[v] - levels[group[v]] + stiff * excess[group[v]]
            new = np.clip(b[v] - slope / (F[i] @ F[i] + stiff), low[v], high[v])
            move, b[v] = new - b[v], new
            w += move * F[i]
            excess[group[v]] += move
            moved[i] |= move != 0
            worst = max(worst, abs(slope)) if move != 0 else worst
    return worst, moved


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_variables_move_as_in_a_plain_loop(rng, dtype, copies, groups):
    n, width = 37, 11
    F = rng.normal(size=(n, width)).astype(dtype)
    exact, N = F.astype(np.float64), copies * n
    low, high = -rng.random(N) * (rng.random(N) < 0.7), rng.random(N)
    b = np.clip(rng.normal(size=N), low, high)
    w = exact.T @ b.reshape(copies, n).sum(axis=0)
    pull, group = rng.normal(size=N), rng.integers(0, groups, N)
    levels, excess, order = rng.normal(size=groups), rng.normal(size=groups), rng.permutation(n)
    twin = b.copy(), w.copy(), excess.copy()
    moved = np.zeros(n, bool)
    for _ in range(3):
        worst = descend(
            F.reshape(-1), width, np.arange(n), order, (exact**2).sum(axis=1), pull, low, high,
            group, levels, 0.3, excess, b, w, moved,
        )  # fmt: skip
        wanted, which = plain(
            exact, order, pull, low, high, group, levels, 0.3, twin[2], twin[0], twin[1]
        )
        # A few dozen sums of a dozen terms of size one.
        np.testing.assert_allclose(b, twin[0], atol=1e-12)
        np.testing.assert_allclose(w, twin[1], atol=1e-12)
        np.testing.assert_allclose(excess, twin[2], atol=1e-12)
        np.testing.assert_array_equal(moved, which)
        assert worst == pytest.approx(wanted, rel=1e-12)


def test_rows_are_read_where_they_are(rng):
    n, width = 20, 5
    F = rng.normal(size=(n, width))
    places = rng.permutation(n)[:7]
    found = []
    for rows, at in ((F, places), (F[places], np.arange(7))):
        b, w = np.zeros(7), np.zeros(width)
        descend(
            rows.reshape(-1), width, at, np.arange(7), (rows[at] ** 2).sum(axis=1),
            np.linspace(-1, 1, 7), np.zeros(7), np.ones(7), np.zeros(7, np.int64), np.zeros(1),
            0.1, np.zeros(1), b, w, np.zeros(7, bool),
        )  # fmt: skip
        found.append((b, w))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert found[0][0].any()


def test_a_nan_is_told(rng):
    F = rng.normal(size=(4, 3))
    F[2, 1] = np.nan
    worst = descend(
        F.reshape(-1), 3, np.arange(4), np.arange(4), np.ones(4), -np.ones(4), np.zeros(4),
        np.ones(4), np.zeros(4, np.int64), np.zeros(1), 0.1, np.zeros(1), np.zeros(4),
        np.zeros(3), np.zeros(4, bool),
    )  # fmt: skip
    assert np.isnan(worst)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [0, 1, 7, 64, 131])
def test_products_are_summed_in_double_precision(rng, dtype, width):
    F = rng.normal(size=(23, width)).astype(dtype)
    exact, flat = F.astype(np.float64), F.reshape(-1)
    places, w = rng.integers(0, 23, 30), rng.normal(size=width)
    b = np.where(rng.random(30) < 0.5, rng.normal(size=30), 0.0)
    out = np.ones(30)
    images_of(flat, width, places, 3, 28, w, out)
    np.testing.assert_allclose(out[3:28], 1 + exact[places[3:28]] @ w, atol=1e-13)
    assert (out[:3] == 1).all()
    assert (out[28:] == 1).all()
    sums = np.ones(width)
    add_weights(flat, width, places, b, 3, 28, sums)
    np.testing.assert_allclose(sums, 1 + b[3:28] @ exact[places[3:28]], atol=1e-13)
    lengths = np.zeros(23)
    lengths_of(flat, width, 2, 23, lengths)
    np.testing.assert_allclose(lengths[2:], (exact[2:] ** 2).sum(axis=1), rtol=1e-14)
    assert not lengths[:2].any()


def test_softened_variables_follow_their_slopes(rng):
    gaps, along = rng.normal(size=50), rng.normal(size=50)
    soft, low, high = rng.uniform(0.1, 2, 50), -rng.random(50), rng.random(50)
    signed = np.empty(50)
    found = respond(gaps, along, 0.7, soft, low, high, signed)
    wanted = np.clip((gaps - 0.7 * along) / soft, low, high)
    np.testing.assert_allclose(signed, wanted, atol=1e-15)
    assert found == pytest.approx(wanted @ along, abs=1e-13)
