"""Lengths and rates that lower the leave-one-out error."""

import numpy as np
import pandas as pd
import pytest

from mercer.domains import Records
from mercer.selection.parts import FAMILIES, parts_of
from mercer.selection.relevance import FEATURES, Relevance, left_out, refined

ROWS = 30


@pytest.fixture
def mixed(rng):
    """A table with numbers, gaps, labels and sets; weights; and two targets."""
    table = pd.DataFrame(
        {
            "a": rng.normal(size=ROWS),
            "b": 1e6 + 100 * rng.normal(size=ROWS),
            "c": rng.choice(list("xyz"), ROWS),
            "s": [set(rng.choice(5, 2).tolist()) for _ in range(ROWS)],
        }
    )
    table.loc[3, "a"] = np.nan
    table.loc[5, "c"] = None
    targets = np.stack([np.sin(table.a.fillna(0)) + (table.c == "x"), table.b - 1e6], axis=1)
    weights = rng.uniform(0.5, 2, ROWS)
    targets -= weights @ targets / weights.sum()
    return table, Records().encode(table), targets / targets.std(axis=0), weights


def criterion(mixed, family):
    _, points, targets, weights = mixed
    parts = parts_of(points, weights)
    found = Relevance.of(parts, family, np.arange(ROWS), points, targets, weights)
    return parts, found


@pytest.mark.parametrize("family", FAMILIES)
def test_its_matrix_is_that_of_the_kernel(mixed, rng, family):
    parts, found = criterion(mixed, family)
    start = parts.start(family, 0.0)
    logs = start + 0.3 * rng.normal(size=len(start))
    wanted = parts.kernel(family, logs)(mixed[0])
    # The kernel keeps four digits of each length and rate, each an error below 5e-5 in a
    # logarithm, where a value has a slope of at most 1; there are five of them.
    np.testing.assert_allclose(found.matrices(logs)[0], wanted, atol=5 * 5e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_its_slopes_are_those_of_differences(mixed, rng, family):
    parts, found = criterion(mixed, family)
    start = parts.start(family, 0.0)
    logs = start + 0.3 * rng.normal(size=len(start))
    _, slope, along = found(logs, 0.05)
    step = 1e-5
    for at in range(len(logs)):
        move = step * np.eye(len(logs))[at]
        change = (found(logs + move, 0.05)[0] - found(logs - move, 0.05)[0]) / (2 * step)
        # Rounding of values near 30 over the step, and step^2 times a third derivative.
        assert slope[at] == pytest.approx(change, abs=1e-6)
    change = (found(logs, 0.05 * np.exp(step))[0] - found(logs, 0.05 * np.exp(-step))[0]) / (
        2 * step
    )
    assert along == pytest.approx(change, abs=1e-6)


def test_the_error_is_that_of_fits_without_each_row(rng):
    X, y = rng.normal(size=(12, 2)), rng.normal(size=(12, 1))
    weights = rng.uniform(0.5, 2, 12)
    K, ridge = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)), 0.1 / weights
    missed = []
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        system = np.block(
            [[K[np.ix_(rest, rest)] + np.diag(ridge[rest]), np.ones((11, 1))],
             [np.ones((1, 11)), np.zeros((1, 1))]]
        )  # fmt: skip
        solved = np.linalg.solve(system, np.append(y[rest, 0], 0))
        missed.append(y[i, 0] - K[i, rest] @ solved[:-1] - solved[-1])
    wanted = weights @ np.square(missed) / weights.sum()
    # A well-conditioned system of a dozen rows.
    assert left_out(K, ridge, y, weights)[0] == pytest.approx(wanted, rel=1e-10)


def test_what_cannot_be_factored_is_no_number():
    assert left_out(-np.eye(3), np.zeros(3), np.ones((3, 1)), np.ones(3)) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_noise_gets_longer_lengths_than_what_matters(rng, family):
    X = rng.normal(size=(120, 4))
    y = np.sin(2 * X[:, :1])
    y -= y.mean()
    points, ones = Records().encode(pd.DataFrame(X, columns=list("abcd"))), np.ones(120)
    parts = parts_of(points, ones)
    found = Relevance.of(parts, family, np.arange(120), points, y / y.std(), ones)
    start = parts.start(family, 0.0)
    logs = refined(found, start, 0.1)
    assert logs[0] > logs[1:].max() + np.log(2)
    assert found(logs, 0.1)[0] < np.inf
    assert len(logs) <= FEATURES
