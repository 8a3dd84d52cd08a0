r"""Functions of a kernel or of a c.n.d. function: powers, exponentials, logarithms, series."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mercer.kernels.rules import Condition, Step
from mercer.proofs import polynomials, series
from mercer.proofs.cases import PD, Case, equal, holds_if, verified
from mercer.proofs.normal import ONE, Algebra
from mercer.proofs.ranges import Range
from mercer.proofs.sums import Atom, Exponent, Sum, TooLarge, lean


def _exponents(value: Sum) -> list[Exponent]:
    """The exponents that a power may have been raised to."""
    found: list[Exponent] = []
    for product, _ in value.terms[:1]:
        found += [exponent for _, exponent in product]
    return found


def _power_of(case: Case, *, check: Callable[[Exponent], bool]) -> Exponent | None:
    """The exponent a with value = premise^a."""
    for exponent in dict.fromkeys(map(lean, _exponents(case.value))):
        if check(exponent) and case.algebra.power(case.first, exponent) == case.value:
            return exponent
    return None


def range_of(algebra: Algebra, exponent: Exponent) -> Range:
    """Between which numbers an exponent lies."""
    value = exponent if isinstance(exponent, Sum) else Sum.constant(exponent)
    return algebra.world.range(value)


def reciprocal(case: Case) -> list[Condition]:
    """A power below zero of a c.n.d. function that is above zero."""

    def negative(exponent: Exponent) -> bool:
        return range_of(case.algebra, exponent).negative

    exponent = _power_of(case, check=negative)
    shown = "a" if exponent is None else str(-exponent)
    return [
        Condition(
            f"it is the premise to the power -a, with a = {shown} > 0", exponent is not None
        ),
        Condition("the premise is > 0 on the domain", is_positive(case.algebra, case.first)),
    ]


def is_positive(algebra: Algebra, value: Sum) -> bool:
    r"""Whether a c.n.d. function is above zero: where its range says so, or where its diagonal
    is, because $2 \psi(x, y) \ge \psi(x, x) + \psi(y, y)$.
    """
    if algebra.world.range(value).positive:
        return True
    diagonal = algebra.diagonal(value)
    if algebra.world.range(diagonal).positive or _defined_off_zero(algebra, diagonal):
        return True
    return _is_positive_polynomial(diagonal, algebra)


def _is_positive_polynomial(value: Sum, algebra: Algebra) -> bool:
    """Whether a polynomial in one number is above zero on the domain, an open interval."""
    where = algebra.world.point()
    if algebra.space.kind not in ("positive", "interval") or where.low is None:
        return False
    found = polynomials.polynomial_in(value, Atom("x"))
    return found is not None and polynomials.stays_positive(found, where.low, where.high)


def _defined_off_zero(algebra: Algebra, diagonal: Sum) -> bool:
    """Sizes and squared norms vanish at the empty set and at zero only: those are left out."""
    if algebra.space.kind not in ("sets", "vectors"):
        return False
    heads = {"len": ("x",), "dot": ("x", "x")}
    return bool(diagonal.terms) and all(
        factor > 0
        and all(
            heads.get(atom.head) == atom.args and exponent == 1 for atom, exponent in product
        )
        for product, factor in diagonal.terms
    )


def is_nonnegative_diagonal(algebra: Algebra, value: Sum) -> bool:
    """Whether a function is nowhere negative on the diagonal."""
    return algebra.world.range(algebra.diagonal(value)).nonnegative


def bernstein_power(case: Case) -> list[Condition]:
    """A power up to 1 of a c.n.d. function."""

    def between(exponent: Exponent) -> bool:
        found = range_of(case.algebra, exponent)
        return found.positive and found.high is not None and found.high <= 1

    exponent = _power_of(case, check=between)
    shown = "a" if exponent is None else str(exponent)
    diagonal = is_nonnegative_diagonal(case.algebra, case.first)
    return [
        Condition(
            f"it is the premise to the power a = {shown}, 0 < a <= 1", exponent is not None
        ),
        Condition("the premise is >= 0 on the diagonal", diagonal),
    ]


def logarithm(case: Case) -> list[Condition]:
    """The logarithm of a c.n.d. function."""
    return [
        equal("it is the logarithm of the premise", case.algebra.log(case.first), case.value),
        Condition("the premise is > 0 on the domain", is_positive(case.algebra, case.first)),
    ]


def schoenberg(case: Case) -> list[Condition]:
    """The exponential of minus a c.n.d. function."""
    found = case.algebra.exp(-case.first)
    return [equal("it is exp(-psi) for the premise psi", found, case.value)]


def exponential(case: Case) -> list[Condition]:
    """The exponential of a kernel."""
    return [equal("it is exp(k) for the premise k", case.algebra.exp(case.first), case.value)]


def whole_power(case: Case) -> list[Condition]:
    """A whole power of a kernel."""
    world = case.algebra.world

    def whole(exponent: Exponent) -> bool:
        value = exponent if isinstance(exponent, Sum) else Sum.constant(exponent)
        return world.is_whole(value) and world.range(value).nonnegative

    exponent = _power_of(case, check=whole)
    if exponent is None:
        for n in range(2, 65):
            if _safe_power(case, n):
                exponent = Fraction(n)
                break
    shown = "n" if exponent is None else str(exponent)
    words = f"it is the premise to the power {shown}, a whole number >= 0"
    return [Condition(words, exponent is not None)]


def _safe_power(case: Case, n: int) -> bool:
    try:
        return case.algebra.power(case.first, Fraction(n)) == case.value
    except TooLarge:
        return False


def product(case: Case) -> list[Condition]:
    """A product of kernels."""
    total = ONE
    for premise in case.premises:
        total = case.algebra.times(total, premise)
    return [equal("it is the product of the premises", total, case.value)]


def total(case: Case) -> list[Condition]:
    """A sum of kernels, or of c.n.d. functions."""
    total = sum(case.premises, Sum())
    return [equal("it is the sum of the premises", total, case.value)]


def multiple_of_one_sign(step: Step) -> list[Condition]:
    """A multiple of a kernel or c.n.d. function that is c.n.d."""

    def check(case: Case) -> list[Condition]:
        factor = case.algebra.multiple_of(case.value, case.first)
        if factor is None:
            return holds_if("it is a multiple of the premise", holds=False)
        known = case.algebra.world.range(factor)
        kernel = step.premises[0].property == PD
        words = f"the factor {factor} is {'< 0' if kernel else '> 0'}"
        return holds_if(words, holds=known.negative if kernel else known.positive)

    return verified(check, 1)(step)


def power_series(case: Case) -> list[Condition]:
    """Pieces whose coefficients are known, or asin(k), tan(k), 1 / cos(k)."""
    algebra, kernel = case.algebra, case.first
    size = algebra.world.range(algebra.diagonal(kernel))
    pieces = series.pieces_of(case.value, kernel)
    if pieces is not None:
        good = series.is_nonnegative(pieces)
        words = "its power series in the premise k has no negative coefficient"
        return [Condition(words, good), *_converges(series.radius(pieces), size)]
    name = known_series(case.value, kernel, algebra)
    touching = size.high is not None and size.high <= 1
    return [
        Condition(f"it is {name or 'a known series'} of the premise k", bool(name)),
        Condition("k(x, x) <= 1, and the series converges", touching),
    ]


def _converges(radius: Fraction | None, size: Range) -> list[Condition]:
    if radius is None:
        return []
    high = size.high
    inside = high is not None and (high < radius or (high == radius and size.open_high))
    return [Condition(f"the series converges, for k(x, x) < {radius}", inside)]


def known_series(value: Sum, kernel: Sum, algebra: Algebra) -> str:
    """The function of a kernel that a sum is, of those with a series on [0, 1]."""
    cosine = algebra.power(algebra.function("cos", [kernel]), Fraction(-1))
    tangent = algebra.times(algebra.function("sin", [kernel]), cosine)
    found = {
        "asin(k)": algebra.function("asin", [kernel]),
        "tan(k)": algebra.function("tan", [kernel]),
        "sin(k) / cos(k)": tangent,
        "1 / cos(k)": cosine,
    }
    return next((name for name, known in found.items() if known == value), "")


def multiple(case: Case) -> list[Condition]:
    """A positive multiple."""
    factor = case.algebra.multiple_of(case.value, case.first)
    positive = factor is not None and case.algebra.world.range(factor).positive
    return holds_if(f"it is {factor} times the premise, and {factor} > 0", holds=positive)


def anchored(case: Case) -> list[Condition]:
    """The negative of a c.n.d. function that is zero beside one point."""
    zero = case.algebra.at_zero(case.value)
    return [
        equal("it is the negative of the premise", case.value, -case.first),
        Condition("it is 0 wherever y = 0", zero is not None and not zero),
    ]


def identity(case: Case) -> list[Condition]:
    """The same function, written in another way."""
    return holds_if(
        "multiplied by the denominators it is the premise",
        holds=case.algebra.same(case.value, case.first),
    )
