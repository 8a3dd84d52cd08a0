# ruff: noqa: RUF001 - the signs that look alike are what is tested
"""Signs and commands become tokens, each with its place."""

import sys

import pytest

from mercer.errors import InvalidFormula
from mercer.proofs.signs import DIGITS, LONGEST, refuse, tokens


def texts(formula):
    return [token.text for token in tokens(formula)]


SAME = [
    ("-", ["−", "–", "-"]),
    ("*", ["·", "⋅", "×", "*", r"\cdot ", r"\times ", "∗"]),
    ("/", ["/", "÷", "∕", r"\div "]),
    ("‖", ["‖", "∥", r"\|", r"\Vert ", r"\lVert "]),
    ("|", ["|", "∣", r"\vert ", r"\mid ", r"\lvert "]),
    ("&", ["∩", "&", r"\cap ", "⋂"]),
    ("union", ["∪", r"\cup ", "⋃"]),
    ("∆", ["∆", "Δ", "△", r"\triangle ", "⊖"]),
    ("∧", ["∧", "⋀", r"\wedge ", r"\land "]),
    ("∨", ["∨", "⋁", r"\vee ", r"\lor "]),
    ("'", ["'", "′", "’", r"\prime "]),
    ("ᵀ", ["ᵀ", "⊤", r"\top "]),
    ("⟨", ["⟨", "〈", r"\langle "]),
    ("√", ["√", r"\sqrt ", "sqrt"]),
    ("<=", ["<=", "≤", r"\le ", r"\leq "]),
]


@pytest.mark.parametrize(("one", "spellings"), SAME)
def test_one_sign_has_many_spellings(one, spellings):
    for spelling in spellings:
        assert texts(f"x {spelling} y") == ["x", one, "y"]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("𝑥𝑦", ["xy"]),
        ("𝐱 · 𝐲", ["x", "*", "y"]),
        (r"\mathrm{exp}(x)", ["exp", "(", "x", ")"]),
        (r"\operatorname*{max}(x)", ["max", "(", "x", ")"]),
        (r"\boldsymbol x", ["x"]),
        (r"\left( x \right)", ["(", "x", ")"]),
        (r"\bigl\| x \bigr\|", ["‖", "x", "‖"]),
        (r"x\,y\;z\!w~v", ["x", "y", "z", "w", "v"]),
        ("ln LCM arccos infty", ["log", "lcm", "acos", "inf"]),
        ("σ_f", ["sigma", "_", "f"]),
        ("x₁²", ["x", "_", "1", "2"]),
        ("x⁻¹²", ["x", "-12"]),
        ("x²⁺¹", ["x", "2+1"]),
        ("1.5e-3 .5 2.", ["1.5e-3", ".5", "2"]),
        ("λ lambda", ["lambda_", "lambda_"]),
        ("½", ["1/2"]),
        ("∞", ["inf"]),
        (r"$$\displaystyle x$$", ["x"]),
        (r"\[ x. \]", ["x"]),
        (r"\(x\)", ["x"]),
    ],
)
def test_letters_and_commands_have_one_spelling(formula, words):
    assert texts(formula) == words


def test_tokens_tell_where_they_stand_and_what_they_touch():
    found = list(tokens(r" 2x \cdot yz"))
    assert [(t.text, t.at, t.glued) for t in found] == [
        ("2", 1, False), ("x", 2, True), ("*", 4, False), ("yz", 10, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("x.y", "attributes"),
        ("x: y", "slices"),
        ('"x"', "no texts"),
        ("x!", "factorials"),
        ("x%2", "percentage"),
        ("x # y", "comments"),
        (r"\foo x", r"command \\foo"),
        (r"A \setminus B", r"command \\setminus"),
        ("x and y", "the word and"),
        ("import x", "the word import"),
        ("1e3x", "a power of ten, or Euler's number"),
        ("2e5e", "a power of ten, or Euler's number"),
        ("∑ x", "the sign ∑"),
        ("x\u200by", "U\\+200B"),
        ("x\ud800", "U\\+D800"),
        ("1" * (DIGITS + 1), "digits"),
        ("x" * (LONGEST + 1), "characters"),
    ],
    ids=lambda text: text[:12].encode("ascii", "backslashreplace").decode(),
)
def test_what_means_nothing_is_refused_with_a_reason(formula, words):
    with pytest.raises(InvalidFormula, match=words):
        texts(formula)


def test_an_error_shows_the_place_whatever_the_letters():
    # Wide, combining and right-to-left letters would move the arrow: they are shown as ?.
    for before in ("漢", "e\u0301", "א", "\u202e", "\t"):
        shown, arrow = str(refuse("no", f"{before}x!", len(before) + 1)).splitlines()[1:3]
        assert shown[arrow.index("^")] == "!"
        assert all(sys.maxunicode > ord(sign) and sign.isprintable() for sign in shown)


def test_an_error_in_a_long_formula_shows_what_is_near():
    formula = "x + " * 500 + "!" + " + x" * 400
    with pytest.raises(InvalidFormula) as error:
        texts(formula)
    _, shown, arrow, *_ = str(error.value).splitlines()
    assert shown[arrow.index("^")] == "!"
    assert len(shown) < 100
