"""Which functions are searched for a convex loss."""

import pytest

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan
from mercer.solvers.choose_convex import EXACT, choose_convex


def test_every_point_is_an_anchor_where_the_matrix_fits():
    chosen = choose_convex(Plan(), 1_000, 1, width=None)
    assert chosen.method == "newton"
    assert chosen.anchors == 1_000
    assert 8 * 1_000**2 < chosen.memory <= chosen.budget


def test_few_features_are_searched_instead():
    assert choose_convex(Plan(), 1_000, 1, width=20).method == "primal"
    assert choose_convex(Plan(), 1_000, 1, width=600).method == "newton"
    assert choose_convex(Plan("dense"), 1_000, 1, width=20).method == "newton"


@pytest.mark.parametrize("memory", [10**7, 10**8, 10**9])
@pytest.mark.parametrize("rows", [5_000, 20_000])
def test_landmarks_keep_the_budget(rows, memory):
    chosen = choose_convex(Plan(memory=memory), rows, 2, width=None)
    if chosen.method == "landmarks":
        assert 1 <= chosen.anchors < rows
    assert chosen.memory <= memory


def test_many_rows_take_landmarks_and_the_reason_is_told():
    chosen = choose_convex(Plan(memory="8 GB"), EXACT + 1, 1, width=None)
    assert chosen.method == "landmarks"
    assert "factorise" in str(chosen)
    assert choose_convex(Plan(anchors=50), 1_000, 1, width=None).anchors == 50


def test_what_does_not_fit_or_means_nothing_is_refused():
    with pytest.raises(BudgetExceeded, match="newton"):
        choose_convex(Plan("dense", memory="1 MB"), 1_000, 1, width=None)
    with pytest.raises(InvalidParameter, match="lanczos"):
        choose_convex(Plan("lanczos"), 1_000, 1, width=None)
