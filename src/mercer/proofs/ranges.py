r"""Between which numbers a sum lies on its domain: interval arithmetic, with open ends.

The bounds are rational and rounded outwards, so what they say is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from mpmath import iv, mp, mpf

from mercer.proofs.assumptions import Bounds, Given
from mercer.proofs.spaces import Space
from mercer.proofs.sums import Atom, Product, Sum, product_key, product_points

BITS = 80

REMEMBERED = 4_096
"""Atoms of which the range is kept."""


@dataclass(frozen=True)
class Range:
    """An interval; None is minus infinity below and infinity above.

    Attributes:
        low: The lower end.
        high: The upper end.
        open_low: Whether the lower end is not reached.
        open_high: Whether the upper end is not reached.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    open_low: bool = False
    open_high: bool = False

    @property
    def positive(self) -> bool:
        """Whether every number in it is above zero."""
        return self.low is not None and (self.low > 0 or (self.low == 0 and self.open_low))

    @property
    def nonnegative(self) -> bool:
        """Whether no number in it is below zero."""
        return self.low is not None and self.low >= 0

    @property
    def negative(self) -> bool:
        """Whether every number in it is below zero."""
        return (-self).positive

    @property
    def nonpositive(self) -> bool:
        """Whether no number in it is above zero."""
        return self.high is not None and self.high <= 0

    def __neg__(self) -> Range:
        low, high = self.low, self.high
        return Range(
            None if high is None else -high,
            None if low is None else -low,
            self.open_high,
            self.open_low,
        )

    def __add__(self, other: Range) -> Range:
        low = None if self.low is None or other.low is None else self.low + other.low
        high = None if self.high is None or other.high is None else self.high + other.high
        return _rounded(
            Range(low, high, self.open_low | other.open_low, self.open_high | other.open_high)
        )

    def times(self, factor: Fraction) -> Range:
        """The range of a multiple."""
        if factor < 0:
            return (-self).times(-factor)
        if factor == 0:
            return EXACT_ZERO
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        return Range(low, high, self.open_low, self.open_high)

    def __mul__(self, other: Range) -> Range:
        ends = [_end_product(a, b) for a in self._ends() for b in other._ends()]
        low, open_low = min(ends, key=lambda e: (_order(e[0]), e[1]))
        high, open_high = max(ends, key=lambda e: (_order(e[0]), not e[1]))
        return _rounded(
            Range(
                low if isinstance(low, Fraction) else None,
                high if isinstance(high, Fraction) else None,
                open_low and isinstance(low, Fraction),
                open_high and isinstance(high, Fraction),
            )
        )

    def _ends(self) -> list[tuple[Any, bool]]:
        low = "-inf" if self.low is None else self.low
        high = "inf" if self.high is None else self.high
        return [(low, self.open_low or low == "-inf"), (high, self.open_high or high == "inf")]

    def inverse(self) -> Range:
        """The range of 1 / u."""
        if self.negative:
            return -(-self).inverse()
        if not self.positive:
            return Range()
        assert self.low is not None  # noqa: S101 - it is positive
        high = None if self.low == 0 else 1 / self.low
        low = Fraction(0) if self.high is None else 1 / self.high
        return _rounded(Range(low, high, self.open_high or self.high is None, self.open_low))

    def intersect(self, other: Range) -> Range:
        """What is known when both are."""
        low, open_low = self.low, self.open_low
        if other.low is not None and (
            low is None or (other.low, other.open_low) > (low, open_low)
        ):
            low, open_low = other.low, other.open_low
        high, open_high = self.high, self.open_high
        if other.high is not None and (
            high is None or (-other.high, other.open_high) > (-high, open_high)
        ):
            high, open_high = other.high, other.open_high
        return Range(low, high, open_low, open_high)

    def monotone(self, function: Callable[[Any], Any], *, rising: bool = True) -> Range:
        """The range of a monotone function, given in interval arithmetic."""
        if not rising:
            return (-self).monotone(lambda u: function(-u))
        with _Precision():
            low = None if self.low is None else _lower(function(_interval(self.low)))
            high = None if self.high is None else _upper(function(_interval(self.high)))
        return Range(low, high, self.open_low, self.open_high)


EXACT_ZERO = Range(Fraction(0), Fraction(0))
UNIT = Range(Fraction(-1), Fraction(1))
NONNEGATIVE = Range(Fraction(0))
POSITIVE = Range(Fraction(0), open_low=True)


def _order(end: Any) -> Any:
    return (
        {"-inf": float("-inf"), "inf": float("inf")}.get(end, end)
        if isinstance(end, str)
        else end
    )


def _end_product(a: tuple[Any, bool], b: tuple[Any, bool]) -> tuple[Any, bool]:
    (u, open_u), (v, open_v) = a, b
    if 0 in (u, v):  # zero is reached where the factor that is zero is
        return Fraction(0), not ((u == 0 and not open_u) or (v == 0 and not open_v))
    if isinstance(u, str) or isinstance(v, str):
        sign = (1 if _order(u) > 0 else -1) * (1 if _order(v) > 0 else -1)
        return ("inf" if sign > 0 else "-inf"), True
    return u * v, open_u or open_v


def _rounded(found: Range) -> Range:
    """The same range with shorter ends."""
    low, high = found.low, found.high
    open_low, open_high = found.open_low, found.open_high
    if low is not None and low.denominator.bit_length() > 4 * BITS:
        low, open_low = Fraction(low * 2**BITS // 1, 2**BITS), False
    if high is not None and high.denominator.bit_length() > 4 * BITS:
        high, open_high = Fraction(-(-high * 2**BITS // 1), 2**BITS), False
    for end in (low, high):
        if end is not None and end.numerator.bit_length() > 5000:
            return Range()
    return Range(low, high, open_low, open_high)


class _Precision:
    """Intervals of `BITS` bits, as long as it lasts."""

    def __enter__(self) -> None:
        self.before = iv.prec
        iv.prec = BITS

    def __exit__(self, *_: object) -> None:
        iv.prec = self.before


def _interval(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def _lower(interval: Any) -> Fraction | None:
    return _fraction(interval.a)


def _upper(interval: Any) -> Fraction | None:
    return _fraction(interval.b)


def _fraction(end: Any) -> Fraction | None:
    value = mpf(end)
    if not mp.isfinite(value):
        return None
    sign, mantissa, exponent, _ = value._mpf_
    if abs(exponent) > 5000:
        return None if exponent > 0 else Fraction(0)
    size: Fraction = int(mantissa) * Fraction(2) ** int(exponent)
    return -size if sign else size


# ------------------------------------------------------------------------------- of a sum


@dataclass(frozen=True)
class World:
    """Where points live and what is known of parameters."""

    space: Space
    given: Given
    _known: dict[Atom, Range] = field(default_factory=dict, compare=False, repr=False)

    def point(self) -> Range:
        """The range of a point that is a number."""
        zero, one = Fraction(0), Fraction(1)
        return {
            "positive": POSITIVE,
            "nonnegative": NONNEGATIVE,
            "naturals": Range(one),
            "interval": Range(self.space.low, self.space.high, open_low=True, open_high=True),
            "circle": Range(zero, Fraction(7), open_high=True),
        }.get(self.space.kind, Range())

    def range(self, value: Sum) -> Range:
        """Between which numbers a sum lies."""
        total = EXACT_ZERO
        groups = self.grouped(value)
        for product, factor in groups:
            total = total + self.range_of_product(product) * factor
        known = _known(groups, self)
        return total if known is None else total.intersect(known)

    def grouped(self, value: Sum) -> list[tuple[Product, Range]]:
        """The sum as products that depend on points, each with the range of its factor."""
        found: dict[str, tuple[Product, Range]] = {}
        for product, factor in value.terms:
            mine = tuple(part for part in product if product_points((part,)))
            rest = tuple(part for part in product if not product_points((part,)))
            own = self.range_of_product(rest).times(factor)
            key = product_key(mine)
            found[key] = mine, own + found[key][1] if key in found else own
        return list(found.values())

    def range_of_product(self, product: Product) -> Range:
        """Between which numbers a product lies."""
        total = Range(Fraction(1), Fraction(1))
        rest, shares = self._shares(product)
        for share in shares:
            total = total * share
        roots: dict[Fraction, Range] = {}
        for atom, exponent in rest:
            root = isinstance(exponent, Fraction) and exponent.denominator > 1
            own = self.range_of_atom(atom) if root else None
            if own is not None and own.nonnegative:  # sqrt(2) sqrt(u) is sqrt(2 u)
                roots[exponent] = own * roots.get(exponent, Range(Fraction(1), Fraction(1)))
            else:
                total = total * self.range_of_power(atom, exponent)
        for exponent, base in roots.items():
            total = total * power(base, exponent)
        return total

    def _shares(self, product: Product) -> tuple[Product, list[Range]]:
        """The factors v / (c + b v) of a product, which rise with v up to 1 / b."""
        rest, shares = dict(product), []
        for atom, exponent in product:
            if atom.head != "sum" or exponent != -1 or len(atom.args[0].terms) != 2:
                continue
            (first, c), (second, b) = atom.args[0].terms
            own = second[0] if len(second) == 1 else None
            fits = own is not None and rest.get(own[0]) == own[1]
            if first or c <= 0 or b <= 0 or own is None or not fits:
                continue
            inner = self.range_of_power(*own)
            if not inner.nonnegative or inner.low is None:
                continue
            top = 1 / b if inner.high is None else inner.high / (c + b * inner.high)
            low = inner.low / (c + b * inner.low)
            shares.append(
                Range(low, top, inner.open_low, inner.open_high or inner.high is None)
            )
            del rest[atom], rest[own[0]]
        return tuple(rest.items()), shares

    def range_of_power(self, atom: Atom, exponent: Any) -> Range:
        """Between which numbers a power of an atom lies."""
        base = self.range_of_atom(atom)
        if isinstance(exponent, Fraction):
            return power(base, exponent)
        if atom.head == "e":
            return _exp(self.range(exponent))
        if not base.positive:
            whole = self.is_whole(exponent)
            return NONNEGATIVE if whole and base.nonnegative else Range()
        return _exp(base.monotone(iv.log) * self.range(exponent))

    def monotone(self, value: Sum, atom: Atom, *, rising: bool) -> bool:
        """Whether a sum depends on points by one atom alone, and rises (or falls) with it."""
        for product, factor in value.terms:
            sign = self._trend(product, atom)
            good = sign == 0 or (sign is not None and (sign * factor > 0) == rising)
            if not good:
                return False
        return True

    def _trend(self, product: Product, atom: Atom) -> int | None:
        """1 if a product rises with an atom, -1 if it falls, 0 if it does not change."""
        varying = []
        found = 1
        for part, exponent in product:
            sign = self._trend_of_power(part, exponent, atom)
            if sign is None:
                return None
            if sign:
                varying.append((sign, self.range_of_power(part, exponent)))
                continue
            own = self.range_of_power(part, exponent)
            if not (own.nonnegative or own.nonpositive):
                return None
            found *= 1 if own.nonnegative else -1
        signs = {sign for sign, _ in varying}
        if len(signs) > 1 or (len(varying) > 1 and not all(r.nonnegative for _, r in varying)):
            return None
        return found * signs.pop() if signs else 0

    def _trend_of_power(self, part: Atom, exponent: Any, atom: Atom) -> int | None:
        if isinstance(exponent, Sum):
            if part.head != "e" or (not exponent.points and "max" not in str(exponent)):
                return 0 if not part.points and not exponent.points else None
            return self._trend_of_sum(exponent, atom)
        if part == atom:
            inner: int | None = 1
        elif part.head in ("sum", "log"):
            inner = self._trend_of_sum(part.args[0], atom)
        else:
            inner = 0 if not part.points else None
        if not inner:
            return inner
        turn = _trend(self.range_of_atom(part), exponent)
        return None if turn is None else inner * turn

    def _trend_of_sum(self, value: Sum, atom: Atom) -> int | None:
        if self.monotone(value, atom, rising=True):
            return 1
        return -1 if self.monotone(value, atom, rising=False) else None

    def is_whole(self, value: Sum) -> bool:
        """Whether a sum is a whole number whatever the parameters are."""
        return all(
            factor.denominator == 1
            and all(
                atom.head == "parameter"
                and self.given.bounds(atom.args[0]).whole
                and isinstance(exponent, Fraction)
                and exponent.denominator == 1
                and exponent > 0
                for atom, exponent in product
            )
            for product, factor in value.terms
        )

    def range_of_atom(self, atom: Atom) -> Range:
        """Between which numbers an atom lies."""
        found = self._known.get(atom)
        if found is None:
            found = self._range_of_atom(atom)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[atom] = found
        return found

    def _range_of_atom(self, atom: Atom) -> Range:
        args = atom.args
        match atom.head:
            case "x" | "y":
                return self.point()
            case "prime":
                return Range(Fraction(args[0]), Fraction(args[0]))
            case "e":
                return Range(Fraction(1), Fraction(1)).monotone(iv.exp)
            case "pi":
                return Range(Fraction(1), Fraction(1)).monotone(lambda u: u * iv.pi)
            case "parameter":
                return _of_bounds(self.given.bounds(args[0]))
            case "sum":
                return self.range(args[0])
        return self._range_of_function(atom)

    def _range_of_function(self, atom: Atom) -> Range:
        args = atom.args
        match atom.head:
            case "abs":
                return _absolute(self.range(args[0]))
            case "cos" | "sin":
                return _wave(self.range(args[0]), iv.cos if atom.head == "cos" else iv.sin)
            case "sign":
                return UNIT
            case "tanh":
                return Range(Fraction(-1), Fraction(1), open_low=True, open_high=True)
            case "log":
                inner = self.range(args[0])
                return (
                    inner.monotone(iv.log) if inner.positive and inner.low else _log_end(inner)
                )
            case "max":
                first, second = (self.range(arg) for arg in args)
                return -_smaller([-first, -second])
            case "pos":
                inner = self.range(args[0])
                return Range(Fraction(0), inner.high, open_high=inner.open_high)
            case "min":
                return _smaller([self.range(arg) for arg in args])
            case "gcd":
                return Range(Fraction(1))
            case "len" | "norm":
                return NONNEGATIVE
            case "arc":
                return Range(Fraction(0), Fraction(22, 7))
            case "asin" | "atan":
                inner = self.range(args[0])
                zero = Fraction(0)
                low = zero if inner.nonnegative else Fraction(-11, 7)
                return Range(low, zero if inner.nonpositive else Fraction(11, 7))
            case "dot" | "form":
                if self.space.kind == "sphere" and atom.head == "dot":
                    return UNIT
                return NONNEGATIVE if args[-1] == args[-2] else Range()
        return Range()


def _of_bounds(bounds: Bounds) -> Range:
    return Range(bounds.low, bounds.high, bounds.open_low, bounds.open_high)


def _log_end(inner: Range) -> Range:
    """The logarithm of a range that begins at zero, or is not known to be positive."""
    if inner.high is None or inner.high <= 0:
        return Range()
    top = Range(inner.high, inner.high).monotone(iv.log).high
    return Range(None, top, open_high=inner.open_high)


def _exp(inner: Range) -> Range:
    found = inner.monotone(iv.exp)
    low = found.low if found.low is not None else Fraction(0)
    return Range(max(low, Fraction(0)), found.high, found.open_low or low <= 0, found.open_high)


def _wave(inner: Range, function: Callable[[Any], Any]) -> Range:
    """The range of a cosine or sine, in interval arithmetic where its angle is bounded."""
    low, high = inner.low, inner.high
    if low is None or high is None or high - low > 6:
        return UNIT
    with _Precision():
        found = function(iv.mpf([_interval(low).a, _interval(high).b]))
        return Range(_lower(found), _upper(found)).intersect(UNIT)


def _absolute(inner: Range) -> Range:
    if inner.nonnegative:
        return inner
    if inner.nonpositive:
        return -inner
    if inner.low is None or inner.high is None:
        return NONNEGATIVE
    largest = max((-inner.low, not inner.open_low), (inner.high, not inner.open_high))
    return Range(Fraction(0), largest[0], open_high=not largest[1])


def _smaller(parts: list[Range]) -> Range:
    low = None if any(r.low is None for r in parts) else min(r.low for r in parts)  # type: ignore[type-var]
    highs = [(r.high, not r.open_high) for r in parts if r.high is not None]
    high = min(highs) if highs else None
    open_low = low is not None and all(r.open_low for r in parts if r.low == low)
    return Range(low, high[0] if high else None, open_low, bool(high) and not high[1])  # type: ignore[index]


def power(base: Range, exponent: Fraction) -> Range:
    """The range of a rational power."""
    if exponent < 0:
        return power(base, -exponent).inverse()
    if exponent.denominator == 1:
        n = int(exponent)
        if n > 400:
            return NONNEGATIVE if n % 2 == 0 or base.nonnegative else Range()
        if n % 2 == 0:
            base = _absolute(base)
        return Range(
            None if base.low is None else base.low**n,
            None if base.high is None else base.high**n,
            base.open_low,
            base.open_high,
        )
    if not base.nonnegative:
        return NONNEGATIVE
    exact = _exact_power(base, exponent)
    if exact is not None:
        return exact
    rate = _as_iv(exponent)
    zero = base.low == 0
    if base.high == 0:
        return EXACT_ZERO
    inner = Range(None if zero else base.low, base.high, base.open_low, base.open_high)
    found = inner.monotone(lambda u: iv.exp(iv.log(u) * rate))
    return Range(Fraction(0) if zero else found.low, found.high, base.open_low, base.open_high)


def _exact_power(base: Range, exponent: Fraction) -> Range | None:
    """The power of a range whose ends have rational roots."""
    ends: list[Fraction | None] = []
    for end in (base.low, base.high):
        root = None if end is None else _exact_root(end, exponent.denominator)
        if end is not None and (root is None or exponent.numerator > 400):
            return None
        ends.append(None if root is None else root**exponent.numerator)
    return Range(ends[0], ends[1], base.open_low, base.open_high)


def _exact_root(value: Fraction, n: int) -> Fraction | None:
    """The n-th root of a number, if it is rational and short."""
    if max(value.numerator, value.denominator).bit_length() > 48 or n > 64:
        return None
    top, bottom = (round(part ** (1 / n)) for part in (value.numerator, value.denominator))
    exact = top**n == value.numerator and bottom**n == value.denominator
    return Fraction(top, bottom) if exact else None


def _as_iv(value: Fraction) -> Any:
    with _Precision():
        return _interval(value)


# ------------------------------------------------------------------------- more than bounds


Groups: TypeAlias = "list[tuple[Product, Range]]"


def _known(groups: Groups, world: World) -> Range | None:
    """What squares, sets and minima tell beyond the ends of their parts."""
    for look in (_of_sets, _of_vectors, _of_minimum):
        found = look(groups, world)
        if found is not None:
            return found
    return None


def _of_sets(groups: Groups, world: World) -> Range | None:
    r"""With $a = |x \setminus y|$, $b = |y \setminus x|$, $c = |x \cap y|$ all sums of sizes
    are sums of numbers that may be anything from 0 on.
    """
    if world.space.kind != "sets":
        return None
    fresh = {name: Sum.of(Atom("free", (name,))) for name in "abc"}
    spelled: dict[tuple[Any, ...], Sum] = {
        ("x",): fresh["a"] + fresh["c"],
        ("y",): fresh["b"] + fresh["c"],
        ("x", "y"): fresh["c"],
    }
    return _free_range(
        groups, lambda atom: spelled.get(atom.args) if atom.head == "len" else None
    )


def _of_minimum(groups: Groups, world: World) -> Range | None:
    """With m = min(x, y) both points are m and something from 0 on."""
    if not world.point().nonnegative:
        return None
    m, u, v = (Sum.of(Atom("free", (name,))) for name in "muv")

    def spelled(atom: Atom) -> Sum | None:
        if atom.head == "x":
            return m + u
        if atom.head == "y":
            return m + v
        plain = atom.head == "min" and [str(arg) for arg in atom.args] == ["x", "y"]
        return m if plain else None

    return _free_range(groups, spelled)


def _free_range(groups: Groups, spelled: Callable[[Atom], Sum | None]) -> Range | None:
    """The range of a polynomial in numbers from 0 on, when all its factors have one sign."""
    total: dict[str, Range] = {}
    for product, factor in groups:
        part = Sum.constant(1)
        for atom, exponent in product:
            inner = spelled(atom)
            if inner is None or not isinstance(exponent, Fraction):
                return None
            if exponent.denominator != 1 or not 0 <= exponent <= 6:
                return None
            for _ in range(int(exponent)):
                part = part * inner
        for term, count in part.terms:
            key = product_key(term)
            total[key] = total.get(key, EXACT_ZERO) + factor.times(count)
    level = total.pop("", EXACT_ZERO)
    low = level.low if all(factor.nonnegative for factor in total.values()) else None
    high = level.high if all(factor.nonpositive for factor in total.values()) else None
    return Range(low, high)


def _of_vectors(groups: Groups, world: World) -> Range | None:
    r"""$a |x|^2 + 2 b\, x^\top y + c |y|^2 + d \ge d$ where $a, c \ge 0$ and $b^2 \le a c$."""
    if world.space.kind != "vectors":
        return None
    entries = dict.fromkeys((("x", "x"), ("x", "y"), ("y", "y")), EXACT_ZERO)
    level = EXACT_ZERO
    for product, factor in groups:
        if not product:
            level = factor
        elif len(product) == 1 and product[0][1] == 1 and product[0][0].head == "dot":
            entries[product[0][0].args] = factor
        else:
            return None
    a, b, c = entries["x", "x"], entries["x", "y"].times(Fraction(1, 2)), entries["y", "y"]
    inside = (a * c + -(b * b)).nonnegative
    if inside and a.nonnegative and c.nonnegative:
        return Range(level.low)
    return Range(None, level.high) if inside and a.nonpositive and c.nonpositive else None


def _trend(base: Range, exponent: Fraction) -> int | None:
    """Whether a power rises (1) or falls (-1) with its base, over a range of it."""
    sign = 1 if exponent > 0 else -1
    if base.nonnegative:
        return sign
    if exponent.denominator != 1:
        return None
    odd = exponent % 2 == 1
    if base.nonpositive:
        return sign if odd else -sign
    return 1 if odd and exponent > 0 else None
