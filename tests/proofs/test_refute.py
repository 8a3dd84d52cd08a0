import math
import time
from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import InvalidType
from mercer.proofs.certificates import Refutation
from mercer.proofs.reading import read
from mercer.proofs.refute import attack_callable, refute

REFUTED = [
    ("log(1+x*y)", "nonnegative", 2),
    ("cos(x+y)", "reals", 1),
    ("max(x,y)", "nonnegative", 2),
    ("lcm(x,y)", "naturals", 2),
    ("norm(x-y)", "vectors", 2),
    ("x*y-1", "reals", 1),
    ("exp(-abs(x-y)**3)", "reals", 3),
    ("exp(-abs(x-y)**2.1)", "reals", 6),
    ("exp(-abs(x-y)**2.0001)", "reals", 12),
    ("exp(-abs(x-y)**2.0000001)", "reals", 24),
    ("tanh(x*y)", "reals", 2),
    ("tanh(1+x*y)", "reals", 3),
    ("max(0,1-(x-y)**2)", "reals", 3),
    ("max(0,1-abs(x-y))**0.9", "reals", 12),
    ("max(0,1-norm(x-y))", "vectors(2)", 25),
    ("max(0,1-norm(x-y))", "vectors", 25),
    ("exp(-norm(x-y,4)**2)", "vectors", 6),
    ("exp(-norm(x-y,1)**1.5)", "vectors", 6),
    ("exp(-norm(x-y,inf))", "vectors(3)", 12),
    ("exp(-norm(x-y,3))", "vectors", 27),
    ("exp(-acos(dot(x,y))**2)", "circle", 16),
    ("dot(x,y)**3-dot(x,y)", "sphere(3)", 3),
    ("dot(x,[[1,2],[2,1]],y)", "vectors(2)", 1),
    ("1-len(x^y)", "sets", 2),
    ("len(x&y)/min(len(x),len(y))", "sets", 4),
    ("max(x,y)/min(x,y)", "positive", 2),
    ("(1+x*y)**2.5", "positive", 6),
    ("1/(1+x*y)", "interval(-1,1)", 2),
    ("abs(cos(x-y))", "reals", 6),
    ("exp(-(x-y)**2)-exp(-2*(x-y)**2)", "reals", 2),
    ("exp(-abs(x-y)**q), 0 < q <= 3", "reals", 3),
    ("exp(-dot(x-y,A,x-y)**2), A psd", "vectors(2)", 4),
]

POSITIVE = [
    ("exp(-(x-y)**2)", "reals"),
    ("min(x,y)", "nonnegative"),
    ("gcd(x,y)", "naturals"),
    ("max(0,1-abs(x-y))", "reals"),
    ("exp(-norm(x-y,inf))", "vectors(2)"),
    ("1/(x+y)", "positive"),
    ("exp(x*y)", "reals"),
    ("2**len(x&y)", "sets"),
    ("exp(-acos(dot(x,y)))", "sphere(3)"),
    ("exp(-abs(x-y)**q), 0 < q <= 2", "reals"),
]


def soon(seconds=60.0):
    return time.monotonic() + seconds


@pytest.mark.parametrize(("text", "domain", "most"), REFUTED)
def test_what_is_not_positive_definite_is_refuted(text, domain, most):
    found = refute(read(text, domain), soon())
    assert found is not None
    found.check()
    Refutation.from_dict(found.to_dict()).check()
    assert len(found.points) <= most


@pytest.mark.parametrize(("text", "domain"), POSITIVE)
def test_what_is_positive_definite_is_not(text, domain):
    assert refute(read(text, domain), soon(0.5)) is None


def test_two_or_three_simple_points_are_preferred():
    found = refute(read("max(x,y)", "nonnegative"), soon())
    assert found.points == (0, 1)
    assert found.weights in ((1, -1), (2, -1))
    assert found.exact
    found = refute(read("exp(-abs(x-y)**3)"), soon())
    assert all(point.denominator <= 4 for point in found.points)
    assert all(abs(weight) <= 100 for weight in found.weights)


def test_the_same_seed_finds_the_same():
    formula = read("exp(-norm(x-y,inf))", "vectors(3)")
    assert refute(formula, soon(), seed=5) == refute(formula, soon(), seed=5)


@pytest.mark.parametrize(
    "text",
    [
        "exp(-(x-y)**2)",
        "2**2**2**99*x*y",
        "x**y**x**y",
        "exp(exp(exp(exp(x*y+9))))",
        "1/(x-y)",
        "log(-1-x**2-y**2)",
        "+".join(f"cos({k}*(x-y))**2" for k in range(1, 70)),
    ],
)
def test_the_deadline_is_kept(text):
    start = time.monotonic()
    refute(read(text), start + 0.3)
    assert time.monotonic() - start < 0.3 + 0.4


def test_a_deadline_in_the_past_is_at_once():
    start = time.monotonic()
    assert refute(read("exp(-(x-y)**2)"), start - 1) is None
    assert time.monotonic() - start < 0.2


def test_constants_and_formulas_of_one_point():
    assert refute(read("-1", "vectors"), soon()).points == ((0,),)
    assert refute(read("-2"), soon()).value == -2
    assert refute(read("1", "sets"), soon(0.2)) is None
    assert refute(read("x*y - 1/100", "positive"), soon()) is not None


def test_python_functions():
    found = attack_callable(max, domain="nonnegative", deadline=soon())
    assert found.negative
    assert not found.exact
    found = attack_callable(math.lcm, domain="naturals", deadline=soon())
    assert found.exact
    x, y = found.points[:2]
    assert isinstance(x, int)
    v, w = found.weights
    assert found.value == v * v * x + w * w * y + 2 * v * w * math.lcm(x, y) < 0
    assert "exactly" in str(found)
    found = attack_callable(lambda a, b: len(a | b), domain="sets", deadline=soon())
    assert found.exact
    assert isinstance(found.points[0], frozenset)
    found = attack_callable(
        lambda x, y: -np.linalg.norm(x - y), domain="vectors", deadline=soon()
    )
    assert found.negative
    assert found.eigenvalue < 0


def test_python_functions_on_given_points():
    words = ["a", "bb", "ccc"]
    found = attack_callable(lambda s, t: -abs(len(s) - len(t)), words, deadline=soon())
    assert (found.points, found.weights) == (("a", "ccc"), (1, 1))
    assert (found.value, found.eigenvalue) == (-4, -2)
    found = attack_callable(lambda s, t: Fraction(s == t), words, deadline=soon())
    assert not found.negative
    assert found.tried == 1
    assert attack_callable(min, [], deadline=soon()).tried == 0


def test_rounding_is_no_evidence():
    rounded = attack_callable(
        lambda x, y: np.float32(np.exp(-((x - y) ** 2))), deadline=soon(0.4)
    )
    assert not rounded.negative
    assert rounded.lowest > -1e-4
    exact = attack_callable(lambda x, y: math.exp(-((x - y) ** 2)), deadline=soon(0.4))
    assert not exact.negative
    assert "no eigenvalue was clearly negative" in str(exact)


def test_python_functions_that_fail():
    assert not attack_callable(lambda x, y: 1 / (x - y), deadline=soon(0.2)).negative
    assert not attack_callable(lambda x, y: math.log(-1), deadline=soon(0.2)).negative
    with pytest.raises(InvalidType, match="returned 'no', a str"):
        attack_callable(lambda x, y: "no", deadline=soon())
    with pytest.raises(InvalidType, match="complex"):
        attack_callable(lambda x, y: 1j, deadline=soon())
