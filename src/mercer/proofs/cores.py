"""Sums of kernels times features, core by core."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mercer.kernels.rules import Condition, Step
from mercer.proofs.cases import CND, PD, Case, holds_if, verified
from mercer.proofs.normal import Algebra
from mercer.proofs.separation import Part, is_semidefinite, negated, parts_of
from mercer.proofs.sums import Sum, product_key


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
    """Premises of several cores first: each is taken off, times the matrix of its core."""
    algebra, rest = case.algebra, case.value
    given = set()
    for value, premise in zip(case.premises, step.premises, strict=True):
        own = parts_of(value, algebra)
        if len(own) > 1 or not own[0].is_plain:
            if premise.property != property_:
                return holds_if("a premise proves something else", holds=False)
            rest = without(rest, value, algebra)
        given.add((value.key, premise.property))
    needs = requirements(rest, algebra, property_)
    if needs is None:
        return holds_if("the factors of each core form a semidefinite matrix", holds=False)
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
    return [] if asked <= given else holds_if("every core is a premise", holds=False)


def separation(property_: str) -> Callable[[Step], list[Condition]]:
    """The check of a sum, core by core."""

    def check(step: Step) -> list[Condition]:
        return verified(lambda case: _separated(step, case, property_), None)(step)

    return check
