"""Proofs about formulas: the same tree that every kernel carries, with its own theorems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mercer.errors import MercerError
from mercer.kernels.proof import Proof
from mercer.kernels.rules import Rule
from mercer.kernels.terms import escape
from mercer.proofs.theorems import THEOREMS, formula_of


@dataclass(frozen=True)
class FormulaProof(Proof):
    """A step about a formula, and below it the proofs of its premises.

    Its claim is a text with a domain and assumptions; a check reads them again.
    """

    table: ClassVar[Mapping[str, Rule]] = THEOREMS

    def expected(self) -> tuple[tuple[Any, ...], ...]:
        """Whatever premises there are: the theorem compares them with the claim."""
        return (tuple((premise.claim, premise.property) for premise in self.premises),)

    def shown(self) -> str:
        """The claim in words."""
        return str(self.claim["text"])

    def formula(self) -> str:
        """The claim for LaTeX."""
        try:
            return formula_of(self.claim).tree.latex()
        except MercerError:
            return rf"\text{{{escape(self.shown())}}}"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Proof:
        """The inverse of `to_dict`, also where formulas are parts of a kernel."""
        claim = data.get("claim") if isinstance(data, Mapping) else None
        about = claim.get("head") if isinstance(claim, Mapping) else None
        reader = super().from_dict if about == "formula" else Proof.from_dict
        return reader(data)
