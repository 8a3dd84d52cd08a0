"""Which rows a dual problem sees: what is asked, what fits, and what is exact."""

import pytest

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan
from mercer.solvers.choose import LANDMARKS
from mercer.solvers.choose_dual import EXACT, MANY, NARROW, TIMES, choose_dual


def chosen(plan="auto", rows=1_000, width=None, sharp=False):
    plan = Plan(method=plan, memory="8 GB") if isinstance(plan, str) else plan
    return choose_dual(plan, rows, width=lambda: width, tolerance=1e-3, sharp=sharp)


@pytest.mark.parametrize(
    ("rows", "width", "method", "why"),
    [
        (EXACT, None, "smo", "by rows of their Gram matrix"),
        (EXACT + 1, None, "landmarks", "more than 100000"),
        (MANY, 5, "smo", "by rows"),
        (MANY + 1, 5, "primal", "5 features"),
        (EXACT + 1, 5, "primal", "5 features"),
        (MANY + 1, NARROW, "primal", "500 features"),
        (TIMES * NARROW, NARROW + 1, "smo", "by rows"),
        (EXACT + 1, 10 * NARROW, "landmarks", "more than"),
    ],
)
def test_exactness_is_left_only_where_it_costs_too_much(rows, width, method, why):
    found = chosen(rows=rows, width=width)
    assert found.method == method
    assert why in str(found)
    assert found.anchors == (LANDMARKS if method == "landmarks" else rows)
    assert found.memory <= found.budget
    assert found.tolerance == 1e-3


def test_what_is_asked_is_done():
    assert chosen("smo", EXACT + 1, 5).method == "smo"
    assert chosen("primal", 50, 5).method == "primal"
    assert chosen("primal", 50).method == "smo"
    assert "no finite feature map" in chosen("primal", 50).why
    few = chosen(Plan(anchors=30), 50)
    assert (few.method, few.anchors, few.why) == ("landmarks", 30, "30 landmarks, as asked")
    assert chosen(Plan(anchors=50), 50).method == "smo"
    every = chosen(Plan(method="landmarks", anchors=80), 50)
    assert (every.method, every.anchors) == ("landmarks", 50)
    assert chosen("landmarks", 10 * LANDMARKS).anchors == LANDMARKS


def test_maps_are_asked_for_only_where_they_may_serve():
    def never():
        raise AssertionError

    for plan, rows in (
        (Plan(), MANY),
        (Plan("smo"), EXACT + 1),
        (Plan("landmarks"), EXACT + 1),
    ):
        choose_dual(plan, rows, width=never, tolerance=1e-3, sharp=False)


@pytest.mark.parametrize("rows", [2_000, 200_000, 500_000])
@pytest.mark.parametrize("sharp", [False, True])
def test_as_many_landmarks_as_the_memory_holds(rows, sharp):
    least = chosen(Plan(method="landmarks", anchors=1), rows, sharp=sharp).memory
    before = 0
    for memory in (least, 2 * least, 10 * least):
        found = chosen(Plan("landmarks", memory=memory), rows, sharp=sharp)
        assert found.memory <= memory
        assert before <= found.anchors <= min(rows, LANDMARKS)
        before = found.anchors
    assert before > 1
    with pytest.raises(BudgetExceeded, match="fewer landmarks"):
        chosen(Plan(method="landmarks", memory=least - 1), rows, sharp=sharp)


def test_half_a_million_rows_and_a_thousand_landmarks_take_three_gigabytes():
    plan = Plan(method="landmarks", anchors=1_000, memory="3 GB")
    assert 2e9 < chosen(plan, 500_000).memory < 3e9
    with pytest.raises(BudgetExceeded, match="3 GB are allowed"):
        chosen(Plan(method="landmarks", anchors=1_500, memory="3 GB"), 500_000)


def test_features_that_do_not_fit_are_not_taken():
    plan = Plan(memory="1 GB")
    assert chosen(plan, 200_000, 500).method == "landmarks"
    with pytest.raises(BudgetExceeded, match="'primal'"):
        chosen(Plan("primal", memory="1 GB"), 200_000, 500)


@pytest.mark.parametrize("method", ["dense", "blocked", "spectral", "cholesky", "lanczos"])
def test_other_methods_are_refused(method):
    with pytest.raises(InvalidParameter, match="does not solve the dual problem"):
        chosen(method)
