r"""Polynomials in a count that both points share: of common elements, or the largest divisor.

The number of ways to choose k of the common elements in order, $n (n - 1) \cdots (n - k + 1)$,
is a kernel for $n = |x \cap y|$. And
$\sum_j c_j \gcd(x, y)^j = \sum_{d | x, d | y} \sum_j c_j J_j(d)$ with Jordan's functions $J_j$,
of which each is at least d times the one before.
"""

from __future__ import annotations

from fractions import Fraction

from mercer.proofs.normal import Algebra
from mercer.proofs.polynomials import Polynomial, polynomial_in
from mercer.proofs.sums import Sum


def is_count(value: Sum, algebra: Algebra) -> bool:
    """Whether a sum is a kernel as a polynomial in len(x & y), or in gcd(x, y)."""
    atoms = {atom.key: atom for term, _ in value.terms for atom, _ in term}
    if len(atoms) != 1:
        return False
    (atom,) = atoms.values()
    found = polynomial_in(value, atom)
    if found is None:
        return False
    if atom.head == "len" and atom.args == ("x", "y"):
        return all(c >= 0 for c in _by_choices(found))
    plain = atom.head == "gcd" and sorted(map(str, atom.args)) == ["x", "y"]
    return plain and algebra.space.kind == "naturals" and _of_divisors(found)


def _by_choices(p: Polynomial) -> Polynomial:
    """The coefficients by n (n - 1) ... (n - k + 1): Newton's differences at 0, 1, 2."""
    found, rest, node = [], list(p), 0
    while rest:
        quotient: Polynomial = []
        carry = Fraction(0)
        for c in reversed(rest):
            carry = carry * node + c
            quotient.append(carry)
        found.append(quotient.pop())
        rest, node = quotient[::-1], node + 1
    return found


def _of_divisors(p: Polynomial) -> bool:
    """Whether the sum over j of c_j J_j(n) is nowhere negative.

    At n = 1 each J_j is 1. At n > 1 J_0 is 0, and J_{j+1} >= n J_j >= 2 J_j; what is negative
    is carried up with half its weight.
    """
    if sum(p, Fraction(0)) < 0:
        return False
    carry = Fraction(0)
    for c in p[1:]:
        carry = min(carry / 2, Fraction(0)) + c
    return carry >= 0
