# ruff: noqa: RUF001 - the signs that look alike are what is tested
"""Formulas as they are written in books, on keyboards and in LaTeX: each is read as meant, or
refused where it may be meant in two ways.

What is meant was written down by hand, in Python's notation.
"""

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.errors import InvalidFormula
from mercer.proofs.normal import Algebra
from mercer.proofs.notation import plain
from mercer.proofs.reading import read
from mercer.proofs.sums import TooLarge

READ = {
    "reals": {
        # Products side by side, and what stands below a line.
        "xy": "x*y",
        "x y": "x*y",
        "2xy": "2*x*y",
        "x^2y^2": "x**2*y**2",
        "x²y²": "x**2*y**2",
        "(x+1)(y+1)": "(x + 1)*(y + 1)",
        "x(1+y)": "x*(1 + y)",
        "1/2xy": "1/(2*x*y)",
        "½xy": "x*y/2",
        "2 · x × y": "2*x*y",
        "x − y": "x - y",
        r"2 \times x \cdot y": "2*x*y",
        "x_1x_2": "x*y",
        "x_1 x_2 + 1": "x*y + 1",
        "x₁x₂": "x*y",
        # Fractions and roots, with braces and without.
        r"\frac{x}{2} y": "x/2*y",
        r"\frac x2 y": "x/2*y",
        r"\frac12 xy": "x*y/2",
        r"\frac 1 2 x y": "x*y/2",
        r"\frac1{1+|x-y|}": "1/(1 + abs(x - y))",
        r"\dfrac{1}{1+x^2y^2}": "1/(1 + x**2*y**2)",
        r"\tfrac12(x+y)^2": "(x + y)**2/2",
        r"\sqrt{x^2y^2}": "(x**2*y**2)**(1/2)",
        r"\sqrt xy": "x**(1/2)*y",
        r"\sqrt[3]{xy}": "(x*y)**(1/3)",
        "√(xy)": "(x*y)**(1/2)",
        "√x√y": "x**(1/2)*y**(1/2)",
        # Powers.
        "2^{xy}": "2**(x*y)",
        "2^x y": "2**x*y",
        "2^x^2": "2**(x**2)",
        "x^{-2}y^{-2}": "x**(-2)*y**(-2)",
        "e^-|x-y|": "e**(-abs(x - y))",
        "e^{-(x-y)²/2}": "e**(-(x - y)**2/2)",
        "x²⁺¹": "x**(2 + 1)",
        "x⁻²": "x**(-2)",
        "(x^2)^3": "(x**2)**3",
        # Functions without brackets, and with powers of their own.
        "cos x cos y": "cos(x)*cos(y)",
        "cos xy": "cos(x*y)",
        "cos 2x": "cos(2*x)",
        "cos(x) y": "cos(x)*y",
        "cos^2(x-y)": "cos(x - y)**2",
        r"\cos^{2} x": "cos(x)**2",
        "sin²x": "sin(x)**2",
        r"\exp\left(-\frac{1}{2}|x-y|^2\right)": "exp(-abs(x - y)**2/2)",
        r"\exp\{-|x-y|\}": "exp(-abs(x - y))",
        r"\ln(1 + x^2)": "log(1 + x**2)",
        r"\operatorname{sin}(x)": "sin(x)",
        # Bars.
        "|x-y|^2": "abs(x - y)**2",
        "||x|-|y||": "abs(abs(x) - abs(y))",
        "|x||y|": "abs(x)*abs(y)",
        r"\left|x-y\right|": "abs(x - y)",
        r"\lvert x-y\rvert": "abs(x - y)",
        "∣x−y∣": "abs(x - y)",
        # Lesser, larger, positive part.
        "x ∧ y": "min(x, y)",
        r"x \wedge y": "min(x, y)",
        "x ∨ y": "max(x, y)",
        "x ∧ y ∧ 3": "min(x, y, 3)",
        "x^2 ∧ y^2": "min(x**2, y**2)",
        "1 - x ∧ y": "1 - min(x, y)",
        "(x ∧ y)(x ∨ y)": "min(x, y)*max(x, y)",
        r"\min\{x, y\}": "min(x, y)",
        "(1-|x-y|)_+": "max(0, 1 - abs(x - y))",
        "(1-|x-y|)_{+}^2": "max(0, 1 - abs(x - y))**2",
        "(1-|x-y|)^2_+": "max(0, 1 - abs(x - y))**2",
        # Points by other names.
        "x x'": "x*y",
        r"x x^\prime": "x*y",
        r"x x^{\prime}": "x*y",
        "k(x, x') = min(x, x')": "min(x, y)",
        "K(s,t) := s ∧ t": "min(x, y)",
        "k(u, v) = uv": "x*y",
        "min(s,t) - st": "min(x, y) - x*y",
        "s ∧ t − st": "min(x, y) - x*y",
        r"\mathbf{x}_n \mathbf{x}_m": "x*y",
        # What stands around a formula.
        "$xy$": "x*y",
        "$$xy$$": "x*y",
        r"\( xy \)": "x*y",
        r"\[ xy. \]": "x*y",
        r"\displaystyle xy": "x*y",
        "  xy ; ": "x*y",
    },
    "vectors": {
        r"x^\top y": "dot(x, y)",
        "x^T y": "dot(x, y)",
        "x^{T}y": "dot(x, y)",
        "x'y": "dot(x, y)",
        "x' * y": "dot(x, y)",
        "x^T x'": "dot(x, y)",
        "x · y": "dot(x, y)",
        "x @ y": "dot(x, y)",
        "⟨x, y⟩": "dot(x, y)",
        "⟨x, y⟩_H": "dot(x, y)",
        r"\langle x, x' \rangle_{\mathcal{H}}": "dot(x, y)",
        r"\langle x, y\rangle_{\mathbb{R}^d}^2": "dot(x, y)**2",
        r"(\mathbf{x}^\top\mathbf{z} + 1)^2": "(dot(x, y) + 1)**2",
        r"\vec x \cdot \vec y": "dot(x, y)",
        "‖x−y‖²": "norm(x - y, 2)**2",
        r"\|x-y\|_2^2": "norm(x - y, 2)**2",
        r"\|x-y\|^2_2": "norm(x - y, 2)**2",
        r"\lVert x-y\rVert_1": "norm(x - y, 1)",
        "‖x−y‖_∞": "norm(x - y, inf)",
        "||x-y||^2": "norm(x - y, 2)**2",
        "|x-y|": "norm(x - y, 2)",
        r"\frac{x^\top y}{\|x\|\,\|y\|}": "dot(x, y)/(norm(x, 2)*norm(y, 2))",
        "(x-y)'(x-y)": "dot(x - y, x - y)",
    },
    "sets": {
        "|A ∩ B|": "len(x & y)",
        r"\frac{|A \cap B|}{|A \cup B|}": "len(x & y)/len(x | y)",
        r"|A \triangle B|": "len(x ^ y)",
        "2^{|A∩B|}": "2**len(x & y)",
        "len(x & y)": "len(x & y)",
    },
    "circle": {
        r"\cos(\theta - \phi)": "cos(x - y)",
        "cos(θ-θ')": "cos(x - y)",
        r"\cos(\alpha - \beta)": "cos(x - y)",
    },
    "naturals": {
        r"\gcd(m,n)/mn": "gcd(x, y)/(x*y)",
        r"\text{GCD}(x, x')": "gcd(x, y)",
        "lcm(a, b)": "lcm(x, y)",
    },
}
CASES = [(text, meant, domain) for domain, rows in READ.items() for text, meant in rows.items()]


@pytest.mark.parametrize(("text", "meant", "domain"), CASES)
def test_a_formula_is_read_as_it_is_meant(text, meant, domain):
    assert str(read(text, domain).tree) == str(read(meant, domain).tree)


@pytest.mark.parametrize("meant", ["x*y/2", "-x*y", "(x + 1)*y", "x**(2 + 1)", "x*y", "1"])
def test_what_is_read_is_told_in_the_same_words(meant):
    assert str(read(meant).tree) == meant


GIVEN = [
    (r"\sigma^2 xy, \sigma > 0", "sigma**2*x*y"),
    ("σ² exp(-|x-y|²/(2ℓ²)), σ > 0, ℓ > 0", "sigma**2*exp(-abs(x - y)**2/(2*ell**2))"),
    (r"\sigma_f^2 xy, \sigma_f > 0", "sigma_f**2*x*y"),
    ("axy + b, a, b > 0", "a*x*y + b"),
    (r"\exp(-|x-y|^q), q \in (0, 2]", "exp(-abs(x - y)**q)"),
    ("λxy where λ ≥ 0", "lambda_*x*y"),
    ("k(s, t) = e^{-a|s-t|}, a > 0", "e**(-a*abs(x - y))"),
    ("k(n, m) = axy + nm, a > 0", None),
]


@pytest.mark.parametrize(("text", "meant"), GIVEN)
def test_parameters_stand_among_points(text, meant):
    if meant is None:  # x and y are no points where others are named
        with pytest.raises(InvalidFormula):
            read(text)
    else:
        assert str(read(text).tree) == meant


# -------------------------------------------------------- what may be understood in two ways

AMBIGUOUS = [
    ("2^xy", "2**(x*y) or 2**x*y"),
    ("x/2 y", "a/(b*c) or (a/b)*c"),
    ("x/2(x+y)", "a/(b*c) or (a/b)*c"),
    ("cos 2(x-y)", "cos(2*(x-y)) or cos(2)*(x-y)"),
    ("cos 2|x-y|", "cos(2*(x-y)) or cos(2)*(x-y)"),
    ("cos x(y+1)", "cos(2*(x-y)) or cos(2)*(x-y)"),
    ("cos^{-1}(x)", "acos(x) or 1/cos(x)"),
    ("√xy", "√(xy) or √x*y"),
    ("√2xy", "√(xy) or √x*y"),
    ("x²^3", "(x**2)**3 or x**(2**3)"),
    ("cos^2(x)^3", "(x**2)**3 or x**(2**3)"),
    ("2x ∧ y", "2*(x ∧ y) or (2*x) ∧ y"),
    ("2*x ∧ y", "2*(x ∧ y) or (2*x) ∧ y"),
    ("x ∧ y/2", "2*(x ∧ y) or (2*x) ∧ y"),
    ("x ∧ 2y", "2*(x ∧ y) or (2*x) ∧ y"),
    ("x ∧ y ∨ 3", "2*(x ∧ y) or (2*x) ∧ y"),
    ("1e3x", "1e3 * ..."),
    ("x2y y", None),
    ("x 2", "2*x or x**2"),
]


@pytest.mark.parametrize(("text", "ways"), AMBIGUOUS)
def test_what_may_be_meant_in_two_ways_is_refused_with_both(text, ways):
    with pytest.raises(InvalidFormula) as error:
        read(text)
    assert ways is None or ways in str(error.value)


# ----------------------------------------------------------------------------- what is wrong

WRONG = [
    ("", "reals", "the formula is empty", None),
    ("x +", "reals", "ends too early", 3),
    ("* x", "reals", "nothing to act on", 1),
    ("(x", "reals", "( is never closed", 1),
    ("x)", "reals", ") closes what was never opened", 2),
    ("|x", "reals", "| is never closed", 1),
    ("()", "reals", "nothing stands before )", 2),
    (r"\sqrt{}", "reals", "nothing stands before }", 7),
    ("(x+)", "reals", "nothing stands before )", 4),
    (r"\frac{x}", "reals", "something is missing", 1),
    (r"\frac", "reals", "something is missing", 1),
    ("⟨x⟩", "vectors", "an inner product is of two", 1),
    ("<x, y>", "vectors", "this bracket is not read", 1),
    ("exp(<x,y>)", "vectors", "this bracket is not read", 5),
    ("x[0]*y[0]", "vectors", "an index means nothing", 2),
    ("x(0)y(0)", "reals", "an index means nothing", 2),
    ("x_1", "reals", "nothing is known of 'x_1'", 1),
    ("(x+1)_1", "reals", "an index means nothing", 6),
    ("x''", "reals", "two primes", 2),
    ("f(x)f(y)", "reals", "there is no function 'f'", 1),
    ("exp", "reals", "exp is a function", 1),
    ("exp()", "reals", "exp takes 1 argument, not 0", 1),
    ("min(x)", "reals", "min takes 2 to 64 arguments", 1),
    (r"\log_2(x)", "positive", "log takes no index", 1),
    ("x.T y", "vectors", "nothing here has attributes", 2),
    ("x.__class__", "reals", "nothing here has attributes", 2),
    ("np.exp(x)", "reals", "nothing here has attributes", 3),
    ("__import__('os')", "reals", "import", None),
    ("lambda x: x", "reals", "the sign :", 9),
    ("x = y", "reals", "an equation is no formula", 3),
    ("k(x) = x", "reals", "an equation is no formula", 6),
    ("k(x,x) = x^2", "reals", "both points are called x", 3),
    ("x < y", "reals", "comparisons mean nothing", None),
    ("(x, y)", "reals", "several numbers side by side", 1),
    (r"x \foo y", "reals", r"the command \foo", 3),
    ("x!y!", "naturals", "the sign !", 2),
    ("x # y", "reals", "no comments", 3),
    ("x\0y", "reals", "NUL", 2),
    ("x\u0301", "reals", "means nothing here", 2),
    ("zzz", "reals", "nothing is known of 'zzz'", 1),
    ("lambda", "reals", "nothing is known of 'lambda'", 1),
    ("1_000", "reals", "index", 2),
    ("x & y", "sets", "the formula is a set", None),
    ("x", "vectors", "the formula is a vector", None),
    ("x**2", "vectors", "a vector has no power", None),
    ("|x|y|", "sets", "ends too early", None),
]


@pytest.mark.parametrize(("text", "domain", "words", "column"), WRONG)
def test_what_is_no_formula_is_refused_and_the_error_points_at_it(text, domain, words, column):
    with pytest.raises(InvalidFormula) as error:
        read(text, domain)
    told = str(error.value)
    assert words in told
    if column is not None:
        assert f"at column {column}:" in told
        shown, arrow = told.splitlines()[1:3]
        assert arrow.index("^") - 2 == column - 1
        assert len(shown) >= column


@pytest.mark.parametrize("text", ["x A y", "x @ A @ y", r"x \cdot A y"])
def test_a_product_with_a_matrix_says_how_it_is_written(text):
    with pytest.raises(InvalidFormula, match=re.escape("dot(x, A, y)")):
        read(text, "vectors", "A psd")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "x" + ")" * 10_000,
        "(" * 1_900 + "x" + ")" * 1_900,
        "x" + "^x" * 1_900,
        "-" * 3_900 + "x",
        "|" * 3_900 + "x",
        "√" * 3_900 + "x",
        "cos " * 900 + "x",
        r"\frac" * 790 + "12",
        "x∧" * 1_900 + "y",
        "x'" * 1_900,
        "x" + "'" * 3_900,
        "x_" * 1_900,
        "{" * 3_999,
        "⟨" * 3_999,
        "⟨x," * 1_300,
        "1" * 5_000,
        "9" * 3_999 + "x",
        "0." + "1" * 3_900 + "*x*y",
        "1e999999999*x*y",
        "x+" * 1_900 + "y",
        "f(" * 1_900,
        "k(" * 5 + "=" * 3_000,
        "x" * 3_999,
        "$" * 5_000,
        "\\" * 3_999,
        "٣" * 100,
        "x\ud800y",
    ],
    ids=lambda text: text[:12].encode("ascii", "backslashreplace").decode(),
)
def test_long_and_deep_formulas_are_refused_or_read_at_once(text):
    with pytest.raises(InvalidFormula) as error:
        read(text)
    assert len(str(error.value)) < 1_000


SIGNS = [
    *"xyzk0129.+-*/^(){}[]|_,<>='&;:\\ ∧∨√‖⟨⟩½²₁σ∞ᵀ∩",
    r"\frac", r"\sqrt", r"\min", "cos ", "exp", "**", "||", r"\left", "x'", " where ",
    "s>0", "e",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(SIGNS), max_size=14).map("".join))
def test_any_signs_are_read_or_refused_and_nothing_else_happens(text):
    for domain in ("reals", "vectors", "sets"):
        try:
            formula = read(text, domain)
        except InvalidFormula:
            continue
        # What is read is told in words that mean the same.
        again = read(str(formula.tree), domain, str(formula.given))
        with suppress(TooLarge):
            algebra = Algebra.of(formula)
            assert algebra.normal(again.tree) == algebra.normal(formula.tree)


NUMBERS = st.integers(0, 9).map(str)


def expressions(leaf):
    def wider(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: f"({p[0]} + {p[1]})"),
            pair.map(lambda p: f"({p[0]} - {p[1]})"),
            pair.map(lambda p: f"({p[0]})*({p[1]})"),
            pair.map(lambda p: f"min({p[0]}, {p[1]})"),
            inner.map(lambda p: f"abs({p})"),
            inner.map(lambda p: f"({p})**2"),
            inner.map(lambda p: f"-({p})"),
        )

    return st.recursive(leaf, wider, max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(expressions(st.one_of(NUMBERS, st.sampled_from("xy"))))
def test_pythons_own_notation_keeps_its_value(text):
    """The words that `plain` writes have the value that Python gives to the formula."""
    names = {"min": min, "abs": abs, "x": 3, "y": -2}
    written = plain(text).text
    assert eval(written, {}, names) == eval(text, {}, names)
    tree = str(read(text).tree)
    assert eval(tree, {}, names) == eval(text, {}, names)


@pytest.mark.parametrize("seed", range(3))
def test_spaces_between_signs_of_a_formula_mean_nothing(seed):
    rng = np.random.default_rng(seed)
    signs = ["(", "x", "-", "y", ")", "**", "2", "*", "exp", "(", "-", "|", "x", "|", ")"]
    text = "".join(sign + " " * int(rng.integers(0, 3)) for sign in signs)
    assert str(read(text).tree) == "(x - y)**2*exp(-abs(x))"
