"""The questions of the lectures, settled: what they ask to prove has a proof, what is no kernel
has points and weights that show it.

Each answer is held against the formula written again in plain Python: a proved kernel has its
values, a refutation has its quadratic form.
"""

import json
import math
import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidProof
from mercer.kernels.terms import Term
from mercer.proofs import FormulaProof, read

TABLE = tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))
QUIZ = {row["text"]: row for row in TABLE["formula"] if row.get("quiz")}

LONGEST = 15
"""Lines that a proof may have."""

E = 2.0**-48
"""Rounding of a value, relative to sqrt(k(x, x) k(y, y)): 32 units, for exponents up to 12."""

A = np.array([[2.0, 1.0], [1.0, 2.0]])
S = 0.8

PLANE = [(0.0, 0.0), (1.0, 0.0), (0.5, -1.0), (-1.5, 0.25), (1.0, 1.0)]
LINE = [-2.0, -0.5, 0.0, 1.0, 2.5]
ABOVE = [0.25, 1.0, 1.5, 3.0]
WHOLE = [1, 2, 3, 4, 6, 12]
SETS = [set(), {1}, {1, 2}, {2, 3, 4}, {1, 2, 3, 4}, {5}]


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def gaussian(x, y):
    return math.exp(-squared(x, y) / (2 * S**2))


# For each formula the theorems that make a fitting proof (| between proofs that fit), the
# function in Python, points, and values of its parameters.
PROVED = {
    "1/(1-x*y)": (
        "power series, features and kernels | laplace transform, terms without interaction",
        lambda x, y: 1 / (1 - x * y),
        [-0.9, -0.25, 0.0, 0.5, 0.75],
        {},
    ),
    "2**(x+y)": ("features and kernels", lambda x, y: 2 ** (x + y), WHOLE, {}),
    "2**(x*y)": (
        "exponential, features and kernels",
        lambda x, y: 2 ** (x * y),
        [1, 2, 3, 4],
        {},
    ),
    "exp(-abs(x-y)**2)": (
        "features and kernels, exponential | schoenberg, distance",
        lambda x, y: math.exp(-((x - y) ** 2)),
        LINE,
        {},
    ),
    "cos(x-y)": ("cosine", lambda x, y: math.cos(x - y), LINE, {}),
    "min(x,y)": ("minimum", min, [0.0, *ABOVE], {}),
    "min(x,y)/max(x,y)": (
        "features and kernels, minimum",
        lambda x, y: min(x, y) / max(x, y),
        ABOVE,
        {},
    ),
    "gcd(x,y)": ("common divisors", math.gcd, WHOLE, {}),
    "gcd(x,y)/lcm(x,y)": (
        "features and kernels, common divisors",
        lambda x, y: math.gcd(x, y) / math.lcm(x, y),
        WHOLE,
        {},
    ),
    "e**len(x & y)": (
        "exponential, common elements",
        lambda x, y: math.exp(len(x & y)),
        SETS,
        {},
    ),
    "2**len(x & y)": (
        "exponential, common elements | exponential, features and kernels, common elements",
        lambda x, y: 2 ** len(x & y),
        SETS,
        {},
    ),
    "exp(-norm(x-y)**2/2)": (
        "features and kernels, exponential, inner product",
        lambda x, y: math.exp(-squared(x, y) / 2),
        PLANE,
        {},
    ),
    "exp(-norm(x-y)**2/(2*s**2))": (
        "features and kernels, exponential, inner product",
        gaussian,
        PLANE,
        {"s": S},
    ),
    "exp(dot(x,y)/s**2)": (
        "exponential, features and kernels, inner product",
        lambda x, y: math.exp(dot(x, y) / S**2),
        PLANE,
        {"s": S},
    ),
    "exp(-dot(x,x)/(2*s**2))*exp(dot(x,y)/s**2)*exp(-dot(y,y)/(2*s**2))": (
        "features and kernels, exponential, inner product",
        gaussian,
        PLANE,
        {"s": S},
    ),
    "x*y": ("features and kernels", lambda x, y: x * y, LINE, {}),
    "dot(x,y)": ("inner product", dot, PLANE, {}),
    "dot(x,y)**2": (
        "whole power, inner product",
        lambda x, y: dot(x, y) ** 2,
        PLANE,
        {},
    ),
    "dot(x,y)**d": (
        "whole power, inner product",
        lambda x, y: dot(x, y) ** 3,
        PLANE,
        {"d": 3},
    ),
    "(dot(x,y)+1)**d": (
        "whole power, features and kernels, inner product",
        lambda x, y: (dot(x, y) + 1) ** 4,
        PLANE,
        {"d": 4},
    ),
    "exp(dot(x,y))": (
        "exponential, inner product",
        lambda x, y: math.exp(dot(x, y)),
        PLANE,
        {},
    ),
    # A kernel takes numbers for its parameters; the matrix has a test of its own below.
    "dot(x,A,y)": ("inner product", None, [], {}),
}

# For each formula how many points refute it, and the function in Python.
REFUTED = {
    "log(1+x*y)": (2, lambda x, y: math.log(1 + x * y)),
    "cos(x+y)": (1, lambda x, y: math.cos(x + y)),
    "max(x,y)": (2, max),
    "lcm(x,y)": (2, lambda x, y: math.lcm(int(x), int(y))),
    "norm(x-y)": (2, lambda x, y: math.sqrt(squared(x, y))),
}


@cache
def settled(text):
    """The verdict on a question of the table."""
    row = QUIZ[text]
    return mc.prove(text, row["domain"], assume=row.get("assume", ""))


def through_json(data):
    return json.loads(json.dumps(data))


def rules(proof):
    return {step.rule for step in proof.walk()}


# -------------------------------------------------------------------------------- the table


def test_the_whole_quiz_is_settled():
    assert {text: settled(text).status for text in QUIZ} == {
        text: row["status"] for text, row in QUIZ.items()
    }


def test_no_question_of_the_table_is_left_out_here():
    assert set(PROVED) | set(REFUTED) == set(QUIZ)


@pytest.mark.parametrize("text", PROVED)
def test_the_theorem_that_is_named_fits(text):
    fitting = [set(chain.strip().split(", ")) for chain in PROVED[text][0].split("|")]
    assert rules(settled(text).proof) in fitting


@pytest.mark.parametrize("text", PROVED)
def test_a_proof_survives_the_checker_and_json(text):
    proof = settled(text).proof
    again = FormulaProof.from_dict(through_json(settled(text).to_dict())["proof"])
    again.check()
    assert again == proof
    assert str(again) == str(proof)


@pytest.mark.parametrize("text", PROVED)
def test_a_proof_is_short_and_quotes_its_claim(text):
    lines = str(settled(text).proof).splitlines()
    assert len(lines) <= LONGEST
    assert lines[0].startswith("1. ")
    assert lines[0].endswith(" is positive definite")
    claim = lines[0].removeprefix("1. ").removesuffix(" is positive definite")
    assert claim == str(read(text, QUIZ[text]["domain"], QUIZ[text].get("assume", "")))


@pytest.mark.parametrize("text", [text for text, row in PROVED.items() if row[1]])
def test_what_is_proved_is_a_kernel_with_the_values_of_its_formula(text):
    _, function, points, values = PROVED[text]
    k = settled(text).bind(**values)
    K = k(points)
    wanted = np.array([[function(x, y) for y in points] for x in points], dtype=float)
    size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert (np.abs(K - wanted) <= E * size).all()
    # Such errors move an eigenvalue by E trace(K) at most (Weyl); its computation adds n units.
    assert np.linalg.eigvalsh(K)[0] >= -2 * E * np.trace(wanted)


@pytest.mark.parametrize("text", REFUTED)
def test_a_refutation_holds_in_plain_python(text):
    found = settled(text).refutation
    count, function = REFUTED[text]
    assert len(found.points) == count
    pairs = [
        (float(v * w), function(x, y))
        for x, v in zip(found.points, found.weights, strict=True)
        for y, w in zip(found.points, found.weights, strict=True)
    ]
    form = sum(weight * value for weight, value in pairs)
    rounding = E * sum(abs(weight * value) for weight, value in pairs)
    assert form < -rounding
    assert form <= found.value + rounding  # `value` is the form, or bounds it from above


@pytest.mark.parametrize("text", REFUTED)
def test_a_refutation_survives_its_check_and_json(text):
    verdict = settled(text)
    verdict.refutation.check()
    data = through_json(verdict.to_dict())
    assert data["status"] == "not_pd"
    again = mc.Refutation.from_dict(data)
    again.check()
    assert again == verdict.refutation
    assert len(str(again).splitlines()) <= LONGEST


# ------------------------------------------------------------------ what settles nothing


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("min(x,y)", "max(x, y)"),
        ("gcd(x,y)", "lcm(x, y)"),
        ("cos(x-y)", "cos(x + y)"),
        ("2**(x*y)", "2**(-x*y)"),
        ("1/(1-x*y)", "1/(1 + x*y)"),
        ("dot(x,y)**2", "dot(x, y)**2 - 1"),
        ("exp(-abs(x-y)**2)", "exp(-abs(x - y)**3)"),
    ],
)
def test_a_proof_does_not_prove_the_neighbour_of_its_claim(text, wrong):
    proof = settled(text).proof
    parameters = proof.claim.parameters
    claim = Term("formula", (("text", wrong), *parameters[1:]))
    assert parameters[0][0] == "text"
    with pytest.raises(InvalidProof):
        replace(proof, claim=claim).check()


@pytest.mark.parametrize("text", REFUTED)
def test_a_refutation_with_other_weights_is_none(text):
    found = settled(text).refutation
    # With so little weight, on one point alone, the form is far above the value.
    other = tuple(Fraction(n == 0) / 1000 for n in range(len(found.weights)))
    with pytest.raises(InvalidProof):
        replace(found, weights=other).check()


# -------------------------------------------------------------- in the words of the lectures

WORDS = {
    r"\frac{1}{1 - xx'}": "1/(1-x*y)",
    r"2^{x+x'}": "2**(x+y)",
    r"2^{xx'}": "2**(x*y)",
    r"\log(1 + xx')": "log(1+x*y)",
    r"\exp(-|x - x'|^2)": "exp(-abs(x-y)**2)",
    r"\cos(x + x')": "cos(x+y)",
    r"\cos(x - x')": "cos(x-y)",
    r"\min(x, x')": "min(x,y)",
    r"\max(x, x')": "max(x,y)",
    r"\min(x, x') / \max(x, x')": "min(x,y)/max(x,y)",
    r"\text{GCD}(x, x')": "gcd(x,y)",
    r"\text{LCM}(x, x')": "lcm(x,y)",
    r"\text{GCD}(x, x') / \text{LCM}(x, x')": "gcd(x,y)/lcm(x,y)",
    r"e^{|x \cap x'|}": "e**len(x & y)",
    r"2^{|x \cap x'|}": "2**len(x & y)",
    r"e^{-\frac{\|x - x'\|^2}{2 s^2}}": "exp(-norm(x-y)**2/(2*s**2))",
    r"\exp(x^\top x' / s^2)": "exp(dot(x,y)/s**2)",
    r"\|x - x'\|": "norm(x-y)",
    r"xx'": "x*y",
    r"x^\top x'": "dot(x,y)",
    r"(x^\top x')^2": "dot(x,y)**2",
    r"(x \cdot y)^d": "dot(x,y)**d",
    r"(x \cdot y + 1)^d": "(dot(x,y)+1)**d",
    r"x^\top A x'": "dot(x,A,y)",
}


@pytest.mark.parametrize("words", WORDS)
def test_a_question_is_understood_as_the_lectures_write_it(words):
    row = QUIZ[WORDS[words]]
    verdict = mc.prove(words, row["domain"], assume=row.get("assume", ""))
    assert verdict.status == row["status"]
    (verdict.proof or verdict.refutation).check()
    # The exponential is written in two ways, and nothing else may differ.
    assert verdict.subject.replace("e**(", "exp(") == settled(WORDS[words]).subject.replace(
        "e**(", "exp("
    )


# ---------------------------------------------------------------------- whatever else is asked


def test_the_gaussian_follows_from_bishops_chain():
    """A multiple of the linear kernel, its exponential, and that times f(x) f(y)."""
    proof = settled("exp(-norm(x-y)**2/(2*s**2))").proof
    chain = [(step.rule, str(step.claim["text"])) for step in proof.walk()]
    assert chain == [
        ("features and kernels", "exp(-norm(x - y, 2)**2/(2*s**2))"),
        ("exponential", "e**(dot(x, y)/s**2)"),
        ("features and kernels", "dot(x, y)/s**2"),
        ("inner product", "dot(x, y)"),
    ]


def test_the_form_of_a_semidefinite_matrix_is_a_kernel_and_that_of_another_is_none():
    proved = mc.prove("dot(x, [[2, 1], [1, 2]], y)", "vectors(2)")
    proved.proof.check()
    K = proved.kernel(PLANE)
    X = np.array(PLANE)
    assert (np.abs(K - X @ A @ X.T) <= E * np.sqrt(np.outer(np.diag(K), np.diag(K)))).all()

    refuted = mc.prove("dot(x, [[1, 2], [2, 1]], y)", "vectors(2)")
    refuted.refutation.check()
    x = np.array([float(part) for part in refuted.refutation.points[0]])
    assert x @ np.array([[1, 2], [2, 1]]) @ x < 0


def test_a_distance_is_no_kernel_and_its_negative_only_conditionally():
    for text in ("norm(x - y)", "-norm(x - y)"):
        mc.prove(text, "vectors").refutation.check()
    # Conditionally: with weights that sum to zero, so every exp(-t r) is a kernel (Schoenberg),
    # and the distances to the origin make up for the other weights.
    exponential = mc.prove("exp(-t*norm(x - y)), t > 0", "vectors").proof
    anchored = mc.prove("norm(x) + norm(y) - norm(x - y)", "vectors").proof
    for proof in (exponential, anchored):
        proof.check()
        below = proof.premises[0]
        assert below.property == "cnd"
        below.check()
    assert exponential.rule == "schoenberg"
    # One point shows that no other weights are meant: the form of -|x - y| at weights 1, 1.
    line = np.array([0.0, 1.0, 3.0])
    D = np.abs(np.subtract.outer(line, line))
    assert np.ones(3) @ -D @ np.ones(3) < 0
    assert np.array([1, -2, 1]) @ -D @ np.array([1, -2, 1]) > 0


def features(x):
    return [x[0] ** 2, math.sqrt(2) * x[0] * x[1], x[1] ** 2]


k1, k2 = mc.Gaussian(), mc.Polynomial(degree=2)
CLOSED = {
    "an inner product of features": (mc.FeatureKernel(features), "feature map"),
    "k1 + k2": (k1 + k2, "sum"),
    "k1 k2": (k1 * k2, "schur product"),
    "c k1": (3 * k1, "non-negative multiple"),
    "a polynomial of k1": (mc.series(k1, [1, 0, 3]), "power series"),
    "exp(k1)": (k1.exp(), "power series"),
    "f(x) k1 f(y)": (k1.weighted(lambda x: math.sin(x[0])), "weighting"),
    "k1(phi(x), phi(y))": (k1.map(features), "pullback"),
    "k1 + k2 on parts": (k1.on(0) + k2.on(1), "sum"),
    "k1 k2 on parts": (k1.on(0) * k2.on(1), "schur product"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_rule_of_the_lectures_proves_a_kernel(name):
    kernel, theorem = CLOSED[name]
    verdict = mc.prove(kernel)
    assert verdict.status == "pd"
    assert verdict.proof.rule == theorem
    assert verdict.kernel == kernel


# The same rules, and what they do not allow, for formulas: Gaussian k1, polynomial k2.
ONE, TWO = "exp(-norm(x - y)**2)", "(dot(x, y) + 1)**2"
FORMULAS = [
    (f"3*{ONE}", "pd"),
    (f"{ONE} + {TWO}", "pd"),
    (f"1 + 3*{ONE}**2", "pd"),
    (f"{ONE}*{TWO}", "pd"),
    (f"cos(norm(x))*{ONE}*cos(norm(y))", "pd"),
    (f"exp({ONE})", "pd"),
    ("1 + dot(x, y) + dot(x, y)**2/2 + dot(x, y)**3/6", "pd"),
    (f"-{ONE}", "not_pd"),
    (f"{ONE} - {TWO}", "not_pd"),
    (f"1 - 3*{ONE}**2", "not_pd"),
    (f"1/{TWO}", "not_pd"),
    ("1 + dot(x, y) - dot(x, y)**2/2", "not_pd"),
]


@pytest.mark.parametrize(("text", "status"), FORMULAS)
def test_a_rule_of_the_lectures_proves_a_formula_and_without_its_condition_none(text, status):
    verdict = mc.prove(text, "vectors")
    assert verdict.status == status
    (verdict.proof or verdict.refutation).check()


def test_the_three_equivalents_of_a_semidefinite_matrix():
    """No negative eigenvalue; K = P'P; x'Kx >= 0 for all x: or none of the three."""
    points = np.array([1, 2, 3])
    least = mc.prove(np.minimum.outer(points, points))
    assert least.status == "pd"
    assert least.evidence.eigenvalues[0] > 0
    P = least.evidence.factor
    assert np.abs(P.T @ P - least.evidence.matrix).max() <= least.evidence.bound * 3

    largest = mc.prove(np.maximum.outer(points, points))
    assert largest.status == "not_pd"
    assert largest.evidence.eigenvalues[0] < 0
    x = np.array([float(weight) for weight in largest.evidence.weights])
    assert x @ np.maximum.outer(points, points) @ x == float(largest.evidence.value) < 0
