r"""Kernels and c.n.d. functions known at sight: inner products, minima, distances, cosines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mercer.kernels.rules import Condition
from mercer.proofs.cases import CND, PD, Case, holds_if
from mercer.proofs.composed import range_of
from mercer.proofs.normal import Algebra
from mercer.proofs.ranges import Range
from mercer.proofs.sums import Atom, Exponent, Sum


def core_of(value: Sum) -> tuple[Atom, Exponent] | None:
    """The one power of an atom that a sum is."""
    if len(value.terms) != 1 or value.terms[0][1] != 1 or len(value.terms[0][0]) != 1:
        return None
    return value.terms[0][0][0]


def is_difference(algebra: Algebra, inner: Sum) -> bool:
    """Whether a sum is g(x) - g(y) for some function g."""
    return algebra.difference_parts(inner) is not None


def leaf_property(value: Sum, algebra: Algebra) -> tuple[str, str] | None:
    """The theorem that proves one power of an atom at once, and the property it proves."""
    found = core_of(value)
    if found is None:
        return None
    atom, exponent = found
    size = range_of(algebra, exponent)
    positive = size.positive
    match atom.head:
        case "dot" | "form" if exponent == 1:
            good = atom.head == "dot" or algebra.is_semidefinite_form(atom)
            return ("inner product", PD) if good else None
        case "len" if exponent == 1:
            return "common elements", PD
        case "min" if positive:
            return "minimum", PD
        case "gcd" if positive and _are_whole(atom, algebra):
            return "common divisors", PD
        case "cos" if exponent == 1 and is_difference(algebra, atom.args[0]):
            return "cosine", PD
        case "log" if exponent == 1 and _is_log_of_gcd(atom, algebra):
            return "common divisors", PD
        case "abs" if positive and at_most(size, 2) and _is_sine(atom, algebra):
            return "sine", CND
        case "arc" if exponent == 1 and is_difference(algebra, atom.args[0]):
            return "arc", CND
        case "abs" if positive and at_most(size, 2) and is_difference(algebra, atom.args[0]):
            return "distance", CND
        case "norm" if positive and _is_distance(atom, size, algebra):
            return "distance", CND
    return None


def _are_whole(atom: Atom, algebra: Algebra) -> bool:
    """Whether a gcd is that of f(x) and f(y), whole numbers from 1."""
    if len(atom.args) != 2:
        return False
    first, second = atom.args
    if len(first.points) != 1 or algebra.swapped(first) != second:
        return False
    low = algebra.world.range(first).low
    return low is not None and low >= 1 and algebra.is_whole_valued(first)


def at_most(size: Range, bound: Fraction | int) -> bool:
    """Whether a range ends at a bound, or before."""
    return size.high is not None and size.high <= bound


def _is_distance(atom: Atom, size: Range, algebra: Algebra) -> bool:
    p, a, b = atom.args
    # The factor must be a number: x - y itself, not, say, x |x| - y |y|.
    if a != -b or a.points:
        return False
    dimension = algebra.space.dimension
    plane = dimension is not None and dimension <= 2
    if plane and (p == "inf" or p >= 1) and at_most(size, 1):
        return True  # every norm of the plane embeds into L1
    return p != "inf" and 0 < p <= 2 and at_most(size, p)


def _is_sine(atom: Atom, algebra: Algebra) -> bool:
    """Whether |u| is that of the sine of a difference."""
    found = core_of(atom.args[0])
    plain = found is not None and found[0].head == "sin" and found[1] == 1
    return plain and found is not None and is_difference(algebra, found[0].args[0])


def _is_log_of_gcd(atom: Atom, algebra: Algebra) -> bool:
    found = core_of(atom.args[0])
    plain = found is not None and found[0].head == "gcd" and found[1] == 1
    return plain and found is not None and _are_whole(found[0], algebra)


def leaf(name: str) -> Callable[[Case], list[Condition]]:
    """The check of what is known at sight by one name."""

    def check(case: Case) -> list[Condition]:
        found = leaf_property(case.value, case.algebra)
        return holds_if(_LEAVES[name], holds=found is not None and found[0] == name)

    return check


_LEAVES = {
    "inner product": "it is an inner product, with a p.s.d. matrix if there is one",
    "common elements": "it counts common elements",
    "minimum": "it is min(f(x), f(y))^a with f >= 0 and a > 0",
    "common divisors": "it is gcd(x, y)^a with a > 0, or its logarithm, for whole numbers >= 1",
    "sine": "it is |sin(g(x) - g(y))|^a with 0 < a <= 2",
    "cosine": "it is cos(g(x) - g(y))",
    "arc": "it is acos(cos(g(x) - g(y)))",
    "distance": "it is |g(x) - g(y)|^a with 0 < a <= 2, or |x - y|_p^q with 0 < q <= p <= 2 "
    "(in the plane also |x - y|_inf^q, q <= 1)",
}


def divisor_logarithm(case: Case) -> list[Condition]:
    """-log of gcd(x, y) or of a minimum: every power of these is a kernel."""
    found = core_of(-case.value)
    good = False
    if found is not None and found[0].head == "log" and found[1] == 1:
        inner = leaf_property(found[0].args[0], case.algebra)
        good = inner is not None and inner[0] in ("minimum", "common divisors")
    return holds_if("it is -log of gcd(x, y) or of a minimum", holds=good)
