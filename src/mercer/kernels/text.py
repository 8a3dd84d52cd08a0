"""Kernel to text and back: `kernel("2 * gaussian(0.5) + linear")`; `str` is the inverse.

Text is read by a small grammar on Python's syntax tree; nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from mercer.errors import MercerError, NoTextForm
from mercer.kernels.base import Kernel
from mercer.kernels.coordinates import GeneralizedGaussian, Laplacian, Periodic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Tanimoto
from mercer.kernels.equality import Bias, Delta, White
from mercer.kernels.histograms import AdditiveChi2, Chi2, Intersection
from mercer.kernels.lifts import Exp, Normalized, Schoenberg, Series
from mercer.kernels.missing import Filled, Missing
from mercer.kernels.numbers import (
    GCD,
    CosineDifference,
    GCDOverLCM,
    Geometric,
    Min,
    MinOverMax,
    ProductPower,
    SumPower,
)
from mercer.kernels.pullbacks import Column
from mercer.kernels.radial import Exponential, Gaussian, Matern, RationalQuadratic, Wendland
from mercer.kernels.sets import Jaccard, SetIntersection, SetPower

LEAVES = MappingProxyType(
    {
        leaf.word: leaf
        for leaf in (
            AdditiveChi2, Bias, Chi2, Cosine, CosineDifference, Delta, Exponential, GCD,
            GCDOverLCM, Gaussian, GeneralizedGaussian, Geometric, Intersection, Jaccard,
            Laplacian, Linear, Matern, Min, MinOverMax, Missing, Periodic, Polynomial,
            ProductPower, RationalQuadratic, SetIntersection, SetPower, SumPower, Tanimoto,
            Wendland, White,
        )
    }
)  # fmt: skip
"""Every kernel with a name of its own."""

LATER: dict[str, Callable[..., Kernel]] = {}
"""Named kernels of later stages, which this one cannot import: they enter their names here."""

LONGEST = 20_000
"""Characters of text that are read."""

DEEPEST = 200
"""Levels of brackets and operators that are read."""


def kernel(text: str | Kernel) -> Kernel:
    """The kernel that a text describes. `str(k)` is the inverse.

    Args:
        text: Names with their parameters, `+`, `*`, `**`, numbers, `exp(k)`, `normalized(k)`,
            `series(k, (1.0, 0.5))`, `schoenberg(k, 0.5)`, `filled(k, 0.5)`, `k.on("age")`, and
            `formula("min(x, y)", "positive")`, which is proved when it is read.

    Raises:
        NoTextForm: The text does not describe a kernel; the message points at the place.
        NotAKernel: It describes something that is not positive definite.

    Example:
        >>> kernel("2 * gaussian(0.5)")
        Scaled(weight=2.0, kernel=Gaussian(scale=0.5, metric=None))
    """
    if isinstance(text, Kernel):
        return text
    if not isinstance(text, str):
        raise NoTextForm(f"A kernel's text is a string, got {type(text).__name__}.")
    if len(text) > LONGEST:
        raise NoTextForm(f"The text has {len(text)} characters; at most {LONGEST} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = (getattr(error, "offset", None) or 1) - 1
        raise _wrong(text.strip(), column, "this is not an expression") from None
    found = _Reader(text.strip()).read(tree.body, 0)
    if not isinstance(found, Kernel):
        raise _wrong(text.strip(), 0, "this is a number, not a kernel")
    return found


def _wrong(text: str, column: int, why: str) -> NoTextForm:
    around = text[max(0, column - 40) : column + 40]
    pointer = " " * min(column, 40) + "^"
    return NoTextForm(f"{why}, at column {column + 1}:\n  {around}\n  {pointer}")


_NUMBERED = ("series", "schoenberg", "filled")
"""Rules that take numbers beside a kernel."""


class _Reader:
    """Reads one text; keeps it for the messages."""

    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, node: ast.AST, why: str) -> NoTextForm:
        return _wrong(self.text, getattr(node, "col_offset", 0), why)

    def read(self, node: ast.expr, depth: int) -> Kernel | float:
        if depth > DEEPEST:
            raise self.wrong(node, f"the text is nested more than {DEEPEST} levels deep")
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(node, self.read(operand, depth + 1))
            case ast.BinOp(left=left, op=op, right=right):
                return self.combine(
                    node, op, self.read(left, depth + 1), self.read(right, depth + 1)
                )
            case ast.Name(id=name):
                return self.leaf(node, name, [], [])
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self.call(node, name, args, keywords, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args, keywords=[]):
                return self.method(node, self.part(inner, depth), method, args)
        raise self.wrong(node, "this cannot stand in the text of a kernel")

    def negative(self, node: ast.AST, inner: Kernel | float) -> Kernel | float:
        if isinstance(inner, Kernel):
            return self.apply(node, inner.__neg__)
        return -float(inner)

    def part(self, node: ast.expr, depth: int) -> Kernel:
        found = self.read(node, depth + 1)
        if not isinstance(found, Kernel):
            raise self.wrong(node, "a kernel is needed here, this is a number")
        return found

    def combine(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Kernel:
        if not (isinstance(left, Kernel) or isinstance(right, Kernel)):
            raise self.wrong(node, "two numbers: write the result")
        match op:
            case ast.Add():
                return self.apply(node, lambda: left + right)
            case ast.Mult():
                return self.apply(node, lambda: left * right)
            case ast.Pow():
                return self.apply(node, lambda: left**right)
            case ast.Sub():
                return self.apply(node, lambda: left - right)
            case ast.Div():
                return self.apply(node, lambda: left / right)
        raise self.wrong(node, "this operator has no meaning for kernels")

    def call(
        self,
        node: ast.Call,
        name: str,
        args: list[ast.expr],
        keywords: list[ast.keyword],
        depth: int,
    ) -> Kernel:
        rules: dict[str, Callable[..., Kernel]] = {
            "exp": Exp,
            "normalized": Normalized,
            "series": lambda k, coefficients: Series(coefficients, k),
            "schoenberg": lambda k, rate: Schoenberg(rate, k),
            "filled": lambda k, fill: Filled(fill, k),
        }
        if name not in rules:
            return self.leaf(node, name, args, keywords)
        if keywords or not args or len(args) != (2 if name in _NUMBERED else 1):
            raise self.wrong(
                node, f"{name} takes a kernel" + " and a number" * (name in _NUMBERED[1:])
            )
        inner = self.part(args[0], depth)
        rest = [self.value(argument) for argument in args[1:]]
        return self.apply(node, lambda: rules[name](inner, *rest))

    def method(self, node: ast.AST, inner: Kernel, method: str, args: list[ast.expr]) -> Kernel:
        if method == "on":
            return self.apply(node, lambda: Column(tuple(self.value(a) for a in args), inner))
        if method == "exp" and not args:
            return self.apply(node, lambda: Exp(inner))
        if method == "normalized" and not args:
            return self.apply(node, lambda: Normalized(inner))
        raise self.wrong(node, f"a kernel's text has no .{method}(...) of this form")

    def leaf(
        self, node: ast.AST, name: str, args: list[ast.expr], keywords: list[ast.keyword]
    ) -> Kernel:
        leaves: dict[str, Callable[..., Kernel]] = {**LEAVES, **LATER}
        if name not in leaves:
            close = get_close_matches(name, leaves, n=1)
            hint = f"; did you mean {close[0]}?" if close else f". Known: {', '.join(leaves)}"
            raise self.wrong(node, f"no kernel is called {name!r}{hint}")
        positional = [self.value(argument) for argument in args]
        if any(keyword.arg is None for keyword in keywords):
            raise self.wrong(node, "parameters are written out, name=value")
        named = {str(keyword.arg): self.value(keyword.value) for keyword in keywords}
        return self.apply(node, lambda: leaves[name](*positional, **named))

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() | None as value):
                return value
            case ast.UnaryOp(
                op=ast.USub(), operand=ast.Constant(value=int() | float() as value)
            ):
                return -value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.value(item) for item in items)
        raise self.wrong(node, "a number or a tuple of numbers is needed here")

    def apply(self, node: ast.AST, build: Callable[[], Kernel]) -> Kernel:
        try:
            return build()
        except MercerError:
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self.wrong(node, f"this cannot be built ({error})") from None
