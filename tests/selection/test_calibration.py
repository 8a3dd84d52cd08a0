"""Probabilities from decisions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from mercer.selection.calibration import Sigmoids, coupled


def drawn(rng, below, above, rows=20_000):
    decisions = rng.normal(size=rows) * 2
    start, slope = np.where(decisions[:, None] < 0, below, above).T
    right = rng.random(rows) < expit(start + slope * np.abs(decisions))
    return decisions, np.where(right, 1.0, -1.0) * np.where(decisions < 0, -1.0, 1.0)


def test_the_numbers_are_those_that_the_data_were_drawn_with(rng):
    decisions, signs = drawn(rng, (0.5, 0.5), (0.0, 2.0), 100_000)
    found = Sigmoids.of(decisions, signs, np.ones(len(signs)))
    # Of 50,000 rows each with a variance p (1 - p) of some 0.1: deviations of about 0.02.
    assert np.allclose(found.below, (0.5, 0.5), atol=0.1)
    assert np.allclose(found.above, (0.0, 2.0), atol=0.1)


def test_the_likelihood_is_largest_there(rng):
    decisions, signs = drawn(rng, (0.3, 1.0), (0.5, 3.0), 500)
    weights = rng.uniform(0.5, 2, 500)
    found = Sigmoids.of(decisions, signs, weights)
    side = decisions > 0
    sizes, right = decisions[side], signs[side] > 0
    good, bad = weights[side][right].sum(), weights[side][~right].sum()
    wanted = np.where(right, (good + 1) / (good + 2), 1 / (bad + 2))

    def loss(at):
        p = expit(abs(at[0]) + at[1] * sizes)
        return -weights[side] @ (wanted * np.log(p) + (1 - wanted) * np.log1p(-p))

    best = minimize(loss, [0.1, 1.0], method="Nelder-Mead", options={"fatol": 1e-12})
    assert loss(found.above) <= best.fun + 1e-7 * abs(best.fun)


def test_weights_are_repetitions(rng):
    decisions, signs = drawn(rng, (0.0, 1.0), (1.0, 1.0), 50)
    weights = rng.integers(1, 4, 50)
    times = np.repeat(np.arange(50), weights)
    once = Sigmoids.of(decisions, signs, weights.astype(float))
    repeated = Sigmoids.of(decisions[times], signs[times], np.ones(len(times)))
    # The search ends where slopes are 1e-9, of a loss whose curvature is some 1e-3.
    assert np.allclose(once.below, repeated.below, atol=1e-5)
    assert np.allclose(once.above, repeated.above, atol=1e-5)


def test_probabilities_grow_with_decisions_and_name_the_same_class(rng):
    for above in ((0.0, 3.0), (-3.0, 0.0)):
        decisions, signs = drawn(rng, (0.3, 0.5), above, 300)
        found = Sigmoids.of(decisions, signs, np.ones(300))(np.sort(decisions))
        assert (np.diff(found) >= 0).all()
        assert ((found > 0.5) == (np.sort(decisions) >= 0)).all()


@pytest.mark.parametrize(
    ("decisions", "signs"),
    [
        ([1.0, 2.0, -1.0], [1.0, 1.0, -1.0]),  # all right
        ([1.0, 2.0, -1.0], [-1.0, -1.0, 1.0]),  # all wrong
        ([1.0, 2.0], [1.0, -1.0]),  # one side only
        ([0.0, 0.0], [1.0, -1.0]),  # undecided
        ([1e300, -1e300], [1.0, -1.0]),
        ([1e-300, -1e-300], [1.0, -1.0]),
    ],
)
def test_hard_decisions_give_probabilities(decisions, signs):
    decisions = np.array(decisions)
    found = Sigmoids.of(decisions, np.array(signs), np.ones(len(signs)))
    assert np.isfinite([found.below, found.above]).all()
    values = found(decisions)
    assert ((values >= 0) & (values <= 1)).all()


def test_pairs_that_agree_with_probabilities_give_them_back(rng):
    p = rng.dirichlet(np.ones(5), size=30)
    pairs = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    assert np.allclose(coupled(pairs), p, atol=1e-6)


def test_coupled_probabilities_minimise_what_they_promise(rng):
    r = rng.uniform(0.05, 0.95, (4, 4))
    pairs = np.triu(r, 1) + np.tril(1 - r.T, -1)

    def cost(p):
        return sum(
            (pairs[j, i] * p[i] - pairs[i, j] * p[j]) ** 2 for i in range(4) for j in range(i)
        )

    found = coupled(pairs[None])[0]
    best = minimize(
        lambda z: cost(np.exp(z) / np.exp(z).sum()), np.zeros(4), options={"gtol": 1e-12}
    )
    assert found.sum() == pytest.approx(1)
    assert cost(found) <= best.fun + 1e-9


def test_certain_pairs_are_no_trouble():
    pairs = np.array([[[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]]])
    assert np.allclose(coupled(pairs), [[1, 0, 0]], atol=1e-5)
