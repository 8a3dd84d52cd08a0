r"""Functions of a minimum: those that rise with it, and Green's functions."""

from __future__ import annotations

from mercer.kernels.rules import Condition
from mercer.proofs import polynomials
from mercer.proofs.cases import Case, holds_if
from mercer.proofs.normal import Algebra
from mercer.proofs.sums import Atom, Sum


def monotone(case: Case) -> list[Condition]:
    """A function of a minimum or of a maximum alone."""
    good = is_monotone(case.value, case.algebra)
    return holds_if(
        "it increases with min(f(x), f(y)), or falls with their maximum, and is >= 0",
        holds=good,
    )


def is_monotone(value: Sum, algebra: Algebra) -> bool:
    """Whether a function depends on a minimum alone and increases with it, or on a maximum
    alone and falls; and is nowhere negative.
    """
    least = {atom.key: atom for atom in value.atoms() if atom.head == "min"}
    if len(least) != 1:
        return False
    (atom,) = least.values()
    greatest, turned = algebra.maximum(atom), algebra.by_maximum(value, atom)
    if not (algebra.world.range(value).nonnegative or algebra.world.range(turned).nonnegative):
        return False
    if algebra.world.monotone(value, atom, rising=True):
        return True
    return algebra.world.monotone(turned, greatest, rising=False) or any(
        _polynomial_trend(form, part, algebra, sign)
        for form, part, sign in ((value, atom, 1), (turned, greatest, -1))
    )


def _polynomial_trend(value: Sum, atom: Atom, algebra: Algebra, sign: int) -> bool:
    """Whether a polynomial in one atom rises (or falls) between the ends of its range."""
    found = polynomials.polynomial_in(value, atom)
    low = algebra.world.range_of_atom(atom).low
    if found is None or low is None:
        return False
    slope = [sign * c for c in polynomials.derivative(found)]
    return polynomials.stays_nonnegative(slope, low, algebra.world.range_of_atom(atom).high)


def green(case: Case) -> list[Condition]:
    """A Green's function."""
    return holds_if(
        "for x <= y it is f(x) g(y) for polynomials, and f' g - f g' >= 0 on the domain",
        holds=is_green(case.value, case.algebra),
    )


def is_green(value: Sum, algebra: Algebra) -> bool:
    """Whether a polynomial in x, y and min(x, y) is a Green's function."""
    end = algebra.space.high if algebra.space.kind == "interval" else None
    start = algebra.world.point().low
    below = algebra.on_one_side(value)
    if below is None or start is None or algebra.space.kind == "naturals":
        return False
    found = polynomials.two_factors(below)
    if found is None:
        return False
    f, g = found
    both = polynomials.product(f, g)
    wronskian = polynomials.plus(
        polynomials.product(polynomials.derivative(f), g),
        [-c for c in polynomials.product(f, polynomials.derivative(g))],
    )
    return all(polynomials.stays_nonnegative(p, start, end) for p in (both, wronskian))
