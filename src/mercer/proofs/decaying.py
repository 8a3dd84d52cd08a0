r"""Sums $\sum_j P_j(v)\, e^{-d_j v}$ on $v > 0$: whether they are nowhere negative.

One rate leaves a polynomial, constants with commensurable rates one in $q = e^{-d v}$, for
which Sturm's theorem decides. Otherwise intervals are cut until each is decided, and from some
v on the slowest term is larger than all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from mpmath import iv

from mercer.proofs.polynomials import Polynomial, plus, stays_nonnegative, trimmed, value_at

ZERO, ONE = Fraction(0), Fraction(1)

DEGREE = 200
"""The degree of a polynomial in q that is looked at."""

PIECES = 1500
"""How many intervals are looked at."""

FARTHEST = 400
"""The v up to which intervals are cut, in units of the slowest rate that matters."""


@dataclass(frozen=True)
class Decaying:
    r"""$P(v)\, e^{-d v}$.

    Attributes:
        polynomial: The coefficients of P, the constant first.
        rate: The number d.
    """

    polynomial: Polynomial
    rate: Fraction


def is_nonnegative(terms: list[Decaying]) -> bool:
    """Whether the sum of the terms is nowhere negative for v > 0."""
    groups: dict[Fraction, Polynomial] = {}
    for term in terms:
        groups[term.rate] = plus(groups.get(term.rate, []), term.polynomial)
    kept = {rate: p for rate, p in groups.items() if trimmed(p)}
    if not kept:
        return True
    slowest = min(kept)
    shifted = {rate - slowest: p for rate, p in kept.items()}
    if len(shifted) == 1:
        return stays_nonnegative(shifted[ZERO], ZERO, None)
    found = _by_powers(shifted)
    return found if found is not None else _by_intervals(shifted)


def _by_powers(groups: dict[Fraction, Polynomial]) -> bool | None:
    """Constants as a polynomial in q on (0, 1); None for others and for large degrees."""
    if any(len(p) > 1 for p in groups.values()):
        return None
    rates = [rate for rate in groups if rate]
    scale = lcm(*(rate.denominator for rate in rates))
    unit = Fraction(gcd(*(int(rate * scale) for rate in rates)), scale)
    if max(rates) / unit > DEGREE:
        return None
    total = [ZERO] * (int(max(rates) / unit) + 1)
    for rate, p in groups.items():
        total[int(rate / unit)] += p[0]
    return stays_nonnegative(total, ZERO, ONE)


def _by_intervals(groups: dict[Fraction, Polynomial]) -> bool:
    """Cut intervals up to a tail in which the slowest term decides."""
    lead, others = groups[ZERO], {rate: p for rate, p in groups.items() if rate}
    end = ONE
    while not _decided_from(end, lead, others):
        end *= 2
        if end > FARTHEST / min(others):
            return False
    queue, looked = [(ZERO, end)], 0
    before = iv.prec
    try:
        iv.prec = 80
        while queue:
            low, high = queue.pop()
            looked += 1
            if looked > PIECES:
                return False
            if not _enclosure(groups, low, high).a >= 0:
                middle = (low + high) / 2
                queue += [(low, middle), (middle, high)]
    finally:
        iv.prec = before
    return True


def _decided_from(end: Fraction, lead: Polynomial, others: dict[Fraction, Polynomial]) -> bool:
    """Whether P_0 is at least the bound of all others from here on."""
    bound = ZERO
    for rate, p in others.items():
        if end * rate < len(p) - 1:  # v^m e^(-d v) falls from v = m / d on
            return False
        # e^t >= 2^t, so e^(-d v) <= 2^(-floor(d v))
        bound += value_at([abs(c) for c in p], end) / 2 ** int(rate * end)
    return stays_nonnegative(plus(lead, [-bound]), end, None)


def _enclosure(groups: dict[Fraction, Polynomial], low: Fraction, high: Fraction) -> Any:
    """An interval that holds the sum for all v between two numbers."""
    v = iv.mpf([_number(low).a, _number(high).b])
    total = iv.mpf(0)
    for rate, p in groups.items():
        value = iv.mpf(0)
        for coefficient in reversed(p):
            value = value * v + _number(coefficient)
        total += value * iv.exp(-_number(rate) * v)
    return total


def _number(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)
