r"""A proved formula as a kernel: it evaluates in tiles, composes, and carries its proof."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self, TypeAlias

import numpy as np

from mercer.domains import (
    NATURALS,
    NONNEGATIVE,
    POSITIVE,
    REALS,
    Batch,
    DenseBatch,
    Domain,
    Numbers,
    Sets,
    SparseBatch,
    Vectors,
)
from mercer.errors import InvalidParameter, InvalidProof, NotAKernel
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import number, psd_matrix
from mercer.kernels.proof import Proof
from mercer.kernels.terms import Term
from mercer.kernels.text import LATER
from mercer.loops import Blocks, Tiles
from mercer.proofs.cases import claim
from mercer.proofs.evaluation import Evaluation
from mercer.proofs.reading import Formula, read
from mercer.proofs.search import Search
from mercer.proofs.spaces import Space
from mercer.proofs.steps import SPECIAL, FormulaProof, holds, used
from mercer.types import Array

SECONDS = 10.0
"""How long a proof is searched for when a kernel is built from a text."""

Value: TypeAlias = float | tuple[tuple[float, ...], ...]
"""A number, or the rows of a matrix."""


@dataclass(frozen=True)
class FormulaKernel(Kernel):
    r"""A kernel from the text of its formula, which has to be proved.

    Why it is a kernel (proof by search): a text that no theorem of `mercer.proofs` proves is
    refused. `mercer.prove` says why, and shows points that prove the contrary if there are any.

    Args:
        expression: The formula in x and y.
        where: The name of its domain: reals, positive, nonnegative, naturals, interval(a, b),
            vectors, vectors(d), sphere(d), circle or sets.
        given: What is assumed of its parameters, such as "s > 0".
        values: A number for each parameter, or the rows of a matrix: a dict, or pairs.

    Example:
        >>> import mercer as mc
        >>> k = mc.FormulaKernel("min(x, y) / max(x, y)", "positive")
        >>> k.pair(2.0, 8.0)
        0.25
        >>> print(k + mc.Min())
        formula('min(x, y)/max(x, y)', 'positive') + min
        >>> mc.FormulaKernel("exp(-s*abs(x - y)), s > 0", values={"s": 2}).pair(1.0, 0.0)
        0.1353352832366127
    """

    word = "formula"

    expression: str
    where: str = "reals"
    given: str = ""
    values: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        formula = read(self.expression, self.where, self.given)
        self._become(_found(formula), formula, self.values)

    @classmethod
    def from_proof(cls, proof: Proof, values: Any = ()) -> FormulaKernel:
        """The kernel of a proof that is there already: it is checked, not searched for again.

        Args:
            proof: A proof about a formula.
            values: A number for each of its parameters, or the rows of a matrix.

        Raises:
            InvalidProof: It does not hold, or is about something else.
        """
        if not isinstance(proof, FormulaProof) or proof.property != "pd":
            raise InvalidProof(
                "only a proof that a formula is positive definite makes a kernel of it.\nPass "
                "the proof of a verdict of mercer.prove."
            )
        proof.check()
        general = proof.premises[0] if proof.rule == SPECIAL else proof
        text, where, given = (general.claim[name] for name in ("text", "domain", "given"))
        made = object.__new__(cls)
        made._become(general, read(text, where, given), values or proof.claim["values"])
        return made

    def _become(self, proof: Proof, formula: Formula, values: Any) -> None:
        """Take on what was read: the parameters in one spelling, and the proof."""
        own = {
            "expression": str(formula.tree),
            "where": str(formula.space),
            "given": str(formula.given),
            "values": _checked(formula, values),
            "_proof": proof,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> Self:
        """The same kernel with other values, or another formula."""
        same = all(changes.get(name, getattr(self, name)) == getattr(self, name)
                   for name in ("expression", "where", "given"))  # fmt: skip
        if not same or not changes.keys() <= self.parameters().keys():
            return super().replace(**changes)
        made = object.__new__(type(self))
        made._become(self._general, self.formula, changes.get("values", self.values))
        return made

    @property
    def formula(self) -> Formula:
        """The formula, read."""
        return _read(self.expression, self.where, self.given)

    @property
    def domain(self) -> Domain:
        return _domain(self.formula.space)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        ready = Evaluation(self.formula, dict(self.values), A, B)
        return Blocks((len(A), len(B)), _type(A, B), ready.block)

    def diag(self, A: Batch) -> Array:
        values = Evaluation(self.formula, dict(self.values), A, A).diagonal()
        return values.astype(_type(A, A), copy=False)

    def term(self) -> Term:
        return Term(self.word, (*_parts(self.formula), ("values", self.values)))

    def proof(self) -> Proof:
        general: Proof = self._general
        return FormulaProof(SPECIAL, self.term(), (general,)) if self.values else general

    @property
    def _general(self) -> Proof:
        """The proof for all values of the parameters; found again after an old pickle."""
        found = vars(self).get("_proof")
        return found if isinstance(found, Proof) else _found(self.formula)


LATER[FormulaKernel.word] = FormulaKernel


def _parts(formula: Formula) -> tuple[tuple[str, str], ...]:
    return (
        ("text", str(formula.tree)),
        ("domain", str(formula.space)),
        ("given", str(formula.given)),
    )


def _found(formula: Formula) -> Proof:
    """A proof of a formula, in the spelling of its text.

    Raises:
        NotAKernel: None was found.
    """
    return _searched(*(text for _, text in _parts(formula)))


@lru_cache(maxsize=512)
def _searched(text: str, domain: str, given: str) -> Proof:
    """A proof that was found and checked. What was not found may be found with more time."""
    formula = _read(text, domain, given)
    proof = Search(formula, time.monotonic() + SECONDS).prove()
    if proof is None:
        raise NotAKernel(
            f"{text} is not proved to be positive definite on {formula.space.in_words}.\n"
            "mercer.prove says what is known; mercer.from_function takes a function on your "
            "word."
        )
    proof.check()
    return told(proof, formula)


def told(proof: Proof, formula: Formula) -> Proof:
    """The same proof, about the text of the formula in its one spelling."""
    said = claim(str(formula.tree), formula)
    if proof.claim == said:
        return proof
    return type(proof)(proof.rule, said, proof.premises, proof.property)


@lru_cache(maxsize=512)
def _read(text: str, domain: str, given: str) -> Formula:
    return read(text, domain, given)


def _domain(space: Space) -> Domain:
    match space.kind:
        case "interval":
            return Numbers(_end(space.low), _end(space.high), open_low=True, open_high=True)
        case "vectors" | "sphere":
            return Vectors(max_width=space.dimension)
        case "sets":
            return Sets()
    numbers = {"positive": POSITIVE, "nonnegative": NONNEGATIVE, "naturals": NATURALS}
    return numbers.get(space.kind, REALS)


def _end(value: Any) -> float | None:
    """The end of an interval; None beyond all numbers."""
    try:
        return float(value)
    except OverflowError:
        return None


def _type(A: Batch, B: Batch) -> np.dtype[Any]:
    """float32 if both batches are, else float64."""
    types = [
        (batch.matrix if isinstance(batch, SparseBatch) else batch.values).dtype
        for batch in (A, B)
        if isinstance(batch, DenseBatch | SparseBatch)
    ]
    return np.result_type(*types) if types else np.dtype(np.float64)


# ----------------------------------------------------------------------------------- values


def _checked(formula: Formula, values: Any) -> tuple[tuple[str, Value], ...]:
    """A value for each parameter, within its bounds."""
    told_values = _as_dict(values)
    names = used(formula)
    missing = [name for name in names if name not in told_values]
    unknown = [name for name in told_values if name not in names]
    if missing or unknown:
        said = f"no parameter {unknown[0]!r}" if unknown else f"no value for {missing[0]}"
        wanted = ", ".join(f"{name!r}: ..." for name in names)
        raise InvalidParameter(
            f"{formula} has {said}.\n"
            + (f"Give values={{{wanted}}}." if names else "It has no parameters.")
        )
    found: list[tuple[str, Value]] = []
    for name in names:
        value = _plain(formula, name, told_values[name])
        if not holds(name, value, formula.given).holds:
            bounds = formula.given.bounds(name)
            raise NotAKernel(
                f"{formula} is proved for {bounds.says(name)}, and {name} = {value} is not so."
                "\nGive another value, or ask mercer.prove about the formula with this one."
            )
        found.append((name, value))
    return tuple(found)


def _plain(formula: Formula, name: str, value: Any) -> Value:
    if name in formula.given.matrices:
        return psd_matrix(str(formula), name, value)
    return number(str(formula), name, value)


def _as_dict(values: Any) -> dict[str, Any]:
    """Values by name, from a dict or from pairs."""
    try:
        pairs: Iterable[Any] = values.items() if isinstance(values, Mapping) else values
        return {str(name): value for name, value in pairs}
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"values are told by name, got {values!r}.\nPass a dict such as {{'s': 2.0}}."
        ) from None
