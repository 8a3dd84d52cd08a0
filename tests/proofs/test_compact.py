r"""Functions that are zero from some distance on: those of Wendland, and none beside them.

What is called a kernel has a Fourier transform of its dimension that mpmath's quadrature finds
nowhere negative.
"""

import mpmath as mp
import pytest

import mercer as mc
from mercer.proofs.compact import is_wendland
from mercer.proofs.normal import Algebra
from mercer.proofs.reading import read


def holds(text, domain, assume=""):
    formula = read(text, domain, assume)
    algebra = Algebra.of(formula)
    return is_wendland(algebra.normal(formula.tree), algebra)


def transform(profile, dimension, w):
    """The transform of a radial function on the line or in space, by quadrature on [0, 1]."""
    if dimension == 1:
        return mp.quad(lambda r: profile(r) * mp.cos(w * r), mp.linspace(0, 1, 9))
    return mp.quad(lambda r: profile(r) * r * mp.sin(w * r), mp.linspace(0, 1, 9)) / w


WENDLAND = [
    (1, "(1-r)_+", lambda r: 1 - r),
    (1, "(1-r)_+^3(1+3r)", lambda r: (1 - r) ** 3 * (1 + 3 * r)),
    (3, "(1-r)_+^2", lambda r: (1 - r) ** 2),
    (3, "(1-r)_+^4(1+4r)", lambda r: (1 - r) ** 4 * (1 + 4 * r)),
    (3, "(1-r)_+^6(3+18r+35r^2)", lambda r: (1 - r) ** 6 * (3 + 18 * r + 35 * r**2)),
    (
        3,
        "(1-r)_+^8(1+8r+25r^2+32r^3)",
        lambda r: (1 - r) ** 8 * (1 + 8 * r + 25 * r**2 + 32 * r**3),
    ),
    (1, "(1-r)_+^3.5(1+3.5r)", lambda r: (1 - r) ** 3.5 * (1 + 3.5 * r)),
    (3, "(1-r)_+^2 + 2(1-r)_+^3", lambda r: (1 - r) ** 2 + 2 * (1 - r) ** 3),
]


def on(text, dimension):
    domain = "reals" if dimension == 1 else f"vectors({dimension})"
    return text.replace("r", "|x-y|"), domain


@pytest.mark.parametrize(("dimension", "text", "profile"), WENDLAND)
def test_wendlands_functions_are_kernels_in_their_dimension(dimension, text, profile):
    assert holds(*on(text, dimension))
    found = [transform(profile, dimension, w) for w in (0.1, 1, 3, 4.5, 6, 7.7, 11, 25, 60)]
    assert min(found) > -1e-12  # the error of the quadrature, of 15 digits


NONE = [
    # Below Askey's bound, or Wendland's polynomial of another dimension.
    (1, "(1-r)_+^0.9"),
    (3, "(1-r)_+^1.9"),
    (1, "(1-r)_+^2.5(1+2.5r)"),
    (3, "(1-r)_+^3(1+3r)"),
    (5, "(1-r)_+^4(1+4r)"),
    (4, "(1-r)_+^4(1+4r)"),
    (5, "(1-r)_+^6(3+18r+35r^2)"),
    # Polynomials beside Wendland's: the derivative at 0 is not 0, or one is negative there.
    (1, "(1-r)_+^4(1+5r)"),
    (3, "(1-r)_+^4(1+4r+r^2)"),
    (3, "-(1-r)_+^4(1+4r)"),
    (3, "(1-r)_+^4(4r-1)"),
    (3, "(1-r)_+^4 - (1-r)_+^5"),
    # Not zero beyond a distance, or not of one distance alone.
    (1, "1 + (1-r)_+"),
    (1, "(1-r)_+ + (2-r)_+"),
    (1, "(1+r)_+"),
    (1, "(1-r)_+ (2-r)_+"),
    (1, "(1-r)_+ e^{-r}"),
    (1, "(r-1)_+"),
]


@pytest.mark.parametrize(("dimension", "text"), NONE)
def test_no_other_function_is_called_one(dimension, text):
    assert not holds(*on(text, dimension))


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("(1-|x-y|)_+", "vectors"),  # in every dimension
        ("(1-|x-y|)_+^9", "vectors"),
        ("(1-|x-y|)_+", "circle"),
        ("(1-|x+y|)_+", "reals"),
        ("(1-|x|)_+ (1-|y|)_+", "reals"),
        ("x y (1-|x-y|)_+", "reals"),
        ("(1-|x^2-y^2|)_+", "reals"),
        ("(1-norm(x-y, 1))_+^2", "vectors(2)"),
        ("(1-len(x ^ y))_+", "sets"),
    ],
)
def test_a_function_of_something_else_than_the_distance_is_none(text, domain):
    assert not holds(text, domain)


def test_the_scale_may_be_a_parameter_or_an_irrational_number():
    assert holds("(1-|x-y|/s)_+^4(1+4|x-y|/s)", "vectors(3)", "s > 0")
    assert holds("(1-sqrt(2)|x-y|)_+^4(1+4sqrt(2)|x-y|)", "vectors(3)")
    assert holds("(2-|x-y|)_+^4(1+2|x-y|)", "vectors(3)")
    # Two scales, and one that may be zero or less.
    assert not holds("(1-|x-y|/s)_+^4(1+4|x-y|/t)", "vectors(3)", "s, t > 0")
    assert not holds("(1-s|x-y|)_+^4(1+4s|x-y|)", "vectors(3)", "s real")


def test_a_proof_names_wendland_and_is_refused_in_another_dimension():
    text = "max(0, 1 - norm(x - y)/s)**4*(4*norm(x - y)/s + 1)"
    proof = mc.prove(text, "vectors(3)", assume="s > 0").proof
    assert proof.rule == "wendland"
    proof.check()
    data = proof.to_dict()
    for domain, good in (("vectors(2)", True), ("vectors(4)", False), ("vectors", False)):
        data["claim"]["parameters"]["domain"] = domain
        changed = type(proof).from_dict(data)
        if good:
            changed.check()
        else:
            with pytest.raises(mc.errors.InvalidProof):
                changed.check()
