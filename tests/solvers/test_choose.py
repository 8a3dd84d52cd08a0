"""Which method, why, and what it takes."""

import pytest

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan
from mercer.solvers.choose import LANDMARKS, choose_least_squares, needed, rank_of

MEMORY = Plan(memory="100 GB")


def choose(rows, plan=MEMORY, width=None, many=False, outputs=1, given=0):
    return choose_least_squares(
        plan, rows, outputs, width=width, many_penalties=many, given=given
    )


@pytest.mark.parametrize(
    ("rows", "options", "method"),
    [
        (1_000, {}, "cholesky"),
        (10_000, {}, "mixed"),
        (10_000, {"width": 20}, "primal"),
        (10_000, {"width": 9_000}, "mixed"),
        (1_000, {"many": True}, "spectral"),
        (1_000, {"many": True, "width": 10}, "primal"),
        (1_000, {"many": True, "given": 20}, "spectral"),
        (4_000, {"many": True, "given": 20}, "band"),
        (4_000, {"many": True, "given": 100}, "spectral"),
        (6_000, {"many": True, "given": 20}, "landmarks"),
        (4_000, {"many": True, "given": 20, "plan": Plan(memory="250 MB")}, "landmarks"),
        (4_000, {"given": 1}, "mixed"),
        (10, {"given": 1, "plan": Plan(memory="1 GB", method="band")}, "band"),
        (20_000, {"many": True}, "landmarks"),
        (10_000, {"plan": Plan(memory="600 MB")}, "mixed"),
        (10_000, {"plan": Plan(memory="300 MB")}, "landmarks"),
        (3_000, {"plan": Plan(memory="120 MB")}, "cholesky"),
        (3_000, {"plan": Plan(memory="80 MB")}, "landmarks"),
        (3_000, {"plan": Plan(memory="150 MB"), "many": True}, "landmarks"),
        (1_000_000, {}, "landmarks"),
        (10_000, {"plan": Plan(memory="9 GB", anchors=50)}, "landmarks"),
        (10_000, {"plan": Plan(memory="9 GB", method="dense")}, "cholesky"),
        (10_000, {"plan": Plan(memory="9 GB", method="blocked")}, "conjugate"),
        (
            10_000,
            {"plan": Plan(memory="9 GB", method="mixed", precision="float64")},
            "cholesky",
        ),
    ],
)
def test_the_method(rows, options, method):
    chosen = choose(rows, **options)
    assert chosen.method == method
    assert chosen.memory <= chosen.budget
    assert str(chosen).startswith(f"{method}: ")
    assert "allowed" in str(chosen)


def test_it_says_why():
    assert "10000 x 10000 matrix fits in float32" in str(choose(10_000))
    assert "does not fit; conjugate gradients" in str(choose(10_000, Plan(memory="300 MB")))
    assert "20 features, and there are 10000 rows" in str(choose(10_000, width=20))
    assert "as asked" in str(choose(100, Plan(method="cholesky")))
    assert str(choose(5_000, Plan(memory="1 GB", method="cholesky"))).endswith(
        "243 MB of 1 GB allowed"
    )


def test_what_does_not_fit_is_an_error_before_anything_is_taken():
    with pytest.raises(BudgetExceeded, match=r"'cholesky' takes 720 GB.*\n.*Plan\(memory"):
        choose(300_000, Plan(memory="1 GB", method="cholesky"))
    with pytest.raises(BudgetExceeded):
        choose(1_000_000, Plan(memory="10 MB"))


@pytest.mark.parametrize("method", ["cholesky", "mixed", "conjugate"])
def test_one_penalty_at_a_time(method):
    with pytest.raises(InvalidParameter, match="Give one number"):
        choose(100, Plan(method=method), many=True)


def test_a_band_is_for_penalties_that_are_given():
    with pytest.raises(InvalidParameter, match="that are given"):
        choose(100, Plan(method="band"), many=True)
    assert "20 penalties cost less" in str(choose(4_000, many=True, given=20))


def test_landmarks_are_as_many_as_were_asked_for_or_fit():
    assert choose(10**6).anchors == LANDMARKS
    assert choose(10**6, Plan(anchors=77)).anchors == 77
    assert choose(50, Plan(anchors=77, method="landmarks")).anchors == 50
    few = choose(10**6, Plan(memory="2 GB"), many=True)
    assert 1 <= few.anchors < 100
    assert few.memory <= 2 * 10**9
    assert choose(100).anchors == 100


def test_needs_grow_with_what_is_stored():
    small, large = (needed(n, 1, 5, 10, many_penalties=True) for n in (1_000, 10_000))
    assert small.keys() == large.keys()
    assert all(small[name] < large[name] for name in small)
    assert 8e8 < large["cholesky"] < 9e8
    assert 4e8 < large["mixed"] < 5e8
    assert rank_of(3) == 3


def test_a_change_of_mind_is_told():
    other = choose(10_000).instead("cholesky", "float32 is too rough", 8 * 10**8)
    assert str(other) == "cholesky: float32 is too rough; 800 MB of 100 GB allowed"
