"""A fit is drawn as it predicts, and a path of penalties as it was tried."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots import FitDisplay, PenaltyPathDisplay

K = mc.Gaussian(scale=0.7)


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture
def data(rng):
    x = np.sort(rng.uniform(0, 5, size=30))
    return x[:, None], np.sin(x) + 0.1 * rng.normal(size=30)


@pytest.fixture
def model(data):
    return mc.KernelRidge(K, penalty=1e-3).fit(*data)


# ------------------------------------------------------------------------------------- fits


def test_a_fit_is_drawn_as_it_predicts(data, model):
    display = FitDisplay.from_estimator(model, *data)
    line = display.line
    low, high = data[0].min(), data[0].max()
    assert line[0] < low < high < line[-1]
    np.testing.assert_array_equal(display.values, model.predict(line[:, None]))
    np.testing.assert_array_equal(display.points, data[0][:, 0])
    np.testing.assert_array_equal(display.targets, data[1])
    assert display.title == "KernelRidge, gaussian(0.7)"
    curve = display.ax_.lines[-1]
    np.testing.assert_array_equal(curve.get_xdata(), line)
    np.testing.assert_array_equal(curve.get_ydata(), display.values)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_the_band_is_the_interval_for_a_new_target(data, model, coverage):
    display = FitDisplay.from_estimator(model, *data, coverage=coverage)
    ends = model.predict_interval(display.line[:, None], coverage=coverage)
    np.testing.assert_array_equal(display.lower, ends[:, 0])
    np.testing.assert_array_equal(display.upper, ends[:, 1])
    assert display.band == f"{100 * coverage:g} % interval"
    assert len(display.ax_.collections) == 1


def test_the_other_band_is_two_deviations(data, model):
    display = FitDisplay.from_estimator(model, *data, band="std")
    values, spread = model.predict(display.line[:, None], return_std=True)
    np.testing.assert_array_equal(display.upper, values + 2 * spread)
    np.testing.assert_array_equal(display.lower, values - 2 * spread)


def test_a_fit_may_have_no_band(data, model):
    display = FitDisplay.from_estimator(model, *data, band=None)
    assert display.lower is None
    assert display.upper is None
    assert not display.ax_.collections


@pytest.mark.parametrize(
    "machine",
    [
        mc.KernelRegressor(K, "absolute", 1e-3),
        mc.KernelNeighborsRegressor(K),
        make_pipeline(StandardScaler(), mc.KernelRidge(K, 1e-3)),
        PeerRidge(kernel="rbf"),
    ],
    ids=["robust", "neighbours", "pipeline", "peer"],
)
def test_machines_without_an_interval_are_drawn_without_one(machine, data):
    display = FitDisplay.from_estimator(machine.fit(*data), *data)
    assert display.lower is None
    np.testing.assert_array_equal(display.values, machine.predict(display.line[:, None]))


@pytest.mark.parametrize("band", ["interval", "std", None])
def test_a_table_of_one_column_is_drawn_as_a_table(data, band):
    table = pd.DataFrame({"when": data[0][:, 0]})
    model = mc.KernelRidge(K, 1e-3).fit(table, data[1])
    display = FitDisplay.from_estimator(model, table, data[1], band=band)
    plain = mc.KernelRidge(K, 1e-3).fit(*data)
    np.testing.assert_allclose(display.values, plain.predict(display.line[:, None]))


def test_targets_in_a_column_are_the_same(data):
    model = mc.KernelRidge(K, 1e-3).fit(data[0], data[1][:, None])
    display = FitDisplay.from_estimator(model, data[0], data[1][:, None], band=None)
    assert display.values.shape == display.line.shape
    assert display.targets.shape == (30,)


def test_equal_points_have_a_picture():
    model = mc.KernelRidge(K, 1e-3).fit([[5.0], [5.0]], [1.0, 2.0])
    display = FitDisplay.from_estimator(model, [[5.0], [5.0]], [1.0, 2.0], band=None)
    assert display.line[0] < 5 < display.line[-1]


def test_a_line_has_one_coordinate(model):
    with pytest.raises(InvalidInput, match="one coordinate, and these have 2"):
        FitDisplay.from_estimator(model, np.ones((3, 2)), np.ones(3))


@pytest.mark.parametrize("targets", [np.ones(29), np.ones((30, 2)), np.ones(31)])
def test_each_point_has_one_target(model, data, targets):
    with pytest.raises(InvalidInput, match="30 points need 30 targets"):
        FitDisplay.from_estimator(model, data[0], targets)


def test_an_unknown_band_is_told(model, data):
    with pytest.raises(InvalidParameter, match="band is"):
        FitDisplay.from_estimator(model, *data, band="sd")


# ------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    "machine",
    [mc.KernelRidge(K), mc.KernelRegressor(K, "huber"), mc.KernelRidge(K, [1e-3, 1e-1])],
    ids=["ridge", "huber", "given"],
)
def test_a_path_shows_what_was_tried_and_chosen(machine, data):
    machine.fit(*data)
    display = PenaltyPathDisplay.from_estimator(machine)
    np.testing.assert_array_equal(display.penalties, machine.penalties_)
    np.testing.assert_array_equal(display.errors, machine.loo_errors_)
    assert display.chosen == machine.penalty_
    curve, _, mark = display.ax_.lines
    order = np.argsort(machine.penalties_)
    np.testing.assert_array_equal(curve.get_xdata(), machine.penalties_[order])
    np.testing.assert_array_equal(curve.get_ydata(), machine.loo_errors_[order])
    # The mark stands at the choice, on the least error.
    assert mark.get_xdata()[0] == machine.penalty_
    assert mark.get_ydata()[0] == machine.loo_errors_.min()
    assert display.ax_.get_xscale() == "log"


def test_the_path_of_a_classifier(rng):
    X = rng.normal(size=(30, 2))
    machine = mc.KernelLogisticRegression(K, [1e-2, 1e-1]).fit(X, X[:, 0] > 0)
    display = PenaltyPathDisplay.from_estimator(machine)
    np.testing.assert_array_equal(display.errors, machine.loo_errors_)


def test_negative_errors_are_drawn_as_they_are():
    display = PenaltyPathDisplay(np.array([1.0, 2.0]), np.array([-100.0, -1.0]), 1.0).plot()
    assert display.ax_.get_yscale() == "linear"


@pytest.mark.parametrize("machine", [mc.KernelRidge(K), mc.KernelPerceptron(K)], ids=repr)
def test_what_has_no_path_is_told(machine):
    with pytest.raises(InvalidInput, match="no path of penalties"):
        PenaltyPathDisplay.from_estimator(machine)


def test_a_given_penalty_has_no_path(model):
    with pytest.raises(InvalidInput, match="one penalty was given"):
        PenaltyPathDisplay.from_estimator(model)
