"""The displays hold the numbers of their pictures, and draw them where they are told to."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib import pyplot as plt

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, InvalidType, MissingExtra
from mercer.plots import (
    ComponentsDisplay,
    DecisionDisplay,
    DiscriminationDisplay,
    FitDisplay,
    GramDisplay,
    LossDisplay,
    PenaltyPathDisplay,
    SetDistanceDisplay,
    SpectrumDisplay,
)

LINE = [[2.0], [3.0]]
TRIANGLE = [[1.0, 1.0], [1.0, 2.0], [2.0, 2.0]]
S1, S2 = [[1.0, 1.0], [1.0, 2.0]], [[1.0, 3.0], [2.0, 2.0]]

# A squared distance is off by a few values of size 1, each good to 2^-40.
E = 2.0**-36


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots()[1]


def squared_distance(k, x, S):
    """The definition, pair by pair."""
    across = sum(k.pair(x, s) for s in S) / len(S)
    within = sum(k.pair(s, t) for s in S for t in S) / len(S) ** 2
    return k.pair(x, x) - 2 * across + within


# ------------------------------------------------------------------------------ Gram matrix


def test_a_gram_display_holds_the_gram_matrix(rng):
    X, k = rng.normal(size=(7, 2)), mc.Gaussian()
    display = GramDisplay.from_kernel(k, X)
    np.testing.assert_array_equal(display.matrix, k(X))
    assert display.groups == ()
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), k(X))
    assert display.ax_.get_title() == "gaussian"


def test_labels_group_the_rows(rng):
    X, labels = rng.normal(size=(6, 2)), ["b", "a", "b", "a", "a", "c"]
    display = GramDisplay.from_kernel("gaussian", X, labels=labels)
    order = [1, 3, 4, 0, 2, 5]  # as sorted by label, else as they came
    np.testing.assert_array_equal(display.matrix, mc.Gaussian()(X)[np.ix_(order, order)])
    assert display.groups == ((3, "a"), (5, "b"), (6, "c"))
    # A name stands in the middle of its rows, a line after each group but the last.
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["a", "b", "c"]
    np.testing.assert_allclose(display.ax_.get_xticks() + 0.5, [1.5, 4.0, 5.5], atol=0.5)
    assert len(display.ax_.lines) == 4


@pytest.mark.parametrize("count", [5, 7])
def test_there_is_a_label_for_each_point(rng, count):
    with pytest.raises(InvalidInput, match=f"6 points need 6 labels, got {count}"):
        GramDisplay.from_kernel(mc.Gaussian(), rng.normal(size=(6, 2)), labels=["a"] * count)


def test_labels_of_several_kinds_are_grouped_too(rng):
    labels = np.array(["b", None, "a", None], dtype=object)
    display = GramDisplay.from_kernel(mc.Gaussian(), rng.normal(size=(4, 2)), labels=labels)
    assert display.groups == ((2, "None"), (3, "a"), (4, "b"))


@pytest.mark.parametrize("labels", ["abcd", np.ones((4, 1)), 3])
def test_labels_are_a_list(rng, labels):
    with pytest.raises(InvalidInput, match="labels are a list"):
        GramDisplay.from_kernel(mc.Gaussian(), rng.normal(size=(4, 2)), labels=labels)


def test_one_group_has_no_lines(rng):
    display = GramDisplay.from_kernel(mc.Gaussian(), rng.normal(size=(3, 2)), labels=[1, 1, 1])
    assert display.groups == ((3, "1"),)
    assert not display.ax_.lines


# -------------------------------------------------------------------------- distance to a set


@pytest.mark.parametrize("k", [mc.Linear(), mc.Gaussian(), mc.Gaussian(0.2)], ids=str)
def test_distances_on_a_line(k):
    display = SetDistanceDisplay.from_kernel(k, LINE, 0.0, 5.0, size=11)
    (line,) = display.axes
    np.testing.assert_array_equal(line, np.linspace(0, 5, 11))
    wanted = [squared_distance(k, [x], LINE) for x in line]
    # The linear kernel reaches k(x, x) = 25.
    np.testing.assert_allclose(display.distances**2, wanted, atol=25 * E)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), display.distances)
    np.testing.assert_array_equal(display.ax_.lines[1].get_xdata(), [2.0, 3.0])


def test_the_linear_distance_is_that_to_the_mean():
    display = SetDistanceDisplay.from_kernel("linear", LINE, 0.0, 5.0)
    np.testing.assert_allclose(display.distances**2, (display.axes[0] - 2.5) ** 2, atol=25 * E)


def test_distances_in_the_plane():
    k = mc.Gaussian(0.5)
    display = SetDistanceDisplay.from_kernel(k, TRIANGLE, 0.0, 3.0, size=7)
    first, second = display.axes
    table = display.distances.reshape(len(second), len(first)) ** 2
    for i, y in enumerate(second):  # rows of an image are the second coordinate
        for j, x in enumerate(first):
            assert abs(table[i, j] - squared_distance(k, [x, y], TRIANGLE)) <= E
    np.testing.assert_array_equal(
        np.transpose(display.ax_.lines[0].get_data()), np.array(TRIANGLE)
    )


def test_a_set_in_space_has_no_picture():
    with pytest.raises(InvalidInput, match="one or two coordinates, got 3"):
        SetDistanceDisplay.from_kernel(mc.Gaussian(), [[0.0, 0.0, 0.0]], -1.0, 1.0)


# ----------------------------------------------------------------------------- discrimination


@pytest.mark.parametrize("k", [mc.Linear(), mc.Gaussian(), mc.Gaussian(0.2)], ids=str)
def test_the_difference_of_two_squared_distances(k):
    display = DiscriminationDisplay.from_kernel(k, S1, S2, 0.0, 4.0)
    line = np.linspace(0, 4, 201)
    np.testing.assert_array_equal(display.axes, (line, line))
    table = display.difference.reshape(201, 201)
    # The linear kernel reaches k(x, x) = 32.
    for i, j in [(0, 0), (0, 200), (50, 50), (100, 50), (150, 50), (100, 100), (200, 200)]:
        point = [line[j], line[i]]
        wanted = squared_distance(k, point, S1) - squared_distance(k, point, S2)
        assert abs(table[i, j] - wanted) <= 64 * E
    assert table[50, 50] < 0 < table[150, 50]  # (1, 1) is of S1 and (1, 3) of S2


def test_the_border_of_the_linear_kernel_is_a_straight_line():
    display = DiscriminationDisplay.from_kernel(mc.Linear(), S1, S2, 0.0, 4.0)
    # Halfway between the means (1, 1.5) and (1.5, 2.5): x + 2 y = 5.25.
    x, y = display.axes
    line = (x[None, :] + 2 * y[:, None] - 5.25).ravel()
    np.testing.assert_allclose(display.difference, line, atol=64 * E)


@pytest.mark.parametrize("wrong", [[[1.0]], [[1.0, 2.0, 3.0]]])
def test_discrimination_is_drawn_in_the_plane(wrong):
    with pytest.raises(InvalidInput):
        DiscriminationDisplay.from_kernel(mc.Gaussian(), wrong, S2, 0.0, 1.0)


def test_a_picture_without_a_border_has_none():
    near = DiscriminationDisplay.from_kernel(mc.Linear(), S1, [[90.0, 90.0]], 0.0, 4.0)
    assert (near.difference < 0).all()
    near.ax_.figure.canvas.draw()


# -------------------------------------------------------------------------------- all displays


def ridge():
    return mc.KernelRidge(mc.Gaussian(), penalty=[0.1, 1.0]).fit(LINE, [1.0, 2.0])


def nearest():
    return mc.NearestBarycenter(mc.Gaussian()).fit([*S1, *S2], [1, 1, 2, 2])


def components():
    return mc.KernelPCA(2, mc.Gaussian()).fit(TRIANGLE)


DRAW = [
    lambda ax: GramDisplay.from_kernel("gaussian", TRIANGLE, ax=ax),
    lambda ax: SetDistanceDisplay.from_kernel("gaussian", LINE, 0.0, 5.0, ax=ax, size=11),
    lambda ax: SetDistanceDisplay.from_kernel("gaussian", TRIANGLE, 0.0, 3.0, ax=ax, size=11),
    lambda ax: DiscriminationDisplay.from_kernel("gaussian", S1, S2, 0.0, 4.0, ax=ax),
    lambda ax: FitDisplay.from_estimator(ridge(), LINE, [1.0, 2.0], ax=ax),
    lambda ax: PenaltyPathDisplay.from_estimator(ridge(), ax=ax),
    lambda ax: DecisionDisplay.from_estimator(nearest(), [*S1, *S2], [1, 1, 2, 2], ax=ax),
    lambda ax: SpectrumDisplay.from_kernel("gaussian", TRIANGLE, ax=ax),
    lambda ax: ComponentsDisplay.from_estimator(components(), TRIANGLE, [1, 2, 2], ax=ax),
    lambda ax: LossDisplay.from_losses("hinge", "0/1", ax=ax),
]
NAMES = [
    "gram", "line", "plane", "discrimination", "fit", "path", "decision", "spectrum",
    "components", "losses",
]  # fmt: skip


def test_numbers_are_points_for_kernels_on_numbers_alone():
    on_numbers = SetDistanceDisplay.from_kernel(mc.Min(), [2.0, 3.0], 0.0, 5.0, size=11)
    column = SetDistanceDisplay.from_kernel(mc.Min(), LINE, 0.0, 5.0, size=11)
    np.testing.assert_array_equal(on_numbers.distances, column.distances)
    with pytest.raises(InvalidInput, match="one-dimensional"):
        SetDistanceDisplay.from_kernel(mc.Gaussian(), [2.0, 3.0], 0.0, 5.0)
    with pytest.raises(InvalidInput, match="one-dimensional"):
        DiscriminationDisplay.from_kernel(mc.Gaussian(), [1.0, 2.0], [1.0, 3.0], 0.0, 5.0)


@pytest.mark.parametrize("form", [sp.csr_array, lambda S: np.asarray(S, np.float32)])
def test_sets_in_any_form(form):
    for k in (mc.Gaussian(), mc.Gaussian().on(0, 1)):
        display = SetDistanceDisplay.from_kernel(k, form(np.array(TRIANGLE)), 0.0, 3.0, size=11)
        np.testing.assert_array_equal(display.points, TRIANGLE)


def test_what_has_no_coordinates_has_no_picture():
    with pytest.raises(InvalidType):
        SetDistanceDisplay.from_kernel(mc.Jaccard(), [{1}], 0.0, 1.0)
    with pytest.raises(InvalidInput):
        SetDistanceDisplay.from_kernel(mc.Gaussian(), [], 0.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "size"), [(1.0, 1.0, 9), (1.0, 0.0, 9), (np.nan, 1.0, 9), (0.0, 1.0, 1)]
)
def test_a_picture_needs_an_interval(low, high, size):
    with pytest.raises(InvalidParameter, match="from low to a higher number"):
        SetDistanceDisplay.from_kernel(mc.Gaussian(), TRIANGLE, low, high, size=size)


@pytest.mark.parametrize("draw", DRAW, ids=NAMES)
def test_a_display_draws_on_the_axes_it_is_given(draw, ax):
    display = draw(ax)
    assert display.ax_ is ax
    assert ax.has_data()
    assert plt.get_fignums() == [ax.figure.number]  # and opens no figure of its own
    ax.figure.canvas.draw()


@pytest.mark.parametrize("draw", DRAW, ids=NAMES)
def test_a_display_can_be_drawn_again(draw, ax):
    display = draw(None)
    first = display.ax_
    assert display.plot(ax) is display
    assert display.ax_ is ax is not first
    first.figure.canvas.draw()


@pytest.mark.parametrize("draw", DRAW, ids=NAMES)
def test_without_matplotlib_the_error_names_the_extra(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"mercer\[plots\]") as caught:
        draw(None)
    assert isinstance(caught.value, ImportError)


def test_a_legend_over_many_points_is_put_down_at_once(rng):
    # Looking for the best place among so many takes seconds, and matplotlib warns.
    X = rng.normal(size=(2_001, 2))
    few, many = (
        ComponentsDisplay(X[:count], (("a", np.arange(count)),)).plot() for count in (5, 2_001)
    )
    assert few.ax_.get_legend()._loc == 0  # "best"
    assert many.ax_.get_legend()._loc == 1


def test_a_text_that_is_no_kernel_is_told():
    with pytest.raises(mc.errors.NoTextForm, match="did you mean gaussian"):
        GramDisplay.from_kernel("gausian", TRIANGLE)
