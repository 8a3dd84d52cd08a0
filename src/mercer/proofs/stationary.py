"""Functions of the difference or of the angle of two points."""

from __future__ import annotations

from fractions import Fraction

from mercer.kernels.rules import Condition
from mercer.proofs import angles, mixtures, radial, transforms
from mercer.proofs.cases import Case, equal, holds_if
from mercer.proofs.composed import range_of
from mercer.proofs.leaves import at_most, core_of, is_difference
from mercer.proofs.normal import Algebra
from mercer.proofs.ranges import Range, power
from mercer.proofs.sums import Atom, Exponent, Sum


def bochner(case: Case) -> list[Condition]:
    """A function with a Fourier transform that is nowhere negative."""
    good = fourier(case.value, case.algebra)
    return holds_if(
        "its Fourier transform, worked out exactly, is nowhere negative", holds=good
    )


def fourier(value: Sum, algebra: Algebra) -> bool:
    """Whether a function of x - y has a Fourier transform that is known and nonnegative."""
    if algebra.space.kind == "circle":
        return any(
            transforms.has_nonnegative_transform(found, 1)
            for found in radial.warped(value, algebra)
        )
    waves = radial.waves(value, algebra)
    if waves is not None:
        numbers = algebra.space.points_are == "number"
        dimension = 1 if numbers else algebra.space.dimension
        return transforms.has_nonnegative_transform(waves, dimension)
    return any(
        transforms.has_nonnegative_transform(found, 1)
        for found in radial.warped(value, algebra)
    )


def askey_step(case: Case) -> list[Condition]:
    """A power of a function that is zero beyond some distance."""
    if angles.is_askey(case.value, case.algebra):
        return holds_if("on this circle or sphere l and s are as they have to be", holds=True)
    found = core_of(case.value)
    good, words = askey(found, case.algebra) if found else (False, "")
    return [
        Condition(words or "it is max(0, 1 - r/s)^l for the distance r and s > 0", good),
    ]


def askey(found: tuple[Atom, Exponent], algebra: Algebra) -> tuple[bool, str]:
    """Whether a power of max(0, 1 - c r) is p.d. in the dimension of the domain."""
    atom, exponent = found
    if atom.head != "pos" or algebra.space.points_are == "set":
        return False, ""
    low = range_of(algebra, exponent).low
    numbers = algebra.space.points_are == "number"
    dimension = 1 if numbers else algebra.space.dimension
    if low is None or dimension is None or algebra.space.kind in ("circle", "sphere"):
        return False, ""
    rest = atom.args[0]
    constant = next((c for product, c in rest.terms if not product), Fraction(0))
    slope = rest - Sum.constant(constant)
    for distance in algebra.distances():
        factor = algebra.multiple_of(-slope, distance)
        if constant > 0 and factor is not None and algebra.world.range(factor).positive:
            words = f"the power {exponent} is >= (d + 1)/2 in dimension d = {dimension}"
            return low >= Fraction(dimension + 1, 2), words
    if numbers and low >= 1:
        return _polya_root(slope, constant, algebra), "1 - c |x - y|^a is convex, 0 < a <= 1"
    return False, ""


def _polya_root(slope: Sum, constant: Fraction, algebra: Algebra) -> bool:
    if len(slope.terms) != 1 or slope.terms[0][1] >= 0 or constant <= 0:
        return False
    found = core_of(slope.times(1 / slope.terms[0][1]))
    if found is None or found[0].head != "abs":
        return False
    size = range_of(algebra, found[1])
    small = size.positive and at_most(size, 1)
    return small and is_difference(algebra, found[0].args[0])


def sphere(case: Case) -> list[Condition]:
    """A function of the angle, by its Gegenbauer coefficients."""
    good = angles.on_sphere(case.value, case.algebra)
    return holds_if("its coefficients by Gegenbauer polynomials are >= 0", holds=good)


def invariant(case: Case) -> list[Condition]:
    """A constant less a c.n.d. function of the angle or of the difference."""
    constant, rest = constant_and_rest(case.value)
    return [
        equal("the premise is its negative, up to a constant", -rest, case.first),
        *_above_mean(constant, case.first, case.algebra),
    ]


def _above_mean(constant: Fraction, psi: Sum, algebra: Algebra) -> list[Condition]:
    """Whether a constant is at least the mean of an invariant function."""
    invariant = is_invariant(psi, algebra)
    above = invariant and is_above_mean(constant, psi, algebra)
    return [
        Condition("the premise depends on the angle, or the difference, alone", invariant),
        Condition("the constant is at least the mean of the premise", above),
    ]


def is_invariant(psi: Sum, algebra: Algebra) -> bool:
    """Whether a function depends on the angle alone, or on x - y."""
    return angles.depends_on_angle(psi, algebra) or radial.profile(psi, algebra) is not None


def is_above_mean(constant: Fraction, psi: Sum, algebra: Algebra) -> bool:
    """Whether a constant is at least the mean of an invariant function."""
    if angles.depends_on_angle(psi, algebra):
        return angles.mean_is_at_most(constant, psi, algebra)
    high = algebra.world.range(psi).high
    return high is not None and high <= constant


def mean_taken(case: Case) -> list[Condition]:
    """A kernel of the angle less a constant."""
    constant, rest = constant_and_rest(case.value)
    kept, _ = constant_and_rest(case.first)
    if not angles.depends_on_angle(rest, case.algebra):
        return holds_if("it depends on the angle alone", holds=False)
    taken = kept - constant
    good = angles.mean_is_at_most(-taken, -case.first, case.algebra)
    return [
        equal(
            "it is the premise less a constant", case.first - Sum.constant(taken), case.value
        ),
        Condition(f"the constant {taken} is at most the mean of the premise", good),
    ]


def constant_and_rest(value: Sum) -> tuple[Fraction, Sum]:
    """The rational constant of a sum, and the rest."""
    constant = next((factor for product, factor in value.terms if not product), Fraction(0))
    return constant, value - Sum.constant(constant)


def bounded_difference(case: Case) -> list[Condition]:
    """A constant less a distance, on an interval."""
    return holds_if(
        "it is c - |x - y|^a up to a factor, c >= L/2 for a = 1, or c >= L^a for 0 < a <= 1",
        holds=is_bounded_difference(case.value, case.algebra),
    )


def is_bounded_difference(value: Sum, algebra: Algebra) -> bool:
    """Whether a sum is c - d |g(x) - g(y)|^a for a g whose values span a short interval."""
    constant, rest = constant_and_rest(value)
    return any(
        _is_below(constant, rest, distance, length, algebra)
        for distance, length in algebra.lengths(value)
    )


def _is_below(
    constant: Fraction, rest: Sum, distance: Sum, length: Fraction, algebra: Algebra
) -> bool:
    """Whether a sum is c - d r^a, with c large enough for distances r up to a length."""
    factor = algebra.multiple_of(-rest, distance)
    if factor is not None and factor.number is not None and factor.number > 0:
        return constant >= factor.number * length / 2
    if len(rest.terms) != 1 or rest.terms[0][1] >= 0 or len(rest.terms[0][0]) != 1:
        return False
    (atom, exponent), own = rest.terms[0][0][0], -rest.terms[0][1]
    base = atom.args[0] if atom.head == "sum" else Sum.of(atom)
    if base != distance or not isinstance(exponent, Fraction) or not 0 < exponent <= 1:
        return False
    found = power(Range(length, length), exponent)
    return found.high is not None and constant >= own * found.high


def sech(case: Case) -> list[Condition]:
    """A power of a hyperbolic secant."""
    return holds_if(
        "it is (cosh(u) + c)^-a for a difference u, or of two squares",
        holds=mixtures.is_sech(case.value, case.algebra),
    )
