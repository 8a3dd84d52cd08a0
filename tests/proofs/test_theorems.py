"""Each theorem is used where it holds, and refused by the checker one step beside it.

The steps are written by hand, without the search: what is tested is the checker alone.
"""

from dataclasses import replace

import pytest

import mercer as mc
from mercer.kernels.terms import Term
from mercer.proofs import FormulaProof
from mercer.proofs.cases import CND, PD
from mercer.proofs.theorems import THEOREMS


def step(rule, text, domain, given="", *premises):
    """A step whose premises are claims of the same domain, proved or not."""
    term = Term.of("formula", text=text, domain=domain, given=given)
    below = tuple(
        FormulaProof(
            "inner product",
            Term.of("formula", text=words, domain=domain, given=given),
            (),
            property_,
        )
        for words, property_ in premises
    )
    return FormulaProof(rule, term, below, THEOREMS[rule].property)


def follows(rule, text, domain, *premises, given=""):
    """Whether one step holds, whatever is known of its premises."""
    found = step(rule, text, domain, given, *premises)
    return all(condition.holds for condition in found.conditions)


# rule, claim, domain, premises; then claims that are wrong, or do not follow, by the same rule.
GOOD = [
    ("exponential", "exp(x*y)", "reals", [("x*y", PD)]),
    ("schoenberg", "exp(-(x-y)**2)", "reals", [("(x-y)**2", CND)]),
    ("laplace transform", "1/(1+(x-y)**2)", "reals", [("1+(x-y)**2", CND)]),
    ("laplace transform", "(x+y)**(-1/2)", "positive", [("x+y", CND)]),
    ("bernstein function", "sqrt(1+(x-y)**2)", "reals", [("1+(x-y)**2", CND)]),
    ("logarithm", "log(1+(x-y)**2)", "reals", [("1+(x-y)**2", CND)]),
    ("whole power", "(x*y)**3", "reals", [("x*y", PD)]),
    ("schur product", "x*y*min(x,y)", "positive", [("x*y", PD), ("min(x,y)", PD)]),
    ("sum", "x*y + min(x,y)", "positive", [("x*y", PD), ("min(x,y)", PD)]),
    ("positive multiple", "2*min(x,y)", "positive", [("min(x,y)", PD)]),
    ("power series", "1/(1-x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("power series", "-log(1-x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("power series", "asin(x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("anchored", "abs(x)+abs(y)-abs(x-y)", "reals", [("abs(x-y)-abs(x)-abs(y)", CND)]),
    ("minimum", "min(x,y)", "nonnegative", []),
    ("common divisors", "gcd(x,y)", "naturals", []),
    ("common elements", "len(x & y)", "sets", []),
    ("inner product", "dot(x,y)", "vectors", []),
    ("inner product", "dot(x,[[2,1],[1,2]],y)", "vectors(2)", []),
    ("cosine", "cos(x-y)", "reals", []),
    ("distance", "abs(x-y)**1.9", "reals", []),
    ("distance", "norm(x-y, 1)", "vectors", []),
    ("distance", "norm(x-y, 1.5)**1.5", "vectors", []),
    ("distance", "norm(x-y, inf)", "vectors(2)", []),
    ("arc", "acos(cos(x-y))", "circle", []),
    ("bochner", "(1+abs(x-y))*exp(-abs(x-y))", "reals", []),
    ("askey", "max(0, 1-norm(x-y))**2", "vectors(3)", []),
    ("wendland", "max(0, 1-norm(x-y))**4*(1+4*norm(x-y))", "vectors(3)", []),
    ("sphere", "dot(x,y)**2 - 1/3", "sphere(3)", []),
    ("invariant", "2 - acos(dot(x,y))", "sphere(3)", [("acos(dot(x,y))", CND)]),
    ("mean taken off", "exp(dot(x,y)) - 1", "sphere(3)", [("exp(dot(x,y))", PD)]),
    ("bounded difference", "1/2 - abs(x-y)", "interval(0, 1)", []),
    ("multiple of one sign", "-x*y", "reals", [("x*y", PD)]),
    ("features and kernels", "1 + x*y", "reals", []),
    ("terms without interaction", "(x-y)**2", "reals", []),
    ("increasing function of a minimum", "exp(min(x,y))", "positive", []),
    ("green", "min(x,y)*(1-max(x,y))", "interval(0, 1)", []),
    ("sech", "1/(exp(x-y)+exp(y-x))", "reals", []),
    ("poisson", "-log(5/4 - cos(x-y))", "circle", []),
    ("sine", "abs(sin(x-y))", "circle", []),
]

BAD = [
    # Not the exponential of the premise, or of what may be c.n.d. with the wrong sign.
    ("exponential", "exp(-x*y)", "reals", [("x*y", PD)]),
    ("exponential", "exp(x*y)", "reals", [("x*y", CND)]),
    ("exponential", "exp(2*x*y)", "reals", [("x*y", PD)]),
    ("exponential", "exp(x*y)", "reals", []),
    ("schoenberg", "exp((x-y)**2)", "reals", [("(x-y)**2", CND)]),
    ("schoenberg", "exp(-(x-y)**2)", "reals", [("(x-y)**2", PD)]),
    ("schoenberg", "exp(-abs(x-y)**3)", "reals", [("(x-y)**2", CND)]),
    # The premise has to be positive, the power negative.
    ("laplace transform", "1/(x-y)**2", "reals", [("(x-y)**2", CND)]),
    ("laplace transform", "1/((x-y)**2-1)", "reals", [("(x-y)**2-1", CND)]),
    ("laplace transform", "1/(x+y)", "reals", [("x+y", CND)]),
    ("laplace transform", "1+(x-y)**2", "reals", [("1+(x-y)**2", CND)]),
    ("bernstein function", "abs(x-y)**3", "reals", [("(x-y)**2", CND)]),
    ("bernstein function", "((x-y)**2-1)**(1/2)", "reals", [("(x-y)**2-1", CND)]),
    ("bernstein function", "sqrt(x*y)", "positive", [("x*y", PD)]),
    ("logarithm", "log((x-y)**2)", "reals", [("(x-y)**2", CND)]),
    ("whole power", "(x*y)**(1/2)", "positive", [("x*y", PD)]),
    ("whole power", "(x*y)**(-1)", "positive", [("x*y", PD)]),
    ("schur product", "x*y*min(x,y)", "positive", [("x*y", PD)]),
    ("schur product", "x*y*min(x,y)", "positive", [("x*y", PD), ("min(x,y)", CND)]),
    ("schur product", "x*y*max(x,y)", "positive", [("x*y", PD), ("min(x,y)", PD)]),
    ("sum", "x*y - min(x,y)", "positive", [("x*y", PD), ("min(x,y)", PD)]),
    ("sum", "x*y + min(x,y)", "positive", [("x*y", PD), ("min(x,y)", CND)]),
    ("positive multiple", "-2*min(x,y)", "positive", [("min(x,y)", PD)]),
    ("positive multiple", "0*min(x,y) - 1", "positive", [("min(x,y)", PD)]),
    # Beyond the radius, with a negative coefficient, of another series.
    ("power series", "1/(1-x*y)", "reals", [("x*y", PD)]),
    ("power series", "1/(1-x*y)", "interval(-1, 2)", [("x*y", PD)]),
    ("power series", "-log(1-x*y)", "interval(-2, 2)", [("x*y", PD)]),
    ("power series", "1/(1+x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("power series", "log(1+x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("power series", "sin(x*y)", "reals", [("x*y", PD)]),
    ("power series", "atan(x*y)", "interval(-1, 1)", [("x*y", PD)]),
    ("power series", "tanh(x*y)", "reals", [("x*y", PD)]),
    ("power series", "x*y - (x*y)**2", "reals", [("x*y", PD)]),
    # Not zero at zero, or zero is no point.
    ("anchored", "1+abs(x)+abs(y)-abs(x-y)", "reals", [("abs(x-y)-abs(x)-abs(y)-1", CND)]),
    ("anchored", "x+y-abs(x-y)", "positive", [("abs(x-y)-x-y", CND)]),
    ("minimum", "min(x,y)", "reals", []),
    ("minimum", "max(x,y)", "nonnegative", []),
    ("minimum", "min(x,y)**(-1)", "positive", []),
    ("common divisors", "lcm(x,y)", "naturals", []),
    ("common divisors", "gcd(x,y)**(-1)", "naturals", []),
    ("common divisors", "gcd(x,y)", "reals", []),
    ("common elements", "len(x | y)", "sets", []),
    ("common elements", "len(x ^ y)", "sets", []),
    ("inner product", "dot(x,[[1,2],[2,1]],y)", "vectors(2)", []),
    ("inner product", "dot(x,[[1,1],[0,1]],y)", "vectors(2)", []),
    ("inner product", "-dot(x,y)", "vectors", []),
    ("cosine", "cos(x+y)", "reals", []),
    ("cosine", "cos(x**2-2*y)", "reals", []),
    ("cosine", "sin(x-y)", "reals", []),
    # Powers and dimensions beyond what is c.n.d.
    ("distance", "abs(x-y)**2.0001", "reals", []),
    ("distance", "norm(x-y, 1)**1.1", "vectors(2)", []),
    ("distance", "norm(x-y, 1.5)**1.6", "vectors(3)", []),
    ("distance", "norm(x-y, 3)", "vectors", []),
    ("distance", "norm(x-y, inf)", "vectors(3)", []),
    ("distance", "norm(x-y, inf)", "vectors", []),
    ("distance", "norm(x-y, inf)**1.1", "vectors(2)", []),
    ("distance", "norm(x+y)", "vectors", []),
    ("distance", "abs(x*y)", "reals", []),
    ("arc", "acos(dot(x,y))**2", "sphere(3)", []),
    ("arc", "asin(dot(x,y))", "sphere(3)", []),
    ("bochner", "(1+2*abs(x-y))*exp(-abs(x-y))", "reals", []),
    ("bochner", "exp(-abs(x-y)) - exp(-2*abs(x-y))", "reals", []),
    ("bochner", "(1-norm(x-y))*exp(-norm(x-y))", "vectors(2)", []),
    ("bochner", "exp(abs(x-y))", "reals", []),
    ("bochner", "1 - exp(-abs(x-y))", "reals", []),
    ("askey", "max(0, 1-norm(x-y))", "vectors(2)", []),
    ("askey", "max(0, 1-norm(x-y))**1.99", "vectors(3)", []),
    ("askey", "max(0, 1-norm(x-y))**50", "vectors", []),
    ("askey", "max(0, 1-abs(x-y))**0.99", "reals", []),
    ("askey", "max(0, 1-abs(x-y)**1.1)", "reals", []),
    ("askey", "max(0, abs(x-y)-1)", "reals", []),
    ("wendland", "max(0, 1-norm(x-y))**4*(1+4*norm(x-y))", "vectors(4)", []),
    ("sphere", "dot(x,y)**2 - 1/3", "sphere(4)", []),
    ("sphere", "dot(x,y)**2 - 0.34", "sphere(3)", []),
    ("sphere", "dot(x,y)**3 - dot(x,y)", "sphere(3)", []),
    ("sphere", "dot(x,y)**2 - 1/3", "vectors(3)", []),
    ("invariant", "3/2 - acos(dot(x,y))", "sphere(3)", [("acos(dot(x,y))", CND)]),
    ("invariant", "2 - norm(x-y)", "vectors", [("norm(x-y)", CND)]),
    ("mean taken off", "exp(dot(x,y)) - 1.2", "sphere(3)", [("exp(dot(x,y))", PD)]),
    ("mean taken off", "exp(dot(x,y)) - 1", "vectors", [("exp(dot(x,y))", PD)]),
    ("bounded difference", "0.49 - abs(x-y)", "interval(0, 1)", []),
    ("bounded difference", "1/2 - abs(x-y)", "interval(0, 2)", []),
    ("bounded difference", "1/2 - abs(x-y)", "reals", []),
    ("bounded difference", "1 - abs(x-y)**2", "interval(0, 1)", []),
    ("multiple of one sign", "x*y", "reals", [("x*y", PD)]),
    ("multiple of one sign", "-(x-y)**2", "reals", [("(x-y)**2", CND)]),
    ("features and kernels", "1 - x*y", "reals", []),
    ("features and kernels", "x + y", "reals", []),
    ("features and kernels", "x**2 + y**2 + x*y", "reals", []),
    ("terms without interaction", "-(x-y)**2", "reals", []),
    ("terms without interaction", "(x+y)**2", "reals", []),
    ("increasing function of a minimum", "exp(-min(x,y))", "positive", []),
    ("increasing function of a minimum", "min(x,y) - 1", "positive", []),
    ("increasing function of a minimum", "log(min(x,y))", "positive", []),
    ("increasing function of a minimum", "exp(max(x,y))", "positive", []),
    ("green", "max(x,y)*(1-min(x,y))", "interval(0, 1)", []),
    ("green", "min(x,y)*(1-max(x,y))", "interval(0, 2)", []),
    ("sech", "1/(exp(x+y)+exp(-x-y))", "reals", []),
    ("sech", "exp(x-y)+exp(y-x)", "reals", []),
    ("poisson", "-log(1 - 2*cos(x-y))", "circle", []),
    ("poisson", "log(5/4 - cos(x-y))", "circle", []),
    ("sine", "abs(sin(x-y))**2.1", "circle", []),
    ("sine", "abs(sin(x+y))", "circle", []),
]


@pytest.mark.parametrize(("rule", "text", "domain", "premises"), GOOD)
def test_a_theorem_is_used_where_it_holds(rule, text, domain, premises):
    assert follows(rule, text, domain, *premises)


@pytest.mark.parametrize(("rule", "text", "domain", "premises"), BAD)
def test_a_theorem_is_refused_where_a_condition_fails(rule, text, domain, premises):
    assert not follows(rule, text, domain, *premises)


PARAMETERS = [
    ("distance", "abs(x-y)**q", "reals", [], "0 < q <= 2", True),
    ("distance", "abs(x-y)**q", "reals", [], "0 < q <= 3", False),
    ("distance", "abs(x-y)**q", "reals", [], "q real", False),
    ("positive multiple", "s*x*y", "reals", [("x*y", PD)], "s > 0", True),
    ("positive multiple", "s*x*y", "reals", [("x*y", PD)], "s real", False),
    ("positive multiple", "s*x*y", "reals", [("x*y", PD)], "s < 0", False),
    ("whole power", "(x*y)**n", "reals", [("x*y", PD)], "n natural", True),
    ("whole power", "(x*y)**n", "reals", [("x*y", PD)], "n > 0", False),
    ("whole power", "(x*y)**n", "reals", [("x*y", PD)], "n whole", False),
    ("laplace transform", "(1+(x-y)**2)**(-a)", "reals", [("1+(x-y)**2", CND)], "a > 0",
     True),
    ("laplace transform", "(1+(x-y)**2)**(-a)", "reals", [("1+(x-y)**2", CND)], "a real",
     False),
    ("laplace transform", "1/(c+(x-y)**2)", "reals", [("c+(x-y)**2", CND)], "c > 0", True),
    ("laplace transform", "1/(c+(x-y)**2)", "reals", [("c+(x-y)**2", CND)], "c >= 0", False),
    ("bernstein function", "(x-y)**2**a", "reals", [("(x-y)**2", CND)], "0 < a <= 2", False),
    ("askey", "max(0, 1-norm(x-y))**l", "vectors(3)", [], "l >= 2", True),
    ("askey", "max(0, 1-norm(x-y))**l", "vectors(3)", [], "l >= 1.9", False),
    ("askey", "max(0, 1-s*norm(x-y))**2", "vectors(3)", [], "s > 0", True),
    ("askey", "max(0, 1-s*norm(x-y))**2", "vectors(3)", [], "s real", False),
    ("inner product", "dot(x,A,y)", "vectors", [], "A psd", True),
    ("bochner", "(1+s*abs(x-y))*exp(-s*abs(x-y))", "reals", [], "s > 0", True),
    ("bochner", "(1+s*abs(x-y))*exp(-s*abs(x-y))", "reals", [], "s real", False),
    ("bochner", "(1+2*s*abs(x-y))*exp(-s*abs(x-y))", "reals", [], "s > 0", False),
    ("anchored", "abs(x)**q+abs(y)**q-abs(x-y)**q", "reals",
     [("abs(x-y)**q-abs(x)**q-abs(y)**q", CND)], "0 < q <= 2", True),
    ("anchored", "abs(x)**q+abs(y)**q-abs(x-y)**q", "reals",
     [("abs(x-y)**q-abs(x)**q-abs(y)**q", CND)], "q real", False),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "domain", "premises", "given", "good"), PARAMETERS)
def test_a_condition_has_to_hold_for_all_that_is_assumed(
    rule, text, domain, premises, given, good
):
    assert follows(rule, text, domain, *premises, given=given) == good


def test_a_premise_about_another_domain_or_assumption_is_none():
    whole = step("exponential", "exp(x*y)", "reals", "", ("x*y", PD))
    other = step("exponential", "exp(x*y)", "positive", "", ("x*y", PD))
    mixed = FormulaProof(whole.rule, whole.claim, other.premises, PD)
    assert all(c.holds for c in whole.conditions)
    assert not all(c.holds for c in mixed.conditions)


# For each theorem with premises, a step that follows: with another property it does not.
def test_a_premise_that_proves_something_else_is_refused():
    tried = 0
    other = {PD: CND, CND: PD}
    mixed = {"multiple of one sign", "features and kernels", "terms without interaction"}
    rows = [(r, t, d, p, "") for r, t, d, p in GOOD]
    rows += [(r, t, d, p, given) for r, t, d, p, given, good in PARAMETERS if good]
    for rule, text, domain, premises, given in rows:
        if not premises or rule in mixed:
            continue
        assert follows(rule, text, domain, *premises, given=given)
        wrong = [(words, other[property_]) for words, property_ in premises]
        assert not follows(rule, text, domain, *wrong, given=given), rule
        tried += 1
    assert tried >= 18


def test_a_restriction_and_a_special_case_need_a_kernel():
    whole = mc.prove("exp(-s*abs(x-y))", "positive", assume="s > 0").bind(s=2.0).proof()
    assert whole.rule == "special case"
    whole.check()
    below = replace(whole.premises[0], property=CND)
    assert not all(c.holds for c in replace(whole, premises=(below,)).conditions)
    for rule, text, small, large in (
        ("restriction", "abs(x)*abs(y)", "nonnegative", "reals"),
        ("line", "dot(x, y)", "vectors(1)", "reals"),
    ):
        words = "x*y" if rule == "line" else text
        for property_, good in ((PD, True), (CND, False)):
            premise = FormulaProof(
                "cosine", Term.of("formula", text=words, domain=large, given=""), (), property_
            )
            term = Term.of("formula", text=text, domain=small, given="")
            found = FormulaProof(rule, term, (premise,), PD)
            assert all(c.holds for c in found.conditions) == good


def test_a_forged_proof_of_a_growing_exponential_is_refused():
    """(x - y)^2 is c.n.d., and its exponential no kernel: points refute it."""
    claim = Term.of("formula", text="(x-y)**2", domain="reals", given="")
    below = FormulaProof("terms without interaction", claim, (), CND)
    below.check()
    forged = replace(
        step("exponential", "exp((x-y)**2)", "reals"), premises=(below,), property=PD
    )
    with pytest.raises(mc.errors.InvalidProof):
        forged.check()
    mc.prove("exp((x-y)**2)").refutation.check()


def test_no_theorem_is_left_out_here():
    tested = {rule for rule, *_ in (*GOOD, *PARAMETERS)}
    elsewhere = {
        # Composed in the same way as "sum" and "identity"; seen in the proofs of the table.
        "sum of c.n.d. functions", "restriction", "line", "identity",
        "identity of c.n.d. functions", "logarithm of a divisible kernel", "reflection",
        "odd part", "sum of two points", "difference of mixtures", "counting",
    }  # fmt: skip
    assert tested | elsewhere == set(THEOREMS)
    assert not tested & elsewhere
