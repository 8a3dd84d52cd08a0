"""Kernels in words, and the facts of a fit."""

import numpy as np
import pytest

import mercer as mc
from mercer.reports import facts, in_words, listed

SAID = {
    "gaussian(2.0).on('age')": "close in age (gaussian, length 2)",
    "2 * delta.on('city')": "2 times equal in city (delta)",
    "bias + linear": "alike in any of 2 ways:\n  a constant\n  pointing the same way (linear)",
    "filled(gaussian, 0.0).on('x')": "close in x (gaussian, length 1); gaps filled",
    "schoenberg(0.25 * delta.on('a') + missing.on('b'), 2.0) * bias": (
        "alike in each of 3 ways:\n"
        "  equal in a, else a factor exp(-1)\n"
        "  both there or both missing in b, else a factor exp(-4)\n"
        "  a constant"
    ),
    "linear ** 2": "the power 2 of pointing the same way (linear)",
}


@pytest.mark.parametrize("text", SAID)
def test_a_kernel_is_told_in_words(text):
    assert in_words(mc.kernel(text)) == SAID[text]


def test_every_kernel_with_a_text_has_words():
    for leaf in mc.kernels.text.LEAVES.values():
        assert leaf.word in in_words(leaf()) or leaf is mc.Bias


def test_the_factor_for_what_differs_is_the_value_of_the_kernel():
    k = mc.kernel("schoenberg(0.25 * delta, 2.0)")
    assert in_words(k).endswith("exp(-1)")
    assert np.isclose(k.pair("a", "b"), np.exp(-1))


def test_coordinates_have_the_names_of_their_columns_and_many_are_counted():
    names = [f"c{i}" for i in range(12)]
    said = in_words(mc.Gaussian(tuple(range(1, 13))), names)
    assert said.startswith(
        "close in c0, c1, c2, c3, c4, c5, c6, c7 and 4 more (gaussian, lengths"
    )


def test_the_facts_are_those_of_the_machine(rng):
    X = rng.normal(size=(20, 2))
    model = mc.KernelRidge("gaussian(2.0) + linear", 0.1).fit(X, X[:, 0])
    told = facts(model)
    assert told.kernel == "gaussian(2.0) + linear"
    assert told.proof_in_words() == "proved: 3 steps, each checked"
    assert (told.penalty, told.anchors) == (0.1, 20)
    assert told.norm == model.function_.norm()
    assert told.plan == str(model.plan_)


def test_a_kernel_that_nobody_proved_is_told_to_be_assumed(rng):
    X = rng.normal(size=(5, 2))
    kernel = mc.from_function(lambda x, y: float(x @ y))
    told = facts(mc.KernelRidge(kernel, 0.1).fit(X, X[:, 0]))
    assert told.proof_in_words().startswith("assumed")


def test_lines_are_broken_at_the_width_and_keep_their_indent():
    text = listed([("kernel", "one:\n  " + "word " * 40)], width=60)
    lines = text.splitlines()
    assert lines[0] == "kernel    one:"
    assert all(len(line) <= 60 for line in lines)
    assert lines[1].startswith(" " * 12 + "word")
    assert lines[2].startswith(" " * 14 + "word")
