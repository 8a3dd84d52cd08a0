r"""Formulas from text: a small grammar on Python's syntax tree. Nothing is evaluated.

>>> formula = read("exp(-s * |x - x'|^2), s > 0")
>>> str(formula.tree), str(formula.given)
('exp(-s*abs(x - y)**2)', 's > 0')
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import prod

from mercer.errors import InvalidFormula
from mercer.proofs.assumptions import Given, assumptions, clauses
from mercer.proofs.notation import DEEPEST, Plain, parted, plain
from mercer.proofs.signs import DIGITS, refuse
from mercer.proofs.spaces import Space, space
from mercer.proofs.trees import (
    FUNCTIONS,
    INFINITY,
    PI,
    SETS,
    Tree,
    call,
    number,
    parameter,
    point,
)

LARGEST = 1500
"""Parts of a formula that are read."""

SMALL = 16
"""The largest power within a matrix."""

_OPERATORS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
_OPERATORS |= {ast.Pow: "power", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_OPERATORS |= {ast.MatMult: "dot"}


@dataclass(frozen=True)
class Formula:
    """A function of two points, as it was read.

    Attributes:
        tree: The formula.
        space: Where the points live.
        given: What is known of its parameters.
    """

    tree: Tree
    space: Space
    given: Given

    def __str__(self) -> str:
        return str(self.tree)


def read(text: str, domain: str | Space = "reals", assume: str = "") -> Formula:
    """A formula from its text, in Python's notation, LaTeX's or Unicode's.

    Args:
        text: The formula; after a comma, or after "where", what is known of its parameters.
        domain: The name of the set that both points come from.
        assume: More that is known of the parameters.

    Raises:
        InvalidFormula: The text is no formula, or means nothing on the domain.
    """
    where = space(domain)
    if not isinstance(text, str):
        raise InvalidFormula(f"a formula is a text, got a {type(text).__name__}.")
    if "\0" in text:
        raise refuse("a NUL byte means nothing here", text, text.index("\0"))
    tokens, said = parted(text)
    if not tokens:
        raise InvalidFormula("the formula is empty.\nWrite it in x and y, such as min(x, y).")
    given = assumptions([*clauses(said), *clauses(assume)])
    shown = plain(text, given.names, given.matrices, sets=where.kind == "sets")
    return Formula(_Reader(shown, text, where, given).formula(), where, given)


class _Reader:
    """One walk over the syntax tree: each part becomes a tree, and its kind is known."""

    def __init__(self, shown: Plain, formula: str, where: Space, given: Given) -> None:
        self.shown, self.original, self.where, self.given = shown, formula, where, given
        self.parts = 0

    def formula(self) -> Tree:
        tree, kind = self._read(self._parse(), 0)
        if kind != "number":
            raise InvalidFormula(
                f"the formula is a {kind}, and a kernel is a number for each two points.\n"
                "dot(x, y) and norm(x - y) make numbers of vectors, len(x & y) of sets."
            )
        return tree

    def _parse(self) -> ast.expr:
        try:
            return ast.parse(self.shown.text.strip(), mode="eval").body
        except SyntaxError as error:
            at = min(max((error.offset or 1) - 1, 0), len(self.shown.places) - 1)
            raise refuse(
                f"this is no formula ({error.msg})", self.original, self.shown.places[at]
            ) from None
        except ValueError as error:
            raise InvalidFormula(f"this is no formula ({error}).") from None
        except (RecursionError, MemoryError):
            raise InvalidFormula(
                f"more than {LARGEST} parts.\nBreak it up: sums of kernels are kernels."
            ) from None

    def _refuse(self, message: str, node: ast.AST, advice: str = "") -> InvalidFormula:
        offset = len(self.shown.text) - len(self.shown.text.lstrip())
        column = (
            len(self.shown.text.encode()[: getattr(node, "col_offset", 0)].decode()) + offset
        )
        at = self.shown.places[min(column, len(self.shown.places) - 1)]
        return refuse(message, self.original, at, advice)

    def _read(self, node: ast.AST, depth: int) -> tuple[Tree, str]:
        self.parts += 1
        if depth > DEEPEST:
            words = f"more than {DEEPEST} operations after or within each other"
            raise self._refuse(words, node, "Break it up: sums of kernels are kernels.")
        if self.parts > LARGEST:
            raise self._refuse(f"more than {LARGEST} parts", node)
        match node:
            case ast.Constant():
                return self._constant(node), "number"
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                tree, kind = self._read(operand, depth + 1)
                if kind == "set":
                    raise self._refuse("a set has no negative", node)
                return (-tree if isinstance(node.op, ast.USub) else tree), kind
            case ast.BinOp():
                return self._binary(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.List():
                return self._matrix(node, depth), "matrix"
        names = {"Attribute": "attributes", "Subscript": "indices", "Compare": "comparisons"}
        names |= {"Tuple": "several numbers side by side"}
        kind = names.get(type(node).__name__, f"{type(node).__name__.lower()}s")
        raise self._refuse(f"{kind} mean nothing in a formula", node)

    def _constant(self, node: ast.Constant) -> Tree:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise self._refuse("only numbers, x, y and named parameters are read", node)
        words = (ast.get_source_segment(self.shown.text.strip(), node) or "").replace("_", "")
        mantissa, _, exponent = words.lower().partition("e")
        if len(words) > DIGITS or (exponent and abs(int(exponent)) > DIGITS):
            raise self._refuse(f"a number of more than {DIGITS} digits", node)
        return number(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))

    def _name(self, node: ast.Name) -> tuple[Tree, str]:
        if node.id in ("x", "y"):
            kind = self.where.points_are
            return point(node.id), "number" if kind == "angle" else kind
        if node.id == "pi":
            return PI, "number"
        if node.id == "e" and "e" not in self.given.names:
            return call("exp", number(1)), "number"
        if node.id == "inf":
            return INFINITY, "infinity"
        if node.id in self.given.names:
            matrix = node.id in self.given.matrices
            return parameter(node.id), "matrix" if matrix else "number"
        close = get_close_matches(node.id, [*FUNCTIONS, "pi", *self.given.names], n=1)
        name = "lambda" if node.id == "lambda_" else node.id[:40]
        hint = f" Or did you mean {close[0]}?" if close else ""
        raise self._refuse(
            f"nothing is known of {name!r}",
            node,
            f"A parameter needs an assumption, such as '{name} > 0' after a comma.{hint}",
        )

    def _binary(self, node: ast.BinOp, depth: int) -> tuple[Tree, str]:
        (left, a), (right, b) = (
            self._read(node.left, depth + 1),
            self._read(node.right, depth + 1),
        )
        operation = _OPERATORS.get(type(node.op))
        match operation, a, b:
            case "add" | "subtract", ("number" | "vector"), _ if a == b:
                return (left + right if operation == "add" else left - right), a
            case "multiply", "number", "number":
                return left * right, "number"
            case "multiply", ("number", "vector") | ("vector", "number"), _:
                pass
            case "divide", "number", "number":
                return left / right, "number"
            case "power", "number", "number":
                return left**right, "number"
            case "dot", "number", "number":
                return left * right, "number"
            case (("dot" | "multiply"), "vector", "vector"):
                return call("dot", left, right), "number"
            case (("and" | "or" | "xor"), "set", "set"):
                return Tree(str(operation), (left, right)), "set"
        if operation == "multiply" and {a, b} == {"number", "vector"}:
            return left * right, "vector"
        if operation == "divide" and (a, b) == ("vector", "number"):
            return left / right, "vector"
        if operation == "power" and (a, b) == ("vector", "number"):
            raise self._refuse("a vector has no power: write dot(x, x) or norm(x)**2", node)
        sign = {"subtract": "-", "add": "+", "multiply": "*", "divide": "/", "power": "**"}
        sign["dot"] = "@"
        shown = sign.get(str(operation), SETS.get(str(operation), "this"))
        advice = "Write dot(x, A, y), or x' A y." if "matrix" in (a, b) else ""
        raise self._refuse(f"{shown} does not take a {a} and a {b}", node, advice)

    def _call(self, node: ast.Call, depth: int) -> tuple[Tree, str]:
        if not isinstance(node.func, ast.Name):
            raise self._refuse("only the functions of the language can be called", node)
        name = node.func.id
        if name not in FUNCTIONS:
            close = get_close_matches(name, FUNCTIONS, n=1)
            hint = (
                f"Did you mean {close[0]}?" if close else f"There are {', '.join(FUNCTIONS)}."
            )
            raise self._refuse(f"there is no function {name[:40]!r}", node, hint)
        if node.keywords or any(isinstance(part, ast.Starred) for part in node.args):
            raise self._refuse(f"{name} takes plain arguments", node)
        least, most = FUNCTIONS[name]
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            nouns = "argument" if wanted == "1" else "arguments"
            raise self._refuse(f"{name} takes {wanted} {nouns}, not {len(node.args)}", node)
        parts = [self._read(part, depth + 1) for part in node.args]
        return self._typed(name, [tree for tree, _ in parts], [kind for _, kind in parts], node)

    def _typed(
        self, name: str, args: list[Tree], kinds: list[str], node: ast.AST
    ) -> tuple[Tree, str]:
        angle = self.where.kind == "circle"
        match name, kinds:
            case "abs", ["vector"]:
                return call("norm", args[0], number(2)), "number"
            case (("abs" | "len"), ["set"]):
                return call("len", args[0]), "number"
            case "sqrt", ["number"]:
                return args[0] ** number(Fraction(1, 2)), "number"
            case "norm", ["vector"]:
                return call("norm", args[0], number(2)), "number"
            case "norm", ["number", *_] if not angle:
                return call("abs", args[0]), "number"
            case "norm", ["vector", "number" | "infinity"]:
                return call("norm", *args), "number"
            case "dot", ["vector", "vector"] | ["vector", "matrix", "vector"]:
                return call("dot", *args), "number"
            case "dot", ["number", "number"]:
                return self._angular(args, node) if angle else args[0] * args[1], "number"
            case "norm", ["number"]:
                return self._chord(args[0], node), "number"
        if name not in ("norm", "dot", "len") and all(kind == "number" for kind in kinds):
            return call(name, *args), "number"
        raise self._refuse(
            f"{name} does not take {' and '.join(f'a {k}' for k in kinds)}", node
        )

    def _angular(self, args: list[Tree], node: ast.AST) -> Tree:
        """On the circle points are angles, and the inner product is a cosine."""
        if any(part.head != "point" for part in args):
            raise self._refuse("on the circle dot takes the points x and y themselves", node)
        return call("cos", args[0] - args[1])

    def _chord(self, tree: Tree, node: ast.AST) -> Tree:
        """On the circle |x - y| is the length of the chord, 2 |sin((x - y) / 2)|."""
        if {part.value for part in tree.walk() if part.head == "point"} != {"x", "y"}:
            raise self._refuse("on the circle norm takes x - y", node)
        half = number(Fraction(1, 2))
        return number(2) * call("abs", call("sin", tree * half))

    def _matrix(self, node: ast.List, depth: int) -> Tree:
        rows = []
        for row in node.elts:
            if not isinstance(row, ast.List) or len(row.elts) != len(node.elts):
                raise self._refuse("a matrix is a square list of rows, [[2, 1], [1, 2]]", node)
            entries = [self._read(entry, depth + 2) for entry in row.elts]
            values = [_rational(entry) if kind == "number" else None for entry, kind in entries]
            if None in values:
                raise self._refuse("the entries of a matrix are rational numbers", node)
            rows.append(Tree("row", tuple(number(value or 0) for value in values)))
        return Tree("matrix", tuple(rows))


def _rational(tree: Tree) -> Fraction | None:
    """The value of a rational number, in + - * / and small powers; None for others."""
    if tree.head == "number":
        return tree.value if tree.value.numerator.bit_length() < LARGEST else None
    parts = [_rational(part) for part in tree.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    match tree.head:
        case "add":
            return sum(known, Fraction(0))
        case "multiply":
            return prod(known, start=Fraction(1))
        case "power" if known[1].denominator == 1 and abs(known[1]) <= SMALL:
            return known[0] ** int(known[1]) if known[0] or known[1] >= 0 else None
    return None
