"""Leave-one-out to first order, against fitting again without each row."""

import numpy as np
import pytest

import mercer as mc
from mercer.problems import loss
from mercer.problems.risk import Risk
from mercer.selection.approximate import left_out, walk
from mercer.solvers.interior import interior
from mercer.solvers.newton import newton
from mercer.solvers.spans import Features, Stored


def solve(K, risk):
    if risk.loss.is_smooth:
        found = newton(Stored(K), risk, tolerance=1e-11)
        curvature = risk.curvature(K @ found.coefficients + found.offset)
    else:
        found, curvature = interior(Stored(K), risk, tolerance=1e-8)
    return found, curvature


def data(text, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.4 * rng.normal(size=n)
    kind = loss(text)
    y = {"signs": np.where(y > 0, 1.0, -1.0), "counts": np.exp(y).round()}.get(kind.targets, y)
    return mc.Gaussian(0.8)(X), kind, y, rng.uniform(0.5, 2, n)


def both(text, penalty, *, offset=True):
    """The values to first order, and those of a fit without each row; and the targets."""
    K, kind, y, weights = data(text)
    risk = Risk(kind, y, weights, penalty, offset)
    found, curvature = solve(K, risk)
    values = K @ found.coefficients + found.offset
    near = left_out(
        Stored(K), values, -2 * penalty * found.coefficients, curvature, penalty,
        has_offset=offset,
    )  # fmt: skip
    exact = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        # What is left keeps its share: penalty * sum(weights) stays fixed.
        scaled = penalty * weights.sum() / weights[rest].sum()
        less = Risk(kind, y[rest], weights[rest], scaled, offset)
        one, _ = solve(K[np.ix_(rest, rest)], less)
        exact[i] = K[i, rest] @ one.coefficients + one.offset[0]
    return near, exact, risk


@pytest.mark.parametrize("offset", [True, False])
def test_it_is_exact_for_squares(offset):
    near, exact, _ = both("squared", 1e-2, offset=offset)
    np.testing.assert_allclose(near, exact, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "text",
    ["logistic", "poisson", "huber(0.5)", "expectile(0.8)", "squared_hinge", "absolute",
     "epsilon_insensitive(0.2)", "pinball(0.8)", "hinge"],
)  # fmt: skip
@pytest.mark.parametrize("penalty", [1e-1, 1e-2])
def test_the_mean_loss_is_near_that_of_fitting_again(text, penalty):
    near, exact, risk = both(text, penalty)
    ours, theirs = (
        float(risk.shares @ risk.loss.value(risk.targets, values)) for values in (near, exact)
    )
    seen = risk.loss.value(risk.targets, np.full(len(near), np.median(risk.targets)))
    # To first order: within an eighth of the loss of a constant.
    assert abs(ours - theirs) <= 0.125 * float(risk.shares @ seen)
    if risk.loss.is_smooth:
        assert np.corrcoef(near, exact)[0, 1] > 0.98


def test_features_and_their_matrix_agree():
    rng = np.random.default_rng(2)
    rows, curvature = rng.normal(size=(30, 5)), rng.uniform(0, 2, 30)
    curvature[:4] = 0
    for offset in (True, False):
        one, other = (
            span.influence(curvature, 0.1, has_offset=offset)
            for span in (Features(rows), Stored(rows @ rows.T))
        )
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_influence_is_the_diagonal_of_the_inverse():
    rng = np.random.default_rng(3)
    K = mc.Gaussian(1.0)(rng.normal(size=(20, 2)))
    curvature = rng.uniform(0, 2, 20)
    curvature[:3], curvature[3] = 0, 1e-13
    plain = K @ np.linalg.inv(0.1 * np.eye(20) + curvature[:, None] * K)
    found = Stored(K).influence(curvature, 0.1, has_offset=False)
    np.testing.assert_allclose(found, np.diagonal(plain), rtol=1e-8)
    # An offset is a constant kernel with a weight beyond all bounds.
    wide = K + 1e7
    plain = wide @ np.linalg.inv(0.1 * np.eye(20) + curvature[:, None] * wide)
    found = Stored(K).influence(curvature, 0.1, has_offset=True)
    np.testing.assert_allclose(found, np.diagonal(plain), rtol=1e-5)


@pytest.mark.parametrize("best", [1e-9, 1e-4, 1e-2, 3.0])
def test_the_walk_finds_the_bottom_of_a_valley(best):
    asked = []

    def error(penalty):
        asked.append(penalty)
        return 1 + np.log(penalty / best) ** 2

    path = walk(error, 100, 1.0)
    assert path.best == pytest.approx(best, rel=1e-6)  # a parabola's bottom is its own
    assert len(asked) == len(set(asked)) == len(path.penalties)
    assert (np.diff(path.penalties) > 0).all()


def test_a_walk_on_the_plain_ends():
    path = walk(lambda _: 1.0, 50, 1.0)
    assert len(path.penalties) <= 8
