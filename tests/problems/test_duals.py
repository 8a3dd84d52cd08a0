"""The duals are the problems that the machines' own formulas say they are."""

import re

import numpy as np
import pytest

from mercer.errors import InvalidParameter
from mercer.problems import duals


def every(rng, n=12):
    labels = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    targets, upper = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return [
        duals.classification(labels, upper),
        duals.regression(targets, upper, 0.1),
        duals.one_class(upper, 0.3, n),
        duals.classification_by_share(labels, upper, 0.2),
        duals.regression_by_share(targets, upper, 0.4),
        duals.nearest_points(labels, upper > 0),
    ]


def gram(rng, n=12):
    root = rng.normal(size=(n, n))
    return root @ root.T


def test_signed_variables_give_the_objective_and_its_gradient(rng):
    K = gram(rng)
    for dual in every(rng):
        rows = np.arange(len(dual.signs)) % dual.rows
        Q = np.outer(dual.signs, dual.signs) * K[np.ix_(rows, rows)]
        a = rng.uniform(0, 1, len(rows))
        slopes = dual.slopes(K @ dual.combined(dual.signs * a))
        np.testing.assert_allclose(dual.signs * slopes, Q @ a + dual.linear, rtol=1e-12)
        value = 0.5 * a @ Q @ a + dual.linear @ a
        assert dual.objective(dual.signs * a, slopes) == pytest.approx(value, rel=1e-12)


def test_each_starts_in_its_box(rng):
    for dual in every(rng):
        dual.check(dual.start)
        assert (dual.low <= dual.signs * dual.start).all()
        assert (dual.signs * dual.start <= dual.high).all()


def test_the_groups_hold_every_variable_once(rng):
    for dual in every(rng):
        np.testing.assert_array_equal(
            np.sort(np.concatenate(dual.groups)), np.arange(len(dual.signs))
        )
        assert len(dual.groups) == 1 + dual.separate


def test_the_sum_of_a_one_class_problem_is_the_share_of_all_weights(rng):
    upper = rng.uniform(0, 2, 50)
    dual = duals.one_class(upper, 0.25, 50)
    assert dual.start.sum() == pytest.approx(0.25 * upper.sum(), rel=1e-12)


def test_a_share_fixes_half_of_the_mass_in_each_class(rng):
    labels = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    dual = duals.classification_by_share(labels, 1.0, 0.3)
    for sign in (1.0, -1.0):
        assert dual.start[labels == sign].sum() == pytest.approx(0.3 * 40 / 2, rel=1e-12)


def test_the_largest_share_is_allowed_and_the_next_is_not():
    labels = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    duals.classification_by_share(labels, 1.0, 4 / 6)
    with pytest.raises(InvalidParameter, match=r"largest possible nu is 0\.66666"):
        duals.classification_by_share(labels, 1.0, 0.7)


@pytest.mark.parametrize("upper", [-1.0, np.nan, [1.0, -2.0]])
def test_bounds_below_zero_are_refused(upper):
    with pytest.raises(InvalidParameter, match="upper bounds"):
        duals.classification([1.0, -1.0], upper)


def test_what_means_nothing_is_refused():
    with pytest.raises(InvalidParameter, match="1 and -1"):
        duals.classification([0.0, 1.0], 1.0)
    with pytest.raises(InvalidParameter, match="epsilon >= 0"):
        duals.regression([0.0, 1.0], 1.0, -0.1)
    with pytest.raises(InvalidParameter, match="finite linear"):
        duals.regression([0.0, np.inf], 1.0, 0.1)
    with pytest.raises(InvalidParameter, match="nu <= 1"):
        duals.one_class(1.0, 1.5, 3)
    with pytest.raises(InvalidParameter, match="two classes"):
        duals.nearest_points([1.0, 1.0], [True, True])


def test_points_outside_of_the_box_or_off_the_plane_are_refused(rng):
    dual = duals.classification([1.0, -1.0, 1.0], 1.0)
    dual.check(np.array([0.5, 1.0, 0.5]))
    for bad in ([1.5, 1.5, 0.0], [-0.1, 0.0, 0.1], [0.5, 0.5, 0.5]):
        with pytest.raises(InvalidParameter, match="not feasible"):
            dual.check(np.array(bad))


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_share_is_feasible_and_more_is_not(seed):
    rng = np.random.default_rng(seed)
    signs, upper = rng.choice([-1.0, 1.0], 30), rng.lognormal(0, 4, 30)
    lighter = min(upper[signs > 0].sum(), upper[signs < 0].sum())
    with pytest.raises(InvalidParameter, match="specified nu is infeasible") as caught:
        duals.classification_by_share(signs, upper, min(1.0, 2.001 * lighter / upper.sum()))
    told = float(re.search(r"largest possible nu is (\S+);", str(caught.value))[1])
    assert told == pytest.approx(2 * lighter / upper.sum(), rel=1e-5)
    dual = duals.classification_by_share(signs, upper, told)
    dual.check(dual.start)
    for sign in (1, -1):
        assert dual.start[signs == sign].sum() == pytest.approx(told * upper.sum() / 2)
