r"""Arithmetic of sums: products multiplied out, powers gathered, functions written by others.

Hyperbolic functions become exponentials, lcm becomes gcd, maxima become minima, and products of
cosines become cosines of sums.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, TypeGuard

from mercer.proofs.assumptions import Given
from mercer.proofs.primes import bounded, gcd_of, prime_powers
from mercer.proofs.ranges import World
from mercer.proofs.spaces import Space
from mercer.proofs.sums import (
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

ONE = Sum.constant(1)
HALF = Fraction(1, 2)
E = Atom("e")
PI = Sum.of(Atom("pi"))

EXPANDED = 24
"""The power up to which sums are multiplied out."""

MOST_EXPANDED = 150
"""That power times the number of terms."""


class Arithmetic(ABC):
    """Sums over one domain, in normal form.

    When time runs out, by `deadline`, what is at work is given up as too large.

    Args:
        space: Where the points live.
        given: What is known of the parameters.
    """

    def __init__(self, space: Space, given: Given) -> None:
        self.space, self.given = space, given
        self.world = World(space, given)
        self.deadline = math.inf

    @abstractmethod
    def renamed(self, value: Sum, names: dict[str, str]) -> Sum:
        """The sum with points renamed."""

    def times(self, a: Sum, b: Sum) -> Sum:
        """The product of two sums in normal form."""
        if len(a.terms) * len(b.terms) > 6000 or time.monotonic() > self.deadline:
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
            left = exponent
            if rational and atom.head == "prime" and not 0 <= exponent < 1:
                whole = exponent.numerator // exponent.denominator
                factor *= bounded(Fraction(atom.args[0]), whole)
                left -= whole
            elif rational and atom.head in ("cos", "sin") and is_natural(exponent):
                waves.append((atom, int(exponent)))
                continue
            elif (
                rational
                and atom.head == "abs"
                and abs(exponent) >= 2
                and _splits(atom, exponent)
            ):
                twice = int(exponent / 2)  # towards zero
                extra.append(self.power(atom.args[0], Fraction(2 * twice)))
                left -= 2 * twice
            elif rational and atom.head == "sum" and exponent >= 1:
                whole = exponent.numerator // exponent.denominator
                if _is_multiplied_out(atom.args[0], whole):
                    extra.append(self.power(atom.args[0], Fraction(whole)))
                    left -= whole
            elif rational and atom.head == "sign" and exponent.denominator == 1:
                left %= 2
            elif rational and atom.head == "norm" and atom.args[0] == 2 and exponent >= 2:
                raise TooLarge
            if left:
                kept.append((atom, left))
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
        if isinstance(exponent, Fraction) and (is_natural(exponent) or exponent == 0):
            return self._whole_power(base, int(exponent))
        if not base and self.world.range(as_sum(exponent)).positive:
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
                atom.head in ("x", "y", "len") and is_natural(e) for atom, e in product
            ):
                raise TooLarge
            if factor % 2:
                inner = Sum(((product, Fraction(1)),))
                sign = Sum.of(Atom("sign", (inner,))) if product else Sum.constant(-1)
                total = self.times(total, sign)
        return total

    def _whole_power(self, base: Sum, exponent: int) -> Sum:
        if len(base.terms) > 1 and not _is_multiplied_out(base, exponent):
            return self._power_of_sum(base, Fraction(exponent))
        if len(base.terms) == 1 and exponent > EXPANDED:
            return self._power_of_product(base, Fraction(exponent))
        total = ONE
        for _ in range(exponent):
            total = self.times(total, base)
        return total

    def _power_of_product(self, base: Sum, exponent: Exponent) -> Sum:
        (product, factor), whole = base.terms[0], is_whole(exponent)
        odd = is_whole(exponent) and exponent % 2 == 1
        if factor < 0 and not whole:
            return self._opaque(base, exponent)
        symbolic = isinstance(exponent, Sum)
        total = self._power_of_number(abs(factor), exponent)
        if factor < 0:
            total = total.times(-1 if odd else 1)
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
            return Sum.constant(bounded(value, int(exponent)))
        total = ONE
        for prime, count in prime_powers(value).items():
            part = self._settled(((Atom("prime", (prime,)), count * exponent),), Fraction(1))
            total = self.times(total, Sum.collect(part))
        return total

    def _power_of_sum(self, base: Sum, exponent: Exponent) -> Sum:
        """The content goes in front: 1 / (2 x + 2) is half of 1 / (x + 1)."""
        if not base:
            raise TooLarge
        content = content_of(base)
        if is_whole(exponent) and self._leads_with_minus(base):
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
            over = [term for term in value.terms if dict(term[0]).get(atom) == exponent]
            top = Sum.collect(
                (tuple(part for part in product if part[0] != atom), factor)
                for product, factor in over
            )
            found = self._divided(top, atom.args[0])
            if found is not None:
                kept = Sum(tuple(term for term in value.terms if term not in over))
                left = ONE if exponent == -1 else Sum.of(atom, exponent + 1)
                return self.cancelled(kept + self.times(found, left))
        return value

    def _divided(self, top: Sum, bottom: Sum) -> Sum | None:
        """The q with top = q * bottom, if it is a sum of few products."""
        total, rest = Sum(), top
        lead, own = bottom.terms[0]
        inverse = tuple((atom, lean(-as_sum(exponent))) for atom, exponent in lead)
        for _ in range(12):
            if not rest:
                return total
            for product, factor in rest.terms[:6]:
                step = Sum(((join(product, inverse), factor / own),))
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
                arc = arc_of(args[0])
                return arc or PI.times(HALF) - self._odd("asin", args[0])
            case "asin":
                arc = arc_of(args[0])
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
                for prime, count in prime_powers(factor).items():
                    total = total + Sum.of(Atom("log", (Sum.constant(prime),))).times(count)
                for atom, exponent in product:
                    total = total + self.times(as_sum(exponent), self._log_atom(atom))
                return total
            return Sum.of(Atom("log", (inner,)))
        content = content_of(inner)
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
        content = content_of(inner)
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
        content = content_of(inner)
        return Sum.of(Atom("pos", (inner.times(1 / content),))).times(content)

    def _least(self, a: Sum, b: Sum) -> Sum:
        nonnegative = self.world.range(a).nonnegative and self.world.range(b).nonnegative
        if nonnegative and self._split(a - b) is not None:
            content = gcd_of(content_of(a), content_of(b))
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
        if size is None or not is_whole(exponent) or not isinstance(found[size], Fraction):
            continue
        odd = exponent % 2
        total = found[size] + exponent - odd
        found[size], found[atom] = total, odd
        if total.denominator == 1 and total % 2 == 0:
            found[size], found[atom] = Fraction(0), odd + total
    return ordered((atom, exponent) for atom, exponent in found.items() if exponent)


def _is_multiplied_out(base: Sum, exponent: int) -> bool:
    return exponent <= EXPANDED and exponent * len(base.terms) <= MOST_EXPANDED


def _splits(size: Atom, exponent: Fraction) -> bool:
    """Whether squares are taken out of a power of |u|: always, but of |x| only even powers."""
    inner = size.args[0].terms
    bare = len(inner) == 1 and len(inner[0][0]) == 1 and inner[0] == (((inner[0][0][0]),), 1)
    return not bare or exponent % 2 == 0


def is_natural(exponent: Exponent) -> TypeGuard[Fraction]:
    """Whether an exponent is a whole number from 1."""
    return isinstance(exponent, Fraction) and exponent.denominator == 1 and exponent > 0


def is_whole(exponent: Exponent) -> TypeGuard[Fraction]:
    """Whether an exponent is a whole number."""
    return isinstance(exponent, Fraction) and exponent.denominator == 1


def content_of(value: Sum) -> Fraction:
    """The largest number of which all factors are whole multiples."""
    total = Fraction(0)
    for _, factor in value.terms:
        total = abs(factor) if not total else gcd_of(total, abs(factor))
    return total


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


def arc_of(value: Sum) -> Sum | None:
    """acos(cos(u)), the distance from u to the nearest whole turn."""
    if len(value.terms) != 1:
        return None
    product, factor = value.terms[0]
    if factor != 1 or len(product) != 1 or product[0][0].head != "cos" or product[0][1] != 1:
        return None
    return Sum.of(Atom("arc", (product[0][0].args[0],)))
