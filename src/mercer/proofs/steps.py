"""Proofs about formulas: the same tree that every kernel carries, with its own theorems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

from mercer.errors import MercerError
from mercer.kernels.parameters import psd_matrix
from mercer.kernels.proof import Proof
from mercer.kernels.rules import Condition, Rule, Step
from mercer.kernels.terms import Term, escape, number, text
from mercer.proofs.admissible import allowed
from mercer.proofs.assumptions import Given
from mercer.proofs.cases import PD, formula_of, lacks
from mercer.proofs.reading import Formula
from mercer.proofs.theorems import THEOREMS
from mercer.proofs.trees import parameter

SPECIAL = "special case"
"""The step from all values of the parameters to one for each."""


def _special(step: Step) -> list[Condition]:
    """Whether each parameter of the premise has a value for which the premise holds."""
    claim = step.claim
    if len(step.premises) != 1:
        return [Condition(f"there is one premise, not {len(step.premises)}", holds=False)]
    if lacks(step, PD):
        return [Condition(lacks(step, PD), holds=False)]
    general = _general(claim)
    if step.premises[0].claim != general:
        return [Condition("the premise is the same formula for all values", holds=False)]
    try:
        formula = formula_of(general)
    except MercerError as error:
        return [Condition(f"the step can be read ({error})", holds=False)]
    pairs = _pairs(claim["values"])
    names = used(formula)
    if pairs is None or [name for name, _ in pairs] != names:
        words = f"there is one value for each of {', '.join(names) or 'no parameter'}"
        return [Condition(words, holds=False)]
    return [holds(name, value, formula.given) for name, value in pairs]


def _general(claim: Term) -> Term:
    """The same formula for all values of its parameters."""
    return Term.of("formula", **{**dict(claim.parameters), "values": ()})


def used(formula: Formula) -> list[str]:
    """The parameters that occur in a formula."""
    named = {part.value for part in formula.tree.walk() if part.head == "parameter"}
    return [name for name in formula.given.names if name in named]


def _pairs(values: Any) -> list[tuple[str, Any]] | None:
    """Names with their values; None if that is not what they are."""
    if not isinstance(values, tuple):
        return None
    good = all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in values
    )
    return list(values) if good else None


def holds(name: str, value: Any, given: Given) -> Condition:
    """Whether a parameter may have a value."""
    if name in given.matrices:
        try:
            psd_matrix("a formula", name, value)
        except MercerError:
            return Condition(f"{name} = {text(value)} is positive semidefinite", holds=False)
        return Condition(f"{name} = {text(value)} is positive semidefinite", holds=True)
    bounds = given.bounds(name)
    try:
        finite = type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        finite = False
    exact = Fraction(value) if finite else None
    return Condition(
        f"{name} = {text(value)} where {bounds.says(name)}", allowed(exact, bounds)
    )


_STEP = Rule(
    SPECIAL,
    "What holds for all values of the parameters holds for each of them.",
    {"formula": ""},
    _special,
    lambda step: step.premises[0].facts,
)


@dataclass(frozen=True)
class FormulaProof(Proof, about="formula"):
    """A step about a formula, and below it the proofs of its premises.

    Its claim is a text with a domain and assumptions; a check reads them again.
    """

    table: ClassVar[Mapping[str, Rule]] = MappingProxyType({**THEOREMS, SPECIAL: _STEP})

    def expected(self) -> tuple[tuple[Any, ...], ...]:
        """Whatever premises there are: the theorem compares them with the claim."""
        return (tuple((premise.claim, premise.property) for premise in self.premises),)

    def _flaw(self) -> str:
        """What is wrong with the form: of claims that are no texts, or not general."""
        for step in (self, *self.premises):
            claim = step.claim
            if claim.flaw or claim.head != "formula":
                return claim.flaw or f"{self.rule} is about formulas, not {claim.head}"
            if not all(isinstance(claim[name], str) for name in ("text", "domain", "given")):
                return "a formula, its domain and its assumptions are texts"
            special = step is self and self.rule == SPECIAL
            if claim["values"] != () and not special:
                return f"{self.rule} is about all values of the parameters"
        return super()._flaw()

    def shown(self) -> str:
        """The claim in words."""
        said = dict(self.claim.parameters)
        words = said.get("text")
        pairs = _pairs(said.get("values")) or []
        shown = [words if isinstance(words, str) else text(words)]
        return ", ".join(shown + [f"{name} = {text(value)}" for name, value in pairs])

    def formula(self) -> str:
        """The claim for LaTeX."""
        if self._flaw():  # data from elsewhere may not even be texts
            return rf"\text{{{escape(self.shown())}}}"
        try:
            words = formula_of(_general(self.claim)).tree.latex()
        except MercerError:
            return rf"\text{{{escape(self.shown())}}}"
        pairs = _pairs(self.claim["values"]) or []
        return words + "".join(
            rf", \quad {parameter(name).latex()} = {number(value)}" for name, value in pairs
        )
