import json
from dataclasses import replace
from fractions import Fraction

import pytest

from mercer.errors import InvalidProof
from mercer.proofs.admissible import allowed, belongs, semidefinite
from mercer.proofs.assumptions import assumptions
from mercer.proofs.certificates import Refutation, certify
from mercer.proofs.reading import read
from mercer.proofs.spaces import space

F = Fraction
ONE = F(1)


def made(text, domain, points, weights, assume="", **parameters):
    found = certify(read(text, domain, assume), points, [F(w) for w in weights], parameters)
    assert found is not None
    return found


def lcm():
    return made("lcm(x, y)", "naturals", [F(1), F(2)], [F(1), F(-1)])


def cubic():
    return made("exp(-abs(x-y)**3)", "reals", [F(0), F(1, 2), F(1)], [9, -16, 9])


ALL = {
    "exact": lcm,
    "interval": cubic,
    "vectors": lambda: made("norm(x-y)", "vectors", [(F(0), ONE), (ONE, F(0))], [1, -1]),
    "sets": lambda: made("len(x|y)", "sets", [frozenset(), frozenset([1, 3])], [2, -1]),
    "circle": lambda: made("-norm(x-y)", "circle", [F(0), F(3)], [1, 1]),
    "parameters": lambda: made(
        "exp(-s*abs(x-y)**q)", "reals", [F(0), F(1, 2), F(1)], [9, -16, 9],
        "s > 0, 0 < q <= 3", s=ONE, q=F(3),
    ),
    "matrix": lambda: made(
        "-dot(x, A, y)", "vectors(2)", [(ONE, F(2))], [1], "A psd",
        A=((ONE, F(0)), (F(0), F(0))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_a_refutation_survives_json_and_is_checked_from_its_text(name):
    found = ALL[name]()
    found.check()
    data = json.loads(json.dumps(found.to_dict()))
    assert Refutation.from_dict(data).to_dict() == found.to_dict()
    Refutation.from_dict(data).check()
    assert set(data) >= {"points", "weights", "value", "value_is"}
    assert "is not positive definite" in str(found)


def test_exact_values_are_told_exactly_and_others_bounded():
    data = lcm().to_dict()
    assert data["points"] == ["1", "2"]
    assert data["weights"] == ["1", "-1"]
    assert (data["value"], data["value_is"]) == ("-1", "exact")
    data = cubic().to_dict()
    assert data["points"] == ["0", "1/2", "1"]
    assert data["value_is"] == "at most"
    assert -31 < F(data["value"]) < -30


def test_how_points_are_written():
    assert ALL["vectors"]().to_dict()["points"] == [["0", "1"], ["1", "0"]]
    assert ALL["sets"]().to_dict()["points"] == [[], [1, 3]]
    assert ALL["parameters"]().to_dict()["parameters"] == {"s": "1", "q": "3"}
    assert ALL["matrix"]().to_dict()["parameters"] == {"A": [["1", "0"], ["0", "0"]]}


def test_what_is_not_negative_is_not_certified():
    formula = read("min(x, y)", "nonnegative")
    assert certify(formula, [F(1), F(2)], [F(1), F(-1)]) is None
    assert certify(formula, [F(1), F(1)], [F(1), F(-1)]) is None
    assert certify(read("1/(x-y)"), [F(1), F(2)], [F(1), F(-1)]) is None
    # Zero, but no number of bits shows on which side.
    assert certify(read("exp(x)*exp(-x)*exp(y)*exp(-y)-1"), [F(1)], [F(1)], bits=256) is None


def tampered():
    base = cubic()
    yield "another formula", replace(base, formula="exp(-abs(x-y))"), "exceeds"
    yield "no formula", replace(base, formula="exp(-abs(x-"), "cannot be read"
    yield "a point moved", replace(base, points=(F(0), F(0), F(1))), "exceeds"
    yield "a weight changed", replace(base, weights=(F(9), F(16), F(9))), "exceeds"
    yield "a weight too many", replace(base, weights=(*base.weights, ONE)), "4 weights"
    yield "no point", replace(base, points=(), weights=()), "0 points"
    yield "a value too low", replace(base, value=base.value * 2), "exceeds"
    yield "a positive value", replace(base, value=F(1)), "not negative"
    yield "not exact", replace(base, exact=True), "do not show|exceeds"
    yield "an inexact weight", replace(base, weights=(9.0, F(-16), F(9))), "no exact fraction"
    yield "a parameter", replace(base, parameters=(("s", ONE),)), "wanted for none"
    yield "another domain", replace(base, domain="naturals"), "none of the whole numbers"
    yield "an end of an interval", replace(base, domain="interval(0, 2)"), "none of the numbers"
    yield "an exact value changed", replace(lcm(), value=F(-2)), "is -1, not -2"
    base = ALL["parameters"]()
    yield "q too large", replace(base, parameters=(("s", ONE), ("q", F(4)))), "contradicts"
    yield "s at its end", replace(base, parameters=(("s", F(0)), ("q", F(3)))), "contradicts"
    yield "s missing", replace(base, parameters=(("q", F(3)),)), "wanted for s, q"
    base = ALL["matrix"]()
    bad = ((F(1), F(2)), (F(2), F(1)))
    yield "not p.s.d.", replace(base, parameters=(("A", bad),)), "semidefinite"
    yield "too large", replace(base, parameters=(("A", ((ONE,),)),)), "undefined"
    base = ALL["vectors"]()
    yield "dimensions", replace(base, points=((F(0),), (F(1), F(0)))), "different numbers"
    yield (
        "off the sphere",
        replace(base, domain="sphere(2)", points=((ONE, ONE),) * 2),
        "none of",
    )
    base = ALL["circle"]()
    yield "twice around", replace(base, points=(F(0), F(7))), "none of the circle"


@pytest.mark.parametrize(("what", "found", "message"), list(tampered()))
def test_what_was_tampered_with_fails_its_check(what, found, message):
    with pytest.raises(InvalidProof, match=message):
        found.check()


@pytest.mark.parametrize(
    "change",
    [
        {"value": "-1e-999999999"},
        {"value": -1},
        {"value": "-1/0"},
        {"value": "nan"},
        {"points": ["1", "two"]},
        {"points": "12"},
        {"weights": ["1", None]},
        {"value_is": "about"},
        {"domain": "moon"},
        {"parameters": 3},
        {"points": None},
    ],
)
def test_what_cannot_be_read_is_an_error(change):
    with pytest.raises(InvalidProof):
        Refutation.from_dict({**lcm().to_dict(), **change}).check()


def test_a_missing_key_is_an_error():
    for key in ("formula", "domain", "points", "weights", "value", "value_is"):
        data = lcm().to_dict()
        del data[key]
        with pytest.raises(InvalidProof, match="no refutation"):
            Refutation.from_dict(data)


def test_tiny_values_are_bounded_by_short_decimals():
    found = made("exp(-x*y)", "reals", [F(0), F(30)], [F(1, 10**20), -F(1, 10**20)])
    found.check()
    assert -1e-38 < found.value < 0
    assert len(found.to_dict()["value"]) < 14


def test_points_of_each_space():
    unit = (F(3, 5), F(4, 5))
    inside = {
        "reals": [F(-1)], "positive": [F(1, 9)], "nonnegative": [F(0)], "naturals": [F(3)],
        "interval(-1, 1)": [F(99, 100)], "vectors": [(F(1),)], "vectors(2)": [unit],
        "sphere(2)": [unit], "circle": [F(0), F(6)], "sets": [frozenset(), frozenset([2])],
    }  # fmt: skip
    outside = {
        "circle": [F(-1), F(7)],
        "reals": [1.0, 1, unit, None], "positive": [F(0)], "nonnegative": [F(-1)],
        "naturals": [F(0), F(1, 2)], "interval(-1, 1)": [F(1), F(-1)], "vectors": [F(1), ()],
        "vectors(2)": [(F(1),), (1.0, 2.0)], "sphere(2)": [(F(1), F(1))],
        "sets": [F(1), frozenset(["a"]), {1}],
    }  # fmt: skip
    for name, points in inside.items():
        assert all(belongs(point, space(name)) for point in points), name
    for name, points in outside.items():
        assert not any(belongs(point, space(name)) for point in points), name


def test_parameters_within_their_bounds():
    given = assumptions(["0 < q <= 2", "d natural", "-1 <= t < 1", "r real"])
    for name, good, bad in (
        ("q", [F(2), F(1, 9)], [F(0), F(21, 10), 1.0]),
        ("d", [F(1), F(7)], [F(0), F(1, 2)]),
        ("t", [F(-1), F(0)], [F(1), F(-2)]),
        ("r", [F(-(10**9))], [None]),
    ):
        assert all(allowed(value, given.bounds(name)) for value in good)
        assert not any(allowed(value, given.bounds(name)) for value in bad)


def test_semidefinite_matrices():
    def matrix(*rows):
        return tuple(tuple(F(entry) for entry in row) for row in rows)

    assert semidefinite(matrix((2, 1), (1, 2)))
    assert semidefinite(matrix((1, 1), (1, 1)))
    assert semidefinite(matrix((0, 0, 0), (0, 1, 1), (0, 1, 1)))
    assert not semidefinite(matrix((1, 2), (2, 1)))
    assert not semidefinite(matrix((0, 1), (1, 0)))
    assert not semidefinite(matrix((1, 1), (0, 1)))
    assert not semidefinite(matrix((1, 1, 1), (1, 1, 1)))
    assert not semidefinite(F(1))
