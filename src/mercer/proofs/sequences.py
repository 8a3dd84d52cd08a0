r"""Sequences $\sum_j P_j(n)\, b_j^n$: whether they stay nonnegative, decided exactly.

From some n on the term of the largest $|b_j|$ is larger than all others together, and that n is
found; what comes before is computed.

>>> one = [Fraction(1)]
>>> stays_nonnegative([Growth(one, Fraction(2)), Growth([Fraction(-3)], Fraction(1))], 2)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from mercer.proofs.polynomials import Polynomial, plus, trimmed, value_at

LAST = 600
"""The index up to which terms are computed one by one."""

PERIOD = 4
"""Cosines and sines repeat their signs after so many terms."""

STEADY = (1,) * PERIOD


@dataclass(frozen=True)
class Growth:
    r"""The terms $P(n)\, b^n$, times a sign that depends on n modulo 4.

    Attributes:
        polynomial: The coefficients of P, the constant first.
        rate: The number b.
        signs: The factors for n = 0, 1, 2, 3 modulo 4.
    """

    polynomial: Polynomial
    rate: Fraction
    signs: tuple[int, ...] = STEADY

    def at(self, n: int) -> Fraction:
        """The term of an index."""
        return value_at(self.polynomial, Fraction(n)) * self.rate**n * self.signs[n % PERIOD]


def stays_nonnegative(terms: Iterable[Growth], start: int) -> bool:
    """Whether the sum of the terms is nowhere negative from an index on."""
    terms = list(terms)
    ends = [_dominated_from(_of_residue(terms, r), start) for r in range(PERIOD)]
    if any(end is None for end in ends):
        return False
    last = max(end for end in ends if end is not None)
    return all(
        sum((term.at(n) for term in terms), Fraction(0)) >= 0 for n in range(start, last)
    )


def _of_residue(terms: list[Growth], residue: int) -> list[tuple[Fraction, Polynomial]]:
    """What the terms are for n of one residue: the sizes of the rates, the largest first."""
    found: dict[Fraction, Polynomial] = {}
    for term in terms:
        if not term.rate:
            continue
        sign = term.signs[residue] * (-1 if term.rate < 0 and residue % 2 else 1)
        part = [sign * c for c in term.polynomial]
        found[abs(term.rate)] = plus(found.get(abs(term.rate), []), part)
    return sorted(((rate, p) for rate, p in found.items() if trimmed(p)), reverse=True)


def _dominated_from(groups: list[tuple[Fraction, Polynomial]], start: int) -> int | None:
    """An index from which on the first group is larger than the others; None if it is < 0."""
    if not groups:
        return max(start, 1)
    (top, lead), others = groups[0], groups[1:]
    if lead[-1] < 0:
        return None
    # From here on the leading coefficient counts at least twice as much as all that follow.
    first = max(start, 1, ceil(2 * sum(map(abs, lead[:-1]), Fraction(0)) / lead[-1]))
    degree = len(lead) - 1
    # Each n^m (b/top)^n falls beyond m / (1 - b/top), and so does the sum of them.
    first = max([first, *_turns(others, top, degree)])
    for n in _longer(first):
        rest = sum(
            (_size(p, Fraction(n)) * (rate / top) ** n for rate, p in others), Fraction(0)
        )
        if 2 * rest <= lead[-1] * Fraction(n) ** degree:
            return n
    return None


def _turns(others: list[tuple[Fraction, Polynomial]], top: Fraction, degree: int) -> list[int]:
    return [ceil(max(len(p) - 1 - degree, 0) / (1 - rate / top)) for rate, p in others]


def _longer(first: int) -> Iterator[int]:
    n = first
    while n <= LAST:
        yield n
        n += max(1, n // 4)


def _size(p: Polynomial, at: Fraction) -> Fraction:
    """A bound of a polynomial that grows with its argument."""
    return value_at([abs(c) for c in p], at)
