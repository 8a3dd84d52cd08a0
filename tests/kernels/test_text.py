"""Kernels as text: read strictly, written so that every digit comes back."""

import warnings

import pytest

import mercer as mc
from mercer.errors import InvalidParameter, MercerError, NotAKernel, NoTextForm
from mercer.kernels.text import DEEPEST, LATER, LEAVES, LONGEST

g, line = mc.Gaussian(), mc.Linear()

READ = {
    "gaussian": g,
    "  gaussian  ": g,
    "gaussian()": g,
    "gaussian(0.5)": mc.Gaussian(0.5),
    "gaussian(scale=0.5)": mc.Gaussian(0.5),
    "gaussian((0.5, 1e-3))": mc.Gaussian((0.5, 1e-3)),
    "gaussian([0.5, 1e-3])": mc.Gaussian((0.5, 1e-3)),
    "gaussian(metric=((2.0, 0.5), (0.5, 1.0)))": mc.Gaussian(metric=[[2, 0.5], [0.5, 1]]),
    "matern(2.5, 0.3)": mc.Matern(2.5, 0.3),
    "matern(scale=0.3)": mc.Matern(1.5, 0.3),
    "polynomial(degree=3, offset=0)": mc.Polynomial(3, 0.0),
    "cosine_difference(-2.5)": mc.CosineDifference(-2.5),
    "gaussian + linear": g + line,
    "gaussian + linear + bias": g + line + mc.Bias(),
    "gaussian + (linear + bias)": g + (line + mc.Bias()),
    "gaussian * linear + bias": g * line + mc.Bias(),
    "gaussian * (linear + bias)": g * (line + mc.Bias()),
    "2 * gaussian": 2 * g,
    "gaussian * 2": 2 * g,
    "gaussian / 4": g / 4,
    "2 * gaussian * linear": 2 * g * line,
    "2 * (gaussian * linear)": 2 * (g * line),
    "gaussian + 3": g + 3,
    "3 + gaussian": 3 + g,
    "gaussian ** 2": g**2,
    "(2 * gaussian) ** 2": (2 * g) ** 2,
    "2 * gaussian ** 2": 2 * g**2,
    "gaussian ** 0.5": g**0.5,
    "exp(linear)": line.exp(),
    "linear.exp()": line.exp(),
    "normalized(2 * linear)": (2 * line).normalized(),
    "(2 * linear).normalized()": (2 * line).normalized(),
    "series(linear, (1.0, 0.5))": mc.series(line, (1.0, 0.5)),
    "schoenberg(linear, 0.5)": mc.Schoenberg(0.5, line),
    "linear.on('age')": line.on("age"),
    'linear.on("age", "a b")': line.on("age", "a b"),
    "linear.on(0, 2)": line.on(0, 2),
    "(gaussian + linear).on('it\\'s')": (g + line).on("it's"),
    "gaussian.on('a') * delta.on('b')": g.on("a") * mc.Delta().on("b"),
    "1e-300 * gaussian(1_000.5)": 1e-300 * mc.Gaussian(1000.5),
}


@pytest.mark.parametrize("text", READ)
def test_text_is_read(text):
    assert mc.kernel(text) == READ[text]
    assert mc.kernel(str(READ[text])) == READ[text]
    assert READ[text].text() == str(READ[text])


def test_a_kernel_is_returned():
    assert mc.kernel(g) is g


@pytest.mark.parametrize("word", LEAVES)
def test_every_named_kernel_has_a_text(word):
    assert mc.kernel(word) == LEAVES[word]()
    assert str(LEAVES[word]()) == word


def test_every_leaf_of_the_package_is_named():
    leaves = {
        value
        for name in dir(mc)
        if isinstance(value := getattr(mc, name), type)
        and issubclass(value, mc.Kernel)
        and value is not mc.Kernel
    }
    made = {
        mc.Sum,
        mc.Product,
        mc.Scaled,
        mc.Power,
        mc.Exp,
        mc.Series,
        mc.Normalized,
        mc.Schoenberg,
        mc.Weighted,
        mc.Pullback,
        mc.Column,
        mc.Filled,
        mc.FeatureKernel,
        mc.FunctionKernel,
    }
    assert {*LEAVES.values(), *LATER.values()} == leaves - made


@pytest.mark.parametrize(
    "value", [0.1, 1 / 3, 1e-7, 123456789.123456789, 2.0**-40, 5e-100, 1e22, 1e16, 0.1 + 0.2]
)
def test_every_digit_comes_back(value):
    for kernel in (
        mc.Gaussian(value),
        value * line,
        mc.Schoenberg(value, line),
        mc.series(line, (value,)),
    ):
        assert mc.kernel(str(kernel)) == kernel


WRONG = {
    "": "expression",
    "gaussian +": "expression",
    "gaussian linear": "expression",
    "gaussian(": "expression",
    "gausian": "did you mean gaussian",
    "foo": "Known:",
    "2": "number",
    "2 * 3": "number",
    "'gaussian'": "cannot stand",
    "gaussian(width=2)": "cannot be built",
    "gaussian(1, 2, 3, 4)": "cannot be built",
    "gaussian(1, scale=1)": "cannot be built",
    "gaussian(**{})": "written out",
    "gaussian(*[1])": "number",
    "gaussian(linear)": "number",
    "gaussian(1 + 1)": "number",
    "gaussian(x)": "number",
    "gaussian % 2": "operator",
    "gaussian @ linear": "operator",
    "gaussian // 2": "operator",
    "~gaussian": "cannot stand",
    "+gaussian": "cannot stand",
    "gaussian if linear else bias": "cannot stand",
    "[gaussian]": "cannot stand",
    "gaussian, linear": "cannot stand",
    "lambda x: x": "cannot stand",
    "gaussian < linear": "cannot stand",
    "gaussian.replace(scale=2)": "",
    "gaussian.__class__": "cannot stand",
    "gaussian.__class__()": "form",
    "gaussian.text()": "form",
    "gaussian.on()": "",
    "linear.exp(2)": "form",
    "gaussian.on(gaussian)": "number",
    "__import__('os')": "no kernel",
    "exp()": "takes a kernel",
    "exp(2)": "kernel is needed",
    "exp(linear, 2)": "takes a kernel",
    "exp(kernel=linear)": "takes a kernel",
    "series(linear)": "takes a kernel",
    "schoenberg(linear)": "takes a kernel and a number",
    "normalized(linear, 2)": "takes a kernel",
    "gaussian ** linear": "",
    "2 ** gaussian": "cannot be built",
    "f'{1}'": "cannot stand",
    "True": "cannot stand",
    "gaussian(True)": "",
    "(y := gaussian)": "",
    "gaussian; linear": "expression",
    "gaussian\nlinear": "expression",
    "gaussian(\x00)": "expression",
    "sum(gaussian, linear)": "no kernel",
    "scaled(2, gaussian)": "no kernel",
    "map(linear)": "no kernel",
    "from_function(f)": "no kernel",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_kernel(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((NoTextForm, InvalidParameter)) as caught:
            mc.kernel(text)
    assert WRONG[text] in str(caught.value)


@pytest.mark.parametrize("other", [None, 3, b"gaussian", ["gaussian"], mc.Gaussian])
def test_what_is_no_text(other):
    with pytest.raises(NoTextForm, match="string"):
        mc.kernel(other)


@pytest.mark.parametrize(
    "text",
    [
        "gaussian - linear",
        "-gaussian",
        "-1 * gaussian",
        "gaussian / linear",
        "1 / gaussian",
        "linear ** 0.5",
        "gaussian(-1)",
        "gaussian(0)",
        "polynomial(2.5)",
        "gaussian ** -1",
        "1 - gaussian",
        "gaussian + -1",
        "series(linear, (1.0, -1.0))",
        "schoenberg(linear, -1)",
        "1e400 * gaussian",
        "generalized_gaussian(1.0, 2.5)",
    ],
)
def test_text_cannot_leave_the_cone(text):
    with pytest.raises(NotAKernel):
        mc.kernel(text)


def test_the_message_points_at_the_place():
    with pytest.raises(NoTextForm) as caught:
        mc.kernel("2 * gaussian(0.5) + lineer")
    first, line, pointer = str(caught.value).split("\n")
    assert "at column 21" in first
    assert line[pointer.index("^") :].startswith("lineer")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000 + "linear" + ")" * 1000,
        "linear" + " + linear" * 1000,
        "-" * 5000 + "1 * linear",
        "linear" + ".exp()" * 1000,
        "9 ** 9 ** 9 * linear",
        "linear ** 9 ** 9 ** 9",
        "1" * 10_000 + " * linear",
        "linear * " * 10_000,
        "exp(" * 300 + "linear" + ")" * 300,
    ],
)
def test_text_that_would_take_forever_does_not(text):
    with pytest.raises(MercerError):
        mc.kernel(text)


def test_the_limits_are_generous():
    assert len(str(mc.kernel("linear + " * 150 + "bias"))) < LONGEST
    deep = line
    for _ in range(DEEPEST // 2 - 2):
        deep = (0.5 * deep).exp()
    assert mc.kernel(str(deep)) == deep


def test_names_of_columns_are_quoted():
    for name in ("a'b", 'a"b', "a\\b", "ä€", "a\nb", "", " ", "a)b", "{x}", "\t"):
        kernel = mc.Delta().on(name)
        assert mc.kernel(str(kernel)) == kernel
