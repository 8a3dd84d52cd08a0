"""Decisions are drawn as the machine decides, with the support vectors that it has."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots import DecisionDisplay

K = mc.Gaussian(scale=1.0)
RINGED = "support vectors"


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture
def two(rng):
    X = rng.normal(size=(50, 2))
    return X, np.where((X**2).sum(axis=1) < 1.3, "in", "out")


@pytest.fixture
def three(rng):
    X = rng.normal(size=(60, 2))
    return X, np.where(X[:, 0] > 0.5, "right", np.where(X[:, 1] > 0, "up", "down"))


def at_the_grid(display, machine, word):
    """The values, one point of the grid at a time."""
    first, second = display.axes
    pairs = [[x, y] for y in second for x in first]
    return getattr(machine, word)(np.array(pairs))


def sorted_rows(X):
    return X[np.lexsort(X.T)]


def names(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize(
    "machine",
    [
        mc.KernelLogisticRegression(K, 1e-2),
        mc.KernelClassifier(K, "hinge", 1e-2),
        mc.KernelPerceptron(K),
        mc.NearestBarycenter(K),
        make_pipeline(StandardScaler(), mc.KernelLogisticRegression(K, 1e-2)),
        SVC(),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_decisions_of_two_classes(machine, two):
    machine.fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, size=11)
    wanted = at_the_grid(display, machine, "decision_function")
    np.testing.assert_allclose(display.values, wanted, rtol=1e-9, atol=1e-12)
    assert display.middle == 0
    assert display.label == "decision function"
    assert names(display)[:2] == ["in", "out"]
    shown = np.transpose(display.ax_.lines[0].get_data())
    np.testing.assert_array_equal(shown, two[0][two[1] == "in"])
    display.ax_.figure.canvas.draw()


def test_probabilities_of_the_second_class(two):
    machine = mc.KernelLogisticRegression(K, 1e-2).fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, response="predict_proba", size=11)
    wanted = at_the_grid(display, machine, "predict_proba")[:, 1]
    np.testing.assert_allclose(display.values, wanted, rtol=1e-9)
    assert display.middle == 0.5
    assert display.label == "probability of out"


def test_a_machine_with_probabilities_alone_shows_them(two):
    machine = mc.KernelNeighborsClassifier(K).fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, size=11)
    assert display.label == "probability of out"
    assert set(np.unique(5 * display.values).round(9)) <= set(range(6))


@pytest.mark.parametrize("response", ["decision_function", "predict_proba"])
def test_several_classes_have_a_value_each(three, response):
    machine = mc.KernelLogisticRegression(K, 1e-2).fit(*three)
    display = DecisionDisplay.from_estimator(machine, *three, response=response, size=21)
    np.testing.assert_allclose(
        display.values, at_the_grid(display, machine, response), rtol=1e-9, atol=1e-12
    )
    assert names(display) == ["down", "right", "up"]
    display.ax_.figure.canvas.draw()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_table_is_drawn_as_a_table(two, frame):
    table = frame({"width": two[0][:, 0], "height": two[0][:, 1]})
    machine = mc.NearestBarycenter(K.on("width", "height")).fit(table, two[1])
    display = DecisionDisplay.from_estimator(machine, table, two[1], size=7)
    plain = mc.NearestBarycenter(K).fit(*two)
    wanted = at_the_grid(display, plain, "decision_function")
    np.testing.assert_allclose(display.values, wanted, rtol=1e-9, atol=1e-12)


def test_the_grid_holds_the_data(two):
    machine = mc.NearestBarycenter(K).fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, size=5)
    for axis, line in enumerate(display.axes):
        assert line[0] < two[0][:, axis].min()
        assert line[-1] > two[0][:, axis].max()


# --------------------------------------------------------------------------- support vectors


def test_the_support_vectors_of_a_perceptron_are_its_mistakes(two):
    machine = mc.KernelPerceptron(K).fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, size=5)
    np.testing.assert_array_equal(display.support, machine.support_)
    assert display.bounded is None
    assert names(display)[-1] == RINGED


def test_the_support_vectors_of_the_hinge_loss_are_those_of_an_svm(two):
    X, y = two
    C = 3.0
    machine = mc.KernelClassifier(K, "hinge", 1 / (2 * C * len(X))).fit(X, y)
    peer = SVC(C=C, gamma=0.5, tol=1e-10).fit(X, y)
    display = DecisionDisplay.from_estimator(machine, X, y, size=5)
    np.testing.assert_array_equal(display.support, np.sort(peer.support_))
    at_bound = np.abs(peer.dual_coef_[0]) == C
    np.testing.assert_array_equal(display.bounded, np.sort(peer.support_[at_bound]))


@pytest.mark.parametrize(
    "machine", [mc.SVC(C=3.0, gamma=0.5), SVC(C=3.0, gamma=0.5)], ids=["ours", "theirs"]
)
def test_free_and_bounded_support_vectors_are_told_apart(machine, two):
    machine.fit(*two)
    display = DecisionDisplay.from_estimator(machine, *two, size=5)
    at_bound = np.abs(machine.dual_coef_[0]) == 3.0
    assert 0 < at_bound.sum() < len(at_bound)
    np.testing.assert_array_equal(display.support, machine.support_)
    np.testing.assert_array_equal(display.bounded, machine.support_[at_bound])
    assert names(display)[2:] == ["free support vectors", "bounded support vectors"]
    for line, chosen in zip(display.ax_.lines[-2:], (~at_bound, at_bound), strict=True):
        rows = machine.support_[chosen]
        drawn = np.transpose(line.get_data())
        np.testing.assert_array_equal(sorted_rows(drawn), sorted_rows(two[0][rows]))


def test_bounds_follow_the_weights_of_classes(two):
    X, y = two
    factors = {"in": 0.5, "out": 2.0}
    machine = SVC(C=3.0, gamma=0.5, class_weight=factors).fit(X, y)
    display = DecisionDisplay.from_estimator(machine, X, y, size=5)
    bounds = 3.0 * np.array([factors[label] for label in y[machine.support_]])
    at_bound = np.abs(machine.dual_coef_[0]) == bounds
    np.testing.assert_array_equal(display.bounded, machine.support_[at_bound])


def test_the_hard_margin_bounds_none(two):
    X, y = two
    display = DecisionDisplay.from_estimator(mc.SVC(C=np.inf).fit(X, y), X, y, size=5)
    assert not display.bounded.size
    assert names(display)[2:] == ["free support vectors"]


def test_where_a_share_stands_for_the_cost_all_are_ringed_alike(two):
    display = DecisionDisplay.from_estimator(NuSVC().fit(*two), *two, size=5)
    assert display.bounded is None
    assert names(display)[-1] == RINGED


def test_points_beyond_the_margin_are_no_support_vectors(two):
    X, y = two
    machine = mc.KernelClassifier(K, "squared_hinge", 1e-2).fit(X, y)
    display = DecisionDisplay.from_estimator(machine, X, y, size=5)
    margin = np.where(y == "out", 1, -1) * machine.decision_function(X)
    assert 0 < len(display.support) < len(X)
    np.testing.assert_array_equal(display.support, np.flatnonzero(margin < 1))


def test_where_every_point_counts_none_is_marked(two):
    for machine in (mc.KernelLogisticRegression(K, 1e-2), mc.KernelClassifier(K, penalty=1e-2)):
        display = DecisionDisplay.from_estimator(machine.fit(*two), *two, size=5)
        assert not display.support.size
        assert RINGED not in names(display)


def test_a_perceptron_that_has_forgotten_rows_marks_none(two):
    machine = mc.KernelPerceptron(K).partial_fit(*two)
    assert not DecisionDisplay.from_estimator(machine, *two, size=5).support.size


def test_the_support_vectors_of_several_classes(three):
    machine = mc.KernelClassifier(K, "hinge", 1e-3).fit(*three)
    display = DecisionDisplay.from_estimator(machine, *three, size=5)
    sizes = abs(machine.dual_coef_).max(axis=1)
    assert 0 < len(display.support) < len(three[0])
    assert sizes[display.support].min() > 1e-6 * sizes.max()


# ------------------------------------------------------------------------------------ errors


def test_the_plane_has_two_coordinates(two):
    machine = mc.NearestBarycenter(K).fit(*two)
    with pytest.raises(InvalidInput, match="two coordinates, and these have 3"):
        DecisionDisplay.from_estimator(machine, np.ones((4, 3)), two[1][:4])


def test_labels_are_those_of_the_machine(two):
    machine = mc.NearestBarycenter(K).fit(*two)
    with pytest.raises(InvalidInput, match="50 points need 50 labels, got 49"):
        DecisionDisplay.from_estimator(machine, two[0], two[1][1:])
    labels = two[1].astype(object)
    labels[3] = "beside"
    with pytest.raises(InvalidInput, match="no class 'beside', the label of row 3"):
        DecisionDisplay.from_estimator(machine, two[0], labels)


def test_what_the_machine_cannot_tell_is_an_error(two):
    machine = mc.NearestBarycenter(K).fit(*two)
    with pytest.raises(InvalidParameter, match="has no predict_proba"):
        DecisionDisplay.from_estimator(machine, *two, response="predict_proba")
    with pytest.raises(InvalidParameter, match="response is"):
        DecisionDisplay.from_estimator(machine, *two, response="proba")


def test_a_picture_without_a_border_has_none(two):
    axes = (np.linspace(0, 1, 3), np.linspace(0, 1, 4))
    codes = np.zeros(1, dtype=np.int64)
    display = DecisionDisplay(
        axes, np.full(12, 0.3), np.array(["a", "b"]), np.array([[0.5, 0.5]]), codes
    )
    display.plot().ax_.figure.canvas.draw()
