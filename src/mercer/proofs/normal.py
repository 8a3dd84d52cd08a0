r"""The normal form of formulas: equal formulas become equal sums.

Products are multiplied out, powers of one base are gathered, and a function that can be
written by another is: hyperbolic functions by exponentials, lcm by gcd, maxima by minima,
products of cosines by cosines of sums.

>>> from mercer.proofs.reading import read
>>> algebra = Algebra.of(read("x*y", "positive"))
>>> one, other = (read(text, "positive").tree for text in ("max(x, y)", "x*y/min(x, y)"))
>>> print(algebra.normal(read("exp(-(x - y)**2/2)").tree))
e**(x*y - 1/2*x**2 - 1/2*y**2)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, lcm
from typing import Any

from mercer.proofs.assumptions import Given
from mercer.proofs.ranges import World
from mercer.proofs.reading import Formula
from mercer.proofs.spaces import Space
from mercer.proofs.sums import (
    DIGITS,
    Atom,
    Exponent,
    Product,
    Sum,
    TooLarge,
    as_sum,
    join,
    lean,
    ordered,
)
from mercer.proofs.trees import Tree, number

ONE = Sum.constant(1)
HALF = Fraction(1, 2)
E = Atom("e")
PI = Sum.of(Atom("pi"))

EXPANDED = 24
"""The power up to which sums are multiplied out."""


class Algebra:
    """Formulas of one domain, brought to normal form.

    Args:
        space: Where the points live.
        given: What is known of the parameters.
    """

    def __init__(self, space: Space, given: Given) -> None:
        self.space, self.given = space, given
        self.world = World(space, given)
        self._seen: dict[Tree, Any] = {}

    @classmethod
    def of(cls, formula: Formula) -> Algebra:
        """The algebra that a formula lives in."""
        return cls(formula.space, formula.given)

    # From trees

    def normal(self, tree: Tree) -> Sum:
        """The normal form of a formula whose value is a number.

        Raises:
            TooLarge: It has too many terms.
        """
        found = self._seen.get(tree)
        if found is None:
            found = self.cancelled(self._normal(tree))
            self._seen[tree] = found
        return found  # type: ignore[no-any-return]

    def _normal(self, tree: Tree) -> Sum:
        match tree.head:
            case "number":
                if tree.value.numerator.bit_length() > DIGITS:
                    raise TooLarge
                return Sum.constant(tree.value)
            case "pi":
                return PI
            case "point":
                return Sum.of(Atom(tree.value))
            case "parameter":
                return Sum.of(Atom("parameter", (tree.value,)))
            case "add":
                return sum((self.normal(part) for part in tree.args), Sum())
            case "multiply":
                total = ONE
                for part in tree.args:
                    total = self.times(total, self.normal(part))
                return total
            case "power":
                return self._power_tree(*tree.args)
            case "log":
                return self._log_tree(tree.args[0])
            case "len":
                return self._size(tree.args[0])
            case "dot":
                return self._dot(tree)
            case "norm":
                return self._norm(tree)
        return self.function(tree.head, [self.normal(part) for part in tree.args])

    def _power_tree(self, base: Tree, exponent: Tree) -> Sum:
        power = lean(self.normal(exponent))
        if base.head == "power" and _whole(power):
            inner = lean(self.normal(base.args[1]))
            if _whole(inner):
                return self._power_tree(base.args[0], number(inner * power))
        if base.head == "multiply" and not _natural(power):
            parts = [self.normal(part) for part in base.args]
            if _whole(power) or all(self.world.range(part).nonnegative for part in parts):
                total = ONE
                for part in base.args:
                    total = self.times(total, self._power_tree(part, exponent))
                return total
        if base.head in ("min", "max") and len(base.args) == 2 and not _natural(power):
            found = self._extreme_power(base, power)
            if found is not None:
                return found
        return self.power(self.normal(base), power)

    def _log_tree(self, inner: Tree) -> Sum:
        """The logarithm of a product as a sum, before the product is multiplied out."""
        if inner.head == "multiply":
            if all(self.world.range(self.normal(part)).positive for part in inner.args):
                return sum((self._log_tree(part) for part in inner.args), Sum())
        elif inner.head == "power" and self.world.range(self.normal(inner.args[0])).positive:
            return self.times(self.normal(inner.args[1]), self._log_tree(inner.args[0]))
        return self.log(self.normal(inner))

    def _extreme_power(self, base: Tree, exponent: Exponent) -> Sum | None:
        """Powers of a minimum stay so; those of max(a, b) are those of a b / min(a, b)."""
        a, b = (self.normal(part) for part in base.args)
        if not (self.world.range(a).positive and self.world.range(b).positive):
            if not (self.world.range(a).nonnegative and self.world.range(b).nonnegative):
                return None
            if base.head == "max":
                return None
        least = self.function("min", [a, b])
        if base.head == "min":
            return self.power(least, exponent)
        both = self.times(self.power(a, exponent), self.power(b, exponent))
        return self.times(both, self.power(least, lean(-as_sum(exponent))))

    # Arithmetic

    def times(self, a: Sum, b: Sum) -> Sum:
        """The product of two sums in normal form."""
        if len(a.terms) * len(b.terms) > 6000:
            raise TooLarge
        parts: list[tuple[Product, Fraction]] = []
        for p, c in a.terms:
            for q, d in b.terms:
                parts += self._settled(join(p, q), c * d)
        return Sum.collect(parts)

    def _settled(self, product: Product, factor: Fraction) -> list[tuple[Product, Fraction]]:
        """A product in normal form again, after exponents were added."""
        kept: list[tuple[Atom, Exponent]] = []
        extra: list[Sum] = []
        waves: list[tuple[Atom, int]] = []
        for atom, exponent in product:
            rational = isinstance(exponent, Fraction)
            if rational and atom.head == "prime" and not 0 <= exponent < 1:
                whole = exponent.numerator // exponent.denominator
                factor *= _bounded(Fraction(atom.args[0]), whole)
                exponent -= whole
            elif rational and atom.head in ("cos", "sin") and _natural(exponent):
                waves.append((atom, int(exponent)))
                continue
            elif rational and atom.head == "abs" and abs(exponent) >= 2:
                twice = int(exponent / 2)  # towards zero
                extra.append(self.power(atom.args[0], Fraction(2 * twice)))
                exponent -= 2 * twice
            elif rational and atom.head == "sum" and exponent >= 1:
                whole = exponent.numerator // exponent.denominator
                if whole * len(atom.args[0].terms) <= 200:
                    extra.append(self.power(atom.args[0], Fraction(whole)))
                    exponent -= whole
            elif rational and atom.head == "sign" and exponent.denominator == 1:
                exponent %= 2
            elif rational and atom.head == "norm" and atom.args[0] == 2 and exponent >= 2:
                raise TooLarge
            if exponent:
                kept.append((atom, exponent))
        base = _signless(tuple(kept))
        waved = len(waves) > 1 or any(count > 1 for _, count in waves)
        if waves and not waved:
            base = join(base, ((waves[0][0], Fraction(1)),))
        if not extra and not waved:
            return [(base, factor)] if factor else []
        total = Sum(((base, factor),)) if factor else Sum()
        for part in extra:
            total = self.times(total, part)
        if waved:
            total = self.times(total, self._linear_waves(waves))
        return list(total.terms)

    def _linear_waves(self, waves: list[tuple[Atom, int]]) -> Sum:
        """A product of cosines and sines as a sum of them."""
        single = [atom for atom, count in waves for _ in range(count)]
        if len(single) > 12:
            raise TooLarge
        parts: list[tuple[str, Sum, Fraction]] = [
            (single[0].head, single[0].args[0], Fraction(1))
        ]
        for atom in single[1:]:
            parts = [
                found
                for head, angle, factor in parts
                for found in _wave_product(head, angle, atom.head, atom.args[0], factor)
            ]
        total = Sum()
        for head, angle, factor in parts:
            total = total + self._wave(head, angle).times(factor)
        return total

    def power(self, base: Sum, exponent: Exponent) -> Sum:
        """A power of a sum in normal form."""
        exponent = lean(exponent)
        if isinstance(exponent, Fraction) and (_natural(exponent) or exponent == 0):
            return self._whole_power(base, int(exponent))
        if not base and isinstance(exponent, Fraction) and exponent > 0:
            return base
        value = base.number
        if value is not None and value <= 0 and not isinstance(exponent, Fraction):
            if value < 0 and self.space.kind in ("naturals", "sets"):
                return self.times(self._alternating(exponent), self.power(-base, exponent))
            raise TooLarge
        if len(base.terms) == 1:
            return self._power_of_product(base, exponent)
        return self._power_of_sum(base, exponent)

    def _alternating(self, exponent: Sum) -> Sum:
        """(-1)^u for a whole number u: only what is odd counts."""
        total = ONE
        for product, factor in exponent.terms:
            if factor.denominator != 1 or not all(
                atom.head in ("x", "y", "len") and _natural(e) for atom, e in product
            ):
                raise TooLarge
            if factor % 2:
                inner = Sum(((product, Fraction(1)),))
                sign = Sum.of(Atom("sign", (inner,))) if product else Sum.constant(-1)
                total = self.times(total, sign)
        return total

    def _whole_power(self, base: Sum, exponent: int) -> Sum:
        if len(base.terms) > 1 and (exponent > EXPANDED or exponent * len(base.terms) > 150):
            return self._power_of_sum(base, Fraction(exponent))
        if len(base.terms) == 1 and exponent > EXPANDED:
            return self._power_of_product(base, Fraction(exponent))
        total = ONE
        for _ in range(exponent):
            total = self.times(total, base)
        return total

    def _power_of_product(self, base: Sum, exponent: Exponent) -> Sum:
        (product, factor), whole = base.terms[0], _whole(exponent)
        if factor < 0 and not whole:
            return self._opaque(base, exponent)
        symbolic = isinstance(exponent, Sum)
        total = self._power_of_number(abs(factor), exponent)
        if factor < 0:
            sign = -1 if int(exponent) % 2 else 1  # type: ignore[arg-type]
            total = total.times(sign)
        for atom, inner in product:
            known = self.world.range_of_power(atom, inner)
            even = isinstance(inner, Fraction) and inner.denominator == 1 and inner % 2 == 0
            if whole or (known.nonnegative and not even):
                part = self._raised(atom, inner, exponent)
            elif even and not symbolic:
                own = self.world.range_of_atom(atom)
                part = (
                    self._raised(atom, inner, exponent)
                    if own.nonnegative
                    else self.power(self._absolute(Sum.of(atom)), inner * exponent)
                )
            elif even and known.nonnegative and self.world.range_of_atom(atom).nonnegative:
                part = self._raised(atom, inner, exponent)
            else:
                return self._opaque(base, exponent)
            total = self.times(total, part)
        return total

    def _raised(self, atom: Atom, inner: Exponent, exponent: Exponent) -> Sum:
        both: Exponent
        if isinstance(inner, Fraction) and isinstance(exponent, Fraction):
            both = inner * exponent
        else:
            both = lean(self.times(as_sum(inner), as_sum(exponent)))
        if atom.head == "e":
            return self.exp(as_sum(both))
        if isinstance(both, Sum) and atom.head == "prime":
            return self.exp(
                self.times(both, Sum.of(Atom("log", (Sum.constant(atom.args[0]),))))
            )
        return Sum.collect(self._settled(((atom, both),), Fraction(1))) if both else ONE

    def _power_of_number(self, value: Fraction, exponent: Exponent) -> Sum:
        if value == 1 or not exponent:
            return ONE
        if isinstance(exponent, Sum):
            return self.exp(self.times(exponent, self.log(Sum.constant(value))))
        if exponent.denominator == 1:
            return Sum.constant(_bounded(value, int(exponent)))
        total = ONE
        for prime, count in _factors(value).items():
            part = self._settled(((Atom("prime", (prime,)), count * exponent),), Fraction(1))
            total = self.times(total, Sum.collect(part))
        return total

    def _power_of_sum(self, base: Sum, exponent: Exponent) -> Sum:
        """The content goes in front: 1 / (2 x + 2) is half of 1 / (x + 1)."""
        if not base:
            raise TooLarge
        content = _content(base)
        if _whole(exponent) and self._leads_with_minus(base):
            content = -content
        primitive = base.times(1 / content)
        front = ONE
        if content != 1:
            front = self._power_of_product(Sum.constant(content), exponent)
        return self.times(front, self._opaque(primitive, exponent))

    def _leads_with_minus(self, base: Sum) -> bool:
        """Whether a base is better written with the opposite sign."""
        known = self.world.range(base)
        if known.positive or known.negative:
            return known.negative
        fewer = sum(1 if factor < 0 else -1 for _, factor in base.terms)
        return fewer > 0 or (fewer == 0 and base.terms[0][1] < 0)

    def _opaque(self, base: Sum, exponent: Exponent) -> Sum:
        return Sum.of(Atom("sum", (base,)), exponent)

    def cancelled(self, value: Sum) -> Sum:
        """The sum with (1 + x) / (1 + x) as 1, where a sum stands above and below the line."""
        for atom, exponent in _denominators(value):
            groups: dict[str, tuple[Product, list[tuple[Product, Fraction]]]] = {}
            rest = []
            for product, factor in value.terms:
                own = dict(product).get(atom)
                if own != exponent:
                    rest.append((product, factor))
                    continue
                plain = tuple(part for part in product if part[0] != atom)
                rest.append((product, factor))
                groups.setdefault("", ((), []))[1].append((plain, factor))
            for _, terms in groups.values():
                found = self._divided(Sum.collect(terms), atom.args[0])
                if found is None:
                    continue
                kept = Sum.collect(
                    (p, c) for p, c in value.terms if dict(p).get(atom) != exponent
                )
                more = self.power(Sum.of(atom), lean(as_sum(exponent) + ONE))
                more = Sum.of(atom, exponent + 1) if exponent != -1 else ONE
                return self.cancelled(kept + self.times(found, more))
        return value

    def _divided(self, top: Sum, bottom: Sum) -> Sum | None:
        """The q with top = q * bottom, if it is a sum of few products."""
        total, rest = Sum(), top
        for _ in range(12):
            if not rest:
                return total
            lead, factor = bottom.terms[0]
            first, own = rest.terms[0]
            inverse = tuple((a, lean(-as_sum(e))) for a, e in lead)
            candidates = [
                Sum(((join(product, inverse), c / factor),)) for product, c in rest.terms[:6]
            ]
            _ = first, own
            for step in candidates:
                after = rest - self.times(step, bottom)
                if len(after.terms) < len(rest.terms):
                    total, rest = total + step, after
                    break
            else:
                return None
        return None

    def same(self, a: Sum, b: Sum) -> bool:
        """Whether two sums are equal once both are multiplied by all denominators."""
        gap = a - b
        for _ in range(8):
            below = _denominators(gap)
            if not gap or not below:
                break
            atom = below[0][0]
            lowest = min(
                e for p, _ in gap.terms for at, e in p if at == atom and isinstance(e, Fraction)
            )
            total = Sum()
            for product, factor in gap.terms:
                exponent = dict(product).get(atom, Fraction(0)) - lowest
                plain = tuple(part for part in product if part[0] != atom)
                part = Sum(((plain, factor),))
                total = total + self.times(part, self.power(atom.args[0], exponent))
            gap = total
        return not gap

    # Functions

    def function(self, head: str, args: list[Sum]) -> Sum:
        """A function of sums in normal form."""
        match head:
            case "exp":
                return self.exp(args[0])
            case "log":
                return self.log(args[0])
            case "abs":
                return self._absolute(args[0])
            case "cos" | "sin":
                return self._wave(head, args[0])
            case "cosh" | "sinh":
                sign = 1 if head == "cosh" else -1
                return (self.exp(args[0]) + self.exp(-args[0]).times(sign)).times(HALF)
            case "acos" | "asin" if args[0] in (ONE, -ONE):
                quarter = PI.times(HALF if args[0] == ONE else -HALF)
                return quarter if head == "asin" else PI.times(HALF) - quarter
            case "acos":
                arc = _arc(args[0])
                return arc or PI.times(HALF) - self._odd("asin", args[0])
            case "asin":
                arc = _arc(args[0])
                return PI.times(HALF) - arc if arc else self._odd("asin", args[0])
            case "tanh" | "atan" | "tan":
                return self._odd(head, args[0])
            case "pos":
                return self._positive_part(args[0])
            case "sign":
                return self._alternating(args[0])
            case "min" | "max":
                return self._extreme(head, args)
            case "gcd" | "lcm":
                return self._divisor(head, args)
        raise TooLarge

    def exp(self, exponent: Sum) -> Sum:
        """The exponential; multiples of logarithms in the exponent become powers."""
        powers = ONE
        rest = []
        for product, factor in exponent.terms:
            if len(product) == 1 and product[0][0].head == "log" and product[0][1] == 1:
                powers = self.times(powers, self.power(product[0][0].args[0], factor))
            else:
                rest.append((product, factor))
        inner = Sum(tuple(rest))
        whole = Sum.of(E, lean(inner)) if inner else ONE
        return self.times(powers, whole) if powers != ONE else whole

    def log(self, inner: Sum) -> Sum:
        """The logarithm, of products as a sum."""
        if not inner:
            raise TooLarge
        if len(inner.terms) == 1:
            product, factor = inner.terms[0]
            known = all(self.world.range_of_atom(atom).positive for atom, _ in product)
            if factor > 0 and (known or len(product) == 0):
                total = Sum()
                for prime, count in _factors(factor).items():
                    total = total + Sum.of(Atom("log", (Sum.constant(prime),))).times(count)
                for atom, exponent in product:
                    total = total + self.times(as_sum(exponent), self._log_atom(atom))
                return total
            return Sum.of(Atom("log", (inner,)))
        content = _content(inner)
        front = self.log(Sum.constant(content)) if content != 1 else Sum()
        return front + Sum.of(Atom("log", (inner.times(1 / content),)))

    def _log_atom(self, atom: Atom) -> Sum:
        if atom.head == "e":
            return ONE
        inner = atom.args[0] if atom.head == "sum" else Sum.of(atom)
        return Sum.of(Atom("log", (inner,)))

    def _absolute(self, inner: Sum) -> Sum:
        known = self.world.range(inner)
        if known.nonnegative:
            return inner
        if known.nonpositive:
            return -inner
        if len(inner.terms) == 1:
            product, factor = inner.terms[0]
            total = Sum.constant(abs(factor))
            for atom, exponent in product:
                if self.world.range_of_power(atom, exponent).nonnegative:
                    total = self.times(total, Sum(((((atom, exponent),), Fraction(1)),)))
                elif isinstance(exponent, Fraction) and exponent.denominator == 1:
                    total = self.times(
                        total, self.power(Sum.of(Atom("abs", (Sum.of(atom),))), exponent)
                    )
                else:
                    return Sum.of(Atom("abs", (inner,)))
            return total
        content = _content(inner)
        if inner.terms[0][1] < 0:
            content = -content
        primitive = inner.times(1 / content)
        split = self._split(primitive)
        if split is not None:
            a, b = split
            if self.world.range(a).nonnegative and self.world.range(b).nonnegative:
                least = self.function("min", [a, b])
                return (a + b - least.times(2)).times(abs(content))
        return Sum.of(Atom("abs", (primitive,))).times(abs(content))

    def _split(self, difference: Sum) -> tuple[Sum, Sum] | None:
        """f(x) and f(y), if a sum is their difference."""
        parts: dict[frozenset[str], list[Any]] = {}
        for product, factor in difference.terms:
            parts.setdefault(Sum(((product, factor),)).points, []).append((product, factor))
        if set(parts) != {frozenset("x"), frozenset("y")}:
            return None
        first, second = Sum(tuple(parts[frozenset("x")])), Sum(tuple(parts[frozenset("y")]))
        if self.renamed(first, {"x": "y"}) != -second:
            return None
        return first, -second

    def _wave(self, head: str, angle: Sum) -> Sum:
        """A cosine or sine, with the sign of the angle settled."""
        if not angle:
            return ONE if head == "cos" else Sum()
        sign = 1
        if angle.terms[0][1] < 0:
            angle, sign = -angle, (1 if head == "cos" else -1)
        if head == "cos" and len(angle.terms) == 1:  # cos(n acos(cos(u))) is cos(n u)
            product, factor = angle.terms[0]
            if len(product) == 1 and product[0][0].head == "arc" and factor.denominator == 1:
                return self._wave("cos", product[0][0].args[0].times(factor))
        return Sum.of(Atom(head, (angle,))).times(sign)

    def _odd(self, head: str, inner: Sum) -> Sum:
        if not inner:
            return Sum()
        if inner.terms[0][1] < 0:
            return -Sum.of(Atom(head, (-inner,)))
        return Sum.of(Atom(head, (inner,)))

    def _extreme(self, head: str, args: list[Sum]) -> Sum:
        total = args[0]
        if head == "max" and len(args) == 2 and Sum() in args:
            return self._positive_part(args[0] or args[1])
        for other in args[1:]:
            gap = total - other
            known = self.world.range(gap)
            if known.nonnegative or known.nonpositive:
                smaller = other if known.nonnegative else total
                total = smaller if head == "min" else total + other - smaller
                continue
            least = self._least(total, other)
            total = least if head == "min" else total + other - least
        return total

    def _positive_part(self, inner: Sum) -> Sum:
        """max(0, u)."""
        known = self.world.range(inner)
        if known.nonnegative:
            return inner
        if known.nonpositive:
            return Sum()
        content = _content(inner)
        return Sum.of(Atom("pos", (inner.times(1 / content),))).times(content)

    def _least(self, a: Sum, b: Sum) -> Sum:
        nonnegative = self.world.range(a).nonnegative and self.world.range(b).nonnegative
        if nonnegative and self._split(a - b) is not None:
            content = gcd_of(_content(a), _content(b))
            parts = sorted((a.times(1 / content), b.times(1 / content)), key=lambda s: s.key)
            return Sum.of(Atom("min", tuple(parts))).times(content)
        return (a + b - self._absolute(a - b)).times(HALF)

    def _divisor(self, head: str, args: list[Sum]) -> Sum:
        total = args[0]
        for other in args[1:]:
            if total == other:
                continue
            parts = sorted((total, other), key=lambda part: part.key)
            common = Sum.of(Atom("gcd", tuple(parts)))
            if head == "gcd":
                total = common
            else:
                total = self.times(self.times(total, other), self.power(common, Fraction(-1)))
        return total

    # Sets and vectors

    def _size(self, tree: Tree) -> Sum:
        """The size of a set by those of x, y and what they have in common."""
        cells = self._cells(tree)
        x, y = Sum.of(Atom("len", ("x",))), Sum.of(Atom("len", ("y",)))
        both = Sum.of(Atom("len", ("x", "y")))
        sizes = {"x": x - both, "y": y - both, "xy": both}
        return sum((sizes[cell] for cell in sorted(cells)), Sum())

    def _cells(self, tree: Tree) -> frozenset[str]:
        if tree.head == "point":
            return frozenset((tree.value, "xy"))
        a, b = (self._cells(part) for part in tree.args)
        return {"and": a & b, "or": a | b, "xor": a ^ b}[tree.head]

    def vector(self, tree: Tree) -> tuple[Sum, Sum]:
        """The factors of x and of y in a vector."""
        match tree.head:
            case "point":
                return (ONE, Sum()) if tree.value == "x" else (Sum(), ONE)
            case "add":
                parts = [self.vector(part) for part in tree.args]
                return sum((a for a, _ in parts), Sum()), sum((b for _, b in parts), Sum())
            case "multiply":
                return self._scaled_vector(tree)
        raise TooLarge

    def _scaled_vector(self, tree: Tree) -> tuple[Sum, Sum]:
        front, inner = ONE, None
        for part in tree.args:
            if inner is None and _is_vector(part):
                inner = self.vector(part)
            else:
                front = self.times(front, self.normal(part))
        if inner is None:
            raise TooLarge
        return self.times(front, inner[0]), self.times(front, inner[1])

    def _dot(self, tree: Tree) -> Sum:
        left, right = self.vector(tree.args[0]), self.vector(tree.args[-1])
        middle = tree.args[1] if len(tree.args) == 3 else None
        total = Sum()
        for a, p in zip(left, "xy", strict=True):
            for b, q in zip(right, "xy", strict=True):
                if a and b:
                    total = total + self.times(self.times(a, b), self._inner(p, q, middle))
        return total

    def _inner(self, p: str, q: str, middle: Tree | None) -> Sum:
        ends = tuple(sorted((p, q)))
        if middle is not None:
            if middle.head == "matrix" and not _symmetric(middle):
                raise TooLarge
            return Sum.of(Atom("form", (str(middle), *ends)))
        if p == q and self.space.kind == "sphere":
            return ONE
        return Sum.of(Atom("dot", ends))

    def _norm(self, tree: Tree) -> Sum:
        inner, order = tree.args
        p = "inf" if order.head == "inf" else self.normal(order).number
        if p is None:
            raise TooLarge
        a, b = self.vector(inner)
        if p == 2:
            squared = self._dot(Tree("dot", (inner, inner)))
            return self.power(squared, HALF)
        parts = [part for part in (a, b) if part]
        if not parts:
            return Sum()
        content = _content(parts[0])
        for part in parts[1:]:
            content = gcd_of(content, _content(part))
        if parts[0].terms[0][1] < 0:
            content = -content
        a, b = a.times(1 / content), b.times(1 / content)
        return Sum.of(Atom("norm", (p, a, b))).times(abs(content))

    # Atoms replaced

    def mapped(self, value: Sum, change: Callable[[Atom], Sum | None]) -> Sum:
        """The sum with atoms replaced; a change of None looks inside the atom."""
        total = Sum()
        for product, factor in value.terms:
            part = Sum.constant(factor)
            for atom, exponent in product:
                power = self.mapped(exponent, change) if isinstance(exponent, Sum) else exponent
                part = self.times(part, self.power(self._mapped_atom(atom, change), power))
            total = total + part
        return self.cancelled(total)

    def _mapped_atom(self, atom: Atom, change: Callable[[Atom], Sum | None]) -> Sum:
        found = change(atom)
        if found is not None:
            return found
        if not any(isinstance(arg, Sum) for arg in atom.args):
            return Sum.of(atom)
        if atom.head in ("norm", "max"):
            return Sum.of(atom)
        parts = [self.mapped(arg, change) for arg in atom.args]
        if atom.head == "sum":
            return parts[0]
        if atom.head == "arc":
            return _arc(self._wave("cos", parts[0])) or self._arc_of(parts[0])
        return self.function(atom.head, parts)

    def _arc_of(self, angle: Sum) -> Sum:
        return Sum() if not angle else Sum.of(Atom("arc", (angle,)))

    def renamed(self, value: Sum, names: dict[str, str]) -> Sum:
        """The sum with points renamed: both swapped, or one made the other."""

        def change(atom: Atom) -> Sum | None:
            head, args = atom.head, atom.args
            if not atom.points:
                return Sum.of(atom)
            if head in ("x", "y"):
                return Sum.of(Atom(names.get(head, head)))
            if head == "len":
                return Sum.of(Atom("len", tuple(sorted({names.get(a, a) for a in args}))))
            if head == "dot":
                p, q = (names.get(arg, arg) for arg in args)
                return self._inner(p, q, None)
            if head == "form":
                ends = sorted(names.get(arg, arg) for arg in args[1:])
                return Sum.of(Atom("form", (args[0], *ends)))
            return self._renamed_norm(atom, names) if head == "norm" else None

        return self.mapped(value, change)

    def _renamed_norm(self, atom: Atom, names: dict[str, str]) -> Sum:
        p, a, b = atom.args
        factors = {"x": Sum(), "y": Sum()}
        for name, factor in (("x", a), ("y", b)):
            if factor:
                factors[names.get(name, name)] += self.renamed(factor, names)
        a, b = factors["x"], factors["y"]
        if not a and not b:
            return Sum()
        lead = (a or b).terms[0][1]
        if lead < 0:
            a, b = -a, -b
        return Sum.of(Atom("norm", (p, a, b)))

    def swapped(self, value: Sum) -> Sum:
        """The sum with x and y exchanged."""
        return self.renamed(value, {"x": "y", "y": "x"})

    def diagonal(self, value: Sum) -> Sum:
        """The sum at y = x."""
        return self.renamed(value, {"y": "x"})

    def difference_parts(self, value: Sum) -> tuple[Sum, Sum] | None:
        """g(x) and g(y), if a sum is g(x) - g(y)."""
        return self._split(value)

    def at_zero(self, value: Sum) -> Sum | None:
        """The sum at y = 0, if zero is a point of the domain."""
        if self.space.kind in ("reals", "nonnegative"):
            inside = True
        elif self.space.kind == "interval":
            inside = self.space.low < 0 < self.space.high  # type: ignore[operator]
        else:
            inside = self.space.kind == "vectors"
        if not inside:
            return None
        return self._zeroed(value)

    def _zeroed(self, value: Sum) -> Sum:
        def change(atom: Atom) -> Sum | None:
            if "y" not in atom.points:
                return Sum.of(atom)
            if atom.head in ("y", "dot", "form"):
                return Sum()
            if atom.head == "norm":
                p, a, _ = atom.args
                return Sum.of(Atom("norm", (p, a, Sum()))) if a else Sum()
            return None

        return self.mapped(value, change)

    def distances(self, value: Sum | None = None) -> list[Sum]:
        """The distance of two points, and each |g(x) - g(y)| that a sum holds."""
        found = {} if value is None else {atom.key: atom for atom in value.atoms()}
        gaps = [
            atom for atom in found.values() if atom.head == "abs" and self._split(atom.args[0])
        ]
        least = [atom for atom in found.values() if atom.head == "min"]
        between = [a.args[0] + a.args[1] - Sum.of(a).times(2) for a in least]
        return [*self._plain_distances(), *(Sum.of(atom) for atom in gaps), *between]

    def is_line_distance(self, distance: Sum) -> bool:
        """Whether a distance is |g(x) - g(y)| for numbers g."""
        heads = {atom.head for product, _ in distance.terms for atom, _ in product}
        return self.space.points_are == "number" or bool(heads & {"abs", "min"})

    def lengths(self, value: Sum) -> list[tuple[Sum, Fraction]]:
        """Each |g(x) - g(y)| that a sum holds, and how far apart the values of g may be."""
        found = []
        for distance in self.distances(value):
            g = self._one_end(distance)
            if g is None:
                continue
            known = self.world.range(g)
            if known.low is not None and known.high is not None:
                found.append((distance, known.high - known.low))
        return found

    def _one_end(self, distance: Sum) -> Sum | None:
        """The g(x) of a distance |g(x) - g(y)|."""
        for product, _ in distance.terms:
            for atom, _ in product:
                if atom.head == "min":
                    return atom.args[0]  # type: ignore[no-any-return]
                if atom.head == "abs":
                    parts = self._split(atom.args[0])
                    return parts and parts[0]
        return None

    def _plain_distances(self) -> list[Sum]:
        x, y = Sum.of(Atom("x")), Sum.of(Atom("y"))
        if self.space.points_are == "number":
            return [self.function("abs", [x - y])]
        squared = self.squared_distance()
        return [] if squared is None else [self.power(squared, HALF)]

    def squared_distance(self) -> Sum | None:
        """The squared distance of two points, where they are numbers or vectors."""
        if self.space.points_are == "number":
            x, y = Sum.of(Atom("x")), Sum.of(Atom("y"))
            return self.power(x - y, Fraction(2))
        if self.space.kind == "vectors":
            own = self._inner("x", "x", None) + self._inner("y", "y", None)
            return own - self._inner("x", "y", None).times(2)
        return None

    def multiple_of(self, value: Sum, unit: Sum) -> Sum | None:
        """The factor c without points for which value = c * unit."""
        if len(value.terms) != len(unit.terms) or not unit:
            return None
        lead, own = unit.terms[0]
        for product, factor in value.terms:
            rest = join(product, tuple((atom, -power) for atom, power in lead))
            candidate = Sum(((rest, factor / own),))
            if not candidate.points and self.times(candidate, unit) == value:
                return candidate
        return None

    def on_one_side(self, value: Sum) -> Sum | None:
        """The sum for x <= y, where min(x, y) is x; None if there is another minimum."""
        if self.space.points_are != "number":
            return None
        total = Sum()
        for product, factor in value.terms:
            part = Sum.constant(factor)
            for atom, exponent in product:
                plain = atom.head == "min" and [str(a) for a in atom.args] == ["x", "y"]
                if (atom.head == "min" and not plain) or not isinstance(exponent, Fraction):
                    return None
                part = self.times(part, Sum.of(Atom("x") if plain else atom, exponent))
            total = total + part
        return total

    def maximum(self, least: Atom) -> Atom:
        """The maximum beside a minimum, as an atom of its own."""
        return Atom("max", least.args)

    def by_maximum(self, value: Sum, least: Atom) -> Sum:
        """The sum with a + b - max(a, b) for a minimum."""
        other = least.args[0] + least.args[1] - Sum.of(self.maximum(least))
        return self.mapped(value, lambda atom: other if atom == least else None)

    def is_whole_valued(self, value: Sum) -> bool:
        """Whether a sum is a whole number at every point."""
        heads = {"naturals": ("x", "y"), "sets": ("len",)}.get(self.space.kind, ())
        return all(
            factor.denominator == 1
            and all(atom.head in heads and _natural(exponent) for atom, exponent in product)
            for product, factor in value.terms
        )

    def is_semidefinite_form(self, atom: Atom) -> bool:
        """Whether the matrix of x'Ay is p.s.d.: by assumption, or by its entries."""
        name = atom.args[0]
        return name in self.given.matrices or _semidefinite_text(name)


# --------------------------------------------------------------------------------- helpers


def _denominators(value: Sum) -> list[tuple[Atom, Fraction]]:
    """The sums that stand below a line, with their exponents."""
    found: dict[tuple[str, Fraction], tuple[Atom, Fraction]] = {}
    for product, _ in value.terms:
        for atom, exponent in product:
            if atom.head == "sum" and isinstance(exponent, Fraction) and exponent < 0:
                found[atom.key, exponent] = atom, exponent
    return [found[key] for key in sorted(found)]


def _signless(product: Product) -> Product:
    """x**3 / |x| as x |x|: an even power of x is one of |x|."""
    bare = {atom.args[0].key: atom for atom, _ in product if atom.head == "abs"}
    found = dict(product)
    for atom, exponent in product:
        size = bare.get(Sum.of(atom).key)
        if size is None or not _whole(exponent) or not isinstance(found[size], Fraction):
            continue
        odd = exponent % 2
        total = found[size] + exponent - odd
        found[size], found[atom] = total, odd
        if total.denominator == 1 and total % 2 == 0:
            found[size], found[atom] = Fraction(0), odd + total
    return ordered((atom, exponent) for atom, exponent in found.items() if exponent)


def _natural(exponent: Exponent) -> bool:
    return isinstance(exponent, Fraction) and exponent.denominator == 1 and exponent > 0


def _whole(exponent: Exponent) -> bool:
    return isinstance(exponent, Fraction) and exponent.denominator == 1


def _bounded(value: Fraction, exponent: int) -> Fraction:
    """A power of a number, if it has not too many digits."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * abs(exponent) > DIGITS and value not in (0, 1, -1):
        raise TooLarge
    return value**exponent


def gcd_of(a: Fraction, b: Fraction) -> Fraction:
    """The largest number of which both are whole multiples."""
    return Fraction(gcd(a.numerator, b.numerator), lcm(a.denominator, b.denominator))


def _content(value: Sum) -> Fraction:
    """The largest number of which all factors are whole multiples."""
    total = Fraction(0)
    for _, factor in value.terms:
        total = abs(factor) if not total else gcd_of(total, abs(factor))
    return total


@lru_cache(maxsize=4096)
def _prime_factors(value: int) -> tuple[tuple[int, int], ...]:
    if value.bit_length() > 64:
        return ((value, 1),)
    found, rest, prime = [], value, 2
    while prime <= min(isqrt(rest), 100_000):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        if count:
            found.append((prime, count))
        prime += 1 if prime == 2 else 2
    if rest > 1:
        found.append((rest, 1))
    return tuple(found)


def _factors(value: Fraction) -> dict[int, int]:
    """The prime factors of a positive number, those below the line with a minus."""
    found = dict(_prime_factors(value.numerator))
    for prime, count in _prime_factors(value.denominator):
        found[prime] = found.get(prime, 0) - count
    return found


def _wave_product(
    head: str, angle: Sum, other: str, second: Sum, factor: Fraction
) -> list[tuple[str, Sum, Fraction]]:
    half = factor / 2
    plus, minus = angle + second, angle - second
    if head == other == "cos":
        return [("cos", minus, half), ("cos", plus, half)]
    if head == other == "sin":
        return [("cos", minus, half), ("cos", plus, -half)]
    sign = half if head == "sin" else -half
    return [("sin", plus, half), ("sin", minus, sign)]


def _arc(value: Sum) -> Sum | None:
    """acos(cos(u)), the distance from u to the nearest whole turn."""
    if len(value.terms) != 1:
        return None
    product, factor = value.terms[0]
    if factor != 1 or len(product) != 1 or product[0][0].head != "cos" or product[0][1] != 1:
        return None
    return Sum.of(Atom("arc", (product[0][0].args[0],)))


def _is_vector(tree: Tree) -> bool:
    if tree.head == "point":
        return True
    return tree.head in ("add", "multiply") and any(map(_is_vector, tree.args))


@lru_cache(maxsize=256)
def _semidefinite_text(text: str) -> bool:
    """Whether a matrix of numbers, as text, is p.s.d., exactly."""
    rows = [
        [Fraction(entry) for entry in row.split(",")]
        for row in text.replace(" ", "").removeprefix("[[").removesuffix("]]").split("],[")
    ]
    return semidefinite(rows)


def semidefinite(rows: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix of rational numbers is positive semidefinite, exactly."""
    rows = [list(row) for row in rows]
    while rows:
        pivot = max(range(len(rows)), key=lambda n: rows[n][n])
        if rows[pivot][pivot] < 0:
            return False
        if rows[pivot][pivot] == 0:
            return not any(entry for row in rows for entry in row)
        own = rows[pivot]
        rest = [n for n in range(len(rows)) if n != pivot]
        rows = [[rows[i][j] - rows[i][pivot] * own[j] / own[pivot] for j in rest] for i in rest]
    return True


def _symmetric(matrix: Tree) -> bool:
    rows = [row.args for row in matrix.args]
    return all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))
