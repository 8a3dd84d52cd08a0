import random
import time
from fractions import Fraction
from itertools import pairwise
from math import ceil, gcd, lcm

import mpmath
import pytest
from mpmath import mp

from mercer.proofs import elementary, intervals
from mercer.proofs.exact import Undecided, Undefined, low_high, quadratic_form, value
from mercer.proofs.reading import read

F = Fraction
FUNCTIONS = {
    "exp": (elementary.exponential, mp.exp, -50, 50),
    "log": (elementary.logarithm, mp.log, 0.001, 50),
    "cos": (elementary.cosine, mp.cos, -50, 50),
    "sin": (elementary.sine, mp.sin, -50, 50),
    "tan": (elementary.tangent, mp.tan, -50, 50),
    "atan": (elementary.arctangent, mp.atan, -50, 50),
    "acos": (elementary.arccosine, mp.acos, -1, 1),
    "asin": (elementary.arcsine, mp.asin, -1, 1),
    **{
        name: (
            lambda a, bits, name=name: elementary.hyperbolic(name, a, bits),
            getattr(mp, name),
            -20,
            20,
        )
        for name in ("sinh", "cosh", "tanh")
    },
}


def as_mp(number):
    return mp.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("name", FUNCTIONS)
def test_intervals_hold_the_function_and_are_narrow(name):
    ours, theirs, low, high = FUNCTIONS[name]
    draw = random.Random(1)
    for _ in range(60):
        bits = draw.choice([24, 53, 120, 400])
        x = F(draw.randint(ceil(low * 997), int(high * 997)), 997)
        a, b = low_high(ours(x, bits))
        with mp.workprec(3 * bits + 200):
            true = theirs(as_mp(x))
            assert as_mp(a) <= true <= as_mp(b)
            assert as_mp(b - a) <= mp.ldexp(1 + abs(true) + abs(true) ** 2, 12 - bits)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_an_interval_they_hold_the_values_of_all_in_it(name):
    ours, theirs, low, high = FUNCTIONS[name]
    draw = random.Random(2)
    for _ in range(60):
        ends = sorted(F(draw.randint(ceil(low * 99), int(high * 99)), 99) for _ in range(2))
        if name == "tan":
            start = F(draw.randint(-150, 150), 100)
            ends = [start, start + F(1, 50)]
        low_end, high_end = (intervals.bounds(end, 60) for end in ends)
        a, b = low_high(ours((low_end[0], high_end[1]), 60))
        with mp.workprec(200):
            for k in range(11):
                true = theirs(as_mp(ends[0] + (ends[1] - ends[0]) * k / 10))
                assert as_mp(a) <= true <= as_mp(b)


def test_values_at_zero_and_one_are_exact():
    for text in ("exp(x)", "cos(x)", "cosh(x)", "1+sin(x)+tan(x)+tanh(x)+sinh(x)+atan(x)"):
        assert value(read(text).tree, F(0), F(0)) == 1
    for text in ("log(x)", "acos(x)", "acos(x)**(1/2)"):
        assert value(read(text).tree, F(1), F(1)) == 0


def test_rational_operations_stay_rational():
    draw = random.Random(3)
    for _ in range(200):
        x, y = (F(draw.randint(-20, 20), draw.randint(1, 9)) for _ in range(2))
        got = value(read("min(x,y)*max(x,y,1/2) + abs(x-y)**3/(1+x**2) - 2").tree, x, y)
        assert got == min(x, y) * max(x, y, F(1, 2)) + abs(x - y) ** 3 / (1 + x**2) - 2
        m, n = draw.randint(1, 99), draw.randint(1, 99)
        got = value(read("gcd(x,y)/lcm(x,y)", "naturals").tree, F(m), F(n))
        assert got == F(gcd(m, n), lcm(m, n))


def test_roots_of_squares_are_rational():
    assert value(read("sqrt(x)").tree, F(9, 16), F(0)) == F(3, 4)
    assert value(read("x**(-2/3)").tree, F(27, 8), F(0)) == F(4, 9)
    assert value(read("x**(5/2)").tree, F(4), F(0)) == 32
    x, y = (F(1), F(2), F(0)), (F(4), F(6), F(0))
    assert value(read("norm(x-y)", "vectors").tree, x, y) == 5
    assert value(read("norm(x-y,3)**3", "vectors").tree, x, y) == 27 + 64
    assert value(read("norm(x-y)**4", "vectors").tree, x, y) == 625
    assert value(read("norm(x-y, 1) + norm(x-y, inf)", "vectors").tree, x, y) == 11
    assert value(read("dot(x, [[2,1,0],[1,3,0],[0,0,1]], y)", "vectors").tree, x, y) == 58


def test_sets_and_parameters():
    x, y = frozenset([1, 2, 3]), frozenset([3, 4])
    assert value(read("len(x&y)/len(x|y) + len(x^y)", "sets").tree, x, y) == F(1, 4) + 3
    tree = read("s*dot(x, A, y)", "vectors", "s > 0, A psd").tree
    given = {"s": F(1, 2), "A": ((F(2), F(1)), (F(1), F(1)))}
    assert value(tree, (F(1), F(0)), (F(0), F(3)), given) == F(3, 2)


def test_an_interval_becomes_narrower_with_more_bits():
    tree = read("exp(-abs(x-y)**2.0001)").tree
    widths = []
    for bits in (30, 60, 120, 240):
        a, b = low_high(value(tree, F(1, 3), F(2), bits=bits))
        with mp.workprec(400):
            true = mp.exp(-((mp.mpf(5) / 3) ** (mp.mpf(20001) / 10000)))
            assert as_mp(a) <= true <= as_mp(b)
        widths.append(b - a)
    assert all(later < earlier / 2**20 for earlier, later in pairwise(widths))


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("1/(x-y)", 1, 1),
        ("(x-y)**(-2)", 1, 1),
        ("(x-y)**(-1/2)", 1, 1),
        ("log(x)", 0, 0),
        ("log(x)", -1, 0),
        ("sqrt(x)", -1, 0),
        ("x**pi", -1, 0),
        ("x**y", 0, -1),
        ("acos(x)", 2, 0),
        ("asin(exp(x))", 1, 0),
        ("gcd(x, y)", F(1, 2), 1),
        ("gcd(x, exp(y))", 1, 1),
    ],
)
def test_what_is_undefined_is_an_error(text, x, y):
    with pytest.raises(Undefined):
        value(read(text).tree, F(x), F(y))


@pytest.mark.parametrize(
    "text",
    [
        "2**2**2**99",
        "x**y**x**y**x**y",
        "exp(exp(exp(exp(x+9))))",
        "cos(10**250*x)",
        "(10**299)**(10**299)",
        "1/(exp(log(x)) - x)",
        "sqrt(exp(log(x)) - x)",
        "log(exp(x)*exp(-x) - 1 + 0*y)",
        "cosh(10**30*x)",
        "lcm(10**290, 3**500)**60*exp(10**200)",
    ],
)
def test_what_is_too_large_or_too_close_is_undecided_at_once(text):
    start = time.monotonic()
    with pytest.raises(Undecided):
        low_high(value(read(text).tree, F(7, 3), F(5)))
    assert time.monotonic() - start < 0.2


def test_quadratic_forms():
    tree = read("x*y + 1").tree
    points, weights = [F(0), F(1), F(3)], [F(1), F(-2), F(1, 2)]
    pairs = [(x, v, y, w) for x, v in zip(points, weights, strict=True)
             for y, w in zip(points, weights, strict=True)]  # fmt: skip
    wanted = sum(v * w * (x * y + 1) for x, v, y, w in pairs)
    assert quadratic_form(tree, points, weights) == wanted
    with pytest.raises(Undecided):
        quadratic_form(tree, points, weights, deadline=time.monotonic() - 1)


def test_the_working_precision_of_mpmath_is_left_alone():
    before = mpmath.mp.prec, mpmath.iv.prec
    value(read("exp(x)").tree, F(1), F(1), bits=777)
    assert (mpmath.mp.prec, mpmath.iv.prec) == before
