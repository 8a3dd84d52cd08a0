r"""Power series in one kernel: whether $\sum_n a_n u^n$ has coefficients $a_n \ge 0$.

A sum is taken apart into pieces $c\, u^m g(b u)$ where g is an exponential, a cosine, a sine, a
power $(1 - b u)^{-k}$ or the logarithm $\log(1 - b u)$. Their coefficients are known, and
`sequences` decides about the sum of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from types import MappingProxyType

from mercer.proofs import sequences
from mercer.proofs.normal import E
from mercer.proofs.polynomials import Polynomial, product
from mercer.proofs.sequences import PERIOD, STEADY, Growth
from mercer.proofs.sums import Atom, Exponent, Product, Sum, as_sum

POWER, POLE, LOG = "power", "pole", "log"

SIGNS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"exp": STEADY, "cos": (1, 0, -1, 0), "sin": (0, 1, 0, -1)}
)
"""The signs of the coefficients of u^n / n!."""

HIGHEST = 40
"""The largest order and the largest power that are taken apart."""


@dataclass(frozen=True)
class Piece:
    r"""$c\, u^m g(b u)$.

    Attributes:
        kind: What g is: "power" (the constant 1), "exp", "cos", "sin", "pole", "log".
        factor: The number c.
        shift: The power m.
        rate: The number b.
        order: The k of a pole $(1 - b u)^{-k}$.
    """

    kind: str
    factor: Fraction
    shift: int
    rate: Fraction = Fraction(0)
    order: int = 0

    def coefficient(self, n: int) -> Fraction:
        """The coefficient of u^n."""
        n -= self.shift
        if n < 0:
            return Fraction(0)
        own = self.factor * self.rate**n
        match self.kind:
            case "power":
                return self.factor if n == 0 else Fraction(0)
            case "pole":
                return own * comb(n + self.order - 1, self.order - 1)
            case "log":
                return -own / n if n else Fraction(0)
        return own * SIGNS[self.kind][n % PERIOD] / factorial(n)

    def entire(self) -> Growth:
        r"""The coefficients times n!: $c\, n (n - 1) \cdots (n - m + 1)\, b^{n - m}$."""
        falling: Polynomial = [self.factor / self.rate**self.shift]
        for k in range(self.shift):
            falling = product(falling, [Fraction(-k), Fraction(1)])
        signs = SIGNS[self.kind]
        turned = tuple(signs[(r - self.shift) % PERIOD] for r in range(PERIOD))
        return Growth(falling, self.rate, turned)

    def singular(self) -> Growth:
        """The coefficients times n, for n above the shift."""
        front = self.factor / self.rate**self.shift
        if self.kind == LOG:
            return Growth([-front], self.rate)
        own: Polynomial = [Fraction(0), front / factorial(self.order - 1)]
        for k in range(1, self.order):
            own = product(own, [Fraction(k - self.shift), Fraction(1)])
        return Growth(own, self.rate)


def is_nonnegative(pieces: list[Piece]) -> bool:
    """Whether the sum of the pieces has no negative coefficient."""
    kinds = {piece.kind for piece in pieces} - {POWER}
    if kinds and not (kinds <= SIGNS.keys() or kinds <= {POLE, LOG}):
        return False
    first = max((piece.shift for piece in pieces), default=0) + 1
    start = [sum((p.coefficient(n) for p in pieces), Fraction(0)) for n in range(first)]
    if any(value < 0 for value in start):
        return False
    moving = [piece for piece in pieces if piece.kind != POWER]
    if any(piece.kind == LOG and piece.shift for piece in moving):
        return False
    terms = [p.entire() if p.kind in SIGNS else p.singular() for p in moving]
    return not terms or sequences.stays_nonnegative(terms, first)


def radius(pieces: list[Piece]) -> Fraction | None:
    """How large u may be, not included; None for every size."""
    rates = [abs(piece.rate) for piece in pieces if piece.kind in (POLE, LOG)]
    return 1 / max(rates) if rates else None


# ---------------------------------------------------------------------------- taking apart


def pieces_of(value: Sum, kernel: Sum) -> list[Piece] | None:
    """A sum as pieces in a kernel; None if it is none."""
    found = []
    for term, factor in value.terms:
        piece = _piece(term, factor, kernel)
        if piece is None:
            return None
        found.append(piece)
    return found


def _piece(term: Product, factor: Fraction, kernel: Sum) -> Piece | None:
    special = [part for part in term if _reader(part) is not None]
    plain = tuple(part for part in term if _reader(part) is None)
    shift = _exponent(plain, kernel)
    if shift is None or len(special) > 1:
        return None
    if not special:
        unit = kernel.terms[0][1] if kernel.terms else Fraction(1)
        return Piece(POWER, factor / unit**shift, shift)
    ((atom, exponent),) = special
    reader = _reader((atom, exponent))
    unit = kernel.terms[0][1]
    return reader and reader(atom, exponent, factor / unit**shift, shift, kernel)


Reader = Callable[[Atom, Exponent, Fraction, int, Sum], "Piece | None"]


def _reader(part: tuple[Atom, Exponent]) -> Reader | None:
    atom, exponent = part
    if atom == E:
        return _exponential
    if atom.head in ("cos", "sin") and exponent == 1:
        return _wave
    if atom.head == "sum" and isinstance(exponent, Fraction) and exponent < 0:
        return _pole
    if atom.head == "log" and exponent == 1:
        return _logarithm
    return None


def _exponential(
    _: Atom, exponent: Exponent, factor: Fraction, shift: int, kernel: Sum
) -> Piece | None:
    rate = ratio(as_sum(exponent), kernel)
    return None if rate is None else Piece("exp", factor, shift, rate)


def _wave(atom: Atom, _: Exponent, factor: Fraction, shift: int, kernel: Sum) -> Piece | None:
    rate = ratio(atom.args[0], kernel)
    return None if rate is None else Piece(atom.head, factor, shift, rate)


def _pole(
    atom: Atom, exponent: Exponent, factor: Fraction, shift: int, kernel: Sum
) -> Piece | None:
    line = _line(atom.args[0], kernel)
    if line is None or not isinstance(exponent, Fraction) or exponent.denominator != 1:
        return None
    level, slope = line
    order = -int(exponent)
    if order > HIGHEST:
        return None
    return Piece(POLE, factor * level**-order, shift, -slope / level, order)


def _logarithm(
    atom: Atom, _: Exponent, factor: Fraction, shift: int, kernel: Sum
) -> Piece | None:
    line = _line(atom.args[0], kernel)
    if line is None or line[0] != 1:
        return None
    return Piece(LOG, factor, shift, -line[1])


def _line(value: Sum, kernel: Sum) -> tuple[Fraction, Fraction] | None:
    """The numbers a > 0 and b with value = a + b u."""
    level = next((factor for product_, factor in value.terms if not product_), Fraction(0))
    slope = ratio(value - Sum.constant(level), kernel)
    return (level, slope) if level > 0 and slope else None


def ratio(value: Sum, kernel: Sum) -> Fraction | None:
    """The number c with value = c u."""
    if not value.terms or len(value.terms) != len(kernel.terms):
        return None
    found = value.terms[0][1] / kernel.terms[0][1]
    return found if kernel.times(found) == value else None


def _exponent(term: Product, kernel: Sum) -> int | None:
    """The m for which a product is u^m, for a kernel u of one term; or 0."""
    if not term:
        return 0
    if len(kernel.terms) != 1:
        return None
    powers, wanted = dict(term), dict(kernel.terms[0][0])
    if powers.keys() != wanted.keys():
        return None
    ratios = set()
    for atom, exponent in powers.items():
        own = wanted[atom]
        if not isinstance(exponent, Fraction) or not isinstance(own, Fraction):
            return None
        ratios.add(exponent / own)
    found = ratios.pop()
    good = not ratios and found.denominator == 1 and 0 < found <= HIGHEST
    return int(found) if good else None


def candidates(value: Sum) -> list[Sum]:
    """What a sum may be a power series in, the plain ones first."""
    found: dict[str, Sum] = {}
    for term, _ in value.terms:
        for atom, exponent in term:
            for inner in _arguments(atom, exponent):
                _offer(inner, found)
    for term, _ in value.terms:
        if term and all(_reader(part) is None for part in term):
            _offer(Sum(((term, Fraction(1)),)), found)
    return list(found.values())[:6]


def _arguments(atom: Atom, exponent: Exponent) -> list[Sum]:
    if atom == E:
        return [as_sum(exponent)]
    return [atom.args[0]] if atom.head in ("cos", "sin", "sum", "log") else []


def _offer(value: Sum, found: dict[str, Sum]) -> None:
    """Take up what stands beside a constant, up to a factor."""
    inner = Sum(tuple((product_, factor) for product_, factor in value.terms if product_))
    if len(inner.points) != 2:
        return
    if len(inner.terms) == 1:
        base = Sum(((inner.terms[0][0], Fraction(1)),))
        found.setdefault(base.key, base)
        return
    base = inner.times(1 / abs(inner.terms[0][1]))
    for kernel in (base, -base):
        found.setdefault(kernel.key, kernel)
