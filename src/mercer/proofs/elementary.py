r"""Powers and elementary functions of real numbers that are known exactly or up to an interval.

Whole powers and square roots are rounded outwards by exact work. mpmath's exp, log, atan, cos
and sin are approximations: its interval context rounds them in a direction without a bound on
what came before, so their last digit may lie on the wrong side. Here they are taken with
`_GUARD` more bits and widened by far more than they can be wrong.

>>> exponential(Fraction(0), 60), whole_power(Fraction(3, 2), -2, 60)
(Fraction(1, 1), Fraction(4, 9))
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath.libmp import (
    fone,
    from_int,
    fzero,
    mpf_abs,
    mpf_add,
    mpf_atan,
    mpf_cos_sin,
    mpf_exp,
    mpf_log,
    mpf_lt,
    mpf_pi,
    mpf_shift,
    mpf_sign,
    mpf_sub,
    mpi_abs,
    mpi_add,
    mpi_div,
    mpi_neg,
    mpi_pow_int,
    mpi_sqrt,
    round_ceiling,
    round_floor,
    round_nearest,
)

from mercer.proofs.intervals import (
    LONGEST,
    ONE,
    ZERO,
    Interval,
    Real,
    Undecided,
    Undefined,
    add,
    bounds,
    divide,
    finite,
    multiply,
    negative,
    sign,
)

_GUARD = 24
"""More bits for what mpmath approximates. Its functions add ten or more bits of their own and
claim the last place; the widening by one unit allows them an error of 2**24 units."""

_STEEPEST = 40
"""exp(z) is worked out for |z| < 2**40, cos(z) for |z| < 2**40: its cost grows with log |z|."""


# ---------------------------------------------------------------------------------- powers


def whole_power(base: Real, n: int, bits: int) -> Real:
    """The power with a whole exponent; the 0th is 1.

    Raises:
        Undefined: Zero to a negative power.
        Undecided: The exponent is too large to be of use.
    """
    if n == 0:
        return ONE
    if n < 0:
        return divide(ONE, whole_power(base, -n, bits), bits)
    if isinstance(base, Fraction):
        if base in (0, 1):
            return base
        longest = max(base.numerator.bit_length(), base.denominator.bit_length())
        if n * longest <= LONGEST:
            return base**n
    if n.bit_length() > _STEEPEST:
        raise Undecided("an exponent that is too large")
    return finite(mpi_pow_int(bounds(base, bits), n, bits))


def power(base: Real, exponent: Real, bits: int) -> Real:
    """The power, of a base that is not negative unless the exponent is whole.

    Raises:
        Undefined: A fractional power of a negative number, or zero to a power below zero.
        Undecided: Which of them it is cannot be told.
    """
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return whole_power(base, int(exponent), bits)
    if isinstance(base, Fraction):
        exact = _power_of_fraction(base, exponent, bits)
        if exact is not None:
            return exact
    elif mpf_sign(base[0]) <= 0:
        return _power_at_zero(base, exponent, bits)
    if exponent == Fraction(1, 2):
        return mpi_sqrt(bounds(base, bits), bits)  # type: ignore[no-any-return]
    return exponential(multiply(exponent, logarithm(base, bits), bits), bits)


def _power_of_fraction(base: Fraction, exponent: Real, bits: int) -> Real | None:
    """A power that is rational; None if it is not."""
    if base < 0:
        raise Undefined("a fractional power of a negative number")
    if base == 0 and sign(exponent) <= 0:
        raise Undefined("zero to a power that is not positive")
    if base in (0, 1):
        return base
    root = _root(base, exponent.denominator) if isinstance(exponent, Fraction) else None
    if root is None or not isinstance(exponent, Fraction):
        return None
    return whole_power(root, exponent.numerator, bits)


def _power_at_zero(base: Interval, exponent: Real, bits: int) -> Real:
    """An interval that touches zero: the powers of what is in it, if the exponent is > 0."""
    if mpf_sign(base[1]) < 0:
        raise Undefined("a fractional power of a negative number")
    if mpf_sign(base[0]) < 0 or sign(exponent) <= 0:
        raise Undecided("a power of a number that may be negative")
    top = power((base[1], base[1]), exponent, bits)
    return fzero, bounds(top, bits)[1]


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The root of a positive fraction, if it is a fraction again."""
    if degree > 64:
        return None
    parts = [_whole_root(part, degree) for part in (value.numerator, value.denominator)]
    return None if None in parts else Fraction(*parts)  # type: ignore[arg-type]


def _whole_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = isqrt(value)
    else:
        # Newton's steps from above fall until they reach the whole part of the root.
        root = 1 << -(-value.bit_length() // degree)
        while True:
            smaller = ((degree - 1) * root + value // root ** (degree - 1)) // degree
            if smaller >= root:
                break
            root = smaller
    return root if root**degree == value else None


# --------------------------------------------------------------------------- approximations


def _widened(low: Any, high: Any, bits: int) -> Interval:
    """Two approximations, each moved outwards by one unit in the last place and more."""
    return finite(
        (
            mpf_sub(low, mpf_shift(mpf_abs(low), -bits), bits + _GUARD, round_floor),
            mpf_add(high, mpf_shift(mpf_abs(high), -bits), bits + _GUARD, round_ceiling),
        )
    )


def _rising(f: Callable[..., Any], value: Interval, bits: int) -> Interval:
    """An increasing function that mpmath approximates, at both ends."""
    low, high = (f(end, bits + _GUARD, round_nearest) for end in value)
    return _widened(low, high, bits)


def _calm(value: Interval) -> None:
    for end in value:
        if end[1] and end[2] + end[3] > _STEEPEST:
            raise Undecided("an argument that is too large")


def exponential(a: Real, bits: int) -> Real:
    """The exponential."""
    if a == ZERO:
        return ONE
    value = bounds(a, bits)
    _calm(value)
    return _rising(mpf_exp, value, bits)


def logarithm(a: Real, bits: int) -> Real:
    """The logarithm.

    Raises:
        Undefined: Of a number that is not positive.
        Undecided: Of one that may not be.
    """
    if a == ONE:
        return ZERO
    value = bounds(a, bits)
    if mpf_sign(value[1]) <= 0:
        raise Undefined("the logarithm of a number that is not positive")
    if mpf_sign(value[0]) <= 0:
        raise Undecided("the logarithm of a number that may not be positive")
    return _rising(mpf_log, value, bits)


def pi(bits: int) -> Interval:
    """The number pi."""
    middle = mpf_pi(bits + _GUARD, round_nearest)
    return _widened(middle, middle, bits)


def _wave(which: int, a: Real, bits: int) -> Interval:
    """The cosine (1) or sine (2): at the middle, and no further off than the ends are."""
    value = bounds(a, bits)
    _calm(value)
    work = bits + _GUARD
    middle = mpf_shift(mpf_add(*value, work, round_nearest), -1)
    # Both functions have slopes of at most 1, and one unit is for the approximation.
    reach = mpf_sub(value[1], value[0], work, round_ceiling)
    reach = mpf_add(reach, mpf_shift(fone, -bits), work, round_ceiling)
    height = mpf_cos_sin(middle, work, round_nearest, which)
    low = mpf_sub(height, reach, work, round_floor)
    high = mpf_add(height, reach, work, round_ceiling)
    minus = from_int(-1)
    return (low if mpf_lt(minus, low) else minus), (high if mpf_lt(high, fone) else fone)


def cosine(a: Real, bits: int) -> Real:
    """The cosine."""
    return ONE if a == ZERO else _wave(1, a, bits)


def sine(a: Real, bits: int) -> Real:
    """The sine."""
    return ZERO if a == ZERO else _wave(2, a, bits)


def tangent(a: Real, bits: int) -> Real:
    """The tangent, where the cosine is seen not to be zero."""
    return ZERO if a == ZERO else divide(sine(a, bits), cosine(a, bits), bits)


def arctangent(a: Real, bits: int) -> Real:
    """The arc tangent."""
    return ZERO if a == ZERO else _rising(mpf_atan, bounds(a, bits), bits)


def arccosine(a: Real, bits: int) -> Real:
    """The arc cosine, 2 atan sqrt((1 - a) / (1 + a)), which falls: the ends are enough.

    Raises:
        Undefined: Of a number outside [-1, 1].
        Undecided: Of one that may be outside.
    """
    if a == ONE:
        return ZERO
    low, high = bounds(a, bits)
    minus = from_int(-1)
    if mpf_lt(fone, low) or mpf_lt(high, minus):
        raise Undefined("the arc cosine of a number outside [-1, 1]")
    if mpf_lt(fone, high) or mpf_lt(low, minus):
        raise Undecided("the arc cosine of a number that may be outside [-1, 1]")
    return _angle(high, bits)[0], _angle(low, bits)[1]


def _angle(end: Any, bits: int) -> Interval:
    if end == from_int(-1):
        return pi(bits)
    if end == fone:
        return fzero, fzero
    work = bits + _GUARD
    here = (end, end)
    ratio = mpi_div(
        mpi_add((fone, fone), mpi_neg(here, work), work),
        mpi_add((fone, fone), here, work),
        work,
    )
    half = _rising(mpf_atan, mpi_sqrt(ratio, work), bits)
    return mpf_shift(half[0], 1), mpf_shift(half[1], 1)


def arcsine(a: Real, bits: int) -> Real:
    """The arc sine, pi/2 - acos."""
    if a == ZERO:
        return ZERO
    right = divide(pi(bits), Fraction(2), bits)
    return add(right, negative(arccosine(a, bits)), bits)


def hyperbolic(name: str, a: Real, bits: int) -> Real:
    """The functions sinh, cosh and tanh, monotone on either side of 0: the ends are enough."""
    if a == ZERO:
        return ONE if name == "cosh" else ZERO
    value = bounds(a, bits)
    if name == "cosh":
        value = mpi_abs(value, bits)
    ends = [bounds(_hyperbolic(name, (end, end), bits), bits) for end in value]
    return ends[0][0], ends[1][1]


def _hyperbolic(name: str, a: Real, bits: int) -> Real:
    up = exponential(a, bits)
    if name == "tanh":
        up = whole_power(up, 2, bits)
        below = divide(Fraction(2), add(up, ONE, bits), bits)
        return add(ONE, negative(below), bits)
    down = divide(ONE, up, bits)
    both = add(up, down if name == "cosh" else negative(down), bits)
    return divide(both, Fraction(2), bits)
