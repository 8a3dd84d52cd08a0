r"""Functions of the distance that are zero from some distance on: Wendland's.

$\max(0, 1 - r / L)^l$ is p.d. on $\mathbb{R}^d$ for $l \ge (d + 1) / 2$ (Askey), and so are
sums of such powers. If $\phi$ is p.d. on $\mathbb{R}^{d + 2}$, then on $\mathbb{R}^d$ so is
$\int_r^\infty t \phi(t) dt$ (Wendland). So $\phi(r) = -f'(r) / r$ is taken until it is a sum of
Askey's.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mercer.proofs import radial
from mercer.proofs.normal import Algebra
from mercer.proofs.polynomials import Polynomial, derivative, plus, product, trimmed
from mercer.proofs.sums import Atom, Sum

ZERO, ONE = Fraction(0), Fraction(1)

STEPS = 6
"""How often a function is divided."""

WORDS = "-f'(r)/r, taken up to k times, is a sum of kernels (1 - r)^l of dimension d + 2 k"


@dataclass(frozen=True)
class Compact:
    r"""$\max(0, 1 - r / L)^l P(r)$.

    Attributes:
        reach: The number L > 0.
        order: The number l > 0.
        polynomial: The coefficients of P, the constant first.
    """

    reach: Fraction
    order: Fraction
    polynomial: Polynomial


def is_wendland(value: Sum, algebra: Algebra) -> bool:
    """Whether a function of the distance is known to be a kernel in its dimension."""
    numbers = algebra.space.points_are == "number"
    dimension = 1 if numbers else algebra.space.dimension
    if dimension is None or not any(atom.head == "pos" for atom in value.atoms()):
        return False
    found = radial.profile(value, algebra)
    whole = None if found is None else _compact(radial.in_one_unit(found, algebra))
    return whole is not None and _is_kernel(whole, dimension)


def _compact(profile: Sum) -> Compact | None:
    """A profile as one power of max(0, 1 - r/L) times a polynomial."""
    parts = [_piece(term) for term, _ in profile.terms]
    kept = [part for part in parts if part is not None]
    if not kept or len(kept) < len(parts):
        return None
    inner, least = kept[0][0].args[0], min(order for _, order, _ in kept)
    factors = dict(inner.terms)
    slope = next((c for p, c in factors.items() if p and Sum(((p, ONE),)) == radial.R), ZERO)
    level = factors.get((), ZERO)
    if len(factors) != 2 or level <= 0 or slope >= 0 or least <= 0:
        return None
    base, total = [level, slope], Polynomial()
    for (atom, order, power), (_, factor) in zip(kept, profile.terms, strict=True):
        more = order - least
        if atom.args[0] != inner or more.denominator != 1 or more > radial.HIGHEST:
            return None
        piece = [ZERO] * power + [factor]
        for _ in range(int(more)):
            piece = product(piece, base)
        total = plus(total, piece)
    if least.denominator != 1 and level != 1:
        return None
    scale = level**least if least.denominator == 1 else ONE
    return Compact(-level / slope, least, [Fraction(scale) * c for c in total])


def _piece(term: tuple[tuple[Atom, object], ...]) -> tuple[Atom, Fraction, int] | None:
    """A product as a power of one positive part and a whole power of r."""
    found: tuple[Atom, Fraction] | None = None
    power = 0
    for atom, exponent in term:
        if not isinstance(exponent, Fraction):
            return None
        if atom.head == "pos" and found is None:
            found = atom, exponent
        elif Sum.of(atom) == radial.R and exponent.denominator == 1 and exponent > 0:
            power = int(exponent)
        else:
            return None
    return None if found is None or power > radial.HIGHEST else (*found, power)


def _is_kernel(whole: Compact, dimension: int) -> bool:
    for _ in range(STEPS):
        if _is_sum_of_askeys(whole, dimension):
            return True
        below = _divided(whole)
        if below is None:
            return False
        whole, dimension = below, dimension + 2
    return False


def _is_sum_of_askeys(whole: Compact, dimension: int) -> bool:
    """Whether P is a polynomial in 1 - r/L with no coefficient below zero, and l is enough."""
    if not trimmed(whole.polynomial) or 2 * whole.order < dimension + 1:
        return False
    shifted: Polynomial = []
    power: Polynomial = [ONE]
    for coefficient in whole.polynomial:  # r = L (1 - u)
        shifted = plus(shifted, [coefficient * c for c in power])
        power = product(power, [whole.reach, -whole.reach])
    return all(c >= 0 for c in shifted)


def _divided(whole: Compact) -> Compact | None:
    """-f'(r) / r, if it has a value at r = 0 and is continuous."""
    if whole.order <= 1:
        return None
    inner = [ONE, -1 / whole.reach]
    falls = [whole.order / whole.reach * c for c in whole.polynomial]
    rises = product(inner, derivative(whole.polynomial))
    slope = plus(falls, [-c for c in rises])
    if not slope or slope[0] != 0:
        return None
    return Compact(whole.reach, whole.order - 1, slope[1:])
