r"""Fourier transforms of sums of waves, and whether they are nowhere negative: all exact.

The transform of $r^m e^{-a r} \cos(\omega r)$ is a rational function of the frequency w, that
of $r^{2 k} e^{-b r^2}$ a polynomial in $w^2$ times $e^{-w^2 / 4 b}$.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, isqrt, lcm

from mercer.proofs.decaying import Decaying, is_nonnegative
from mercer.proofs.polynomials import (
    Polynomial,
    derivative,
    plus,
    product,
    stays_nonnegative,
)
from mercer.proofs.radial import Wave

ZERO, ONE = Fraction(0), Fraction(1)

LARGEST = 90
"""The degree of a polynomial beyond which its sign is not looked at."""

WIDEST = 9
"""The dimension up to which transforms are worked out."""


def has_nonnegative_transform(waves: Iterable[Wave], dimension: int | None) -> bool:
    """Whether a sum of waves is p.d. on vectors of a dimension; None for every dimension."""
    waves = list(waves)
    steady = [w for w in waves if not w.decay and not w.narrow]
    if not all(_is_atom(wave, dimension) for wave in steady):
        return False
    moving = [w for w in waves if w.decay or w.narrow]
    if not moving:
        return True
    if all(w.narrow and not w.decay and not w.frequency and w.power % 2 == 0 for w in moving):
        return _gaussians(moving, dimension)
    if any(w.narrow for w in moving):
        return False
    if is_mixture(moving):
        return True
    return dimension is not None and dimension <= WIDEST and _rational(moving, dimension)


def _is_atom(wave: Wave, dimension: int | None) -> bool:
    """Constants, and cosines on the line: measures at single frequencies."""
    plain = not wave.power and not wave.odd and wave.factor >= 0
    return plain and (not wave.frequency or dimension == 1)


# ------------------------------------------------------------------------ rational functions


@dataclass(frozen=True)
class _Factor:
    """The polynomial a^2 + (w + s)^2, which is positive."""

    decay: Fraction
    shift: Fraction

    @property
    def polynomial(self) -> Polynomial:
        return [self.decay**2 + self.shift**2, 2 * self.shift, ONE]


@dataclass(frozen=True)
class _Term:
    """A polynomial over a power of a factor."""

    top: Polynomial
    below: _Factor
    order: int


def _rational(waves: list[Wave], dimension: int) -> bool:
    """Whether the transform is nowhere negative; in even dimensions that of the next one."""
    terms = [term for wave in waves for term in _terms(wave)]
    orders: dict[_Factor, int] = {}
    for term in terms:
        orders[term.below] = max(orders.get(term.below, 0), term.order)
    top: Polynomial = []
    for term in terms:
        part = term.top
        for factor, order in orders.items():
            missing = order - (term.order if factor == term.below else 0)
            part = _times_power(part, factor.polynomial, missing)
        top = plus(top, part)
    below: Polynomial = [ONE]
    for factor, order in orders.items():
        below = _times_power(below, factor.polynomial, order)
    for _ in range(dimension // 2):  # from d to d + 2 it is -F'(w) / 2 pi w
        slope = plus(product(derivative(top), below), _minus(product(top, derivative(below))))
        top, below = _minus(slope)[1:], product(below, below)
        if max(len(top), len(below)) > LARGEST:
            return False
    return len(top) <= LARGEST and stays_nonnegative(top, ZERO, None)


def _terms(wave: Wave) -> list[_Term]:
    r"""The transform $2 \int_0^\infty r^m e^{-a r} \cos(\omega r) \cos(w r) dr$, by
    $\int_0^\infty r^m e^{-a r} e^{i u r} dr = m! (a + i u)^{m + 1} / (a^2 + u^2)^{m + 1}$ at
    $u = w + \omega$ and $u = w - \omega$.
    """
    order, found = wave.power + 1, []
    for sign in (1, -1):
        factor = _Factor(wave.decay, sign * wave.frequency)
        real, imaginary = _complex_power(wave.decay, factor.shift, order)
        # sin(w r + omega r) - sin(w r - omega r) = 2 sin(omega r) cos(w r)
        chosen = [sign * c for c in imaginary] if wave.odd else real
        scale = wave.factor * factorial(wave.power)
        found.append(_Term([scale * c for c in chosen], factor, order))
    return found


def _complex_power(a: Fraction, shift: Fraction, order: int) -> tuple[Polynomial, Polynomial]:
    """The real and the imaginary part of (a + i (w + s))^n as polynomials in w."""
    real: Polynomial = [ONE]
    imaginary: Polynomial = []
    line: Polynomial = [shift, ONE]
    for _ in range(order):
        real, imaginary = (
            plus([a * c for c in real], _minus(product(imaginary, line))),
            plus([a * c for c in imaginary], product(real, line)),
        )
    return real, imaginary


def _times_power(p: Polynomial, factor: Polynomial, order: int) -> Polynomial:
    for _ in range(order):
        p = product(p, factor)
    return p


def _minus(p: Polynomial) -> Polynomial:
    return [-c for c in p]


# ------------------------------------------------------------------------------- mixtures


def is_mixture(waves: Iterable[Wave]) -> bool:
    r"""Whether $\sum c\, r^m e^{-a r}$ is a mixture of Gaussians, so p.d. in every dimension.

    $e^{-a r} = \frac{1}{2 \sqrt \pi} \int_0^\infty a e^{-a^2 v} e^{-u r^2} u^{-3/2} du$ with
    $v = 1 / 4 u$, and $r^m$ stands for m derivatives $-d/da$ of that density.
    """
    densities = []
    for wave in waves:
        if wave.frequency or wave.narrow or not wave.decay:
            return False
        own = _density(wave.power, wave.decay)
        densities.append(Decaying([wave.factor * c for c in own], wave.decay**2))
    return is_nonnegative(densities)


def _density(power: int, a: Fraction) -> Polynomial:
    """The polynomial p(v) with (-d/da)^m (a e^(-a^2 v)) = p(v) e^(-a^2 v)."""
    found: dict[tuple[int, int], int] = {(1, 0): 1}  # of a^i v^j
    for _ in range(power):
        after: dict[tuple[int, int], int] = {}
        for (i, j), c in found.items():
            if i:
                after[i - 1, j] = after.get((i - 1, j), 0) - c * i
            after[i + 1, j + 1] = after.get((i + 1, j + 1), 0) + 2 * c
        found = after
    out = [ZERO] * (max(j for _, j in found) + 1)
    for (i, j), c in found.items():
        out[j] += c * a**i
    return out


# ------------------------------------------------------------------------------ Gaussians


def _gaussians(waves: list[Wave], dimension: int | None) -> bool:
    r"""Whether $\sum c\, r^{2 k} e^{-b r^2}$ is p.d. In every dimension it has to be a mixture
    of Gaussians, so that all k are 0 and no c is negative.
    """
    if all(not wave.power and wave.factor >= 0 for wave in waves):
        return True
    if dimension is None:
        return False
    if len({wave.narrow for wave in waves}) == 1:
        total: Polynomial = []
        for wave in waves:
            own = _hermite(wave.power // 2, wave.narrow, dimension)
            total = plus(total, [wave.factor * c for c in own])
        return stays_nonnegative(total, ZERO, None)
    return not any(w.power for w in waves) and _plain_gaussians(waves, dimension)


def _hermite(count: int, b: Fraction, dimension: int) -> Polynomial:
    r"""The polynomial p(s) with
    $(-d/db)^k (b^{-d/2} e^{-s / 4 b}) = b^{-d/2} p(s) e^{-s / 4 b}$.
    """
    half = Fraction(dimension, 2)
    found: dict[tuple[int, int], Fraction] = {(0, 0): ONE}  # of b^(-i) s^j
    for _ in range(count):
        after: dict[tuple[int, int], Fraction] = {}
        for (i, j), c in found.items():
            after[i + 1, j] = after.get((i + 1, j), ZERO) + c * (half + i)
            after[i + 2, j + 1] = after.get((i + 2, j + 1), ZERO) - c / 4
        found = after
    out = [ZERO] * (max(j for _, j in found) + 1)
    for (i, j), c in found.items():
        out[j] += c / b**i
    return out


def _plain_gaussians(waves: list[Wave], dimension: int) -> bool:
    r"""The transform is $\sum c\, (\pi / b)^{d/2} e^{-w^2 / 4 b}$: with $q = e^{-w^2 / 4 L}$ a
    polynomial in q on [0, 1].
    """
    inverse = [1 / wave.narrow for wave in waves]
    scale = lcm(*(value.denominator for value in inverse))
    powers = [int(value * scale) for value in inverse]
    weights = _half_powers(inverse, dimension)
    if weights is None or max(powers) > 4 * LARGEST:
        return _two_gaussians(waves, dimension)
    total: Polynomial = [ZERO] * (max(powers) - min(powers) + 1)
    for wave, power, weight in zip(waves, powers, weights, strict=True):
        total[power - min(powers)] += wave.factor * weight
    return stays_nonnegative(total, ZERO, ONE)


def _half_powers(values: list[Fraction], dimension: int) -> list[Fraction] | None:
    """The powers d/2 relative to the first, where they are rational."""
    if dimension % 2 == 0:
        return [value ** (dimension // 2) for value in values]
    roots = [_root(value / values[0]) for value in values]
    if any(root is None for root in roots):
        return None
    return [root**dimension for root in roots if root is not None]


def _root(value: Fraction) -> Fraction | None:
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    exact = top * top == value.numerator and bottom * bottom == value.denominator
    return Fraction(top, bottom) if exact else None


def _two_gaussians(waves: list[Wave], dimension: int) -> bool:
    r"""Of two, $c e^{-a r^2} - d e^{-b r^2}$: the transform is nowhere negative when that of
    the first decays more slowly, $a \ge b$, and is larger at frequency 0.
    """
    if len(waves) != 2:
        return False
    first, second = sorted(waves, key=lambda wave: wave.factor, reverse=True)
    c, a, d, b = first.factor, first.narrow, second.factor, second.narrow
    return c > 0 and a >= b and c**2 * b**dimension >= d**2 * a**dimension
