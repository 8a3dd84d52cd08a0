"""The path of penalties, and the penalty of a bound."""

import numpy as np
import pytest
from scipy.optimize import minimize

import mercer as mc
from mercer.selection.penalties import around, leave_one_out, shifts_of, within
from mercer.solvers.spectral import Spectrum


@pytest.fixture
def K(rng):
    return mc.Gaussian()(rng.normal(size=(40, 2)))


@pytest.fixture
def y(rng):
    return rng.normal(size=(40, 1))


def of(K, weights=None, has_offset=True):
    weights = np.ones(len(K)) if weights is None else weights
    return Spectrum.of(K.copy(), weights, has_offset=has_offset)


def test_the_grid_spans_the_spectrum(K):
    spectrum = of(K, has_offset=False)
    grid = shifts_of(spectrum)
    positive = spectrum.values[spectrum.values > 1e-12 * spectrum.values[-1]]
    assert grid[0] <= positive[0]
    assert grid[-1] == pytest.approx(10 * spectrum.values[-1])
    np.testing.assert_allclose(np.diff(np.log(grid)), np.diff(np.log(grid))[0])
    assert (shifts_of(of(np.zeros((3, 3)))) == 1.0).all()


def test_given_penalties_are_tried_in_order(K, y, rng):
    weights = rng.uniform(0.5, 2, 40)
    spectrum = of(K, weights)
    path = leave_one_out(spectrum, y, np.array([1.0, 0.01, 0.1]))
    np.testing.assert_array_equal(path.penalties, [0.01, 0.1, 1.0])
    np.testing.assert_allclose(path.errors, spectrum.errors(y, path.penalties * weights.sum()))
    assert path.best == path.penalties[path.errors.argmin()]


def test_around_the_best_of_the_grid_the_minimum_is_found(K, rng):
    y = np.linalg.cholesky(K + 1e-9 * np.eye(40)) @ rng.normal(size=(40, 1))
    y += 0.3 * rng.normal(size=(40, 1))
    spectrum = of(K)
    path = leave_one_out(spectrum, y)
    dense = np.geomspace(path.penalties[0], path.penalties[-1], 3000) * 40
    assert path.errors.min() <= spectrum.errors(y, dense).min() * (1 + 1e-4)
    assert path.best in path.penalties
    assert (np.diff(path.penalties) > 0).all()


def test_of_equals_the_largest_penalty_is_taken(K):
    path = leave_one_out(of(K), np.full((40, 1), 3.0), np.array([0.1, 1.0, 10.0]))
    assert path.best == 10.0


def test_around_never_returns_what_is_worse():
    assert around(lambda x: (np.log(x) - 1) ** 2, 1.0, 2.0, 9.0, 1.0) == pytest.approx(
        np.e, rel=0.1
    )
    assert around(lambda x: 5.0, 1.0, 2.0, 9.0, 1.0) == 2.0


@pytest.mark.parametrize("has_offset", [True, False])
def test_a_bound_has_one_multiplier(K, y, has_offset):
    spectrum = of(K, has_offset=has_offset)
    norms = spectrum.squared_norms(y)
    shifts = np.geomspace(1e-8, 1e3, 50)
    assert (np.diff([norms(s) for s in shifts]) < 0).all()
    for radius in (0.01, 1.0, 0.999 * norms(0.0) ** 0.5):
        assert norms(within(spectrum, y, radius)) ** 0.5 == pytest.approx(radius, rel=1e-9)
    assert within(spectrum, y, 1.001 * norms(0.0) ** 0.5) == 0.0
    assert within(spectrum, 0 * y, 1.0) == 0.0


def test_it_is_the_least_risk_within_the_ball(rng):
    """Against a solver of constrained problems that knows nothing of multipliers."""
    K = mc.Gaussian()(rng.normal(size=(8, 2))) + 0.1 * np.eye(8)
    y, L = rng.normal(size=(8, 1)), np.linalg.cholesky(K)
    a, _ = of(K, has_offset=False).solve(y, within(of(K, has_offset=False), y, 0.7))
    peer = minimize(
        lambda z: ((y[:, 0] - L @ z) ** 2).sum(), np.zeros(8), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: 0.49 - z @ z},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    np.testing.assert_allclose(K @ a[:, 0], L @ peer.x, atol=1e-5)
