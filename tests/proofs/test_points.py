"""Which names of a formula are its two points, and which are parameters."""

import pytest

from mercer.errors import InvalidFormula
from mercer.proofs.notation import plain
from mercer.proofs.points import named
from mercer.proofs.signs import tokens

NAMED = {
    "min(x, y)": "min(x,y)",
    "min(x, z)": "min(x,y)",
    "min(z, x)": "min(y,x)",
    "min(x, x')": "min(x,y)",
    "min(x', x)": "min(y,x)",
    "min(u, v)": "min(x,y)",
    "min(s, t)": "min(x,y)",
    "min(a, b)": "min(x,y)",
    "min(m, n)": "min(x,y)",
    "min(A, B)": "min(x,y)",
    "min(x1, x2)": "min(x,y)",
    "min(x_1, x_2)": "min(x,y)",
    "min(x_i, x_j)": "min(x,y)",
    r"min(\mathbf{x}_n, \mathbf{x}_m)": "min(x,y)",
    "min(x_{1}, x_{2})": "min(x,y)",
    "min(theta, theta')": "min(x,y)",
    "min(theta, phi)": "min(x,y)",
    "min(t, t')": "min(x,y)",
    "k(x, y) = min(x, y)": "min(x,y)",
    "k(y, x) = y - x": "x-y",
    "k(p, q) = pq + p + q": "x*y+x+y",
    "K_0(p, q) := pq": "x*y",
    r"\kappa(s, t) = st": "x*y",
    "k(x_1, x_2) = x_1x_2": "x*y",
    "k(x, x') = xx'": "x*y",
    "x^2 + x + 1": "x**2+x+1",
    "s + t + st": "x+y+x*y",
    "x x' + 1": "x*y+1",
}


@pytest.mark.parametrize("text", NAMED)
def test_two_points_are_found_by_their_names(text):
    assert plain(text).text == NAMED[text]


def test_a_known_parameter_is_no_point():
    assert plain("s*x*y + t", names=("s", "t")).text == "s*x*y+t"
    assert plain("s*min(u, v)", names=("s",)).text == "s*min(x,y)"
    assert plain("min(s, t)", names=("s",)).text == "min(s,t)"  # one point alone is none
    assert plain("sxy", names=("s",)).text == "s*x*y"
    assert plain("sigma_f*x*y", names=("sigma_f",)).text == "sigma_f*x*y"
    assert plain("sigma_{f}*x*y", names=("sigma_f",)).text == "sigma_f*x*y"
    assert plain(r"\sigma_f^2 x y", names=("sigma_f",)).text == "sigma_f**2*x*y"


REFUSED = [
    ("k(x, x) = x", "both points are called x"),
    ("k(s, t) = s x", "none of the two points"),
    ("k(x_1, x_2) = x_1 x_3", "none of the two points"),
    ("k(x) = x", "an equation"),
    ("k(x, y, z) = x", "an equation"),
    ("x = y = z", "an equation"),
    ("x'' x", "two primes"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_other_names_than_those_of_the_points_are_refused(text, words):
    with pytest.raises(InvalidFormula, match=words):
        plain(text)


def test_a_point_cannot_be_a_parameter():
    with pytest.raises(InvalidFormula, match="a point and a parameter"):
        plain("k(s, t) = s*t", names=("s",))


def test_places_are_kept_so_that_errors_point_at_what_was_written():
    formula = "k(u, v) = uv"
    found = named(list(tokens(formula)), formula, frozenset())
    assert [(token.text, token.at) for token in found] == [("x", 10), ("y", 11)]
