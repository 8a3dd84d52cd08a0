"""Rational numbers taken apart: their primes, their common measure, powers of bounded size."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, lcm

from mercer.proofs.sums import DIGITS, TooLarge

TRIED = 100_000
"""The primes that are tried: what is left is kept as it is."""


def bounded(value: Fraction, exponent: int) -> Fraction:
    """A power of a number, if it has not too many digits."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * abs(exponent) > DIGITS and value not in (0, 1, -1):
        raise TooLarge
    return value**exponent


def gcd_of(a: Fraction, b: Fraction) -> Fraction:
    """The largest number of which both are whole multiples."""
    return Fraction(gcd(a.numerator, b.numerator), lcm(a.denominator, b.denominator))


@lru_cache(maxsize=4096)
def prime_factors(value: int) -> tuple[tuple[int, int], ...]:
    """The primes of a number from 1, with their powers; what is beyond reach stays whole."""
    if value.bit_length() > 64:
        return ((value, 1),)
    found, rest, prime = [], value, 2
    while prime <= min(isqrt(rest), TRIED):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        if count:
            found.append((prime, count))
        prime += 1 if prime == 2 else 2
    if rest > 1:
        found.append((rest, 1))
    return tuple(found)


def prime_powers(value: Fraction) -> dict[int, int]:
    """The prime factors of a positive number, those below the line with a minus."""
    found = dict(prime_factors(value.numerator))
    for prime, count in prime_factors(value.denominator):
        found[prime] = found.get(prime, 0) - count
    return found
