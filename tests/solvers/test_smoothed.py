"""Newton's method on softened variables: its matrix, its line, and where it ends."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.gram.features import FeatureRows
from mercer.problems import duals
from mercer.solvers import smoothed as module
from mercer.solvers.smoothed import Smoothed, _length

ROWS, WIDTH = 150, 6
WHICH = ["svc", "svr", "one", "nusvc", "nusvr"]


def problem(rng, which, C=5.0):
    F = rng.normal(size=(ROWS, WIDTH)) + (which == "one")  # around 0 nothing is to be found
    y = np.sign(F[:, 0] + 0.5 * rng.normal(size=ROWS))
    t = F[:, 0] + 0.2 * rng.normal(size=ROWS)
    dual = {
        "svc": lambda: duals.classification(y, C),
        "svr": lambda: duals.regression(t, C, 0.1),
        "one": lambda: duals.one_class(C, 0.3, ROWS),
        "nusvc": lambda: duals.classification_by_share(y, C, 0.6),
        "nusvr": lambda: duals.regression_by_share(t, C, 0.4),
    }[which]()
    group = np.zeros(len(dual.signs), np.int64)
    for place, members in enumerate(dual.groups):
        group[members] = place
    count = len(dual.groups)
    return F, dual, Smoothed(dual, FeatureRows(F, 2), group, np.zeros(WIDTH), np.zeros(count))


def value(F, dual, softness, w, levels):
    """The function that is minimised, and its gradient, from its definition."""
    low, high, soft = dual.low, dual.high, softness / dual.upper
    level, sums, total = np.zeros(len(soft)), np.zeros(len(levels)), 0.0
    for place, members in enumerate(dual.groups):
        level[members] = levels[place]
        sums[place] = (dual.signs * dual.start)[members].sum()
    gaps = level - dual.slopes(F @ w)
    b = np.clip(gaps / soft, low, high)
    total = 0.5 * w @ w + (b * gaps - 0.5 * soft * b**2).sum() - levels @ sums
    off = np.array([b[members].sum() for members in dual.groups]) - sums
    return total, np.concatenate([w - F.T @ dual.combined(b), off])


@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("softness", [1.0, 0.01])
def test_it_ends_at_the_minimum_of_the_softened_problem(rng, which, softness):
    F, dual, found = problem(rng, which)
    assert found._reach(softness)

    def flat(x):
        return value(F, dual, softness, x[:WIDTH], x[WIDTH:])

    at = np.concatenate([found._weights, found._levels])
    reached, gradient = flat(at)
    far = np.linalg.norm(F, axis=1).max()
    assert far * np.linalg.norm(gradient[:WIDTH]) <= softness
    assert far**2 * np.abs(gradient[WIDTH:]).max() <= softness
    peer = minimize(flat, at + 0.1, jac=True, method="BFGS", options={"gtol": 1e-9})
    # A gradient g leaves at most |g| times the distance.
    away = np.linalg.norm(gradient) * np.linalg.norm(at - peer.x)
    assert reached <= peer.fun + away + 1e-7 * abs(peer.fun)


@pytest.mark.parametrize("which", WHICH)
def test_variables_violate_by_little_more_than_the_softness(rng, which):
    # Without a linear term a bound only says the units of all.
    F, dual, found = problem(rng, which, C=1.0 if which in ("one", "nusvc") else 1e4)
    softness = found._first()
    while softness > 1e-4:
        softness /= 4
        assert found._reach(softness)
    b = found.signed
    slopes = dual.slopes(F @ (F.T @ dual.combined(b)))
    for members in dual.groups:
        up, down = (b < dual.high)[members], (b > dual.low)[members]
        most = slopes[members][down].max(initial=-np.inf)
        least = slopes[members][up].min(initial=np.inf)
        # The softness of one, and twice the gradient that is left.
        assert most - least <= 3 * softness


def test_few_variables_are_left_inside(rng):
    for which in WHICH:
        _, dual, found = problem(rng, which)
        signed = found.run(1e-3)
        inside = (signed > dual.low) & (signed < dual.high)
        assert inside.sum() <= 2 * WIDTH
        assert found.moves > 0


@pytest.mark.parametrize("which", ["svc", "nusvr"])
def test_the_matrix_is_that_of_the_band(rng, which, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    F, dual, found = problem(rng, which)
    found._reach(1.0)
    soft = 1.0 / dual.upper
    matrix, pulled, own = found._curvature(soft)
    inside = (found.signed > dual.low) & (found.signed < dual.high)
    band = np.flatnonzero(inside)
    assert len(band) > 20
    rows = F[band % ROWS]
    np.testing.assert_allclose(matrix, (rows.T / soft[band]) @ rows, rtol=1e-10, atol=1e-10)
    for place, members in enumerate(dual.groups):
        mine = np.isin(band, members) / soft[band]
        np.testing.assert_allclose(pulled[:, place], rows.T @ mine, rtol=1e-10, atol=1e-10)
        assert own[place] == pytest.approx(mine.sum())


@pytest.mark.parametrize("root", [1e-6, 0.3, 1.0, 50.0])
def test_a_line_is_searched_to_a_part_of_its_slope(root):
    for slope in (lambda t: t - root, lambda t: np.arctan(20 * (t - root))):
        assert abs(slope(_length(slope))) <= 0.1 * abs(slope(0.0))
    assert _length(lambda t: -0.001 * (t == 0)) == 1.0


def test_a_matrix_without_a_factor_ends_it(rng, monkeypatch):
    _, dual, found = problem(rng, "svc")

    def fails(*_, **__):
        raise module.LinAlgError

    monkeypatch.setattr(module, "cho_factor", fails)
    signed = found.run(1e-3)
    assert (dual.low <= signed).all()
    assert (signed <= dual.high).all()
    assert found.moves == 0
