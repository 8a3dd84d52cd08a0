r"""Formulas as trees: what a user wrote, read once, never evaluated by Python.

A tree is a head, arguments and perhaps a value. The heads of numbers are `number`, `pi`,
`parameter`, `point`; of operations `add`, `multiply`, `power`; of functions their names.

>>> x, y = point("x"), point("y")
>>> print(call("exp", -((x - y) ** 2)))
exp(-(x - y)**2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("exp", "log", "sqrt", "cos", "sin", "tan", "tanh", "sinh"), (1, 1)),
    **dict.fromkeys(("cosh", "acos", "asin", "atan", "len"), (1, 1)),
    **dict.fromkeys(("min", "max", "gcd", "lcm"), (2, 64)),
    "abs": (1, 1),
    "dot": (2, 3),
    "norm": (1, 2),
}
"""How many arguments each function takes, at least and at most."""

SETS = {"and": "&", "or": "|", "xor": "^"}
"""The operations on sets, and their signs."""


@dataclass(frozen=True, eq=True)
class Tree:
    """A formula. Trees are compared and hashed by value; the hash is worked out once."""

    head: str
    args: tuple[Tree, ...] = ()
    value: Any = None
    _hash: int = field(default=0, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.head, self.args, self.value)))

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Tree) -> Tree:
        return Tree("add", (*self._flat("add"), other))

    def __neg__(self) -> Tree:
        return Tree("multiply", (number(-1), *self._flat("multiply")))

    def __sub__(self, other: Tree) -> Tree:
        return self + (-other)

    def __mul__(self, other: Tree) -> Tree:
        return Tree("multiply", (*self._flat("multiply"), other))

    def __truediv__(self, other: Tree) -> Tree:
        return self * Tree("power", (other, number(-1)))

    def _flat(self, head: str) -> tuple[Tree, ...]:
        return self.args if self.head == head else (self,)

    def __pow__(self, other: Tree | int) -> Tree:
        exponent = other if isinstance(other, Tree) else number(other)
        return Tree("power", (self, exponent))

    def walk(self) -> Iterator[Tree]:
        """Every part of the tree, itself first."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack.extend(part.args)

    def replace(self, change: Callable[[Tree], Tree | None]) -> Tree:
        """The tree with parts exchanged: `change` returns what stands for a part, or None."""
        found = change(self)
        if found is not None:
            return found
        args = tuple(part.replace(change) for part in self.args)
        return self if args == self.args else Tree(self.head, args, self.value)

    def swapped(self) -> Tree:
        """The formula with the two points exchanged."""
        other = {"x": "y", "y": "x"}
        return self.replace(lambda t: point(other[t.value]) if t.head == "point" else None)

    def __str__(self) -> str:
        return _text(self, 0)

    def latex(self) -> str:
        """The formula for LaTeX's math mode."""
        return _latex(self, 0)


def number(value: int | Fraction) -> Tree:
    """An exact rational number."""
    return Tree("number", (), Fraction(value))


def point(name: str) -> Tree:
    """One of the two points, "x" or "y"."""
    return Tree("point", (), name)


def parameter(name: str) -> Tree:
    """A number that is only known by its assumptions."""
    return Tree("parameter", (), name)


def call(name: str, *args: Tree) -> Tree:
    """A function of some arguments."""
    return Tree(name, args)


PI = Tree("pi")
INFINITY = Tree("inf")
E = call("exp", number(1))

# ------------------------------------------------------------------------------------ text

# How tightly a form binds: sums 1, negation and products 2, powers 4, all else 5; on sets
# | 1, ^ 2, & 3.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 4, 5


def _text(tree: Tree, outer: int) -> str:
    words, level = _worded(tree)
    return words if level >= outer else f"({words})"


def _worded(tree: Tree) -> tuple[str, int]:
    match tree.head:
        case "number":
            return _number(tree.value)
        case "point" | "parameter":
            return str(tree.value), _ATOM
        case "pi" | "inf":
            return tree.head, _ATOM
        case "add":
            return _sum_text(tree.args), _SUM
        case "multiply":
            return _product_text(tree.args), _PRODUCT
        case "power":
            base, exponent = tree.args
            return f"{_text(base, _ATOM)}**{_text(exponent, _POWER)}", _POWER
        case "matrix":
            rows = (", ".join(_text(entry, 0) for entry in row.args) for row in tree.args)
            return f"[{', '.join(f'[{row}]' for row in rows)}]", _ATOM
        case "and" | "or" | "xor":
            level = {"or": 1, "xor": 2, "and": 3}[tree.head]
            sign = f" {SETS[tree.head]} "
            return sign.join(
                _text(part, level + (n > 0)) for n, part in enumerate(tree.args)
            ), level
    if tree == E:
        return "e", _ATOM
    return f"{tree.head}({', '.join(_text(part, 0) for part in tree.args)})", _ATOM


def _number(value: Fraction) -> tuple[str, int]:
    if value.denominator == 1:
        return str(value), _ATOM if value >= 0 else _PRODUCT
    return f"{value.numerator}/{value.denominator}", _PRODUCT


def _sum_text(parts: tuple[Tree, ...]) -> str:
    words = ""
    for part in parts:
        text = _text(part, _PRODUCT)
        if not words:
            words = text
        elif text.startswith("-"):
            words += f" - {text[1:]}"
        else:
            words += f" + {text}"
    return words


def _product_text(parts: tuple[Tree, ...]) -> str:
    """Factors, those with a negative exponent below the line."""
    sign = ""
    above: list[str] = []
    below: list[str] = []
    for n, part in enumerate(parts):
        if part.head == "number" and part.value == -1 and n < len(parts) - 1 and not above:
            sign = "" if sign else "-"
            continue
        inverse = _inverse(part)
        if inverse is None:
            above.append(
                _text(part, _PRODUCT + (n > 0 or bool(sign) or part.head == "multiply"))
            )
        else:
            below.append(_text(inverse, _POWER))
    if len(above) > 1:
        above = [text for text in above if text != "1"] or ["1"]
    words = sign + ("*".join(above) or "1")
    return words + "".join(f"/{text}" for text in below)


def _inverse(tree: Tree) -> Tree | None:
    """What stands below the line, if this is one over something."""
    if tree.head != "power" or tree.args[1].head != "number" or tree.args[1].value >= 0:
        return None
    base, exponent = tree.args
    return base if exponent.value == -1 else Tree("power", (base, number(-exponent.value)))


# ----------------------------------------------------------------------------------- LaTeX

_LATEX = {
    **{name: rf"\{name}" for name in ("exp", "log", "cos", "sin", "tan", "tanh", "sinh")},
    **{name: rf"\{name}" for name in ("cosh", "min", "max", "gcd")},
    "acos": r"\arccos",
    "asin": r"\arcsin",
    "atan": r"\arctan",
    "lcm": r"\operatorname{lcm}",
}


def _latex(tree: Tree, outer: int) -> str:
    words, level = _typeset(tree)
    return words if level >= outer else rf"\left({words}\right)"


def _typeset(tree: Tree) -> tuple[str, int]:
    match tree.head:
        case "number":
            value = tree.value
            if value.denominator == 1:
                return _number(value)
            sign = "-" if value < 0 else ""
            return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", _PRODUCT
        case "point":
            return str(tree.value), _ATOM
        case "parameter":
            name = str(tree.value)
            return name if len(name) == 1 else rf"\mathit{{{name}}}", _ATOM
        case "pi":
            return r"\pi", _ATOM
        case "inf":
            return r"\infty", _ATOM
        case "add":
            return _latex_sum(tree.args), _SUM
        case "multiply":
            return _latex_product(tree.args), _PRODUCT
        case "power":
            return rf"{_latex(tree.args[0], _ATOM)}^{{{_latex(tree.args[1], 0)}}}", _POWER
        case "and" | "or" | "xor":
            signs = {"and": r" \cap ", "or": r" \cup ", "xor": r" \mathbin{\triangle} "}
            return signs[tree.head].join(_latex(part, 2) for part in tree.args), _SUM
        case "matrix":
            rows = (" & ".join(_latex(entry, 0) for entry in row.args) for row in tree.args)
            inner = r" \\ ".join(rows)
            return rf"\begin{{pmatrix}} {inner} \end{{pmatrix}}", _ATOM
    if tree == E:
        return "e", _ATOM
    return _latex_call(tree), _PRODUCT if tree.head == "dot" else _ATOM


def _latex_sum(parts: tuple[Tree, ...]) -> str:
    words = _latex(parts[0], _PRODUCT)
    for part in parts[1:]:
        text = _latex(part, _PRODUCT)
        words += f" - {text[1:]}" if text.startswith("-") else f" + {text}"
    return words


def _latex_product(parts: tuple[Tree, ...]) -> str:
    sign = ""
    above: list[Tree] = []
    below: list[Tree] = []
    for part in parts:
        if part.head == "number" and part.value == -1 and len(parts) > 1:
            sign = "" if sign else "-"
            continue
        inverse = _inverse(part)
        (above if inverse is None else below).append(part if inverse is None else inverse)
    if len(above) > 1:
        above = [part for part in above if part != number(1)] or [number(1)]
    if not below:
        return sign + r" \, ".join(_latex(part, _PRODUCT + 1) for part in above)
    top = r" \, ".join(_latex(p, _PRODUCT + (len(above) > 1)) for p in above) or "1"
    bottom = r" \, ".join(_latex(p, _PRODUCT + (len(below) > 1)) for p in below)
    return rf"{sign}\frac{{{top}}}{{{bottom}}}"


def _latex_call(tree: Tree) -> str:
    inner = ", ".join(_latex(part, 0) for part in tree.args)
    match tree.head:
        case "abs" | "len":
            return rf"\left| {inner} \right|"
        case "sqrt":
            return rf"\sqrt{{{inner}}}"
        case "norm":
            below = "" if len(tree.args) == 1 else f"_{{{_latex(tree.args[1], 0)}}}"
            return rf"\left\| {_latex(tree.args[0], 0)} \right\|{below}"
        case "dot":
            middle = "".join(f" {_latex(part, _ATOM)}" for part in tree.args[1:])
            return rf"{_latex(tree.args[0], _ATOM)}^\top{middle}"
    return rf"{_LATEX.get(tree.head, tree.head)}\left({inner}\right)"
