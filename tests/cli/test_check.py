"""`mercer check`: its exit code is the answer, its JSON can be checked by another program."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import mercer as mc
from mercer.cli import app
from mercer.proofs import FormulaProof

CHECK = sys.modules["mercer.cli.check"]  # in the package the name is that of the command


def run(*words):
    return CliRunner().invoke(app, ["check", *words])


ANSWERS = [
    (["min(x,y)/max(x,y)", "--domain", "positive"], 0, "is positive definite on positive"),
    (["max(x,y)", "--domain", "nonnegative"], 1, "is not positive definite on nonnegative"),
    (["1/acos(x*y)", "--domain", "interval(-1, 1)", "--seconds", "0.3"], 2, "may or may not"),
    (["exp(-s*abs(x-y)), s > 0"], 0, "is positive definite"),
    (["exp(-s*abs(x-y)**q)", "--assume", "s > 0", "--given", "0 < q <= 2"], 0, "is positive"),
    (["exp(-s*abs(x-y)**q)", "--assume", "s > 0, 0 < q <= 3"], 1, "is not positive"),
    ([r"\min(x, x')", "--domain", "nonnegative"], 0, "min(x, y) is positive definite"),
]


@pytest.mark.parametrize(("words", "code", "told"), ANSWERS)
def test_the_exit_code_is_the_answer(words, code, told):
    found = run(*words)
    assert found.exit_code == code
    assert told in found.stdout


@pytest.mark.parametrize(("words", "code", "told"), ANSWERS)
def test_json_says_the_same(words, code, told):
    assert told
    found = run(*words, "--json")
    assert found.exit_code == code
    data = json.loads(found.stdout)
    assert data["status"] == ["pd", "not_pd", "unknown"][code]
    if code == 0:
        FormulaProof.from_dict(data["proof"]).check()
    elif code == 1:
        assert {"points", "weights", "value"} <= data.keys()
        mc.Refutation.from_dict(data).check()
    else:
        assert not {"proof", "points", "weights"} & data.keys()


def test_numbers_of_a_refutation_are_exact_texts():
    data = json.loads(run("max(x,y)", "--domain", "nonnegative", "--json").stdout)
    points, weights = (
        [Fraction(text) for text in data[name]] for name in ("points", "weights")
    )
    form = sum(
        v * w * max(x, y)
        for x, v in zip(points, weights, strict=True)
        for y, w in zip(points, weights, strict=True)
    )
    assert form == Fraction(data["value"]) < 0


def test_vectors_are_lists_and_sets_are_sorted_lists():
    vectors = json.loads(run("norm(x-y)", "--domain", "vectors(2)", "--json").stdout)["points"]
    assert all(len(point) == 2 and all(map(Fraction, point)) is not None for point in vectors)
    assert all(isinstance(part, str) for point in vectors for part in point)
    sets = json.loads(run("1-len(x ^ y)", "--domain", "sets", "--json").stdout)["points"]
    assert all(point == sorted(point) for point in sets)
    assert all(isinstance(part, int) for point in sets for part in point)


MISUSES = [
    (["exp(-abs(x-y)"], "never closed"),
    (["x - 2*y"], "not symmetric"),
    (["1/(x-y)"], "not defined where x = y"),
    (["x.__class__"], "attributes"),
    (["__import__('os').system('true')"], "import"),
    (["zeta*x*y"], "nothing is known of 'zeta'"),
    (["x*y", "--domain", "nowhere"], "there is no domain"),
    (["x*y", "--seconds", "-1"], "seconds must be a positive number"),
    (["x*y", "--seconds", "nan"], "seconds must be a positive number"),
    (["x\0y"], "NUL"),
    (["1" * 5_000 + "*x*y"], "characters"),
    (["x*y*" + "1" * 400], "digits"),
    (["(" * 10_000 + "x" + ")" * 10_000], "characters"),
    (["x**y**x**y", "--domain", "positive"], "not symmetric"),
    ([""], "empty"),
]


@pytest.mark.parametrize(("words", "told"), MISUSES, ids=lambda words: str(words)[:30])
def test_what_has_no_answer_has_an_exit_code_of_its_own(words, told):
    found = run(*words)
    assert found.exit_code == 3
    assert told in found.stderr
    assert not found.stdout
    assert "Traceback" not in found.stderr


def test_an_error_is_json_too_where_json_is_asked_for():
    found = run("x - 2*y", "--json")
    assert found.exit_code == 3
    assert "not symmetric" in json.loads(found.stdout)["error"]


def test_a_wrong_option_is_no_answer_either():
    for words in (["x*y", "--no-such-option"], ["x*y", "--seconds", "soon"], []):
        assert run(*words).exit_code == 3


def test_a_mistake_of_mercer_is_told_as_such_and_is_no_answer(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("lost")

    monkeypatch.setattr(CHECK, "prove", broken)
    found = run("x*y")
    assert found.exit_code == 3
    assert "RuntimeError, a mistake in mercer itself: lost" in found.stderr


def test_a_terminal_without_the_signs_gets_others(monkeypatch):
    class Ascii:
        encoding = "ascii"

    said = []
    monkeypatch.setattr(CHECK.sys, "stdout", Ascii())
    monkeypatch.setattr(CHECK.typer, "echo", lambda words, **_: said.append(words))
    CHECK.say("∧")
    assert said == ["\\u2227"]


def test_the_installed_command_answers():
    name = Path(sys.executable).with_name("mercer")
    found = subprocess.run(
        [name, "check", "max(x,y)", "--domain", "nonnegative"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert found.returncode == 1
    assert "points   0, 1" in found.stdout
