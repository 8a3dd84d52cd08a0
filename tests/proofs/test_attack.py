"""The attack that proofs are held against: it finds what it must, and nothing in a kernel."""

import ast
import sys
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent))  # the attack and the generator are no package

from attack import Undefined, attack, form, inside
from generate import WORLDS, fill

LONG = 20.0
"""Seconds that an attack may take; most of these take a hundredth of one."""

SHORT = 0.03
"""Seconds for a kernel: the attack cannot end before. It is a few batches of points."""

NONE = [
    ("-exp(-abs(x-y))", "reals"),
    ("cos(x+y)", "reals"),
    ("exp(-abs(x-y)**3)", "reals"),
    ("exp(-abs(x-y)**2.1)", "reals"),
    ("abs(cos(x-y))", "reals"),
    ("tanh(1+x*y)", "reals"),
    ("exp(-(x-y)**2/2)-0.5*exp(-(x-y)**2)", "reals"),
    ("max(x,y)/min(x,y)", "positive"),
    ("log(min(x,y))**2", "positive"),
    ("x+y", "positive"),
    ("log(1+x*y)", "nonnegative"),
    ("max(x,y)", "nonnegative"),
    ("lcm(x,y)", "naturals"),
    ("1/gcd(x,y)", "naturals"),
    ("1/(1+x*y)", "interval(-1, 1)"),
    ("1-x*y", "interval(0, 1)"),
    ("norm(x-y)", "vectors"),
    ("exp(-norm(x-y, inf))", "vectors(3)"),
    ("exp(-norm(x-y, 1)**2)", "vectors(2)"),
    ("max(0, 1-norm(x-y))", "vectors(2)"),
    ("max(0, 1-norm(x-y))", "vectors"),
    ("dot(x,y)**2-0.4", "sphere(3)"),
    ("exp(-acos(dot(x,y))**2)", "sphere(3)"),
    ("exp(-acos(dot(x,y))**2)", "circle"),
    ("1-2*abs(sin(x-y))", "circle"),
    ("1-len(x ^ y)", "sets"),
    ("len(x & y)/min(len(x), len(y))", "sets"),
    ("len(x | y)", "sets"),
]

# Kernels of which rounding makes matrices with eigenvalues below zero, or whose values grow
# beyond all bounds. Besides them all leaves of the generator.
HARD = [
    ("exp(-(x-y)**2)", "reals"),
    ("exp(x*y)", "reals"),
    ("cosh(x*y)", "reals"),
    ("1/(x+y)**0.1", "positive"),
    ("exp(-0.001*(x-y)**2)", "reals"),
    ("(1+dot(x,y))**2", "vectors"),
    ("-log(1-x*y)", "interval(-1, 1)"),
    ("2**(x+y)", "naturals"),
    ("cos(dot(x,x))*cos(dot(y,y))", "vectors"),
    ("0", "reals"),
]
LEAVES = [
    (fill(np.random.default_rng(turn), text), domain)
    for domain, world in WORLDS.items()
    for turn, (text, _) in enumerate(world.leaves)
]


def test_the_attack_shares_nothing_with_what_it_attacks():
    text = (Path(__file__).parent / "attack.py").read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert "mpmath" in names
    assert not {name for name in names if name.partition(".")[0] == "mercer"}


@pytest.mark.parametrize(("text", "domain"), NONE)
def test_what_is_no_kernel_is_found_out(text, domain):
    found = attack(text, domain, LONG)
    assert found is not None
    assert found.kind == "negative"
    assert found.value < 0
    assert len(found.points) == len(found.weights)


@pytest.mark.parametrize(("text", "domain"), HARD + LEAVES)
def test_nothing_is_found_in_a_kernel(text, domain):
    found = attack(text, domain, SHORT)
    # A quotient of sizes has no value at two empty sets: a domain has such points, not pairs.
    assert found is None


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("sqrt(x*y)**2", "reals"),
        ("log(1+x*y)", "reals"),
        ("(cos(x-y)**0.5)**2", "circle"),
        ("acos(dot(x,y))", "vectors"),
        ("1/len(x & y)", "sets"),
        ("1/(1-(x-y)**2)", "naturals"),
    ],
)
def test_two_points_without_a_value_are_found(text, domain):
    found = attack(text, domain, 0.2)
    # Where the formula has values it may be refuted besides.
    assert found is not None
    if found.kind == "hole":
        assert len(found.points) == 2


def test_the_same_seed_finds_the_same():
    one, two, other = (attack("cos(x+y)", "reals", LONG, seed) for seed in (3, 3, 4))
    assert one == two
    assert one != other


# -------------------------------------------------------------------- the form of a refutation

FORMS = [
    (
        "1/(x+y)",
        "positive",
        ["1/2", "3"],
        ["1", "-2/3"],
        lambda x, y: 1 / (x + y),
    ),
    ("max(x,y)", "nonnegative", ["0", "1"], ["2", "-1"], max),
    ("(x-y)**2-x*y/3", "reals", ["-1/7", "2", "5/3"], ["1", "1/2", "-1"],
     lambda x, y: (x - y) ** 2 - x * y / 3),
    ("abs(x-y)**3", "interval(-1, 1)", ["-1/2", "2/3"], ["1", "1"],
     lambda x, y: abs(x - y) ** 3),
    ("norm(x-y, 1)", "vectors(2)", [["0", "1/2"], ["-1", "3"]], ["1", "-1"],
     lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True))),
    ("dot(x,y)**2", "sphere(2)", [["3/5", "4/5"], ["1", "0"]], ["1", "-1"],
     lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)) ** 2),
    ("len(x ^ y)", "sets", [[], [1, 2], [2, 5]], ["1", "-1", "2"],
     lambda x, y: len(x ^ y)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "domain", "points", "weights", "function"), FORMS)
def test_a_form_is_that_of_fractions(text, domain, points, weights, function):
    def exact(told):
        if domain == "sets":
            return set(told)
        return [Fraction(c) for c in told] if isinstance(told, list) else Fraction(told)

    pairs = [(exact(p), Fraction(w)) for p, w in zip(points, weights, strict=True)]
    wanted = sum(v * w * function(x, y) for x, v in pairs for y, w in pairs)
    assert all(inside(p, domain) for p in points)
    with mp.workdps(60):  # the form has 70 digits
        got = form(text, domain, {"points": points, "weights": weights})
        assert abs(got - mp.mpf(wanted.numerator) / wanted.denominator) < mp.mpf(10) ** -55


def test_a_form_has_the_parameters_of_its_refutation():
    data = {"points": ["1", "2"], "weights": ["1", "-1"], "parameters": {"s": "1/2"}}
    # 1/2 - 2 + 2 at s = 1/2, for s x y.
    assert form("s*x*y", "reals", data) == mp.mpf("0.5")


def test_a_form_at_points_without_a_value_is_an_error():
    with pytest.raises(Undefined):
        form("log(x-y)", "reals", {"points": ["1"], "weights": ["1"]})


@pytest.mark.parametrize(
    ("point", "domain"),
    [
        ("0", "positive"),
        ("-1/9", "nonnegative"),
        ("0", "naturals"),
        ("3/2", "naturals"),
        ("1", "interval(-1, 1)"),
        ("-1", "interval(-1, 1)"),
        ("1/2", "interval(0, 0.5)"),
        (["1", "0"], "vectors(3)"),
        (["3/5", "3/5"], "sphere(2)"),
        (["1", "0"], "sphere(3)"),
        ([0], "sets"),
    ],
)
def test_a_point_beside_its_domain_is_seen(point, domain):
    assert not inside(point, domain)
