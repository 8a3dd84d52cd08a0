"""Scores: against scikit-learn, and their intervals against the law they stand for."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error

from mercer.reports import score


def test_numbers_are_scored_as_scikit_learn_does(rng):
    y, p = rng.normal(size=(2, 200)) * 1e3 + 5e4
    r2, error = score(y, p, 5e4)
    assert np.isclose(r2.value, r2_score(y, p), rtol=1e-9)
    assert np.isclose(error.value, root_mean_squared_error(y, p), rtol=1e-12)
    assert np.isclose(r2.baseline, r2_score(y, np.full(200, 5e4)), atol=1e-9)
    assert np.isclose(error.baseline, root_mean_squared_error(y, np.full(200, 5e4)))


def test_classes_are_scored_as_scikit_learn_does(rng):
    y = rng.integers(0, 3, size=150)
    P = rng.dirichlet(np.ones(3), size=150)
    shares = np.array([0.5, 0.3, 0.2])
    accuracy, loss = score(y, P.argmax(axis=1), 0, P, shares)
    assert accuracy.value == accuracy_score(y, P.argmax(axis=1))
    assert np.isclose(loss.value, log_loss(y, P))
    assert np.isclose(loss.baseline, log_loss(y, np.tile(shares, (150, 1))))
    assert accuracy.baseline == (y == 0).mean()


def test_the_interval_is_that_of_the_normal_law_where_there_are_many_rows(rng):
    hits = rng.random(4000) < 0.8
    accuracy = score(
        np.ones(4000, int), hits.astype(int), 0, np.full((4000, 2), 0.5), [0.5, 0.5]
    )
    low, high = accuracy[0].low, accuracy[0].high
    wanted = 1.96 * np.sqrt(hits.mean() * (1 - hits.mean()) / 4000)
    # The ends are quantiles of 1000 draws: off by about 8 % of a deviation, three times that.
    assert abs(hits.mean() - wanted - low) < 0.25 * wanted / 1.96 * 2
    assert abs(hits.mean() + wanted - high) < 0.25 * wanted / 1.96 * 2


def test_the_interval_holds_the_value_and_depends_on_the_seed_alone(rng):
    y, p = rng.normal(size=(2, 30))
    first, again, other = (score(y, p, 0.0, seed=s) for s in (1, 1, 2))
    assert first == again != other
    assert all(one.low <= one.value <= one.high for one in first)


@pytest.mark.parametrize("unit", [1e-300, 1e150])
def test_numbers_of_any_size_are_scored(unit):
    y = np.array([1.0, 2.0, 3.0, 5.0]) * unit
    r2, error = score(y, y[::-1], 0.0)
    assert np.isclose(r2.value, r2_score([1, 2, 3, 5], [5, 3, 2, 1]))
    assert np.isclose(error.value / unit, root_mean_squared_error([1, 2, 3, 5], [5, 3, 2, 1]))


def test_equal_targets_have_an_error_and_no_share_of_it():
    assert [one.name for one in score(np.ones(5), np.ones(5), 1.0)] == ["error"]
    assert score(np.ones(1), np.array([3.0]), 1.0)[0].value == 2.0


def test_a_probability_of_zero_costs_much_and_not_everything():
    _, loss = score(np.array([0]), np.array([1]), 0, np.array([[0.0, 1.0]]), [1.0, 0.0])
    assert 700 < loss.value < 800
