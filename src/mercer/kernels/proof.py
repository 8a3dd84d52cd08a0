r"""Proofs: why a function is a kernel, as a tree of steps that anyone can check.

Each step names a rule of the table `RULES`, a claim and the proofs of its premises, and
nothing more: conditions and facts are worked out anew from these, so a proof that was
tampered with is found out, wherever it came from.

>>> k = Proof.of(Term.of("gaussian", scale=0.5))
>>> proof = Proof.of(Term.of("power", k.claim, exponent=0.3), k)
>>> proof.check()
>>> print(proof)
1. gaussian(0.5) ** 0.3 is positive definite
   by infinite divisibility: When k^(1 / n) is a kernel for every n, all its powers are: the
   rational ones are products (Schur), the others are limits.
   - exponent = 0.3 > 0
   - gaussian(0.5) is infinitely divisible
   1.1. gaussian(0.5) is positive definite
        by bochner: The Fourier transform of a finite positive measure is a kernel in x - y:
        sum_i sum_j c_i c_j e^(i w (x_i - x_j)) = |sum_i c_i e^(i w x_i)|^2 for each
        frequency w (Bochner). Here the measure is a normal law.
        - scale = 0.5 > 0
"""

from __future__ import annotations

import builtins
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from mercer.errors import InvalidInput, InvalidProof, NoTextForm
from mercer.kernels.rules import FACTS, RULES, Condition, Rule, is_whole
from mercer.kernels.terms import Term, escape

__all__ = ["FACTS", "RULES", "Condition", "Proof", "Rule", "Term"]

PROPERTIES: Mapping[str, str] = {
    "pd": "positive definite",
    "cnd": "conditionally negative definite",
}
"""What can be proved of a term, in words."""

_DEEPEST = 4  # LaTeX nests no more lists than this


@dataclass(frozen=True)
class Proof:
    """A step and, below it, the proofs of its premises.

    Args:
        rule: The theorem that is used, a key of `RULES`.
        claim: The function that the step speaks of.
        premises: The proofs that the theorem needs, in the order of the claim's children.
        property: What is claimed of it: "pd", or "cnd" (conditionally negative definite).

    A subclass has theorems of its own about the terms with one head:
    `class FormulaProof(Proof, about="formula")`.
    """

    table: ClassVar[Mapping[str, Rule]] = RULES

    # Data say what they are about: `from_dict` asks the class that has theorems about it.
    _classes: ClassVar[dict[str, type[Proof]]] = {}

    rule: str
    claim: Term
    premises: tuple[Proof, ...] = ()
    property: str = "pd"

    def __init_subclass__(cls, about: str = "", **named: Any) -> None:
        super().__init_subclass__(**named)
        if about:
            Proof._classes[about] = cls

    @classmethod
    def of(cls, claim: Term, *premises: Proof) -> Proof:
        """The step that the table has for this claim.

        Raises:
            InvalidProof: No rule speaks of such a function.
        """
        names = [name for name, rule in RULES.items() if claim.head in rule.cases]
        if not names:
            raise InvalidProof(
                f"no rule proves {claim}: the table has no case for {claim.head!r}.\nBuild it "
                "from functions that the table has, or assume it with mercer.from_function."
            )
        # Two rules prove a power: the product of whole ones, and infinite divisibility.
        whole = claim.head != "power" or is_whole(dict(claim.parameters).get("exponent"))
        name = names[0] if whole else names[-1]
        return cls(name, claim, premises, RULES[name].property)

    @builtins.property  # the plain name is a field here
    def conditions(self) -> tuple[Condition, ...]:
        """The side conditions of this step, with the actual numbers."""
        flaw = self._flaw()
        found = [Condition(flaw, holds=False)] if flaw else self.table[self.rule].verify(self)
        return tuple(found)

    @cached_property
    def facts(self) -> frozenset[str]:
        """What else is known of the claim, in the words of `FACTS`; nothing if the step is
        not sound.
        """
        # From the leaves up, so that a sum of many kernels is no deep recursion.
        for step in reversed(list(self.walk())[1:]):
            _ = step.facts
        sound = all(condition.holds for condition in self.conditions)
        return self.table[self.rule].facts(self) if sound else frozenset()

    @builtins.property
    def is_assumed(self) -> bool:
        """Whether some part is taken on the user's word."""
        return any(step.rule == "assumed" for step in self.walk())

    def walk(self) -> Iterator[Proof]:
        """Every step, this one first, each before its premises."""
        yield from (step for _, step in self._steps())

    def _steps(self) -> Iterator[tuple[str, Proof]]:
        stack = [("1", self)]
        while stack:
            path, step = stack.pop()
            yield path, step
            below = [(f"{path}.{n}", premise) for n, premise in enumerate(step.premises, 1)]
            stack += reversed(below)

    def check(self) -> None:
        """Verify every step from the table of rules alone.

        Raises:
            InvalidProof: Some step does not follow; the message says which one and why.
        """
        for step in self.walk():
            vars(step).pop("facts", None)  # what was remembered is no evidence
        for path, step in self._steps():
            failed = "; ".join(c.text for c in step.conditions if not c.holds)
            if failed:
                wrong = step._flaw() or f"it is not true that {failed}"
                raise InvalidProof(
                    f"step {path} does not follow: {step.shown()} is not shown to be "
                    f"{_words(step)} by {step.rule!r}, for {wrong}.\n{_plain(_reason(step))}\n"
                    "Change the parameter, or prove the step by another rule."
                )

    def _flaw(self) -> str:
        """What is wrong with the form of this step, before any number is looked at."""
        rule, claim = self.table.get(self.rule), self.claim
        if rule is None:
            return f"no rule has the name {self.rule!r}"
        if claim.flaw:
            return claim.flaw
        if claim.head not in rule.cases:
            return f"{self.rule} is about {' or '.join(rule.cases)}, not {claim.head}"
        if self.property != rule.property:
            return f"{self.rule} proves {rule.property!r}, not {self.property!r}"
        said = tuple((premise.claim, premise.property) for premise in self.premises)
        if said in self.expected():
            return ""
        wanted, found = (
            ", ".join(f"{term} is {PROPERTIES.get(kind, kind)}" for term, kind in these)
            for these in (self.expected()[0], said)
        )
        return f"the premises are ({wanted or 'none'}), not ({found or 'none'})"

    def expected(self) -> tuple[tuple[tuple[Term, str], ...], ...]:
        """What the premises may say: alternatives, a claim and a property for each."""
        return self.table[self.rule].needs(self.claim)

    def shown(self) -> str:
        """The claim in words."""
        return str(self.claim)

    def formula(self) -> str:
        """The claim for LaTeX's math mode."""
        return self.claim.latex()

    # Forms of a proof

    def __str__(self) -> str:
        return "\n".join(self._lines("1", 0, set()))

    def _lines(self, path: str, indent: int, said: set[str]) -> list[str]:
        lines = [f"{' ' * indent}{path}. {self.shown()} is {_words(self)}"]
        inner, reason = " " * (indent + 3), _plain(_reason(self))
        # A theorem is quoted once. A tree may be deep: its text then gets longer lines, not
        # narrower ones.
        lines += textwrap.wrap(
            f"by {self.rule}, as above" if reason in said else f"by {self.rule}: {reason}",
            max(92, indent + 50),
            initial_indent=inner,
            subsequent_indent=inner,
        )
        said.add(reason)
        for condition in self.conditions:
            mark = "" if condition.holds else "FAILS: "
            lines.append(f"{inner}- {mark}{condition.text}")
        for place, premise in enumerate(self.premises, 1):
            lines += premise._lines(f"{path}.{place}", indent + 3, said)
        return lines

    def latex(self) -> str:
        """A fragment of a LaTeX document (it needs amsmath): nested lists, a step an item."""
        return "\n".join([r"\begin{itemize}", *self._items("1", 1), r"\end{itemize}"])

    def _items(self, path: str, depth: int) -> list[str]:
        lines = [
            rf"\item[{path}.] The function",
            rf"\begin{{align*}} k(x, y) &= {self.formula()} \end{{align*}}",
            rf"is {_words(self)}, by \emph{{{escape(self.rule)}}}: {_typeset(_reason(self))}",
        ]
        texts = (c.text if c.holds else f"FAILS: {c.text}" for c in self.conditions)
        conditions = ", ".join(map(_formal, texts))
        lines += [f"Conditions: {conditions}."] if conditions else []
        below = [
            line
            for place, premise in enumerate(self.premises, 1)
            for line in premise._items(f"{path}.{place}", depth + 1)
        ]
        if below and depth < _DEEPEST:
            below = [r"\begin{itemize}", *below, r"\end{itemize}"]
        return lines + below

    def to_dict(self) -> dict[str, Any]:
        """The proof as plain data for JSON; of a user's function only the name is kept."""
        return {
            "rule": self.rule,
            "property": self.property,
            "claim": _term_to_dict(self.claim),
            "premises": [premise.to_dict() for premise in self.premises],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Proof:
        """The inverse of `to_dict` for proofs without user code. It does not check the proof.

        Raises:
            InvalidInput: The data are not of that form.
            NoTextForm: The proof holds user code, of which only the name was kept.
        """
        try:
            return _proof_from_dict(data)
        except RecursionError:
            raise InvalidInput(
                "this proof is too deep to be read: a proof has a few hundred steps within "
                "each other at most.\nPass what Proof.to_dict() returned."
            ) from None


# ---------------------------------------------------------------------------------- words


def _words(step: Proof) -> str:
    kind = PROPERTIES.get(step.property, step.property)
    return f"assumed {kind}" if step.rule == "assumed" else kind


def _reason(step: Proof) -> str:
    """The theorem and the sentence that applies it, with mathematics between dollar signs."""
    rule = step.table.get(step.rule)
    if rule is None:
        return f"The rules are: {', '.join(step.table)}."
    return f"{rule.theorem} {rule.cases.get(step.claim.head, '')}".strip()


_SIGNS = {"ge": ">=", "le": "<=", "langle": "<", "rangle": ">", "to": "->", "otimes": "(x)"}
_SIGNS |= {"int": "integral", "infty": "infinity"}


def _plain(words: str) -> str:
    r"""The theorem for a terminal: $\sum_n c_n \ge 0$ becomes sum_n c_n >= 0."""
    signs = re.sub(r"\\([A-Za-z]+)", lambda sign: _SIGNS.get(sign[1], sign[1]), words)
    return signs.replace("$", "").replace("{", "(").replace("}", ")")


def _typeset(words: str) -> str:
    """The theorem for LaTeX: the text between the formulas holds no special sign."""
    parts = words.split("$")
    return "$".join(escape(part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _formal(words: str) -> str:
    r"""A condition in math mode: scale = 0.5 > 0 becomes $\text{scale} = 0.5 > 0$."""
    pieces = re.split(r"( <= | >= | = | < | > )", words)
    signs = {" <= ": r" \le ", " >= ": r" \ge "}
    typeset = (
        piece
        if re.fullmatch(r"[\d.]+| = | < | > ", piece)
        else signs.get(piece, rf"\text{{{escape(piece)}}}")
        for piece in pieces
    )
    return f"${''.join(typeset)}$"


# ----------------------------------------------------------------------------------- data


def _proof_from_dict(data: Mapping[str, Any]) -> Proof:
    rule, kind = _entry(data, "rule", str), _entry(data, "property", str)
    claim = _term_from_dict(_entry(data, "claim", dict))
    premises = tuple(map(_proof_from_dict, _entry(data, "premises", list)))
    return Proof._classes.get(claim.head, Proof)(rule, claim, premises, kind)


def _term_to_dict(term: Term) -> dict[str, Any]:
    return {
        "head": term.head,
        "parameters": {name: _value_to_data(value) for name, value in term.parameters},
        "children": [_term_to_dict(child) for child in term.children],
    }


def _value_to_data(value: object) -> object:
    if callable(value):
        return {"code": str(getattr(value, "__name__", type(value).__name__))}
    return [_value_to_data(part) for part in value] if isinstance(value, tuple) else value


def _term_from_dict(data: Mapping[str, Any]) -> Term:
    parameters = _entry(data, "parameters", dict)
    values = tuple((str(name), _value_from_data(value)) for name, value in parameters.items())
    children = tuple(map(_term_from_dict, _entry(data, "children", list)))
    return Term(_entry(data, "head", str), values, children)


def _value_from_data(value: object) -> object:
    if isinstance(value, dict):
        raise NoTextForm(
            f"the proof holds user code ({value.get('code', value)!r}), and data cannot carry "
            "code.\nBuild the kernel again from the function, and ask it for its proof()."
        )
    return tuple(map(_value_from_data, value)) if isinstance(value, list) else value


def _entry(data: Any, name: str, kind: type) -> Any:
    if not isinstance(data, Mapping) or not isinstance(data.get(name), kind):
        raise InvalidInput(
            f"this is not a proof as data: it needs {name!r}, a {kind.__name__}, at every "
            "step.\nPass what Proof.to_dict() returned, or what json.loads made of it."
        )
    return data[name]
