# ruff: noqa: RUF001 - the signs that look alike are what is tested
"""What is said of parameters is understood, or refused where it cannot be."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.errors import InvalidFormula
from mercer.proofs.assumptions import Bounds, assumptions, clauses


def known(said):
    return assumptions(clauses(said))


ABOVE = Bounds(Fraction(0), open_low=True)
UP = Bounds(Fraction(0))
NATURAL = Bounds(Fraction(1), whole=True)
HALF_OPEN = Bounds(Fraction(0), Fraction(2), open_low=True)

SAID = {
    "s > 0": {"s": ABOVE},
    "0 < s": {"s": ABOVE},
    "s positive": {"s": ABOVE},
    "s is positive": {"s": ABOVE},
    "s ≥ 0": {"s": UP},
    r"s \geq 0": {"s": UP},
    r"s \geqslant 0": {"s": UP},
    r"s\ge0": {"s": UP},
    "s nonnegative": {"s": UP},
    "s non-negative": {"s": UP},
    "0 < s <= 2": {"s": HALF_OPEN},
    "0 < s ≤ 2": {"s": HALF_OPEN},
    "2 >= s > 0": {"s": HALF_OPEN},
    "s > 0, s <= 2": {"s": HALF_OPEN},
    "s in (0, 2]": {"s": HALF_OPEN},
    "s ∈ (0, 2]": {"s": HALF_OPEN},
    r"s \in (0, 2]": {"s": HALF_OPEN},
    r"s\in\left(0,\,2\right]": {"s": HALF_OPEN},
    "$0 < s \\leq 2$": {"s": HALF_OPEN},
    r"0 \lt s \le 2": {"s": HALF_OPEN},
    "s ∈ (0, ∞)": {"s": ABOVE},
    r"s \in (0, \infty)": {"s": ABOVE},
    "s in [0, inf)": {"s": UP},
    "s ∈ (-∞, ∞)": {"s": Bounds()},
    "s in (-inf, 3)": {"s": Bounds(high=Fraction(3), open_high=True)},
    "s real": {"s": Bounds()},
    "s ∈ ℝ": {"s": Bounds()},
    r"s \in \mathbb{R}": {"s": Bounds()},
    "d natural": {"d": NATURAL},
    "d a natural number": {"d": NATURAL},
    "d ∈ ℕ": {"d": NATURAL},
    r"d \in \mathbb N": {"d": NATURAL},
    "d whole, d >= 1": {"d": NATURAL},
    "n whole": {"n": Bounds(whole=True)},
    "n integer": {"n": Bounds(whole=True)},
    r"n \in \mathbb{Z}": {"n": Bounds(whole=True)},
    "-1/2 < s < .5": {
        "s": Bounds(Fraction(-1, 2), Fraction(1, 2), open_low=True, open_high=True)
    },
    "s > 1e-3": {"s": Bounds(Fraction(1, 1000), open_low=True)},
    "a, b > 0": {"a": ABOVE, "b": ABOVE},
    "a,b in (0, 2]": {"a": HALF_OPEN, "b": HALF_OPEN},
    r"\alpha, \beta \ge 0": {"alpha": UP, "beta": UP},
    "α, β > 0": {"alpha": ABOVE, "beta": ABOVE},
    "a > 0 and b >= 0": {"a": ABOVE, "b": UP},
    "a > 0; b >= 0": {"a": ABOVE, "b": UP},
    r"a > 0 \text{ and } b \ge 0": {"a": ABOVE, "b": UP},
    r"a > 0 \quad b \ge 0": {"a": ABOVE, "b": UP},
    "for all s > 0": {"s": ABOVE},
    "for every s > 0": {"s": ABOVE},
    "where s > 0": {"s": ABOVE},
    r"\forall s > 0": {"s": ABOVE},
    "∀ s > 0": {"s": ABOVE},
    "lambda > 0": {"lambda_": ABOVE},
    r"\lambda > 0": {"lambda_": ABOVE},
    "λ > 0.": {"lambda_": ABOVE},
    r"\sigma_f > 0": {"sigma_f": ABOVE},
    "forallx > 0": {"forallx": ABOVE},
    "everything > 0": {"everything": ABOVE},
    "": {},
    " , ; ": {},
}


@pytest.mark.parametrize("said", SAID)
def test_an_assumption_is_understood(said):
    assert dict(known(said).numbers) == SAID[said]


MATRICES = [
    "A psd", "A is psd", "A p.s.d.", "A is positive semidefinite", "A positive semi-definite",
    "A ⪰ 0", "A ≽ 0", r"A \succeq 0", r"A\succcurlyeq0", r"where $A \succeq 0$",
]  # fmt: skip


@pytest.mark.parametrize("said", MATRICES)
def test_a_matrix_is_known_to_be_semidefinite(said):
    assert known(said).matrices == ("A",)


def test_several_matrices_are_known_at_once():
    assert known("A, B psd").matrices == ("A", "B")
    assert known(r"A, B \succeq 0, s > 0").names == ("s", "A", "B")


REFUSED = [
    # A definite matrix is no semidefinite one: what refutes that need not refute this.
    ("A positive definite", "cannot be read"),
    (r"A \succ 0", "cannot be read"),
    ("A ≻ 0", "cannot be read"),
    # In two ways: 0 < a < 1 and 0 < b < 1, or a > 0 and b < 1.
    ("0 < a, b < 1", "two ways"),
    ("a", "cannot be read"),
    ("a > 0, b", "cannot be read"),
    ("s = 2", "cannot be read"),
    ("s != 0", "cannot be read"),
    ("s > t", "cannot be read"),
    ("0 < q <= p <= 2", "cannot be read"),
    (r"s \in \mathbb{R}_+", "cannot be read"),
    ("n ∈ {1, 2, ...}", "cannot be read"),
    ("s > 1e-300", "cannot be read"),
    ("s > 1/0", "no number"),
    ("s > 0, s < 0", "no number satisfies"),
    ("s > 0 and s <= 0", "no number satisfies"),
    ("s in (2, 0)", "no number satisfies"),
    ("x > 0", "domain"),
    ("pi > 3", "no parameter"),
    ("s > " + "9" * 5_000, "at most 4000"),
    ("s > " + "9" * 3_990, "no number|cannot be read|s"),
    ("s > 0, " * 100_000, "at most 4000"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED, ids=lambda text: text[:20])
def test_what_cannot_be_understood_is_refused(said, words):
    if said.startswith("s > 9") and len(said) < 4_000:
        assert known(said).bounds("s").open_low  # long, and a number all the same
        return
    with pytest.raises(InvalidFormula, match=words):
        known(said)


def test_bounds_say_themselves():
    for said in SAID:
        told = str(known(said))
        assert known(told) == known(said)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="sab01.<>=≤∈(),[]e-/ ∞NR\\inA psd", max_size=24))
def test_any_words_are_understood_or_refused(said):
    try:
        found = known(said)
    except InvalidFormula:
        return
    assert known(str(found)) == found
