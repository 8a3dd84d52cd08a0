r"""Functions of the angle between two points of a circle or sphere.

A function of the angle alone has a mean over one point that does not depend on the other. A
kernel less a constant up to its mean is a kernel, and so is a constant from its mean on, less
a c.n.d. function. The mean is bounded in interval arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from mpmath import iv

from mercer.proofs.assumptions import Bounds, Given
from mercer.proofs.normal import Algebra
from mercer.proofs.polynomials import Polynomial, plus, polynomial_in, product
from mercer.proofs.radial import RADIUS, R
from mercer.proofs.ranges import Range
from mercer.proofs.sums import Atom, Sum, TooLarge

CELLS = (24, 360)
"""How many pieces the angles from 0 to pi are cut into: few first."""

LARGEST_POWER = 64
"""The power of a number in front of a logarithm that is looked at."""

PI_ABOVE = Fraction(355, 113)
"""A number just above pi."""

# ------------------------------------------------------------------------------- invariance


def depends_on_angle(value: Sum, algebra: Algebra) -> bool:
    """Whether a function on a circle or sphere depends on the angle of its points alone."""
    if algebra.space.kind == "sphere":
        return not any(atom.head in ("norm", "form") for atom in value.atoms())
    if algebra.space.kind != "circle":
        return False
    inner = Sum.of(Atom("x")) - Sum.of(Atom("y"))
    for atom in value.atoms():
        if atom.head in ("cos", "sin", "arc"):
            factor = algebra.multiple_of(atom.args[0], inner)
            if (
                factor is None
                or factor.number is None
                or factor.number.denominator not in (1, 2)
            ):
                return False
            if factor.number.denominator == 2 and not _only_in_abs(value, atom):
                return False
    return not _bare_points(value)


def _only_in_abs(value: Sum, atom: Atom) -> bool:
    """Whether a sine of half the angle stands in absolute values only."""
    sizes = [a for a in value.atoms() if a.head == "abs" and a.args[0] == Sum.of(atom)]
    count = sum(1 for a in value.atoms() if a == atom)
    return count == len(sizes)


def _bare_points(value: Sum) -> bool:
    """Whether a point stands outside of cosines and sines."""
    for factors, _ in value.terms:
        for atom, exponent in factors:
            if atom.head in ("x", "y"):
                return True
            inner = [arg for arg in (*atom.args, exponent) if isinstance(arg, Sum)]
            if atom.head not in ("cos", "sin", "arc") and any(map(_bare_points, inner)):
                return True
            if isinstance(exponent, Sum) and _bare_points(exponent):
                return True
    return False


# ------------------------------------------------------------------------------------- means


def mean_is_at_most(bound: Fraction, value: Sum, algebra: Algebra) -> bool:
    """Whether the mean of a function of the angle is at most a number: by its largest value,
    or by that in each of some cells, few or many.
    """
    top = algebra.world.range(value).high
    if top is not None and top <= bound:
        return True
    profile = _of_angle(value, algebra)
    if profile is None:
        return False
    means = (_largest_mean(profile, algebra, cells) for cells in CELLS)
    return any(mean is not None and mean <= bound for mean in means)


def _largest_mean(profile: Sum, algebra: Algebra, cells: int) -> Fraction | None:
    """A bound of the mean, from the largest value in each cell."""
    weights = _weights(algebra, cells)
    if weights is None:
        return None
    total = Fraction(0)
    for n, weight in enumerate(weights):
        step = PI_ABOVE / cells
        own = _on(profile, n * step, (n + 1) * step, algebra)
        if own is None:
            return None
        total += own * (weight[1] if own > 0 else weight[0])
    return total


def _of_angle(value: Sum, algebra: Algebra) -> Sum | None:
    """A function of the angle as a function of one number."""
    if not depends_on_angle(value, algebra):
        return None
    cosine = Sum.of(Atom("cos", (R,)))
    gap = Sum.of(Atom("x")) - Sum.of(Atom("y"))

    def change(atom: Atom) -> Sum | None:
        if atom.head == "dot":
            return cosine
        if atom.head == "arc" and algebra.multiple_of(atom.args[0], gap) is not None:
            return R if atom.args[0] in (gap, -gap) else None
        return R + Sum.of(Atom("y")) if atom.head == "x" else None

    wider = _with_angle(algebra, Fraction(0), PI_ABOVE)
    try:
        first = wider.mapped(value, change)
        found = wider.mapped(first, lambda a: R if a == Atom("arc", (R,)) else None)
    except TooLarge:
        return None
    return None if found.points else found


def _with_angle(algebra: Algebra, low: Fraction, high: Fraction) -> Algebra:
    """The algebra with an angle between two numbers as a parameter."""
    numbers = (*algebra.given.numbers, (RADIUS, Bounds(low, high)))
    return Algebra(algebra.space, Given(numbers, algebra.given.matrices))


def _on(profile: Sum, low: Fraction, high: Fraction, algebra: Algebra) -> Fraction | None:
    """A bound of a function of the angle between two angles."""
    return _with_angle(algebra, low, high).world.range(profile).high


def _weights(algebra: Algebra, cells: int) -> list[tuple[Fraction, Fraction]] | None:
    """Bounds of the share of the angles in each cell: on the circle, and on the sphere."""
    circle = algebra.space.kind == "circle" or algebra.space.dimension == 2
    if circle:
        # A cell is wider than pi / cells by less than one part in ten million, and the last one
        # ends beyond pi.
        even, slack = Fraction(1, cells), Fraction(1, 10**7)
        return [(even - slack, even + slack)] * cells
    if algebra.space.dimension != 3:
        return None
    step = PI_ABOVE / cells
    cosines = [_cosine(n * step) for n in range(cells)]
    ends = [*cosines, (Fraction(-1), Fraction(-1))]
    return [
        ((least - most) / 2, (above - below) / 2)
        for (least, above), (below, most) in pairwise(ends)
    ]


def _cosine(angle: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of a cosine."""
    exact = Range(angle, angle)
    found = exact.monotone(iv.cos)
    low, high = found.low, found.high
    return (Fraction(-1) if low is None else low), (Fraction(1) if high is None else high)


# ---------------------------------------------------------------------------------- spheres


def on_sphere(value: Sum, algebra: Algebra) -> bool:
    """Whether a polynomial in x'y has no negative Gegenbauer coefficient."""
    if algebra.space.kind != "sphere":
        return False
    found = polynomial_in(value, Atom("dot", ("x", "y")))
    if found is None:
        return False
    if algebra.space.dimension is None:
        return all(c >= 0 for c in found)
    return all(c >= 0 for c in gegenbauer(found, algebra.space.dimension))


def gegenbauer(p: Polynomial, dimension: int) -> Polynomial:
    r"""The coefficients of a polynomial in $t = x^\top y$ by the Gegenbauer polynomials $P_n$
    with $P_n(1) = 1$ of the unit sphere with so many coordinates (Schoenberg).
    """
    one, line = [Fraction(1)], [Fraction(0), Fraction(1)]
    basis: list[Polynomial] = [one, line]
    for n in range(1, len(p) - 1):
        # (n + d - 2) P_{n+1} = (2 n + d - 2) t P_n - n P_{n-1}
        front = [(2 * n + dimension - 2) * c for c in product(line, basis[n])]
        back = [-n * c for c in basis[n - 1]]
        basis.append([c / (n + dimension - 2) for c in plus(front, back)])
    found, rest = [Fraction(0)] * len(p), list(p)
    for n in reversed(range(len(p))):
        found[n] = rest[n] / basis[n][-1]
        rest = [c - found[n] * (basis[n][k] if k <= n else 0) for k, c in enumerate(rest)]
    return found


def is_askey(value: Sum, algebra: Algebra) -> bool:
    r"""Whether a sum is $\max(0, 1 - \theta / s)^l$ of the angle: on the circle $l \ge 1$,
    where convex functions of the angle have cosine coefficients >= 0 (Polya); on spheres of up
    to four coordinates $l \ge 2$ and $s \le \pi$ (Gneiting).
    """
    if len(value.terms) != 1 or len(value.terms[0][0]) != 1 or value.terms[0][1] != 1:
        return False
    ((atom, exponent),) = value.terms[0][0]
    if atom.head != "pos" or not isinstance(exponent, Fraction):
        return False
    slope = _slope(atom.args[0], algebra)
    if slope is None:
        return False
    kind, dimension = algebra.space.kind, algebra.space.dimension
    if kind == "circle" or dimension == 2:
        return exponent >= 1
    # 3.1415926 is just below pi.
    narrow = 1 / slope <= Fraction(31415926, 10**7)
    return dimension is not None and dimension <= 4 and exponent >= 2 and narrow


def _slope(inner: Sum, algebra: Algebra) -> Fraction | None:
    """The c > 0 with inner = a (1 - c angle), a > 0."""
    if algebra.space.kind == "sphere":
        angle = algebra.function("acos", [Sum.of(Atom("dot", ("x", "y")))])
    elif algebra.space.kind == "circle":
        gap = Sum.of(Atom("x")) - Sum.of(Atom("y"))
        angle = algebra.function("acos", [algebra.function("cos", [gap])])
    else:
        return None
    lead, own = angle.terms[-1]
    for term, factor in inner.terms:
        if term == lead and own:
            level = (inner - angle.times(factor / own)).number
            slope = -factor / own
            if level is not None and level > 0 and slope > 0:
                return slope / level
    return None


def is_log_of_cosine(value: Sum, algebra: Algebra) -> bool:
    r"""Whether a sum is $-\log(a - b \cos u)$ with $4 a - b^2 \le 4$ and $|b| < a \le 2$.

    With $C = (a + \sqrt{a^2 - b^2}) / 2$ and $q = b / 2 C$ it is $-\log C$, which is >= 0, plus
    $2 \sum_n q^n \cos(n u) / n$.
    """
    logs = [(term[0][0], c) for term, c in value.terms if len(term) == 1 and term[0][1] == 1]
    if len(logs) != len(value.terms) or any(atom.head != "log" for atom, _ in logs):
        return False
    scale, inner = Fraction(1), None
    for atom, factor in logs:
        level = atom.args[0].number
        if level is not None and factor.denominator == 1 and abs(factor) < LARGEST_POWER:
            scale *= level ** -int(factor)
        elif inner is None and factor == -1:
            inner = atom.args[0]
        else:
            return False
    return inner is not None and _is_small_wave(inner.times(scale), algebra)


def _is_small_wave(inner: Sum, algebra: Algebra) -> bool:
    terms = {len(term): (term, factor) for term, factor in inner.terms}
    if len(inner.terms) != 2 or set(terms) != {0, 1}:
        return False
    a, ((wave, exponent),), b = terms[0][1], terms[1][0], -terms[1][1]
    if wave.head != "cos" or exponent != 1 or b < 0:
        return False
    apart = algebra.difference_parts(wave.args[0]) is not None
    return apart and b < a <= 2 and 4 * a - b * b <= 4
