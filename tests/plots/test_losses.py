"""The curves of losses are their values, and each kind has its own axis."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from mercer.errors import InvalidParameter
from mercer.plots import LossDisplay
from mercer.problems import Huber

# Values of size up to 10, a few roundings each.
NEAR = {"rtol": 1e-13, "atol": 1e-13}


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


def test_losses_of_numbers_over_the_error():
    names = "squared", "absolute", "epsilon_insensitive(0.5)", "pinball(0.9)"
    display = LossDisplay.from_losses(*names, low=-2, high=2, size=9)
    e = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(display.curves["squared"], e**2, **NEAR)
    np.testing.assert_allclose(display.curves["absolute"], abs(e), **NEAR)
    tube = display.curves["epsilon_insensitive(0.5)"]
    np.testing.assert_allclose(tube, np.maximum(0, abs(e) - 0.5), **NEAR)
    # An error f - y > 0 is too high a prediction, and costs 1 - q.
    tilted = np.where(e > 0, 0.1 * e, -0.9 * e)
    np.testing.assert_allclose(display.curves["pinball(0.9)"], tilted, **NEAR)
    assert display.names == ("f(x) - y", "loss")


def test_losses_of_margins():
    display = LossDisplay.from_losses("logistic", "hinge", "squared_hinge", size=7)
    m = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(display.curves["logistic"], np.log1p(np.exp(-m)), **NEAR)
    np.testing.assert_allclose(display.curves["hinge"], np.maximum(0, 1 - m), **NEAR)
    np.testing.assert_allclose(
        display.curves["squared_hinge"], np.maximum(0, 1 - m) ** 2, **NEAR
    )
    assert display.names[0] == "margin y f(x)"


def test_mistakes_are_counted_with_a_gap_at_the_jump():
    curve = LossDisplay.from_losses("0/1", low=-2, high=2, size=9).curves["0/1"]
    np.testing.assert_array_equal(curve[:4], 1.0)
    assert np.isnan(curve[4])  # at zero itself
    np.testing.assert_array_equal(curve[5:], 0.0)
    slope = LossDisplay.from_losses("0/1", order=1, size=9).curves["0/1"]
    np.testing.assert_array_equal(slope, 0.0)


def test_the_logistic_loss_bounds_mistakes_and_the_hinge_too():
    curves = LossDisplay.from_losses("0/1", "logistic", "hinge").curves
    counted = np.nan_to_num(curves["0/1"])
    assert (curves["hinge"] >= counted).all()
    assert (curves["logistic"] / np.log(2) >= counted - 1e-12).all()


def test_orders_are_derivatives():
    u = np.linspace(-3, 3, 601)
    value, slope, curvature = (
        LossDisplay.from_losses("logistic", order=order).curves["logistic"]
        for order in range(3)
    )
    # Central differences with step h are off by h^2 / 6 times a third derivative below 0.1.
    np.testing.assert_allclose(np.gradient(value, u)[1:-1], slope[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(slope, u)[1:-1], curvature[1:-1], atol=1e-5)


def test_counts_have_an_axis_of_their_own():
    display = LossDisplay.from_losses("poisson", size=5)
    f = np.linspace(-3, 3, 5)
    np.testing.assert_allclose(display.curves["poisson"], np.exp(f) - f, **NEAR)
    assert "y = 1" in display.names[0]


def test_a_loss_is_drawn_under_its_text():
    display = LossDisplay.from_losses(Huber(0.5), "squared")
    assert list(display.curves) == ["huber(0.5)", "squared"]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["huber(0.5)", "squared"]
    for line, values in zip(display.ax_.lines, display.curves.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)


@pytest.mark.parametrize("losses", [("squared", "hinge"), ("0/1", "absolute"), ()])
def test_kinds_are_drawn_apart(losses):
    with pytest.raises(InvalidParameter, match="share an axis"):
        LossDisplay.from_losses(*losses)


def test_what_is_no_loss_is_told():
    with pytest.raises(InvalidParameter, match="there is no loss"):
        LossDisplay.from_losses("hing")
    with pytest.raises(InvalidParameter, match="order is"):
        LossDisplay.from_losses("hinge", order=3)
    with pytest.raises(InvalidParameter, match="from low to a higher number"):
        LossDisplay.from_losses("hinge", low=1, high=0)
