"""Losses: slopes and curvatures are derivatives, conjugates are suprema."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InvalidInput, InvalidParameter
from mercer.problems import LOSSES, Absolute, Huber, Loss, Pinball, loss

TEXTS = [
    "squared", "absolute", "huber(0.7)", "epsilon_insensitive(0.3)", "pinball(0.9)",
    "expectile(0.2)", "poisson", "logistic", "hinge", "squared_hinge",
]  # fmt: skip
SMOOTH = [text for text in TEXTS if loss(text).is_smooth]
numbers = st.floats(-8, 8).map(lambda x: round(x, 4))


def target(kind, y):
    """A target that the loss takes."""
    return {"counts": abs(y), "signs": 1.0 if y > 0 else -1.0}.get(kind.targets, y)


def at(kind, y, f, what):
    return float(getattr(kind, what)(np.array([y]), np.array([f]))[0])


def test_every_loss_is_tried():
    assert {text.partition("(")[0] for text in TEXTS} == set(LOSSES)


@pytest.mark.parametrize("text", TEXTS)
@given(y=numbers, f=numbers)
def test_the_slope_is_between_the_difference_quotients(text, y, f):
    # For a convex function the quotients to the left and to the right enclose every slope.
    kind = loss(text)
    y, h = target(kind, y), 1e-6
    here, left, right = (at(kind, y, f + d, "value") for d in (0, -h, h))
    rounding = 4 * np.finfo(float).eps * (abs(here) + 1) / h
    slope = at(kind, y, f, "slope")
    assert (here - left) / h - rounding <= slope <= (right - here) / h + rounding


@pytest.mark.parametrize("text", SMOOTH)
@given(y=numbers, f=numbers)
def test_the_curvature_is_the_derivative_of_the_slope(text, y, f):
    kind = loss(text)
    y, h = target(kind, y), 1e-6
    left, right = (at(kind, y, f + d, "slope") for d in (-h, h))
    curvatures = [at(kind, y, f + d, "curvature") for d in (-h, 0, h)]
    if len({round(c, 3) for c in curvatures}) > 1 and text != "poisson":
        return  # a kink of the slope lies between
    # The error of the quotient is h^2 / 6 of the third derivative and eps / h of the slopes.
    allowed = 1e-3 * (1 + abs(curvatures[1])) + 1e-9 * (abs(left) + abs(right))
    assert abs((right - left) / (2 * h) - curvatures[1]) <= allowed


@given(y=numbers, f=numbers, g=numbers)
def test_the_parabola_of_a_straight_loss_is_above_it(y, f, g):
    kind = Huber(0.7)
    parabola = at(kind, y, f, "value") + at(kind, y, f, "slope") * (g - f)
    parabola += at(kind, y, f, "majorant") * (g - f) ** 2 / 2
    # Numbers up to 8 have parabolas up to 2 * 16^2, off by a few units.
    assert at(kind, y, g, "value") <= parabola + 1e-12
    assert at(loss("logistic"), 1.0, f, "majorant") == at(loss("logistic"), 1.0, f, "curvature")


@pytest.mark.parametrize("text", TEXTS)
@given(y=numbers, f=numbers, g=numbers)
def test_fenchel_and_young_agree(text, y, f, g):
    # u f <= L(f) + L*(u) for all f and u, with equality where u is the slope at f.
    kind = loss(text)
    y = target(kind, y)
    u = at(kind, y, g, "slope")
    conjugate = at(kind, y, u, "conjugate")
    size = 1 + abs(u * f) + abs(u * g) + abs(conjugate) + at(kind, y, g, "value")
    assert u * f <= at(kind, y, f, "value") + conjugate + 1e-9 * size
    assert abs(at(kind, y, g, "value") + conjugate - u * g) <= 1e-9 * size


@pytest.mark.parametrize("text", TEXTS)
@given(y=numbers)
def test_the_conjugate_is_finite_between_the_slopes_and_only_there(text, y):
    kind = loss(text)
    y = np.array([target(kind, y)])
    low, high = kind.slopes(y)
    for inside in (np.maximum(low, -50) * 0.999, np.minimum(high, 50) * 0.999):
        assert np.isfinite(kind.conjugate(y, inside)).all()
    if np.isfinite(low):
        assert np.isinf(kind.conjugate(y, low - 1e-6)).all()
    if np.isfinite(high):
        assert np.isinf(kind.conjugate(y, high + 1e-6)).all()


@pytest.mark.parametrize("text", [text for text in TEXTS if not loss(text).is_smooth])
@given(y=numbers, share=st.floats(0.01, 0.99))
def test_with_a_kink_the_conjugate_is_a_line_and_a_tube(text, y, share):
    kind = loss(text)
    y = np.array([target(kind, y)])
    low, high = kind.slopes(y)
    u = low + share * (high - low)
    expected = y * u + kind.tube * np.abs(u)
    np.testing.assert_allclose(kind.conjugate(y, u), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "constant"),
    [("squared", np.mean), ("absolute", np.median), ("pinball(0.75)", lambda y: y[7])],
)
def test_the_best_constant_is_the_one_of_its_name(text, constant):
    y = np.sort(np.random.default_rng(0).normal(size=11))[:11]
    grid = np.sort(np.append(np.linspace(-3, 3, 4001), y))
    costs = [loss(text).value(y, np.full(11, c)).sum() for c in grid]
    if text.startswith("pinball"):  # the order 0.75 of 11: the ninth is passed by 8.25
        constant = lambda y: y[8]  # noqa: E731
    assert abs(grid[int(np.argmin(costs))] - constant(y)) <= 6 / 4000


def test_the_expectile_balances_its_two_sides():
    y = np.random.default_rng(1).normal(size=50)
    kind = loss("expectile(0.8)")
    grid = np.linspace(-3, 3, 6001)
    best = grid[int(np.argmin([kind.value(y, np.full(50, c)).sum() for c in grid]))]
    above, below = np.maximum(y - best, 0).sum(), np.maximum(best - y, 0).sum()
    assert abs(0.8 * above - 0.2 * below) <= 50 * 1e-3


def test_large_values_do_not_overflow():
    signs, far = np.array([1.0, -1.0]), np.array([-1e4, 1e4])
    for text in ("logistic", "hinge", "squared_hinge"):
        assert np.isfinite(loss(text).value(signs, far)).all()
    assert np.isposinf(loss("poisson").value(np.zeros(1), np.array([1e4]))).all()


def test_texts_and_losses_are_inverse():
    for text in TEXTS:
        assert str(loss(text)) == text
        assert loss(loss(text)) == loss(text)
    assert loss("huber") == Huber(1.0)
    assert loss(" pinball( 0.25 ) ") == Pinball(0.25)


@pytest.mark.parametrize(
    "bad", ["quadratic", "pinball(2)", "huber(0)", "huber(a)", "squared(1)", "huber(1", 3, None]
)
def test_what_is_no_loss_is_refused(bad):
    with pytest.raises(InvalidParameter):
        loss(bad)


def test_targets_that_have_no_loss_are_named():
    with pytest.raises(InvalidInput, match=r"row 1 has -2"):
        loss("poisson").check(np.array([1.0, -2.0]))
    with pytest.raises(InvalidInput, match=r"-1 and 1, and row 0 has 0"):
        loss("hinge").check(np.array([0.0, 1.0]))
    Absolute().check(np.array([-1e300]))


def test_a_loss_of_ones_own_needs_its_five_parts():
    class Half(Loss):
        word = "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()
