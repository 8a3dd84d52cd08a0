"""Functions of the distance as sums of waves, in a unit in which their rates are rational."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mercer as mc
from mercer.proofs.normal import Algebra
from mercer.proofs.radial import profile, waves
from mercer.proofs.reading import read


def found(text, domain="reals", assume=""):
    formula = read(text, domain, assume)
    algebra = Algebra.of(formula)
    return waves(algebra.normal(formula.tree), algebra)


def value(parts, r):
    """The sum of the waves, in plain Python."""
    total = 0.0
    for w in parts:
        shape = math.sin if w.odd else math.cos
        decay = math.exp(-float(w.decay) * r - float(w.narrow) * r * r)
        total += float(w.factor) * r**w.power * decay * shape(float(w.frequency) * r)
    return total


# Each with the unit c that its rates have in common: the waves are those of r / c.
ROOT = math.sqrt(3)
WAVES = [
    ("exp(-|x-y|)", 1, lambda r: math.exp(-r)),
    ("exp(-2|x-y|)cos(3(x-y))", 1, lambda r: math.exp(-2 * r) * math.cos(3 * r)),
    ("exp(-(x-y)**2/2)", 1, lambda r: math.exp(-r * r / 2)),
    ("(1+sqrt(3)|x-y|)exp(-sqrt(3)|x-y|)", ROOT,
     lambda r: (1 + ROOT * r) * math.exp(-ROOT * r)),
    ("exp(-pi*(x-y)**2)", math.sqrt(math.pi), lambda r: math.exp(-math.pi * r * r)),
    ("exp(-pi|x-y|)+exp(-2pi|x-y|)/3", math.pi,
     lambda r: math.exp(-math.pi * r) + math.exp(-2 * math.pi * r) / 3),
    ("1 + cos(pi*(x-y))", math.pi, lambda r: 1 + math.cos(math.pi * r)),
    ("exp(-|x-y|)(cos(x-y) + sin(|x-y|))", 1,
     lambda r: math.exp(-r) * (math.cos(r) + math.sin(r))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "unit", "function"), WAVES)
def test_a_function_of_the_distance_is_a_sum_of_waves(text, unit, function):
    parts = found(text)
    for r in np.linspace(0, 4, 9):
        # A handful of terms of size 1: 64 units of rounding.
        assert abs(value(parts, unit * r) - function(r)) < 64 * 2.0**-52


@pytest.mark.parametrize("domain", ["reals", "positive", "naturals", "vectors", "vectors(3)"])
def test_parameters_are_a_unit_too(domain):
    parts = found("(1 + |x-y|/s) exp(-|x-y|/s)", domain, "s > 0")
    assert {(w.factor, w.power, w.decay) for w in parts} == {
        (Fraction(1), 0, Fraction(1)),
        (Fraction(1), 1, Fraction(1)),
    }


NONE = [
    ("exp(-s|x-y|)", "s real"),  # it may grow
    ("exp(s|x-y|)", "s > 0"),
    ("exp(-s|x-y|)", "s >= 0"),
    ("(1 + t|x-y|) exp(-s|x-y|)", "s, t > 0"),
    ("(1 + sqrt(2)|x-y|) exp(-|x-y|)", ""),
    ("exp(-|x-y|) + exp(-sqrt(2)|x-y|)", ""),
    ("exp(-|x-y|**3)", ""),
    ("x*y*exp(-|x-y|)", ""),
    ("exp(-|x+y|)", ""),
    ("sin(|x-y|)/|x-y|", ""),
]


@pytest.mark.parametrize(("text", "assume"), NONE)
def test_what_has_no_common_unit_or_is_no_such_function_is_none(text, assume):
    assert found(text, "reals", assume) is None


def test_a_function_of_the_distance_has_a_profile_and_another_has_none():
    for text, is_one in (
        ("(x-y)**2", True),
        ("|x-y|**3", True),
        ("x*y", False),
        ("x+y", False),
    ):
        formula = read(text)
        algebra = Algebra.of(formula)
        assert (profile(algebra.normal(formula.tree), algebra) is not None) == is_one


MATERN = [
    ("(1 + sqrt(3)*norm(x-y)/s)*exp(-sqrt(3)*norm(x-y)/s)", 1.5),
    ("(1 + sqrt(5)*norm(x-y)/s + 5*norm(x-y)**2/(3*s**2))*exp(-sqrt(5)*norm(x-y)/s)", 2.5),
]


@pytest.mark.parametrize(("text", "nu"), MATERN)
def test_the_matern_kernels_are_proved_as_they_are_written(text, nu):
    verdict = mc.prove(text, "vectors", assume="s > 0")
    assert verdict.proof.rule == "bochner"
    verdict.proof.check()
    points = np.array([(0.0, 0.0), (1.0, 0.5), (-2.0, 3.0), (0.25, 0.25)])
    own, known = verdict.bind(s=0.75)(points), mc.Matern(nu=nu, scale=0.75)(points)
    assert np.abs(own - known).max() < 32 * 2.0**-52


NEIGHBOURS = [
    ("(1 + 2*sqrt(3)*|x-y|)*exp(-sqrt(3)*|x-y|)", "reals"),
    ("(1 - sqrt(3)*norm(x-y))*exp(-sqrt(3)*norm(x-y))", "vectors(2)"),
    ("exp(-pi*|x-y|) - exp(-2*pi*|x-y|)", "reals"),
    ("exp(-pi*(x-y)**2)*(1 - 2*pi*(x-y)**2 - 1/2)", "reals"),
]


@pytest.mark.parametrize(("text", "domain"), NEIGHBOURS)
def test_the_neighbours_of_kernels_in_other_units_are_refuted(text, domain):
    mc.prove(text, domain).refutation.check()
