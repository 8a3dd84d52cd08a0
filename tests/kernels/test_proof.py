"""Proofs check, mistakes in them are found, and what they say is true of the numbers.

Every function is written once more here, in plain numbers, and the facts are tested on it.
"""

import json
import math
import pickle
import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import gamma, kv

from mercer.errors import InvalidInput, InvalidParameter, InvalidProof, NoTextForm
from mercer.kernels.proof import FACTS, RULES, Proof, Term
from mercer.kernels.terms import ARITY, FIELDS, escape, number
from mercer.proofs import FormulaKernel, FormulaProof


def double(x):
    return 2 * x


def one(x, y):
    return 1.0


A = ((2.0, 0.5), (0.5, 1.0))
FLAT = ((1.0, 1.0), (1.0, 1.0))
k = Term.of("gaussian", scale=0.75)
EXAMPLES = [
    *(Term.of("linear", metric=metric) for metric in (None, A, FLAT)),
    *(
        Term.of("polynomial", degree=d, offset=c, scale=1.75)
        for d in (2, 3)
        for c in (0.0, 0.25)
    ),
    *(Term.of("gaussian", scale=s) for s in (0.75, (0.75, 1.25))),
    *(Term.of("gaussian", scale=s, metric=A) for s in (0.75, (0.75, 1.25))),
    *(Term.of("gaussian", metric=m) for m in (FLAT, ((0.0, 0.0), (0.0, 0.0)))),
    *(Term.of("laplacian", scale=s) for s in (0.75, (0.75, 1.25))),
    *(Term.of("exponential", scale=0.75, metric=m) for m in (None, A)),
    *(Term.of("matern", nu=nu, scale=0.75) for nu in (0.5, 0.75, 1.5, 2.5)),
    Term.of("matern", nu=1.25, scale=(0.75, 1.25), metric=A),
    Term.of("rational_quadratic", scale=0.75, alpha=0.375),
    *(Term.of("periodic", period=1.5, scale=s) for s in (0.75, (0.75, 1.25))),
    *(
        Term.of("generalized_gaussian", scale=0.75, p=p, power=q)
        for p, q in [(1.5, 0.5), (2, 2)]
    ),
    *(Term.of("wendland", smoothness=n, scale=2.5, dimension=2) for n in range(4)),
    *(Term.of("chi2", scale=s) for s in (0.75, (0.75, 1.25))),
    *map(
        Term,
        (
            "cosine",
            "additive_chi2",
            "intersection",
            "tanimoto",
            "white",
            "delta",
            "bias",
            "missing",
        ),
    ),
    *map(Term, ("min", "min_over_max", "gcd", "gcd_over_lcm", "geometric")),
    *(Term.of("product_power", base=b) for b in (1, 3.5)),
    *(Term.of("sum_power", base=b) for b in (0.5, 3.5)),
    Term.of("cosine_difference", frequency=0.75),
    *(Term.of("set_power", base=b) for b in (1, 3.5)),
    Term("set_intersection"),
    Term("jaccard"),
    Term.of("feature_kernel", function=double),
    Term.of("from_function", function=one),
    Term.of("sum", k, Term("linear")),
    Term.of("product", k, Term.of("periodic", period=1.5)),
    *(Term.of("scaled", k, weight=w) for w in (0, 1, 0.25)),
    *(Term.of("power", k, exponent=e) for e in (1, 3, 2.0, 0.375)),
    *(Term.of("exp", Term("linear")) for _ in (1,)),
    *(
        Term.of("series", k, coefficients=c)
        for c in [(0.25,), (0, 0.25), (1.5, 0.0, 2.5), (0,)]
    ),
    *(Term.of("normalized", child) for child in (k, Term("linear"))),
    Term.of("weighted", k, function=abs),
    Term.of("map", k, function=double),
    Term.of("on", k, columns=(1,)),
    Term.of("on", k, columns=("age_1", "income")),
    *(Term.of("filled", k, fill=f) for f in (-0.5, (0.25, 1.5))),
    *(Term.of("schoenberg", child, rate=0.375) for child in (k, Term("linear"), Term("min"))),
    *(
        Term.of("formula", text=text, domain=domain, given=given, values=values)
        for text, domain, given, values in [
            ("exp(-s*abs(x - y))", "reals", "s > 0", (("s", 2.75),)),
            ("min(x, y)/max(x, y)", "positive", "", ()),
            ("gcd(x, y)", "naturals", "", ()),
            ("exp(b*len(x & y))", "sets", "b >= 0", (("b", 3.75),)),
            ("c + dot(x, A, y)**2", "vectors", "c >= 0, A psd", (("c", 0.75), ("A", A))),
        ]
    ),
]


def prove(term):
    if term.head == "formula":
        return prove_formula(*dict(term.parameters).values())
    return Proof.of(term, *map(prove, term.children))


@lru_cache
def prove_formula(*claim):
    return FormulaKernel(*claim).proof()


def gap(p, x, y):
    """The difference in units of the scale, and its length in the metric."""
    u = np.subtract(x, y) / np.asarray(p["scale"])
    metric = p.get("metric")
    return u, math.sqrt(max(u @ u if metric is None else u @ np.array(metric) @ u, 0))


def polynomial(p, x, y):
    return (x @ y / p["scale"] ** 2 + p["offset"]) ** p["degree"]


def matern(p, x, y):
    nu, u = p["nu"], math.sqrt(2 * p["nu"]) * gap(p, x, y)[1]
    return 2 ** (1 - nu) / gamma(nu) * u**nu * kv(nu, u) if u else 1.0


def periodic(p, x, y):
    wave = np.sin(np.pi * (x - y) / p["period"]) / np.asarray(p["scale"])
    return math.exp(-2 * (wave**2).sum())


def generalized_gaussian(p, x, y):
    return math.exp(-((np.abs(gap(p, x, y)[0]) ** p["p"]).sum() ** (p["power"] / p["p"])))


def wendland(p, x, y):
    s, r = p["smoothness"], min(gap(p, x, y)[1], 1.0)
    n = p["dimension"] // 2 + s + 1
    tails = [[1], [1, n + 1], [1, n + 2, (n**2 + 4 * n + 3) / 3]]
    tails += [[1, n + 3, (6 * n**2 + 36 * n + 45) / 15, (n**3 + 9 * n**2 + 23 * n + 15) / 15]]
    return (1 - r) ** (n + s) * np.polynomial.Polynomial(tails[s])(r)


def chi2(p, x, y):
    above, below = (x - y) ** 2, np.where(x + y == 0, 1, x + y)
    return math.exp(-(above / below / 2 / np.asarray(p["scale"]) ** 2).sum())


def tanimoto(p, x, y):
    below = x @ x + y @ y - x @ y
    return x @ y / below if below else 1.0


def ratio(above, square):
    return above / math.sqrt(square) if square else 0.0


def formula(p, x, y):
    """Python's own reading of the text."""
    names = {"abs": abs, "exp": math.exp, "gcd": math.gcd, "len": len, "max": max, "min": min}
    names["dot"] = lambda x, A, y: x @ np.array(A) @ y
    return eval(p["text"], {"x": x, "y": y}, names | dict(p["values"]))


def on(p, x, y, k):
    keep = [c if isinstance(c, int) else 0 for c in p["columns"]]
    return k(x[keep], y[keep])


VALUES = {
    "linear": lambda p, x, y: x @ (np.eye(2) if p["metric"] is None else p["metric"]) @ y,
    "polynomial": polynomial,
    "gaussian": lambda p, x, y: math.exp(-(gap(p, x, y)[1] ** 2) / 2),
    "laplacian": lambda p, x, y: math.exp(-np.abs(gap(p, x, y)[0]).sum()),
    "exponential": lambda p, x, y: math.exp(-gap(p, x, y)[1]),
    "matern": matern,
    "rational_quadratic": lambda p, x, y: (
        (1 + gap(p, x, y)[1] ** 2 / 2 / p["alpha"]) ** -p["alpha"]
    ),
    "periodic": periodic,
    "cosine": lambda _, x, y: ratio(x @ y, (x @ x) * (y @ y)),
    "generalized_gaussian": generalized_gaussian,
    "wendland": wendland,
    "chi2": chi2,
    "additive_chi2": lambda _, x, y: (2 * x * y / np.where(x + y == 0, 1, x + y)).sum(),
    "intersection": lambda _, x, y: np.minimum(x, y).sum(),
    "tanimoto": tanimoto,
    "white": lambda _, x, y: float(np.array_equal(x, y)),
    "delta": lambda _, x, y: float(np.array_equal(x, y)),
    "bias": lambda *_: 1.0,
    "missing": lambda _, x, y: float(np.isnan(x).any() == np.isnan(y).any()),
    "min": lambda _, x, y: min(x, y),
    "min_over_max": lambda _, x, y: min(x, y) / max(x, y),
    "gcd": lambda _, x, y: math.gcd(x, y),
    "gcd_over_lcm": lambda _, x, y: math.gcd(x, y) / math.lcm(x, y),
    "geometric": lambda _, x, y: 1 / (1 - x * y),
    "product_power": lambda p, x, y: p["base"] ** (x * y),
    "sum_power": lambda p, x, y: p["base"] ** (x + y),
    "cosine_difference": lambda p, x, y: math.cos(p["frequency"] * (x - y)),
    "set_intersection": lambda _, x, y: len(x & y),
    "set_power": lambda p, x, y: p["base"] ** len(x & y),
    "jaccard": lambda _, x, y: len(x & y) / len(x | y) if x | y else 1.0,
    "sum": lambda _, x, y, k, m: k(x, y) + m(x, y),
    "product": lambda _, x, y, k, m: k(x, y) * m(x, y),
    "scaled": lambda p, x, y, k: p["weight"] * k(x, y),
    "power": lambda p, x, y, k: k(x, y) ** p["exponent"],
    "exp": lambda _, x, y, k: math.exp(k(x, y)),
    "series": lambda p, x, y, k: sum(c * k(x, y) ** n for n, c in enumerate(p["coefficients"])),
    "normalized": lambda _, x, y, k: ratio(k(x, y), k(x, x) * k(y, y)),
    "weighted": lambda p, x, y, k: p["function"](x).sum() * k(x, y) * p["function"](y).sum(),
    "map": lambda p, x, y, k: k(p["function"](x), p["function"](y)),
    "on": on,
    "filled": lambda p, x, y, k: k(*(np.where(np.isnan(z), p["fill"], z) for z in (x, y))),
    "schoenberg": lambda p, x, y, k: math.exp(-p["rate"] * (k(x, x) + k(y, y) - 2 * k(x, y))),
    "formula": formula,
    "feature_kernel": lambda p, x, y: p["function"](x) @ p["function"](y),
    "from_function": lambda p, x, y: p["function"](x, y),
}


def value(term, x, y):
    """The function of a term, in plain numbers: sets as sets, vectors as arrays."""
    parts = (partial(value, child) for child in term.children)
    return VALUES[term.head](dict(term.parameters), x, y, *parts)


SQUARE = [
    np.array([a, b], dtype=float) for a, b in [(0, 0), (1, 0), (0.5, 2), (2, 1), (1.5, 3)]
]
SIGNED = [*SQUARE, np.array([-1.0, 0.0]), np.array([-0.5, -2.0])]
LINE = [-1.0, 0.0, 0.7, 1.5]
WHOLE = [1, 2, 3, 4, 6, 12]
SETS = [set(), {1}, {2}, {1, 2}, {1, 2, 3}, {2, 3}]
POINTS = {
    "min": [0.0, 0.5, 1.0, 2.5],
    "min_over_max": [0.25, 0.5, 1.0, 2.5],
    "gcd": WHOLE,
    "gcd_over_lcm": WHOLE,
    "geometric": [-0.9, -0.3, 0.4, 0.9],
    "product_power": LINE,
    "sum_power": LINE,
    "cosine_difference": LINE,
    "set_intersection": SETS,
    "set_power": SETS,
    "jaccard": SETS,
    "linear": SIGNED,
    "polynomial": SIGNED,
    "tanimoto": SIGNED,
    "cosine": SIGNED,
    "gaussian": SIGNED,
}
DOMAINS = {
    "reals": LINE,
    "positive": [0.25, 0.5, 1.0, 2.5],
    "naturals": WHOLE,
    "sets": SETS,
    "vectors": SIGNED,
}


def domain(term):
    """Points that the function takes: those of its first leaf."""
    leaf = term
    while leaf.children:
        leaf = leaf.children[0]
    return DOMAINS[leaf["domain"]] if leaf.head == "formula" else POINTS.get(leaf.head, SQUARE)


def gram(term, points):
    return np.array([[value(term, x, y) for y in points] for x in points], dtype=float)


def slack(K):
    """What n double sums of products may lose: n eps times the trace, a few times over."""
    return 100 * len(K) * np.finfo(float).eps * max(1.0, np.abs(K).max())


every_example = pytest.mark.parametrize("term", EXAMPLES, ids=str)

# ------------------------------------------------------------------------------ every head


def test_every_head_has_a_rule_and_an_example():
    cases = [head for rule in RULES.values() for head in rule.cases]
    # A power alone has two: whole powers, and all powers of what is infinitely divisible. A
    # formula has a table of its own.
    assert sorted([*cases, "formula"]) == sorted([*FIELDS, "power"])
    assert all(rule.cases.keys() == {"formula"} for rule in FormulaProof.table.values())
    assert {term.head for term in EXAMPLES} == FIELDS.keys() - {"squared_distance"}
    assert all(name == rule.name and rule.theorem for name, rule in RULES.items())
    assert ARITY.keys() <= FIELDS.keys()


@every_example
def test_its_proof_checks(term):
    proof = prove(term)
    proof.check()
    assert all(condition.holds for step in proof.walk() for condition in step.conditions)
    assert proof.facts <= FACTS.keys()


def parameters(term):
    """Numbers inside a term, this one and below."""

    def flat(value):
        return (
            [n for part in value for n in flat(part)] if isinstance(value, tuple) else [value]
        )

    mine = [n for _, value in term.parameters for n in flat(value)]
    return [n for n in mine if isinstance(n, int | float)] + [
        n for child in term.children for n in parameters(child)
    ]


@every_example
def test_text_and_formula_hold_the_actual_parameters(term):
    defaults = {float(d) for _, d in FIELDS[term.head] if isinstance(d, int | float)}
    printed, formula = str(prove(term)), term.latex()
    for n in parameters(term):
        assert repr(n) in printed or n in defaults
        hidden = term.head in {"wendland", "series", "on"} or n in {0, 0.5, 1, 1.5, 2.5}
        assert hidden or number(n) in formula
    assert formula != ""


def balanced(latex):
    bare = latex.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in bare])
    opened, closed = (re.findall(rf"\\{word}{{(\w+\*?)}}", latex) for word in ("begin", "end"))
    return (
        depth.min(initial=0) == 0
        and (depth[-1:] == 0).all()
        and latex.count(r"\left") == latex.count(r"\right")
        and sorted(opened) == sorted(closed)
        and latex.replace(r"\$", "").count("$") % 2 == 0
        and "@" not in latex
    )


@every_example
def test_latex_is_balanced(term):
    assert balanced(term.latex())
    assert balanced(prove(term).latex())


def test_a_deep_proof_nests_no_more_lists_than_latex_allows():
    term = k
    for _ in range(9):
        term = Term.of("sum", term, k)
    latex = prove(term).latex()
    depth = np.cumsum(
        [1 if word == "begin" else -1 for word in re.findall(r"(begin|end){i", latex)]
    )
    assert depth.max() == 4
    assert depth[-1] == 0
    assert latex.count(r"\item") == 19


def test_formulas_that_a_book_would_print():
    matern = Term.of("matern", nu=1.5, scale=0.5)
    assert k.latex() == r"\exp\left(-\frac{\left\| x - y \right\|^2}{2 \cdot 0.75^2}\right)"
    root = r"\sqrt{3}\, \frac{\left\| x - y \right\|}{0.5}"
    assert matern.latex() == rf"\left(1 + {root}\right) \exp\left(-{root}\right)"
    assert Term.of("scaled", Term("additive_chi2"), weight=3.0).latex() == (
        r"3 \cdot \left(\sum_i \frac{2 x_i y_i}{x_i + y_i}\right)"
    )
    assert Term.of("on", Term("linear"), columns=("a_b",)).latex() == (
        r"{x}_{\text{a\_b}}^\top {y}_{\text{a\_b}}"
    )
    assert Term.of("map", Term("linear"), function=double).latex() == (
        r"\operatorname{double}\left(x\right)^\top \operatorname{double}\left(y\right)"
    )
    tiny = Term.of("gaussian", scale=1e-7).latex()
    assert r"\left(10^{-7}\right)^2" in tiny
    assert escape("50%_{x}") == r"50\%\_\{x\}"


# ------------------------------------------------------------------------- facts are facts


@every_example
def test_the_gram_matrix_is_positive_semidefinite(term):
    K = gram(term, domain(term))
    assert np.abs(K - K.T).max() <= slack(K)
    assert np.linalg.eigvalsh(K)[0] >= -slack(K)


def check_facts(facts, term, points):
    """All but those that are about rank, which rounding may hide."""
    K = gram(term, points)
    if "unit" in facts:
        assert np.abs(np.diag(K) - 1).max() <= slack(K)
    if "positive diagonal" in facts:
        assert (np.diag(K) > 0).all()
    if "nonnegative" in facts:
        assert (K >= 0).all()
    if "infinitely divisible" in facts:
        for exponent in (0.1, 0.5, 1.7):
            root = K**exponent
            assert np.linalg.eigvalsh(root)[0] >= -slack(root)
    if "stationary" in facts:
        moved = [point + 0.375 for point in points]
        assert np.allclose(gram(term, moved), K, rtol=1e-11, atol=1e-13)
    if "isotropic" in facts:
        turn = np.array([[0.6, -0.8], [0.8, 0.6]])
        turned = [turn @ point for point in points]
        assert np.allclose(gram(term, turned), K, rtol=1e-11, atol=1e-13)


@every_example
def test_facts_hold_on_points(term):
    points, facts = domain(term), prove(term).facts
    check_facts(facts, term, points)
    K = gram(term, points)
    squared = np.add.outer(np.diag(K), np.diag(K)) - 2 * K
    if "strict" in facts:
        assert np.linalg.eigvalsh(K)[0] > slack(K)
    if "separating" in facts:
        assert (squared[~np.eye(len(K), dtype=bool)] > slack(K)).all()


# Functions of vectors >= 0, small enough that their combinations stay far from overflow.
small = st.sampled_from(
    [
        t
        for t in EXAMPLES
        if not t.children
        and not t.has_code
        and t.head not in {*POINTS, "formula"} - {"gaussian"}
    ]
)
weights = st.just(0.0) | st.floats(0.1, 2.0)
combinations = st.recursive(
    small,
    lambda t: (
        st.builds(lambda a, b: Term.of("sum", a, b), t, t)
        | st.builds(lambda a, b: Term.of("product", a, b), t, t)
        | st.builds(lambda a, w: Term.of("scaled", a, weight=w), t, weights)
        | st.builds(
            lambda a, n: Term.of("power", a, exponent=n), t, st.sampled_from([1, 2, 0.5])
        )
        | st.builds(lambda a: Term.of("exp", a), t)
        | st.builds(lambda a: Term.of("normalized", a), t)
        | st.builds(lambda a, c: Term.of("series", a, coefficients=(c, 0, 1)), t, st.just(0.5))
        | st.builds(lambda a: Term.of("on", a, columns=(1, 0)), t)
        | st.builds(lambda a, r: Term.of("schoenberg", a, rate=r), t, st.floats(0.1, 2.0))
    ),
    max_leaves=3,
)


@given(combinations)
def test_facts_of_combinations_hold_on_points(term):
    proof = prove(term)
    assume(sound(proof))  # a broken power may have been drawn
    with suppress(OverflowError):
        assume(max(np.abs(gram(step.claim, SQUARE)).max() for step in proof.walk()) < 1e3)
        check_facts(proof.facts, term, SQUARE)


@pytest.mark.parametrize(
    ("term", "strict"),
    [
        (k, True),
        (Term("linear"), False),
        (Term.of("gaussian", metric=FLAT), False),
        (Term.of("gaussian", metric=A), True),
        (Term("min"), False),
        (Term("min_over_max"), True),
        (Term("periodic"), False),
        (Term.of("scaled", k, weight=0), False),
        (Term.of("sum", Term("linear"), k), True),
        (Term.of("product", k, Term("periodic")), True),
        (Term.of("product", k, Term("linear")), False),
        (Term.of("on", k, columns=("age",)), False),
        (Term.of("map", k, function=double), False),
        (Term.of("exp", Term("linear")), True),
        (Term.of("exp", Term("periodic")), False),
        (Term.of("series", k, coefficients=(1.0,)), False),
        (Term.of("series", k, coefficients=(0, 0, 0.5)), True),
        (Term.of("normalized", k), True),
        (Term.of("power", k, exponent=0.25), True),
        (Term.of("schoenberg", Term("linear"), rate=1.0), True),
        (Term.of("set_power", base=1.0), False),
    ],
    ids=str,
)
def test_strictness(term, strict):
    assert ("strict" in prove(term).facts) is strict


def test_other_facts_that_are_lost_or_kept():
    facts = {
        word: prove(term).facts
        for word, term in {
            "features": Term.of("gaussian", scale=(1.0, 2.0)),
            "metric": Term.of("gaussian", metric=A),
            "laplacian": Term("laplacian"),
            "l1": Term.of("generalized_gaussian", p=1.0, power=1.0),
            "cosine": Term("cosine"),
            "sum": Term.of("sum", k, k),
            "cut": Term.of("on", k, columns=("age",)),
            "linear": Term.of("normalized", Term("linear")),
            "square": Term.of("power", Term("linear"), exponent=2),
            "root": Term.of("power", k, exponent=0.5),
        }.items()
    }
    assert {"stationary", "isotropic", "unit", "bounded", "smooth"} <= prove(k).facts
    assert all(
        "isotropic" not in facts[w] for w in ("features", "metric", "laplacian", "l1", "cut")
    )
    assert all("unit" not in facts[w] for w in ("cosine", "sum", "linear"))
    assert "nonnegative" in facts["square"]
    assert "smooth" not in facts["root"]


def test_an_assumption_stays_visible():
    f = Term.of("from_function", function=one)
    for term in (
        f,
        Term.of("sum", k, f),
        Term.of("exp", f),
        Term.of("schoenberg", f, rate=1.0),
    ):
        assert prove(term).is_assumed
        assert "assumed" in prove(term).facts
    assert not prove(Term.of("sum", k, k)).is_assumed
    assert "is assumed positive definite" in str(prove(f))


# --------------------------------------------------------------------------- text and data

leaves = st.sampled_from([t for t in EXAMPLES if not t.children and not t.has_code])
positive = st.floats(1e-3, 1e3)
terms = st.recursive(
    leaves,
    lambda t: (
        st.builds(lambda a, b: Term.of("sum", a, b), t, t)
        | st.builds(lambda a, b: Term.of("product", a, b), t, t)
        | st.builds(lambda a, w: Term.of("scaled", a, weight=w), t, positive)
        | st.builds(lambda a, n: Term.of("power", a, exponent=n), t, st.integers(1, 4))
        | st.builds(lambda a: Term.of("exp", a), t)
        | st.builds(lambda a: Term.of("normalized", a), t)
        | st.builds(lambda a, c: Term.of("series", a, coefficients=(c, 0, 1)), t, positive)
        | st.builds(lambda a: Term.of("on", a, columns=("it's", 3)), t)
        | st.builds(lambda a, r: Term.of("schoenberg", a, rate=r), t, positive)
    ),
    max_leaves=6,
)


class Reader:
    """Python's own grammar reads the text back: what binds how is not for us to say twice."""

    def __init__(self, term):
        self.term = term

    def __add__(self, other):
        return Reader(Term.of("sum", self.term, other.term))

    def __mul__(self, other):
        return Reader(Term.of("product", self.term, other.term))

    def __rmul__(self, weight):
        return Reader(Term.of("scaled", self.term, weight=weight))

    def __pow__(self, exponent):
        return Reader(Term.of("power", self.term, exponent=exponent))

    def on(self, *columns):
        return Reader(Term.of("on", self.term, columns=columns))

    def __call__(self, *values, **named):
        children = [v.term for v in values if isinstance(v, Reader)]
        rest = [v for v in values if not isinstance(v, Reader)]
        pairs = zip([name for name, _ in FIELDS[self.term.head]], rest, strict=False)
        return Reader(Term.of(self.term.head, *children, **dict(pairs), **named))


WORDS = {head: Reader(Term(head)) for head in FIELDS}


@given(terms)
def test_text_reads_back_as_the_same_tree(term):
    assert eval(str(term), {}, WORDS).term == term


@given(terms)
def test_no_pair_of_brackets_could_be_spared(term):
    printed = str(term)
    opened = []
    for place, sign in enumerate(printed):
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            first = opened.pop()
            call = first and (printed[first - 1].isalnum() or printed[first - 1] == "_")
            if call or "," in printed[first:place]:
                continue  # a call or a tuple
            spared = printed[:first] + printed[first + 1 : place] + printed[place + 1 :]
            with suppress(AttributeError, TypeError, SyntaxError):
                assert eval(spared, {}, WORDS).term != term


@pytest.mark.parametrize(
    ("term", "printed"),
    [
        (Term.of("gaussian", scale=0.5), "gaussian(0.5)"),
        (Term("gaussian"), "gaussian"),
        (Term("linear"), "linear"),
        (Term.of("linear", metric=A), "linear(metric=((2.0, 0.5), (0.5, 1.0)))"),
        (Term.of("rational_quadratic", alpha=3), "rational_quadratic(1.0, 3)"),
        (Term.of("gaussian", scale=(0.1,)), "gaussian((0.1,))"),
        (Term.of("gaussian", scale=0.1 + 0.2), "gaussian(0.30000000000000004)"),
        (
            Term.of("sum", k, Term.of("sum", k, k)),
            "gaussian(0.75) + (gaussian(0.75) + gaussian(0.75))",
        ),
        (
            Term.of("scaled", Term.of("product", k, k), weight=2.0),
            "2.0 * (gaussian(0.75) * gaussian(0.75))",
        ),
        (
            Term.of("product", Term.of("scaled", k, weight=2.0), k),
            "2.0 * gaussian(0.75) * gaussian(0.75)",
        ),
        (
            Term.of("power", Term.of("power", Term("min"), exponent=2), exponent=3),
            "(min ** 2) ** 3",
        ),
        (Term.of("series", Term("min"), coefficients=[1.0, 0.5]), "series(min, (1.0, 0.5))"),
        (Term.of("schoenberg", Term("min"), rate=0.5), "schoenberg(min, 0.5)"),
        (Term.of("on", k, columns=("age", "income")), "gaussian(0.75).on('age', 'income')"),
        (Term.of("map", k, function=double), "map(gaussian(0.75), <double>)"),
        (Term.of("feature_kernel", function=lambda x: x), "feature_kernel(<lambda>)"),
    ],
)
def test_texts(term, printed):
    assert str(term) == printed


def test_a_term_is_canonical():
    assert Term("gaussian") == Term("gaussian", (("metric", None), ("scale", np.float64(1.0))))
    array = Term.of("gaussian", scale=np.array([1.0, 2.0]), metric=np.eye(2))
    assert array["metric"] == ((1.0, 0.0), (0.0, 1.0))
    assert hash(array) == hash(Term.of("gaussian", scale=[1, 2], metric=[[1, 0], [0, 1]]))
    assert not array.has_code
    assert Term.of("sum", Term.of("map", k, function=double), k).has_code
    with pytest.raises(InvalidParameter, match="twice"):
        Term("gaussian", (("scale", 1.0), ("scale", 2.0)))
    with pytest.raises(InvalidParameter, match="no parameter 'width'"):
        array["width"]


@given(terms)
def test_data_are_read_back(term):
    proof = prove(term)
    assert Proof.from_dict(json.loads(json.dumps(proof.to_dict()))) == proof
    assert pickle.loads(pickle.dumps(proof)) == proof


def test_data_that_cannot_be_read_are_refused():
    data = prove(Term.of("map", k, function=double)).to_dict()
    json.dumps(data)
    with pytest.raises(NoTextForm, match="double"):
        Proof.from_dict(data)
    data = prove(k).to_dict()
    for broken in (
        {},
        [],
        None,
        {"rule": "sum"},
        data | {"claim": 3},
        data | {"premises": [1]},
    ):
        with pytest.raises(InvalidInput, match="not a proof"):
            Proof.from_dict(broken)


# ------------------------------------------------------------------------ mistakes are found


def sound(proof):
    try:
        proof.check()
    except InvalidProof:
        return False
    return True


BAD = [
    (head, name, bad)
    for head, fields in FIELDS.items()
    for name, _ in fields
    for bad in [
        "0.5",
        None,
        True,
        math.nan,
        math.inf,
        -math.inf,
        -1.0,
        10**400,
        10**5000,  # more digits than Python writes
        (),
        (0.5, -1.0),
        ("a",),
        ((1.0, 2.0), (3.0, 4.0)),
        ((1.0, 2.0), (2.0, 1.0)),
        ((1.0,), (1.0, 2.0)),
        1j,
        {"a": 1},
    ]
    if not (name == "metric" and bad is None)
    and not (name == "frequency" and bad == -1.0)
    and not (name == "columns" and bad == ("a",))
    and not (name == "fill" and bad in (-1.0, (0.5, -1.0)))
    and not (name == "text" and bad == "0.5")  # a constant is a kernel, by several theorems
]


def word(part):
    return part if isinstance(part, str) else type(part).__name__


@pytest.mark.parametrize(("head", "name", "bad"), BAD, ids=word)
def test_no_parameter_out_of_range_passes(head, name, bad):
    others = [*EXAMPLES, Term("squared_distance", (), (k,))]
    for term in [term for term in others if term.head == head and term[name] != bad]:
        proof = prove(term)
        claim = replace(term, parameters=(*(dict(term.parameters) | {name: bad}).items(),))
        worse = replace(proof, claim=claim)
        assert not sound(worse)
        assert worse.facts == frozenset()
        assert "FAILS" in str(worse)
        assert balanced(worse.latex())


@pytest.mark.parametrize(
    ("head", "wrong"),
    [
        ("scaled", {"weight": -0.5}),
        ("polynomial", {"degree": 0}),
        ("polynomial", {"degree": 2.5}),
        ("polynomial", {"offset": -0.1}),
        ("gaussian", {"scale": 0.0}),
        ("set_power", {"base": 0.999}),
        ("product_power", {"base": 0.5}),
        ("sum_power", {"base": 0}),
        ("wendland", {"smoothness": 4}),
        ("wendland", {"dimension": 2.5}),
        ("generalized_gaussian", {"power": 2.0, "p": 1.5}),
        ("generalized_gaussian", {"p": 2.5}),
        ("generalized_gaussian", {"power": 0}),
        ("gaussian", {"scale": (1.0, 2.0, 3.0), "metric": A}),
        ("gaussian", {"width": 1.0}),
        ("series", {"coefficients": (1.0, -1e-9)}),
        ("power", {"exponent": 0}),
        ("on", {"columns": ()}),
    ],
)
def test_side_conditions(head, wrong):
    children = [k] * ARITY.get(head, 0)
    assert not sound(prove(Term.of(head, *children, **wrong)))


def test_a_broken_power_needs_infinite_divisibility():
    for n in (2, 0.5):
        root = Proof.of(Term.of("power", k, exponent=n), prove(k))
        assert sound(replace(root, rule="infinite divisibility"))
        assert sound(replace(root, rule="schur product")) is (n == 2)
    square = prove(Term.of("power", Term("linear"), exponent=2))
    assert not sound(replace(square, rule="infinite divisibility"))
    assert not sound(replace(prove(Term.of("product", k, k)), rule="infinite divisibility"))
    for child, whole_only in ((k, False), (Term("linear"), True), (Term("wendland"), True)):
        assert sound(prove(Term.of("power", child, exponent=0.5))) is not whole_only
        assert sound(prove(Term.of("power", child, exponent=2)))


def test_a_metric_may_carry_rounding_errors_and_no_more(rng):
    M = rng.normal(size=(3, 8))
    thin = (M.T @ M + (M.T @ M).T) / 2
    assert sound(prove(Term.of("linear", metric=thin)))
    assert "strict" not in prove(Term.of("gaussian", metric=thin)).facts
    worse = thin - 1e-10 * np.eye(8)
    assert not sound(prove(Term.of("linear", metric=worse)))
    for size in (1e300, 1e-300):
        assert sound(prove(Term.of("gaussian", metric=size * np.array(A))))
        assert "strict" in prove(Term.of("gaussian", metric=size * np.array(A))).facts


def test_schoenberg_takes_the_kernel_or_its_distance():
    claim = Term.of("schoenberg", k, rate=0.5)
    distance = Proof.of(Term("squared_distance", (), (k,)), prove(k))
    assert distance.property == "cnd"
    long, short = Proof.of(claim, distance), Proof.of(claim, prove(k))
    long.check()
    short.check()
    assert long.facts == short.facts
    assert "conditionally negative definite" in str(long)
    assert not sound(Proof.of(claim, replace(distance, property="pd")))
    assert not sound(Proof.of(Term.of("exp", k), distance))


def rebuild(proof, path, change):
    """The proof with one step of it, named by its path, changed."""
    if not path:
        return change(proof)
    place, *rest = path
    premises = list(proof.premises)
    premises[place] = rebuild(premises[place], rest, change)
    return replace(proof, premises=tuple(premises))


def paths(proof):
    below = [[i, *path] for i, premise in enumerate(proof.premises) for path in paths(premise)]
    return [[], *below]


@given(terms.filter(lambda term: term.children), st.data())
def test_a_change_anywhere_is_found(term, data):
    proof = prove(term)
    proof.check()
    path = data.draw(st.sampled_from(paths(proof)))
    rule = data.draw(st.sampled_from([*RULES, "no such rule"]))
    other = data.draw(terms)

    def drop(step):
        return replace(step, premises=step.premises[:-1])

    def add(step):
        return replace(step, premises=(*step.premises, prove(other)))

    def swap(step):
        return replace(step, premises=step.premises[::-1])

    def another_rule(step):
        assume((step.rule, rule) != ("schur product", "infinite divisibility"))
        return replace(step, rule=rule)

    def another_claim(step):
        return replace(step, claim=other)

    def another_property(step):
        return replace(step, property="cnd" if step.property == "pd" else "pd")

    def another_proof(step):
        return prove(other)

    changes = [drop, add, swap, another_rule, another_claim, another_property, another_proof]
    change = data.draw(st.sampled_from(changes if path else changes[:-1]))
    # At the root another function of the same parts may be proved just as well.
    assume(path or change is not another_claim or other.children != term.children)
    changed = rebuild(proof, path, change)
    assume(changed != proof)
    assert not sound(changed)
    assert isinstance(str(changed), str)
    assert balanced(changed.latex())


@given(terms.filter(lambda term: term.children), st.data())
def test_a_parameter_changed_below_is_found(term, data):
    proof = prove(term)
    path = data.draw(st.sampled_from(paths(proof)[1:]))

    def change(step):
        assume(step.claim.parameters)
        place = data.draw(st.integers(0, len(step.claim.parameters) - 1))
        pairs = list(step.claim.parameters)
        name, old = pairs[place]
        pairs[place] = name, data.draw(positive.filter(lambda new: new != old))
        return replace(step, claim=replace(step.claim, parameters=tuple(pairs)))

    assert not sound(rebuild(proof, path, change))


def test_the_message_names_the_step():
    bad = Proof.of(Term.of("gaussian", scale=-1.0))
    term = Term.of("sum", k, Term.of("exp", bad.claim))
    proof = Proof.of(term, prove(k), Proof.of(term.children[1], bad))
    with pytest.raises(InvalidProof, match=r"step 1\.2\.1 .*scale = -1\.0 > 0") as raised:
        proof.check()
    assert "gaussian(-1.0)" in str(raised.value)
    with pytest.raises(InvalidProof, match="no case for 'sigmoid'"):
        Proof.of(Term("sigmoid"))
    assert not sound(Proof("feature map", Term("sigmoid")))


def test_what_was_remembered_is_no_evidence():
    proof = prove(Term.of("power", Term("linear"), exponent=0.5))
    vars(proof.premises[0])["facts"] = frozenset({"infinitely divisible"})
    assert not sound(proof)


def test_a_sum_of_many_kernels_and_nested_roots_take_no_time():
    proof = prove(k)
    for _ in range(300):
        claim = Term.of("sum", proof.claim, k)
        proof = Proof.of(claim, proof, prove(k))
    assert "strict" in proof.facts
    proof.check()
    roots = prove(k)
    for _ in range(40):  # each asks twice for the facts of the one below
        roots = Proof.of(Term.of("power", roots.claim, exponent=0.5), roots)
    roots.check()
    assert "strict" in roots.facts


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        RULES["sum"] = RULES["assumed"]
