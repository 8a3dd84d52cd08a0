"""A step about formulas in normal form: what is claimed, and from what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from mercer.errors import MercerError
from mercer.kernels.rules import Condition, Step
from mercer.kernels.terms import Term
from mercer.proofs.normal import Algebra
from mercer.proofs.reading import Formula, read
from mercer.proofs.sums import Sum, TooLarge

PD, CND = "pd", "cnd"


def claim(text: str, formula: Formula) -> Term:
    """The term that says: this text, on the domain of a formula."""
    return Term.of("formula", text=text, domain=str(formula.space), given=str(formula.given))


@lru_cache(maxsize=4096)
def formula_of(term: Term) -> Formula:
    """The formula that a claim speaks of."""
    return read(term["text"], term["domain"], term["given"])


@lru_cache(maxsize=64)
def algebra_of(domain: str, given: str) -> Algebra:
    """The algebra of a domain and what is assumed."""
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
"""What a theorem asks of a case."""


def verified(
    verify: Verify, count: int | None, needs: str = ""
) -> Callable[[Step], list[Condition]]:
    """A check of sums as one of steps, whose premises prove what is needed; "" for any."""

    def check(step: Step) -> list[Condition]:
        flaw = _form(step, count) or lacks(step, needs)
        if flaw:
            return [Condition(flaw, holds=False)]
        try:
            algebra = algebra_of(step.claim["domain"], step.claim["given"])
            value, *premises = (
                algebra.normal(formula_of(term).tree)
                for term in (step.claim, *(premise.claim for premise in step.premises))
            )
            return verify(Case(algebra, value, tuple(premises)))
        except (MercerError, TooLarge) as error:
            return [Condition(f"the step can be read ({error})", holds=False)]

    return check


def lacks(step: Step, needs: str) -> str:
    """Which premise proves something else than is needed."""
    for premise in step.premises:
        if needs and premise.property != needs:
            words = {PD: "positive definite", CND: "conditionally negative definite"}
            return f"the premise {premise.claim['text']} has to be {words[needs]}"
    return ""


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


def equal(words: str, left: Sum, right: Sum) -> Condition:
    """The condition that two sums are equal."""
    return Condition(words, left == right)


def holds_if(words: str, *, holds: bool) -> list[Condition]:
    """One condition, that holds or not."""
    return [Condition(words, holds)]
