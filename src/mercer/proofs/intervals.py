r"""Real numbers known exactly or up to an interval: arithmetic whose bounds are theorems.

A real is a `Fraction`, or a pair of binary numbers between which it lies. Sums, products,
quotients and roots of pairs are rounded outwards by mpmath's integers, which is exact work.

>>> divide(Fraction(1), Fraction(3), 60)
Fraction(1, 3)
>>> low, high = low_high(bounds(Fraction(1, 3), 60))
>>> low < Fraction(1, 3) < high
True
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from mpmath.libmp import (
    finf,
    fninf,
    from_rational,
    fzero,
    mpf_le,
    mpf_lt,
    mpf_sign,
    mpi_abs,
    mpi_add,
    mpi_div,
    mpi_mul,
    round_ceiling,
    round_floor,
    to_rational,
)

Interval: TypeAlias = tuple[Any, Any]
"""Two of mpmath's raw numbers, (sign, mantissa, exponent, bits), the lower one first."""

Real: TypeAlias = Fraction | Interval

LONGEST = 4096
"""Bits of a numerator or denominator; a fraction that is longer becomes an interval."""

ZERO, ONE = Fraction(0), Fraction(1)


class Undefined(Exception):
    """The formula has no value at these points."""


class Undecided(Exception):
    """The intervals are too wide to go on, or the numbers too large."""


def bounds(value: Real, bits: int) -> Interval:
    """The interval of a real: of a fraction, the two neighbours with so many bits."""
    if isinstance(value, Fraction):
        p, q = value.numerator, value.denominator
        return from_rational(p, q, bits, round_floor), from_rational(p, q, bits, round_ceiling)
    return value


def low_high(value: Real) -> tuple[Fraction, Fraction]:
    """Both ends as exact fractions.

    Raises:
        Undecided: An end is infinite, or too large to be written down.
    """
    if isinstance(value, Fraction):
        return value, value
    for end in value:
        if not end[1] and end != fzero:
            raise Undecided("an end is infinite")
        if abs(end[2]) > 1 << 20:
            raise Undecided("an end is too large, or too small, to be written down")
    low, high = (Fraction(*map(int, to_rational(end))) for end in value)
    return low, high


def short(value: Fraction, bits: int) -> Real:
    """The fraction itself, unless it is longer than is kept."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= LONGEST:
        return value
    return bounds(value, bits)


def add(a: Real, b: Real, bits: int) -> Real:
    """The sum."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return short(a + b, bits)
    return finite(mpi_add(bounds(a, bits), bounds(b, bits), bits))


def negative(a: Real) -> Real:
    """The value with the other sign."""
    return -a if isinstance(a, Fraction) else (_flip(a[1]), _flip(a[0]))


def _flip(end: Any) -> Any:
    sign, mantissa, exponent, size = end
    return (1 - sign, mantissa, exponent, size) if mantissa else end


def multiply(a: Real, b: Real, bits: int) -> Real:
    """The product; zero times what is finite is zero."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return short(a * b, bits)
    if ZERO in (a, b):
        return ZERO
    return finite(mpi_mul(bounds(a, bits), bounds(b, bits), bits))


def divide(a: Real, b: Real, bits: int) -> Real:
    """The quotient.

    Raises:
        Undefined: The denominator is zero.
        Undecided: It may be zero.
    """
    if isinstance(b, Fraction):
        if not b:
            raise Undefined("a division by zero")
        if isinstance(a, Fraction):
            return short(a / b, bits)
    elif mpf_sign(b[0]) * mpf_sign(b[1]) <= 0:
        raise Undecided("a denominator that may be zero")
    if a == ZERO:
        return ZERO
    return finite(mpi_div(bounds(a, bits), bounds(b, bits), bits))


def finite(value: Interval) -> Interval:
    """The interval, if it has two ends."""
    if fninf in value or finf in value:
        raise Undecided("an interval without end")
    return value


def absolute(a: Real, bits: int) -> Real:
    """The absolute value."""
    return abs(a) if isinstance(a, Fraction) else mpi_abs(a, bits)


def least(a: Real, b: Real, bits: int) -> Real:
    """The smaller one of two."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return min(a, b)
    (a0, a1), (b0, b1) = bounds(a, bits), bounds(b, bits)
    if mpf_le(a1, b0):
        return a
    if mpf_le(b1, a0):
        return b
    return (a0 if mpf_lt(a0, b0) else b0), (a1 if mpf_lt(a1, b1) else b1)


def greatest(a: Real, b: Real, bits: int) -> Real:
    """The larger one of two."""
    return negative(least(negative(a), negative(b), bits))


def sign(a: Real) -> int:
    """-1, 0 or 1.

    Raises:
        Undecided: The interval holds numbers of both signs.
    """
    if isinstance(a, Fraction):
        return (a > 0) - (a < 0)
    low, high = mpf_sign(a[0]), mpf_sign(a[1])
    if low != high:
        raise Undecided("a number that may have either sign")
    return int(low)
