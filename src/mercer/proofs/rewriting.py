"""The same function written in another way, for the search for a proof."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from mercer.proofs.normal import ONE, Algebra
from mercer.proofs.separation import Part, parts_of
from mercer.proofs.sums import Atom, Sum, as_sum, join, lean, product_key


def proportion(part: Part, unit: Part) -> Fraction | None:
    """The number c with which the matrix of a part is c times that of another."""
    own = {
        (product_key(part.features[i]), product_key(part.features[j])): entry
        for (i, j), entry in part.matrix.items()
        if entry
    }
    other = {
        (product_key(unit.features[i]), product_key(unit.features[j])): entry
        for (i, j), entry in unit.matrix.items()
        if entry
    }
    if own.keys() != other.keys():
        return None
    ratios = set()
    for at, entry in own.items():
        if len(entry.terms) != 1 or len(other[at].terms) != 1:
            return None
        (product, factor), (base, divisor) = entry.terms[0], other[at].terms[0]
        if product != base:
            return None
        ratios.add(factor / divisor)
    return ratios.pop() if len(ratios) == 1 else None


def _quotients(top: Sum, base: Sum, algebra: Algebra) -> list[Sum]:
    """What may be taken out of a fraction: so that a term of its own point, a common one, or
    the constant goes away above the line.
    """
    found: dict[str, Sum] = {}
    for product, factor in base.terms:
        inverse = tuple((atom, lean(-as_sum(exponent))) for atom, exponent in product)
        for term, own in top.terms:
            step = Sum(((join(term, inverse), own / factor),))
            if any(isinstance(e, Fraction) and e < 0 for _, e in step.terms[0][0]):
                continue
            if len(step.points) == 2:
                continue
            mirrored = algebra.swapped(step)
            whole = step if mirrored == step else step + mirrored
            found.setdefault(whole.key, whole)
    return list(found.values())[:6]


def rewritten(value: Sum, algebra: Algebra) -> Iterator[Sum]:
    """The same function in other ways, by its denominators."""
    below = {
        atom.key: atom
        for product, _ in value.terms
        for atom, exponent in product
        if atom.head == "sum" and exponent == -1
    }
    for atom in list(below.values())[:3]:
        base = atom.args[0]
        top = Sum.collect(
            (tuple(p for p in product if p[0] != atom), factor)
            for product, factor in value.terms
            if dict(product).get(atom) == -1
        )
        rest = Sum.collect(t for t in value.terms if dict(t[0]).get(atom) != -1)
        for quotient in _quotients(top, base, algebra):
            left = top - algebra.times(quotient, base)
            again = algebra.times(left, Sum.of(atom, Fraction(-1)))
            other = algebra.cancelled(rest + quotient + again)
            if other != value and len(other.terms) <= len(value.terms) + 4:
                yield other
        yield from _divided_through(top, rest, base, algebra)
    yield from _over_one_line(value, algebra)


def _divided_through(top: Sum, rest: Sum, base: Sum, algebra: Algebra) -> Iterator[Sum]:
    """1 / (x + y + x y) as 1 / (x y (1 / x + 1 / y + 1))."""
    for product, factor in base.terms:
        part = Sum(((product, Fraction(1)),))
        if factor <= 0 or len(part.points) != 2 or algebra.swapped(part) != part:
            continue
        if not algebra.world.range(part).positive or len(parts_of(part, algebra)[0].core):
            continue
        inverse = algebra.power(part, Fraction(-1))
        inner = algebra.times(base, inverse)
        below = algebra.times(inverse, algebra.power(inner, Fraction(-1)))
        yield rest + algebra.times(top, below)


def _over_one_line(value: Sum, algebra: Algebra) -> Iterator[Sum]:
    """All terms over one denominator, where that makes them fewer."""
    lowest: dict[Atom, Fraction] = {}
    for product, _ in value.terms:
        for atom, exponent in product:
            if atom.head == "sum" and isinstance(exponent, Fraction) and exponent < 0:
                lowest[atom] = min(lowest.get(atom, Fraction(0)), exponent)
    if not lowest or any(exponent.denominator != 1 for exponent in lowest.values()):
        return
    top, below = Sum(), ONE
    for product, factor in value.terms:
        part = Sum(((tuple(p for p in product if p[0] not in lowest), factor),))
        own = dict(product)
        for atom, exponent in lowest.items():
            missing = own.get(atom, Fraction(0)) - exponent
            if not isinstance(missing, Fraction) or missing > 4:
                return
            part = algebra.times(part, algebra.power(atom.args[0], missing))
        top = top + part
    for atom, exponent in lowest.items():
        below = algebra.times(below, algebra.power(atom.args[0], exponent))
    other = algebra.times(top, below)
    if len(other.terms) < len(value.terms):
        yield other
