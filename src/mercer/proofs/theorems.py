r"""The theorems about formulas: what each needs, and how a step by it is verified.

A step is verified from its text alone: the claim and the premises are read again, brought to
normal form and compared. Nothing is believed because the search said so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from mercer.errors import MercerError
from mercer.kernels.rules import Condition, Rule, Step
from mercer.kernels.terms import Term
from mercer.proofs import (
    angles,
    counts,
    mixtures,
    polynomials,
    radial,
    series,
    symmetry,
    transforms,
)
from mercer.proofs.normal import ONE, Algebra
from mercer.proofs.ranges import Range, power
from mercer.proofs.reading import Formula, read
from mercer.proofs.separation import Part, is_semidefinite, negated, parts_of
from mercer.proofs.spaces import larger, space
from mercer.proofs.sums import Atom, Exponent, Sum, TooLarge, lean, product_key

PD, CND = "pd", "cnd"


def claim(text: str, formula: Formula) -> Term:
    """The term that says: this text, on the domain of a formula."""
    return Term.of("formula", text=text, domain=str(formula.space), given=str(formula.given))


@lru_cache(maxsize=4096)
def formula_of(term: Term) -> Formula:
    """The formula that a claim speaks of."""
    return read(term["text"], term["domain"], term["given"])


@lru_cache(maxsize=64)
def _algebra(domain: str, given: str) -> Algebra:
    return Algebra.of(read("0*1", domain, given))


@dataclass(frozen=True)
class Case:
    """A step in normal form: what is claimed, from what."""

    algebra: Algebra
    value: Sum
    premises: tuple[Sum, ...]

    @property
    def first(self) -> Sum:
        """The first premise."""
        return self.premises[0]


Verify = Callable[[Case], list[Condition]]


def _verified(verify: Verify, count: int | None) -> Callable[[Step], list[Condition]]:
    """A check of sums as one of steps."""

    def check(step: Step) -> list[Condition]:
        flaw = _form(step, count)
        if flaw:
            return [Condition(flaw, holds=False)]
        try:
            algebra = _algebra(step.claim["domain"], step.claim["given"])
            value, *premises = (
                algebra.normal(formula_of(term).tree)
                for term in (step.claim, *(premise.claim for premise in step.premises))
            )
            return verify(Case(algebra, value, tuple(premises)))
        except (MercerError, TooLarge) as error:
            return [Condition(f"the step can be read ({error})", holds=False)]

    return check


def _form(step: Step, count: int | None) -> str:
    """What is wrong with the claims of a step, before they are read."""
    if count is not None and len(step.premises) != count:
        return f"there are {len(step.premises)} premises, not {count}"
    where = step.claim["domain"], step.claim["given"]
    for premise in step.premises:
        if premise.claim.head != "formula":
            return f"a premise is about {premise.claim.head}, not a formula"
        if (premise.claim["domain"], premise.claim["given"]) != where:
            return f"{premise.claim['text']} is about another domain"
    return ""


def _same(words: str, left: Sum, right: Sum) -> Condition:
    return Condition(words, left == right)


def _holds(words: str, *, holds: bool) -> list[Condition]:
    return [Condition(words, holds)]


# ------------------------------------------------------------------- sums of cores and features


def wanted(part: Part, algebra: Algebra, property_: str) -> str | None:
    """What has to be proved of the core of a part: "pd", "cnd", "minus" (its negative is
    what is claimed), "" for nothing; None if the part cannot be what is claimed.
    """
    if property_ == PD:
        if is_semidefinite(part, algebra):
            return PD if part.core else ""
        return "minus" if is_semidefinite(negated(part), algebra) and _is_log(part) else None
    if not part.core:
        return "" if is_semidefinite(negated(part), algebra, without_constant=True) else None
    if is_semidefinite(negated(part), algebra):
        return "minus" if _is_log(part) else PD
    positive = part.is_plain and algebra.world.range(part.entry(0, 0)).nonnegative
    return CND if positive else None


def _is_log(part: Part) -> bool:
    """Whether a core is a logarithm, which is known by its negative."""
    return len(part.core) == 1 and part.core[0][0].head == "log" and part.core[0][1] == 1


def requirements(value: Sum, algebra: Algebra, property_: str) -> list[tuple[Sum, str]] | None:
    """What the cores of a sum have to be, so that the sum is what is claimed."""
    found = []
    for part in parts_of(value, algebra):
        need = wanted(part, algebra, property_)
        if need is None:
            return None
        if need == "minus":
            found.append((-part.core_sum, property_))
        elif need:
            found.append((part.core_sum, need))
    return found


def _separated(step: Step, case: Case, property_: str) -> list[Condition]:
    """Premises of several cores first: each is taken off, times the matrix of its first core."""
    algebra, rest = case.algebra, case.value
    given = set()
    for value, premise in zip(case.premises, step.premises, strict=True):
        own = parts_of(value, algebra)
        if len(own) > 1 or not own[0].is_plain:
            if premise.property != property_:
                return _holds("a premise proves something else", holds=False)
            rest = without(rest, value, algebra)
        given.add((value.key, premise.property))
    needs = requirements(rest, algebra, property_)
    if needs is None:
        return _holds("the factors of each core form a semidefinite matrix", holds=False)
    asked = {(value.key, need) for value, need in needs}
    words = "the factors of each core form a semidefinite matrix"
    if not needs:
        words = "the factors form a semidefinite matrix"
    return [Condition(words, holds=True), *_missing(asked, given)]


def without(value: Sum, premise: Sum, algebra: Algebra) -> Sum:
    """What is left of a sum less a premise, times what its last core is multiplied by."""
    return value - scaled_premise(value, premise, algebra)


def scaled_premise(value: Sum, premise: Sum, algebra: Algebra) -> Sum:
    """A premise of several plain cores, times the p.s.d. matrix that its last core has in a
    sum; else the premise itself.
    """
    own = parts_of(premise, algebra)
    if not all(part.is_plain and part.core for part in own):
        return premise
    found = {product_key(part.core): part for part in parts_of(value, algebra)}
    last = own[-1]
    whole = found.get(product_key(last.core))
    unit = last.entry(0, 0).number
    if whole is None or unit is None or unit == 0:
        return premise
    matrix = Part(
        (), whole.features, {at: entry.times(1 / unit) for at, entry in whole.matrix.items()}
    )
    if not is_semidefinite(matrix, algebra):
        return premise
    return algebra.times(premise, together(matrix, algebra))


def together(part: Part, algebra: Algebra) -> Sum:
    """A part as a sum again, without its core."""
    total = Sum()
    for (i, j), entry in part.matrix.items():
        left = Sum(((part.features[i], Fraction(1)),))
        right = algebra.renamed(Sum(((part.features[j], Fraction(1)),)), {"x": "y"})
        total = total + algebra.times(algebra.times(left, right), entry)
    return total


def _missing(asked: set[tuple[str, str]], given: set[tuple[str, str]]) -> list[Condition]:
    return [] if asked <= given else _holds("every core is a premise", holds=False)


def _separation(property_: str) -> Callable[[Step], list[Condition]]:
    def check(step: Step) -> list[Condition]:
        return _verified(lambda case: _separated(step, case, property_), None)(step)

    return check


# ------------------------------------------------------------------------ one function of one


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


def range_of(algebra: Algebra, exponent: Exponent) -> object:
    """Between which numbers an exponent lies."""
    value = exponent if isinstance(exponent, Sum) else Sum.constant(exponent)
    return algebra.world.range(value)


def _reciprocal(case: Case) -> list[Condition]:
    def negative(exponent: Exponent) -> bool:
        return range_of(case.algebra, exponent).negative  # type: ignore[attr-defined,no-any-return]

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


def _bernstein_power(case: Case) -> list[Condition]:
    def between(exponent: Exponent) -> bool:
        found = range_of(case.algebra, exponent)
        return found.positive and found.high is not None and found.high <= 1  # type: ignore[attr-defined,no-any-return]

    exponent = _power_of(case, check=between)
    shown = "a" if exponent is None else str(exponent)
    diagonal = is_nonnegative_diagonal(case.algebra, case.first)
    return [
        Condition(
            f"it is the premise to the power a = {shown}, 0 < a <= 1", exponent is not None
        ),
        Condition("the premise is >= 0 on the diagonal", diagonal),
    ]


def _logarithm(case: Case) -> list[Condition]:
    return [
        _same("it is the logarithm of the premise", case.algebra.log(case.first), case.value),
        Condition("the premise is > 0 on the domain", is_positive(case.algebra, case.first)),
    ]


def _schoenberg(case: Case) -> list[Condition]:
    found = case.algebra.exp(-case.first)
    return [_same("it is exp(-psi) for the premise psi", found, case.value)]


def _exponential(case: Case) -> list[Condition]:
    return [_same("it is exp(k) for the premise k", case.algebra.exp(case.first), case.value)]


def _whole_power(case: Case) -> list[Condition]:
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


def _product(case: Case) -> list[Condition]:
    total = ONE
    for premise in case.premises:
        total = case.algebra.times(total, premise)
    return [_same("it is the product of the premises", total, case.value)]


def _sum(case: Case) -> list[Condition]:
    total = sum(case.premises, Sum())
    return [_same("it is the sum of the premises", total, case.value)]


def _multiple_of_one_sign(step: Step) -> list[Condition]:
    def check(case: Case) -> list[Condition]:
        factor = case.algebra.multiple_of(case.value, case.first)
        if factor is None:
            return _holds("it is a multiple of the premise", holds=False)
        known = case.algebra.world.range(factor)
        kernel = step.premises[0].property == PD  # type: ignore[attr-defined]
        words = f"the factor {factor} is {'< 0' if kernel else '> 0'}"
        return _holds(words, holds=known.negative if kernel else known.positive)

    return _verified(check, 1)(step)


def _power_series(case: Case) -> list[Condition]:
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


def _multiple(case: Case) -> list[Condition]:
    factor = case.algebra.multiple_of(case.value, case.first)
    positive = factor is not None and case.algebra.world.range(factor).positive
    return _holds(f"it is {factor} times the premise, and {factor} > 0", holds=positive)


def _line(step: Step) -> list[Condition]:
    """A formula of vectors of one coordinate, as one of numbers."""
    if len(step.premises) != 1 or step.premises[0].claim.head != "formula":
        return _holds("there is one premise, a formula", holds=False)
    above, below = step.claim, step.premises[0].claim
    try:
        numbers = symmetry.on_line(formula_of(above).tree) == formula_of(below).tree
    except MercerError as error:
        return _holds(f"the step can be read ({error})", holds=False)
    places = (above["domain"], below["domain"]) == ("vectors(1)", "reals")
    return [
        Condition("dot(x, y) is x y, and every norm the absolute value", numbers),
        Condition("the domains are vectors(1) and reals", places),
        Condition("the assumptions are the same", above["given"] == below["given"]),
    ]


def _restriction(step: Step) -> list[Condition]:
    """The same text on a larger domain."""
    if len(step.premises) != 1 or step.premises[0].claim.head != "formula":
        return _holds("there is one premise, a formula", holds=False)
    above, below = step.claim, step.premises[0].claim
    try:
        wider = larger(space(above["domain"]))
        same = formula_of(above).tree == formula_of(below).tree
    except MercerError as error:
        return _holds(f"the step can be read ({error})", holds=False)
    inside = wider is not None and below["domain"] == str(wider)
    return [
        Condition(
            "the formula is that of the premise", same and above["given"] == below["given"]
        ),
        Condition(f"{above['domain']} is a part of {below['domain']}", inside),
    ]


def _anchored(case: Case) -> list[Condition]:
    zero = case.algebra.at_zero(case.value)
    return [
        _same("it is the negative of the premise", case.value, -case.first),
        Condition("it is 0 wherever y = 0", zero is not None and not zero),
    ]


# ------------------------------------------------------------------------------------ leaves


def core_of(value: Sum) -> tuple[Atom, Exponent] | None:
    """The one power of an atom that a sum is."""
    if len(value.terms) != 1 or value.terms[0][1] != 1 or len(value.terms[0][0]) != 1:
        return None
    return value.terms[0][0][0]


def is_difference(algebra: Algebra, inner: Sum) -> bool:
    """Whether a sum is g(x) - g(y) for some function g."""
    return algebra.difference_parts(inner) is not None


def leaf_property(value: Sum, algebra: Algebra) -> tuple[str, str] | None:
    """The theorem that proves one power of an atom at once, and the property it proves."""
    found = core_of(value)
    if found is None:
        return None
    atom, exponent = found
    size = range_of(algebra, exponent)
    positive = bool(size.positive)  # type: ignore[attr-defined]
    match atom.head:
        case "dot" | "form" if exponent == 1:
            good = atom.head == "dot" or algebra.is_semidefinite_form(atom)
            return ("inner product", PD) if good else None
        case "len" if exponent == 1:
            return "common elements", PD
        case "min" if positive:
            return "minimum", PD
        case "gcd" if positive and _are_whole(atom, algebra):
            return "common divisors", PD
        case "cos" if exponent == 1 and is_difference(algebra, atom.args[0]):
            return "cosine", PD
        case "log" if exponent == 1 and _is_log_of_gcd(atom, algebra):
            return "common divisors", PD
        case "abs" if positive and _at_most(size, 2) and _is_sine(atom, algebra):
            return "sine", CND
        case "arc" if exponent == 1 and is_difference(algebra, atom.args[0]):
            return "arc", CND
        case "abs" if positive and _at_most(size, 2) and is_difference(algebra, atom.args[0]):
            return "distance", CND
        case "norm" if positive and _is_distance(atom, size, algebra):
            return "distance", CND
    return None


def _are_whole(atom: Atom, algebra: Algebra) -> bool:
    """Whether a gcd is that of f(x) and f(y), whole numbers from 1."""
    if len(atom.args) != 2:
        return False
    first, second = atom.args
    if len(first.points) != 1 or algebra.swapped(first) != second:
        return False
    low = algebra.world.range(first).low
    return low is not None and low >= 1 and algebra.is_whole_valued(first)


def _at_most(size: object, bound: Fraction | int) -> bool:
    high = getattr(size, "high", None)
    return high is not None and high <= bound


def _is_distance(atom: Atom, size: object, algebra: Algebra) -> bool:
    p, a, b = atom.args
    # The factor must be a number: x - y itself, not, say, x |x| - y |y|.
    if a != -b or a.points:
        return False
    dimension = algebra.space.dimension
    plane = dimension is not None and dimension <= 2
    if plane and (p == "inf" or p >= 1) and _at_most(size, 1):
        return True  # every norm of the plane embeds into L1
    return p != "inf" and 0 < p <= 2 and _at_most(size, p)


def _is_sine(atom: Atom, algebra: Algebra) -> bool:
    """Whether |u| is that of the sine of a difference."""
    found = core_of(atom.args[0])
    plain = found is not None and found[0].head == "sin" and found[1] == 1
    return plain and found is not None and is_difference(algebra, found[0].args[0])


def _is_log_of_gcd(atom: Atom, algebra: Algebra) -> bool:
    found = core_of(atom.args[0])
    plain = found is not None and found[0].head == "gcd" and found[1] == 1
    return plain and found is not None and _are_whole(found[0], algebra)


def _leaf(name: str) -> Callable[[Case], list[Condition]]:
    def check(case: Case) -> list[Condition]:
        found = leaf_property(case.value, case.algebra)
        return _holds(_LEAVES[name], holds=found is not None and found[0] == name)

    return check


_LEAVES = {
    "inner product": "it is an inner product, with a p.s.d. matrix if there is one",
    "common elements": "it counts common elements",
    "minimum": "it is min(f(x), f(y))^a with f >= 0 and a > 0",
    "common divisors": "it is gcd(x, y)^a with a > 0, or its logarithm, on whole numbers from 1",
    "sine": "it is |sin(g(x) - g(y))|^a with 0 < a <= 2",
    "cosine": "it is cos(g(x) - g(y))",
    "arc": "it is acos(cos(g(x) - g(y)))",
    "distance": "it is |g(x) - g(y)|^a with 0 < a <= 2, or |x - y|_p^q with 0 < q <= p <= 2 "
    "(in the plane also |x - y|_inf^q, q <= 1)",
}


def _divisor_logarithm(case: Case) -> list[Condition]:
    """-log of gcd(x, y) or of a minimum: every power of these is a kernel."""
    found = core_of(-case.value)
    good = False
    if found is not None and found[0].head == "log" and found[1] == 1:
        inner = leaf_property(found[0].args[0], case.algebra)
        good = inner is not None and inner[0] in ("minimum", "common divisors")
    return _holds("it is -log of gcd(x, y) or of a minimum", holds=good)


def _stationary(case: Case) -> list[Condition]:
    good = fourier(case.value, case.algebra)
    return _holds("its Fourier transform, worked out exactly, is nowhere negative", holds=good)


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


def _askey(case: Case) -> list[Condition]:
    if angles.is_askey(case.value, case.algebra):
        return _holds("on this circle or sphere l and s are as they have to be", holds=True)
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
    low = getattr(range_of(algebra, exponent), "low", None)
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
    return bool(size.positive and _at_most(size, 1)) and is_difference(  # type: ignore[attr-defined]
        algebra, found[0].args[0]
    )


def _sphere(case: Case) -> list[Condition]:
    good = angles.on_sphere(case.value, case.algebra)
    return _holds("its coefficients by Gegenbauer polynomials are >= 0", holds=good)


def _identity(case: Case) -> list[Condition]:
    return _holds(
        "multiplied by the denominators it is the premise",
        holds=case.algebra.same(case.value, case.first),
    )


def _monotone(case: Case) -> list[Condition]:
    good = is_monotone(case.value, case.algebra)
    return _holds(
        "it increases with min(f(x), f(y)), or falls with their maximum, and is >= 0",
        holds=good,
    )


def is_monotone(value: Sum, algebra: Algebra) -> bool:
    """Whether a function depends on a minimum alone and increases with it, or on a maximum
    alone and falls; and is nowhere negative.
    """
    least = {atom.key: atom for atom in value.atoms() if atom.head == "min"}
    if len(least) != 1:
        return False
    (atom,) = least.values()
    greatest, turned = algebra.maximum(atom), algebra.by_maximum(value, atom)
    if not (algebra.world.range(value).nonnegative or algebra.world.range(turned).nonnegative):
        return False
    if algebra.world.monotone(value, atom, rising=True):
        return True
    return algebra.world.monotone(turned, greatest, rising=False) or any(
        _polynomial_trend(form, part, algebra, sign)
        for form, part, sign in ((value, atom, 1), (turned, greatest, -1))
    )


def _polynomial_trend(value: Sum, atom: Atom, algebra: Algebra, sign: int) -> bool:
    """Whether a polynomial in one atom rises (or falls) between the ends of its range."""
    found = polynomials.polynomial_in(value, atom)
    low = algebra.world.range_of_atom(atom).low
    if found is None or low is None:
        return False
    slope = [sign * c for c in polynomials.derivative(found)]
    return polynomials.stays_nonnegative(slope, low, algebra.world.range_of_atom(atom).high)


def _green(case: Case) -> list[Condition]:
    return _holds(
        "for x <= y it is f(x) g(y) for polynomials, and f' g - f g' >= 0 on the domain",
        holds=is_green(case.value, case.algebra),
    )


def is_green(value: Sum, algebra: Algebra) -> bool:
    """Whether a polynomial in x, y and min(x, y) is a Green's function."""
    end = algebra.space.high if algebra.space.kind == "interval" else None
    start = algebra.world.point().low
    below = algebra.on_one_side(value)
    if below is None or start is None or algebra.space.kind == "naturals":
        return False
    found = polynomials.two_factors(below)
    if found is None:
        return False
    f, g = found
    both = polynomials.product(f, g)
    wronskian = polynomials.plus(
        polynomials.product(polynomials.derivative(f), g),
        [-c for c in polynomials.product(f, polynomials.derivative(g))],
    )
    return all(polynomials.stays_nonnegative(p, start, end) for p in (both, wronskian))


def _invariant(case: Case) -> list[Condition]:
    constant, rest = constant_and_rest(case.value)
    return [
        _same("the premise is its negative, up to a constant", -rest, case.first),
        *_above_mean(constant, case.first, case.algebra),
    ]


def _above_mean(constant: Fraction, psi: Sum, algebra: Algebra) -> list[Condition]:
    """Whether a constant is at least the mean of an invariant function."""
    top = mean_bound(psi, algebra)
    return [
        Condition(
            "the premise depends on the angle, or the difference, alone", top is not None
        ),
        Condition(
            "the constant is at least the mean of the premise", top is None or constant >= top
        ),
    ]


def mean_bound(psi: Sum, algebra: Algebra) -> Fraction | None:
    """A bound of the mean of a function of the angle, or of x - y; None where none is known."""
    if angles.depends_on_angle(psi, algebra):
        return angles.largest_mean(psi, algebra)
    if radial.profile(psi, algebra) is not None:
        return algebra.world.range(psi).high
    return None


def _mean_taken(case: Case) -> list[Condition]:
    constant, rest = constant_and_rest(case.value)
    kept, _ = constant_and_rest(case.first)
    if not angles.depends_on_angle(rest, case.algebra):
        return _holds("it depends on the angle alone", holds=False)
    taken = kept - constant
    top = angles.largest_mean(-case.first, case.algebra)
    good = top is not None and -top >= taken
    return [
        _same(
            "it is the premise less a constant", case.first - Sum.constant(taken), case.value
        ),
        Condition(f"the constant {taken} is at most the mean of the premise", good),
    ]


def _gap(case: Case) -> list[Condition]:
    gap = mixtures.is_gap(case.value, case.first, case.algebra)
    return [
        Condition(
            "it is |h(psi) - h(psi + d)| for the premise psi, d > 0, up to a factor", gap
        ),
        Condition("the premise is > 0 on the domain", is_positive(case.algebra, case.first)),
    ]


def _whole_leaf(words: str, holds: Callable[[Sum, Algebra], bool]) -> Verify:
    return lambda case: _holds(words, holds=holds(case.value, case.algebra))


def _reflected(case: Case) -> list[Condition]:
    good = any(symmetry.is_even_part(case.value, case.first, case.algebra, s) for s in (1, -1))
    return _holds(symmetry.WORDS, holds=good)


def _odd_part(case: Case) -> list[Condition]:
    good = symmetry.is_even_part(-case.value, case.first, case.algebra, -1)
    return _holds(symmetry.WORDS, holds=good)


def constant_and_rest(value: Sum) -> tuple[Fraction, Sum]:
    """The rational constant of a sum, and the rest."""
    constant = next((factor for product, factor in value.terms if not product), Fraction(0))
    return constant, value - Sum.constant(constant)


def _bounded_difference(case: Case) -> list[Condition]:
    return _holds(
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


def _sech(case: Case) -> list[Condition]:
    return _holds(
        "it is (cosh(u) + c)^-a for a difference u, or of two squares",
        holds=mixtures.is_sech(case.value, case.algebra),
    )


# ---------------------------------------------------------------------------------- the table


def _no_facts(step: Step) -> frozenset[str]:
    """The facts that a formula shows by itself, and those of its step."""
    try:
        algebra = _algebra(step.claim["domain"], step.claim["given"])
        value = algebra.normal(formula_of(step.claim).tree)
        diagonal = algebra.diagonal(value)
    except (MercerError, TooLarge):
        return frozenset()
    found = set()
    if diagonal == ONE:
        found |= {"unit", "positive diagonal", "bounded"}
    elif algebra.world.range(diagonal).positive:
        found.add("positive diagonal")
    if algebra.world.range(value).nonnegative:
        found.add("nonnegative")
    return frozenset(found)


def _rule(
    name: str,
    theorem: str,
    verify: Verify,
    *,
    premises: int | None = 0,
    proves: str = PD,
    facts: str = "",
) -> Rule:
    def known(step: Step) -> frozenset[str]:
        return _no_facts(step) | frozenset(filter(None, [facts]))

    check = _verified(verify, premises)
    return Rule(name, theorem, {"formula": ""}, check, known, proves)


DIVISIBLE = "infinitely divisible"

THEOREMS: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "features and kernels",
                r"With a p.s.d. matrix $M$, $\sum_{ij} M_{ij} \phi_i(x) \phi_j(y) k(x, y)$ is a "
                r"sum of kernels $f(x) k(x, y) f(y)$, and sums of kernels are kernels.",
                {"formula": ""},
                _separation(PD),
                _no_facts,
            ),
            Rule(
                "terms without interaction",
                r"For weights with $\sum_i c_i = 0$ the form of $f(x) + f(y) - k(x, y)$ is that "
                r"of $-k$; sums and positive multiples of c.n.d. functions are c.n.d.",
                {"formula": ""},
                _separation(CND),
                _no_facts,
                CND,
            ),
            _rule(
                "sum",
                "Features side by side: a sum of kernels is a kernel.",
                _sum,
                premises=None,
            ),
            _rule(
                "sum of c.n.d. functions",
                "Sums of c.n.d. functions are c.n.d.",
                _sum,
                premises=None,
                proves=CND,
            ),
            Rule(
                "multiple of one sign",
                "A positive multiple of a c.n.d. function is c.n.d., and so is a negative one of a "
                "kernel.",
                {"formula": ""},
                _multiple_of_one_sign,
                _no_facts,
                CND,
            ),
            Rule(
                "restriction",
                "A kernel on a set is a kernel on every part of it.",
                {"formula": ""},
                _restriction,
                _no_facts,
            ),
            _rule(
                "positive multiple",
                r"$c k$ with $c > 0$ has the feature $\sqrt{c} \Phi(x)$.",
                _multiple,
                premises=1,
            ),
            _rule(
                "inner product",
                r"$\sum_{ij} c_i c_j x_i^\top A x_j = |L^\top \sum_i c_i x_i|^2 \ge 0$ for "
                r"$A = L L^\top$.",
                _leaf("inner product"),
            ),
            _rule(
                "common elements",
                "The number of common elements is the inner product of the indicators of "
                "two sets.",
                _leaf("common elements"),
            ),
            _rule(
                "minimum",
                r"$\min(a, b)$ is the inner product of the indicators of $[0, a]$ and $[0, b]$; so "
                r"are its powers, by the increasing map $a \to a^r$.",
                _leaf("minimum"),
                facts=DIVISIBLE,
            ),
            _rule(
                "common divisors",
                r"$\gcd(x, y)^r = \sum_{d | x, d | y} J_r(d)$ with Jordan's $J_r(d) = d^r "
                r"\prod_{p | d} (1 - p^{-r}) > 0$: features $\sqrt{J_r(d)}$ for each divisor; its "
                r"logarithm is such a sum with von Mangoldt's $\Lambda(d) \ge 0$.",
                _leaf("common divisors"),
            ),
            _rule(
                "increasing function of a minimum",
                r"For an increasing $h \ge 0$, $h(\min(a, b)) = \min(h(a), h(b))$, the inner "
                r"product of the indicators of $[0, h(a)]$ and $[0, h(b)]$; so is a decreasing one "
                "of a maximum.",
                _monotone,
            ),
            _rule(
                "green",
                r"For $x \le y$ it is $f(x) g(y)$ with $f g \ge 0$ and $f / g$ increasing, so it is "
                r"$g(x) g(y) \min(f(x) / g(x), f(y) / g(y))$.",
                _green,
            ),
            _rule(
                "invariant",
                r"Let $\psi$ depend on the angle of two points alone, or on $x - y$. Its mean $m$ "
                r"over the second point is a constant, so for a c.n.d. $\psi$ and $c \ge m$, "
                r"$c - \psi$ is a kernel: put the weight $-\sum_i c_i$ evenly on all points.",
                _invariant,
                premises=1,
            ),
            _rule(
                "mean taken off",
                "A kernel of the angle alone has the constant functions as eigenfunctions, with its "
                "mean as the eigenvalue: less a constant up to its mean it is a kernel.",
                _mean_taken,
                premises=1,
            ),
            _rule(
                "difference of mixtures",
                r"$h(\psi) - h(\psi + d) = \int_0^d -h'(\psi + t) dt$, a mixture of the kernels "
                r"$-h'(\psi + t)$ for a c.n.d. $\psi > 0$: h is a power below 1, or a logarithm.",
                _gap,
                premises=1,
            ),
            _rule(
                "counting",
                r"$n (n - 1) \cdots (n - k + 1)$ counts the ordered choices of k of n common "
                r"elements; $\gcd(x, y)^j$ is the sum of Jordan's $J_j(d)$ over the common divisors.",
                _whole_leaf(
                    "as a sum over such choices, or over common divisors, no term is negative",
                    counts.is_count,
                ),
            ),
            _rule(
                "reflection",
                r"$k(x, y) \pm k(x, -y)$ is twice the even or odd part of a kernel that is the "
                "same for -x and -y: put the weights also on the points -x.",
                _reflected,
                premises=1,
            ),
            _rule(
                "odd part",
                r"$\psi(x, -y) - \psi(x, y)$ for a c.n.d. $\psi$ that is the same for -x and -y: "
                "the weights c at x and -c at -x have the sum 0.",
                _odd_part,
                premises=1,
            ),
            _rule(
                "sum of two points",
                r"With $\sum_i c_i = 0$ and $u = f(x) + f(y)$, $u^a$ for $1 < a < 2$ and "
                r"$u \log u$ are mixtures of $e^{-t u}$, up to terms without interaction.",
                _whole_leaf(
                    "it is -u^a with 1 < a < 2, or -u log u, for u = f(x) + f(y) >= 0",
                    mixtures.is_convex_of_sum,
                ),
                proves=CND,
            ),
            Rule(
                "line",
                "Vectors of one coordinate are numbers.",
                {"formula": ""},
                _line,
                _no_facts,
            ),
            _rule(
                "poisson",
                r"$-\log(1 - 2 q \cos u + q^2) = 2 \sum_n q^n \cos(n u) / n$ for $|q| < 1$.",
                _whole_leaf(
                    "it is -log(a - b cos(g(x) - g(y))), a constant >= 0 above that",
                    angles.is_log_of_cosine,
                ),
            ),
            _rule(
                "bounded difference",
                r"On an interval of length $L$ it holds that $\frac{L}{2} - |x - y| = \frac{1}{2} "
                r"\int sgn(x - t)\, sgn(y - t) dt$, and $L^a - |x - y|^a$ for $a \le 1$ is a "
                "convex decreasing function of the distance that stays above 0 (Polya).",
                _bounded_difference,
            ),
            _rule(
                "identity",
                "Multiplied by the denominators both are equal, so they are where these are not 0.",
                _identity,
                premises=1,
            ),
            _rule(
                "identity of c.n.d. functions",
                "Multiplied by the denominators both are equal, so they are where these are not 0.",
                _identity,
                premises=1,
                proves=CND,
            ),
            _rule(
                "cosine",
                r"$\cos(a - b) = \cos a \cos b + \sin a \sin b$: two features.",
                _leaf("cosine"),
            ),
            _rule(
                "sine",
                r"$|\sin u|^a$ is the power $a / 2$ of $\sin^2 u = (1 - \cos 2 u) / 2$, a constant "
                r"less a kernel, for $0 < a \le 2$.",
                _leaf("sine"),
                proves=CND,
            ),
            _rule(
                "arc",
                r"The distance on the circle is $\frac{\pi}{2} - \frac{4}{\pi} \sum_{n odd} "
                r"\cos(n (a - b)) / n^2$: a constant less a kernel.",
                _leaf("arc"),
                proves=CND,
            ),
            _rule(
                "distance",
                r"$|a - b|^q$ is c.n.d. for $0 < q \le 2$, and so is $|x - y|_p^q$ for "
                r"$0 < q \le p \le 2$ (Schoenberg).",
                _leaf("distance"),
                proves=CND,
            ),
            _rule(
                "logarithm of a divisible kernel",
                r"When every power $k^r$, $r > 0$, is a kernel, $-\log k$ is c.n.d. (Schoenberg).",
                _divisor_logarithm,
                proves=CND,
            ),
            _rule(
                "schoenberg",
                r"$\exp(-\psi)$ is a kernel for every c.n.d. $\psi$ (Schoenberg).",
                _schoenberg,
                premises=1,
                facts=DIVISIBLE,
            ),
            _rule(
                "exponential",
                r"$\exp(k) = \sum_n k^n / n!$, a limit of sums of products of kernels.",
                _exponential,
                premises=1,
                facts=DIVISIBLE,
            ),
            _rule(
                "laplace transform",
                r"$\psi^{-a} = \frac{1}{\Gamma(a)} \int_0^\infty t^{a - 1} e^{-t \psi} dt$ is a "
                r"mixture of kernels, for $a > 0$ and a c.n.d. $\psi > 0$.",
                _reciprocal,
                premises=1,
                facts=DIVISIBLE,
            ),
            _rule(
                "bernstein function",
                r"$\psi^a = c_a \int_0^\infty (1 - e^{-t \psi}) t^{-a - 1} dt$ is c.n.d. for "
                r"$0 < a \le 1$ and a c.n.d. $\psi$ that is $\ge 0$ on the diagonal.",
                _bernstein_power,
                premises=1,
                proves=CND,
            ),
            _rule(
                "logarithm",
                r"$\log \psi$ is c.n.d. for a c.n.d. $\psi > 0$, because $e^{-t \log \psi} = "
                r"\psi^{-t}$ is a kernel for every $t > 0$.",
                _logarithm,
                premises=1,
                proves=CND,
            ),
            _rule(
                "whole power",
                "A whole power is a product of kernels (Schur).",
                _whole_power,
                premises=1,
            ),
            _rule(
                "schur product",
                "The entrywise product of p.s.d. matrices is p.s.d. (Schur).",
                _product,
                premises=None,
            ),
            _rule(
                "power series",
                r"$\sum_n c_n k^n$ with $c_n \ge 0$ is a kernel where it converges: a limit of "
                "sums of products of kernels.",
                _power_series,
                premises=1,
            ),
            _rule(
                "anchored",
                r"When $-k$ is c.n.d. and $k(x, 0) = 0$ for all $x$, $k$ is a kernel: add the "
                r"point 0 with the weight $-\sum_i c_i$.",
                _anchored,
                premises=1,
            ),
            _rule(
                "bochner",
                r"A continuous function of $x - y$ is a kernel exactly when its Fourier transform is "
                "a positive measure (Bochner), as that of a mixture of Gaussians is.",
                _stationary,
            ),
            _rule(
                "sech",
                r"$1 / (\cosh t + \cos a)$ has the Fourier transform $\sinh(a w) / \sin a \sinh(\pi w)$, "
                r"which is positive, and $\cosh(t)^{-a}$ has $|\Gamma((a + i w) / 2)|^2$, up to scale.",
                _sech,
            ),
            _rule(
                "askey",
                r"$\max(0, 1 - r)^l$ is p.d. on $\mathbb{R}^d$ exactly for $l \ge (d + 1) / 2$ "
                "(Askey); on the line every convex decreasing function of the distance is "
                "(Polya).",
                _askey,
            ),
            _rule(
                "sphere",
                r"A function of $x^\top y$ is p.d. on a sphere exactly when its Gegenbauer "
                "coefficients are not negative (Schoenberg).",
                _sphere,
            ),
        )
    }
)
"""Every theorem about formulas, by name."""
