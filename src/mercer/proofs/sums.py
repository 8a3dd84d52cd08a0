r"""Sums of products of powers: the arithmetic that brings equal formulas to one form.

A `Sum` is a sum of rational multiples of products of powers of atoms. Exponents are rational
numbers, or sums themselves: $2^{x + y}$ is the atom 2 to the power $x + y$.

>>> x, y = Sum.of(Atom("x")), Sum.of(Atom("y"))
>>> print((x + y) * (x - y))
x**2 - y**2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

MOST = 3000
"""Products in one sum, beyond which an expansion is given up."""

DIGITS = 2000
"""Bits of a number, beyond which arithmetic is given up."""


LONGEST = 8_000
"""Signs of the text of an atom, beyond which functions within functions are given up."""


class TooLarge(Exception):
    """An expansion has more terms, or a number more digits, than are handled."""


@dataclass(frozen=True, eq=False)
class Atom:
    """What is not taken apart: a point, a parameter, a function of sums.

    Attributes:
        head: What it is: "x", "pi", "prime", "cos", ...
        args: What it is of: names, numbers, sums.
        key: Its text, by which atoms are compared and ordered.
    """

    head: str
    args: tuple[Any, ...] = ()
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        key = f"{self.head}({','.join(map(_key, self.args))})"
        if len(key) > LONGEST:
            raise TooLarge
        object.__setattr__(self, "key", key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Atom) -> bool:
        return self.key < other.key

    @cached_property
    def points(self) -> frozenset[str]:
        """Which of the points x and y it depends on."""
        if self.head in ("x", "y"):
            return frozenset(self.head)
        if self.head == "norm":
            return frozenset(
                name for name, factor in zip("xy", self.args[1:], strict=True) if factor
            )
        found: frozenset[str] = frozenset()
        for arg in self.args:
            if isinstance(arg, Sum):
                found |= arg.points
            elif arg in ("x", "y") and self.head in ("dot", "len", "form"):
                found |= {arg}
        return found


def _key(value: Any) -> str:
    return value.key if isinstance(value, Sum | Atom) else str(value)


Exponent: TypeAlias = "Fraction | Sum"
Product: TypeAlias = tuple[tuple[Atom, Any], ...]


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of products, canonical from birth: no product twice, none with the factor 0.

    Attributes:
        terms: Pairs (product, rational factor), in canonical order.
    """

    terms: tuple[tuple[Product, Fraction], ...] = ()

    @classmethod
    def of(cls, atom: Atom, exponent: Exponent = Fraction(1)) -> Sum:
        """One power of one atom.

        Raises:
            TooLarge: Exponents stand in exponents, again and again.
        """
        if isinstance(exponent, Sum) and len(exponent.key) > LONGEST:
            raise TooLarge
        return cls((((((atom, exponent)),), Fraction(1)),))

    @classmethod
    def constant(cls, value: int | Fraction) -> Sum:
        """A rational number."""
        value = Fraction(value)
        return cls((((), value),)) if value else cls()

    @classmethod
    def collect(cls, parts: Iterable[tuple[Product, Fraction]]) -> Sum:
        """The sum of products that may repeat."""
        total: dict[str, tuple[Product, Fraction]] = {}
        for product, factor in parts:
            name = product_key(product)
            before = total.get(name)
            total[name] = product, factor if before is None else before[1] + factor
        if len(total) > MOST:
            raise TooLarge
        kept = [(name, entry) for name, entry in total.items() if entry[1]]
        return cls(tuple(entry for _, entry in sorted(kept, key=lambda pair: pair[0])))

    @cached_property
    def key(self) -> str:
        """Its text for comparison."""
        inner = "+".join(f"{factor}*{product_key(product)}" for product, factor in self.terms)
        return f"[{inner}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def number(self) -> Fraction | None:
        """Its value, if it is a rational number."""
        if not self.terms:
            return Fraction(0)
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @cached_property
    def points(self) -> frozenset[str]:
        """Which of the points x and y it depends on."""
        found: frozenset[str] = frozenset()
        for product, _ in self.terms:
            found |= product_points(product)
        return found

    def __add__(self, other: Sum) -> Sum:
        return Sum.collect((*self.terms, *other.terms))

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(Fraction(-1))

    def __neg__(self) -> Sum:
        return self.times(Fraction(-1))

    def times(self, factor: Fraction | int) -> Sum:
        """A rational multiple."""
        return Sum.collect((product, c * factor) for product, c in self.terms)

    def __mul__(self, other: Sum) -> Sum:
        """The product, multiplied out; products of atoms are only put side by side."""
        if len(self.terms) * len(other.terms) > 4 * MOST:
            raise TooLarge
        return Sum.collect((join(a, b), c * d) for a, c in self.terms for b, d in other.terms)

    def atoms(self) -> Iterator[Atom]:
        """Every atom, also within exponents and arguments."""
        for product, _ in self.terms:
            for atom, exponent in product:
                yield atom
                for inner in (*atom.args, exponent):
                    if isinstance(inner, Sum):
                        yield from inner.atoms()

    def __str__(self) -> str:
        from_terms = [_term_text(product, factor) for product, factor in self.terms]
        words = " + ".join(from_terms) or "0"
        return words.replace("+ -", "- ")


def product_key(product: Product) -> str:
    """The text of a product for comparison."""
    return "*".join(f"{atom.key}^{_key(exponent)}" for atom, exponent in product)


def product_points(product: Product) -> frozenset[str]:
    """Which of the points a product depends on."""
    found: frozenset[str] = frozenset()
    for atom, exponent in product:
        found |= atom.points
        if isinstance(exponent, Sum):
            found |= exponent.points
    return found


def as_sum(exponent: Exponent) -> Sum:
    """An exponent as a sum."""
    return exponent if isinstance(exponent, Sum) else Sum.constant(exponent)


def lean(exponent: Exponent) -> Exponent:
    """An exponent as a number, if it is one."""
    if isinstance(exponent, Sum):
        value = exponent.number
        return exponent if value is None else value
    return exponent


def join(a: Product, b: Product) -> Product:
    """Two products as one: exponents of the same atom are added."""
    if not a or not b:
        return a or b
    found: dict[Atom, Exponent] = dict(a)
    for atom, exponent in b:
        if atom not in found:
            found[atom] = exponent
            continue
        before = found[atom]
        if isinstance(before, Fraction) and isinstance(exponent, Fraction):
            found[atom] = before + exponent
        else:
            found[atom] = lean(as_sum(before) + as_sum(exponent))
    return ordered((atom, exponent) for atom, exponent in found.items() if exponent)


def ordered(parts: Iterable[tuple[Atom, Exponent]]) -> Product:
    """The factors in canonical order."""
    return tuple(sorted(parts, key=lambda part: part[0].key))


# ------------------------------------------------------------------------------------ text


def _term_text(product: Product, factor: Fraction) -> str:
    above: list[str] = []
    below: list[str] = []
    for atom, exponent in product:
        negative = isinstance(exponent, Fraction) and exponent < 0
        words = _power_text(atom, -exponent if negative else exponent)
        (below if negative else above).append(words)
    sign = "-" if factor < 0 else ""
    size = abs(factor)
    if size.numerator != 1 or not above:
        above.insert(0, str(size.numerator))
    if size.denominator != 1:
        below.insert(0, str(size.denominator))
    return sign + "*".join(above) + "".join(f"/{part}" for part in below)


def _power_text(atom: Atom, exponent: Exponent) -> str:
    words = _atom_text(atom)
    if exponent == 1:
        return words if atom.head != "sign" else f"({words})"
    power = str(exponent)
    plain = power.isidentifier() or (
        isinstance(exponent, Fraction) and exponent.denominator == 1
    )
    return f"{words}**{power}" if plain else f"{words}**({power})"


def _atom_text(atom: Atom) -> str:
    args = atom.args
    match atom.head:
        case "x" | "y" | "pi":
            return atom.head
        case "e":
            return "e"
        case "prime" | "parameter":
            return str(args[0])
        case "sum":
            return f"({args[0]})"
        case "dot":
            return f"dot({args[0]}, {args[1]})"
        case "form":
            return f"dot({args[1]}, {args[0]}, {args[2]})"
        case "len":
            return f"len({' & '.join(args)})"
        case "norm":
            return f"norm({_vector_text(args[1], args[2])}, {args[0]})"
        case "sign":
            return f"(-1)**({args[0]})"
        case "pos":
            return f"max(0, {args[0]})"
        case "arc":
            return f"acos(cos({args[0]}))"
    return f"{atom.head}({', '.join(map(str, args))})"


def _vector_text(a: Sum, b: Sum) -> str:
    parts = []
    for factor, name in ((a, "x"), (b, "y")):
        if not factor:
            continue
        words = str(factor)
        shown = {"1": name, "-1": f"-{name}"}.get(words, f"({words})*{name}")
        parts.append(shown)
    return " + ".join(parts).replace("+ -", "- ")
