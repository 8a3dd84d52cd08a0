r"""Polynomials with rational coefficients, and whether they keep their sign: Sturm's theorem.

>>> stays_nonnegative([Fraction(1), Fraction(-2), Fraction(1)], Fraction(0), None)  # (1 - t)^2
True
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from mercer.proofs.sums import Atom, Sum

Polynomial = list[Fraction]
"""Coefficients, the constant first."""


def trimmed(p: Polynomial) -> Polynomial:
    """Without zeros at the end."""
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return p


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum of two polynomials."""
    size = max(len(a), len(b))
    zero = Fraction(0)
    return trimmed(
        [(a[n] if n < len(a) else zero) + (b[n] if n < len(b) else zero) for n in range(size)]
    )


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    if not a or not b:
        return []
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            out[i + j] += p * q
    return trimmed(out)


def _remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    a = list(a)
    while len(a) >= len(b) and a:
        factor, shift = a[-1] / b[-1], len(a) - len(b)
        for n, q in enumerate(b):
            a[n + shift] -= factor * q
        a = trimmed(a[:-1])
    return a


def value_at(p: Polynomial, at: Fraction) -> Fraction:
    """The value at a number."""
    total = Fraction(0)
    for coefficient in reversed(p):
        total = total * at + coefficient
    return total


def derivative(p: Polynomial) -> Polynomial:
    """The derivative."""
    return trimmed([n * c for n, c in enumerate(p)][1:])


def _common(a: Polynomial, b: Polynomial) -> Polynomial:
    while b:
        a, b = b, _remainder(a, b)
    return [c / a[-1] for c in a]


def _quotient(a: Polynomial, b: Polynomial) -> Polynomial:
    a, out = list(a), [Fraction(0)] * max(len(a) - len(b) + 1, 0)
    while len(a) >= len(b) and a:
        factor, shift = a[-1] / b[-1], len(a) - len(b)
        out[shift] = factor
        for n, q in enumerate(b):
            a[n + shift] -= factor * q
        a = trimmed(a[:-1])
    return trimmed(out)


def _sign_changes(chain: list[Polynomial], at: Fraction | None) -> int:
    signs = [p[-1] if at is None else value_at(p, at) for p in chain if p]
    kept = [s > 0 for s in signs if s]
    return sum(a != b for a, b in pairwise(kept))


def _roots(p: Polynomial, low: Fraction, high: Fraction | None) -> int:
    """How many different roots a polynomial without double roots has in (low, high]."""
    chain = [p, derivative(p)]
    while chain[-1]:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])
    return _sign_changes(chain[:-1], low) - _sign_changes(chain[:-1], high)


def stays_nonnegative(p: Polynomial, low: Fraction, high: Fraction | None) -> bool:
    """Whether a polynomial is nowhere negative between low and high (None: infinity).

    Roots where it only touches zero are allowed: Sturm's theorem counts those of odd order.
    """
    p = trimmed(p)
    if not p:
        return True
    if all(c >= 0 for c in p) and low >= 0:
        return True
    odd = _odd_part(p)
    if len(odd) > 1:
        inside = _roots(odd, low, high)
        if high is not None and value_at(odd, high) == 0:
            inside -= 1
        if inside:
            return False
    probe = low + 1 if high is None else (low + high) / 2
    for shift in range(1, 40):
        value = value_at(p, probe)
        if value:
            return value > 0
        probe = low + Fraction(1, shift + 1) * (1 if high is None else (high - low))
    return False


def stays_positive(p: Polynomial, low: Fraction, high: Fraction | None) -> bool:
    """Whether a polynomial is above zero between low and high, the ends left out."""
    p = trimmed(p)
    if len(p) < 2:
        return bool(p) and p[0] > 0
    plain = _quotient(p, _common(p, derivative(p)))
    inside = _roots(plain, low, high)
    if high is not None and value_at(plain, high) == 0:
        inside -= 1
    return inside == 0 and stays_nonnegative(p, low, high)


def _odd_part(p: Polynomial) -> Polynomial:
    """The product of the factors of odd order, each once."""
    out, rest, order = [Fraction(1)], p, 1
    levels: list[Polynomial] = []
    while len(rest) > 1:
        shared = _common(rest, derivative(rest))
        levels.append(_quotient(rest, shared))
        rest = shared
    for n, level in enumerate(levels):
        exact = level if n + 1 == len(levels) else _quotient(level, levels[n + 1])
        if order % 2 == 1 and len(exact) > 1:
            out = product(out, exact)
        order += 1
    return out


# ------------------------------------------------------------------------- read off sums


def polynomial_in(value: Sum, atom: Atom) -> Polynomial | None:
    """The coefficients of a sum that is a polynomial in one atom."""
    found: dict[int, Fraction] = {}
    for term, factor in value.terms:
        if not term:
            found[0] = factor
            continue
        ((only, exponent), *more) = term
        if more or only != atom or not isinstance(exponent, Fraction):
            return None
        if exponent.denominator != 1 or not 0 < exponent <= 60:
            return None
        found[int(exponent)] = factor
    return [found.get(n, Fraction(0)) for n in range(max(found, default=0) + 1)]


def two_factors(value: Sum) -> tuple[Polynomial, Polynomial] | None:
    """The polynomials f and g with value = f(x) g(y), if it is such a product."""
    entries: dict[tuple[int, int], Fraction] = {}
    for term, factor in value.terms:
        powers = {"x": 0, "y": 0}
        for atom, exponent in term:
            if atom.head not in powers or not isinstance(exponent, Fraction):
                return None
            if exponent.denominator != 1 or not 0 < exponent <= 12:
                return None
            powers[atom.head] = int(exponent)
        entries[powers["x"], powers["y"]] = factor
    if not entries:
        return None
    i, j = max(entries)
    top = entries[i, j]
    f = [entries.get((n, j), Fraction(0)) for n in range(i + 1)]
    g = [entries.get((i, n), Fraction(0)) / top for n in range(max(k for _, k in entries) + 1)]
    whole = {(n, m): p * q for n, p in enumerate(f) for m, q in enumerate(g) if p * q}
    return (trimmed(f), trimmed(g)) if whole == entries else None
