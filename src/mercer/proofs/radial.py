r"""Functions of the distance alone, as sums of $c\, r^m e^{-a r - b r^2} \cos(\omega r)$.

A sum that depends on $r = |x - y|$ alone is written as a function of r by putting $x = y + r$;
that y goes away is the proof that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from mercer.proofs import series
from mercer.proofs.assumptions import Bounds, Given
from mercer.proofs.normal import Algebra, E
from mercer.proofs.sums import Atom, Exponent, Product, Sum, TooLarge, as_sum

RADIUS = "|x - y|"
"""The name of the distance, as a parameter that no formula can have."""

R = Sum.of(Atom("parameter", (RADIUS,)))
SQUARE = Sum.of(Atom("parameter", (RADIUS,)), Fraction(2))

HIGHEST = 12
"""The largest power of r that is looked at."""


@dataclass(frozen=True)
class Wave:
    r"""$c\, r^m e^{-a r - b r^2}$ times 1, $\cos(\omega r)$ or $\sin(\omega r)$.

    Attributes:
        factor: The number c.
        power: The whole number m >= 0.
        decay: The number a >= 0.
        narrow: The number b >= 0.
        frequency: The number omega >= 0.
        odd: Whether it is a sine.
    """

    factor: Fraction
    power: int = 0
    decay: Fraction = Fraction(0)
    narrow: Fraction = Fraction(0)
    frequency: Fraction = Fraction(0)
    odd: bool = False

    @property
    def at_zero(self) -> Fraction:
        """Its value where r = 0."""
        return Fraction(0) if self.power or self.odd else self.factor


def profile(value: Sum, algebra: Algebra) -> Sum | None:
    """The function of the distance that a sum is; None if it is none."""
    kind = algebra.space.kind
    if algebra.space.points_are != "number" and kind != "vectors":
        return None
    if len(value.points) != 2 or any(atom.head == "norm" for atom in value.atoms()):
        return None
    wider = _with_radius(algebra)
    try:
        found = wider.mapped(value, _apart(wider) if kind == "vectors" else _moved)
        return None if found.points or algebra.swapped(value) != value else found
    except TooLarge:
        return None


def _with_radius(algebra: Algebra) -> Algebra:
    bounds = (RADIUS, Bounds(low=Fraction(0), open_low=True))
    given = Given((*algebra.given.numbers, bounds), algebra.given.matrices)
    return Algebra(algebra.space, given)


def _moved(atom: Atom) -> Sum | None:
    return R + Sum.of(Atom("y")) if atom.head == "x" else None


def _apart(algebra: Algebra):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """|y|^2 by the distance of the points."""
    own, both = (Sum.of(Atom("dot", ends)) for ends in (("x", "x"), ("x", "y")))
    far = algebra.power(R, Fraction(2)) - own + both.times(2)
    return lambda atom: far if atom.head == "dot" and atom.args == ("y", "y") else None


def waves(value: Sum, algebra: Algebra) -> list[Wave] | None:
    """A function of the distance as a sum of waves; None if it is none, or not continuous."""
    found = profile(value, algebra)
    if found is None:
        return None
    found = in_one_unit(found, algebra)
    parts = [_wave(term, factor) for term, factor in found.terms]
    kept = [part for part in parts if part is not None]
    if len(kept) < len(parts) or not kept:
        return None
    level = sum((part.at_zero for part in kept), Fraction(0))
    return kept if algebra.diagonal(value) == Sum.constant(level) else None


def in_one_unit(found: Sum, algebra: Algebra) -> Sum:
    """The function of r / c for a c > 0 with which all rates are rational, if there is one.

    On the whole line, or space, one is p.d. when the other is: put the points c times as far.
    """
    algebra = _with_radius(algebra)
    for product, _ in found.terms:
        for atom, exponent in product:
            if atom == E:
                rates = as_sum(exponent)
            elif atom.head in ("cos", "sin", "pos"):
                rates = atom.args[0]
            else:
                continue
            unit = _unit(rates, algebra)
            if unit is None:
                continue
            return algebra.mapped(found, _stretched(unit, algebra))
    return found


def _stretched(unit: Sum, algebra: Algebra) -> Callable[[Atom], Sum | None]:
    shorter = algebra.times(R, algebra.power(unit, Fraction(-1)))
    return lambda atom: shorter if Sum.of(atom) == R else None


def _unit(rates: Sum, algebra: Algebra) -> Sum | None:
    """What r is multiplied by in a rate c r or c r^2, up to a rational number; None for 1."""
    for product, _ in rates.terms:
        power = dict(product).get(R.terms[0][0][0][0])
        rest = Sum(((tuple(p for p in product if Sum.of(p[0]) != R), Fraction(1)),))
        if power in (1, 2) and rest.number is None and algebra.world.range(rest).positive:
            return algebra.power(rest, 1 / power)
    return None


def _wave(term: Product, factor: Fraction) -> Wave | None:
    power, decay, narrow, frequency, odd = 0, Fraction(0), Fraction(0), Fraction(0), False
    for atom, exponent in term:
        if atom == R.terms[0][0][0][0] and _is_small(exponent):
            power = int(exponent)
        elif atom == E:
            rates = _rates(as_sum(exponent))
            if rates is None:
                return None
            decay, narrow = rates
        elif atom.head in ("cos", "sin") and exponent == 1 and not frequency:
            speed = series.ratio(atom.args[0], R)
            if speed is None or speed <= 0:
                return None
            frequency, odd = speed, atom.head == "sin"
        else:
            return None
    return Wave(factor, power, decay, narrow, frequency, odd)


def _is_small(exponent: Exponent) -> bool:
    whole = isinstance(exponent, Fraction) and exponent.denominator == 1
    return whole and 0 < exponent <= HIGHEST  # type: ignore[operator]


def _rates(exponent: Sum) -> tuple[Fraction, Fraction] | None:
    """The a and b of an exponent -a r - b r^2, both from 0 on."""
    decay = narrow = Fraction(0)
    for term, factor in exponent.terms:
        if Sum(((term, Fraction(1)),)) == R:
            decay = -factor
        elif Sum(((term, Fraction(1)),)) == SQUARE:
            narrow = -factor
        else:
            return None
    return (decay, narrow) if min(decay, narrow) >= 0 else None


def warped(value: Sum, algebra: Algebra) -> Iterator[list[Wave]]:
    """A function of |g(x) - g(y)| as a sum of waves, for each g that the sum holds."""
    for distance in algebra.distances(value):
        if not algebra.is_line_distance(distance):
            continue
        pieces = series.pieces_of(value, distance)
        if pieces is not None and all(p.kind in ("exp", "power", "cos", "sin") for p in pieces):
            found = [_of_piece(piece) for piece in pieces]
            if all(wave.decay >= 0 and wave.frequency >= 0 for wave in found):
                yield found


def _of_piece(piece: series.Piece) -> Wave:
    if piece.kind in ("cos", "sin"):
        return Wave(piece.factor, piece.shift, frequency=piece.rate, odd=piece.kind == "sin")
    return Wave(piece.factor, piece.shift, decay=-piece.rate)
