r"""What is known of the parameters of a formula: `s > 0`, `0 < q <= 2`, `d natural`, `A psd`.

>>> given = assumptions(["0 < q <= 2", "d natural", "A psd"])
>>> given.names, given.matrices, str(given)
(('q', 'd', 'A'), ('A',), '0 < q <= 2, d natural, A psd')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from mercer.errors import InvalidFormula
from mercer.proofs.signs import GREEK

_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:/\d+)?"
_PSD = r"(?:psd|p\.s\.d\.|positive semi-?definite)"
_SPELLED = {"≥": ">=", "≤": "<=", "∈": " in ", "⪰": " psd", "≽": " psd", "ℕ": "N", "ℤ": "Z"}
_SPELLED |= {"ℝ": "R", **GREEK}
_RESERVED = {"x", "y", "pi", "inf"}


@dataclass(frozen=True)
class Bounds:
    """Between which numbers a parameter lies.

    Attributes:
        low: The lower end, None for none.
        high: The upper end, None for none.
        open_low: Whether the lower end itself is left out.
        open_high: Whether the upper end itself is left out.
        whole: Whether only whole numbers are meant.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    open_low: bool = False
    open_high: bool = False
    whole: bool = False

    def says(self, name: str) -> str:
        """The assumption in words."""
        if self.whole and self == Bounds(Fraction(1), whole=True):
            return f"{name} natural"
        left = "" if self.low is None else f"{self.low} {'<' if self.open_low else '<='} "
        right = "" if self.high is None else f" {'<' if self.open_high else '<='} {self.high}"
        kind = " whole" if self.whole else "" if left or right else " real"
        if left and not right:
            return f"{name} {'>' if self.open_low else '>='} {self.low}" + (
                f", {name} whole" if self.whole else ""
            )
        words = f"{left}{name}{right}"
        return (
            f"{words}, {name} whole"
            if kind.strip() == "whole" and words != name
            else words + kind
        )


@dataclass(frozen=True)
class Given:
    """The parameters, in the order in which they were named.

    Attributes:
        numbers: The bounds of each number.
        matrices: The matrices, which are positive semidefinite.
    """

    numbers: tuple[tuple[str, Bounds], ...] = ()
    matrices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(name for name, _ in self.numbers) + self.matrices

    def bounds(self, name: str) -> Bounds:
        """The bounds of a number."""
        return dict(self.numbers)[name]

    def __str__(self) -> str:
        said = [bounds.says(name) for name, bounds in self.numbers]
        return ", ".join(said + [f"{name} psd" for name in self.matrices])


def assumptions(said: Iterable[str]) -> Given:
    """What a list of assumptions says.

    Raises:
        InvalidFormula: One of them cannot be read, or two contradict each other.
    """
    numbers: dict[str, Bounds] = {}
    matrices: list[str] = []
    for words in said:
        text = _usual(words)
        if not text:
            continue
        found = re.fullmatch(rf"({_NAME})\s+(?:is\s+)?(?:a\s+)?{_PSD}", text)
        if found:
            matrices.append(_free(found[1], words))
            continue
        name, bounds = _bounds(text, words)
        numbers[name] = _both(numbers.get(name, Bounds()), bounds, words)
    return Given(tuple(numbers.items()), tuple(dict.fromkeys(matrices)))


def clauses(said: str) -> list[str]:
    """The parts of a list of assumptions, which commas, semicolons and "and" divide.

    >>> clauses("s > 0, q in (0, 2] and A psd")
    ['s > 0', 'q in (0, 2]', 'A psd']
    """
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r" \1 ", said).replace("$", " ")
    parts = re.split(r"[,;](?![^(\[]*[)\]])|\band\b|\\qquad|\\quad|\\land", text)
    return [part.strip().removeprefix("where ").strip(". ") for part in parts]


def _usual(words: str) -> str:
    """An assumption in its one spelling: Greek letters and signs as words."""
    text = re.sub(r"\\math(?:bb|cal)\s*\{?\s*([A-Za-z])\s*\}?", r" \1 ", words)
    for sign, word in _SPELLED.items():
        text = text.replace(sign, word)
    text = re.sub(r"\\?\b(succ(?:eq|curlyeq)\s*0)", " psd", text).replace("\\", "")
    text = re.sub(r"\bgeq?\b", ">=", re.sub(r"\bleq?\b", "<=", text))
    text = re.sub(r"\bgt\b", ">", re.sub(r"\blt\b", "<", text)).strip()
    kinds = {"N": "natural", "Z": "whole", "R": "real"}
    found = re.fullmatch(rf"({_NAME})\s+in\s+([NZR])", text)
    if found:
        return f"{found[1]} {kinds[found[2]]}"
    found = re.fullmatch(rf"({_NAME})\s+in\s*([(\[])\s*(.+?)\s*,\s*(.+?)\s*([)\]])", text)
    if not found:
        return text
    name, left, low, high, right = found.groups()
    return f"{low} {'<' if left == '(' else '<='} {name} {'<' if right == ')' else '<='} {high}"


def _free(name: str, words: str) -> str:
    if name in _RESERVED:
        raise InvalidFormula(f"{name!r} is no parameter, in the assumption {words.strip()!r}.")
    return {"lambda": "lambda_"}.get(name, name)


def _bounds(text: str, words: str) -> tuple[str, Bounds]:
    kinds = "natural|whole|integer|real"
    found = re.fullmatch(
        rf"({_NAME})\s+(?:is\s+)?(?:a\s+|in\s+)?({kinds})s?(?:\s+number)?", text
    )
    if found:
        name = _free(found[1], words)
        return name, {
            "natural": Bounds(Fraction(1), whole=True),
            "real": Bounds(),
        }.get(found[2], Bounds(whole=True))
    sign = r"\s*(<=|<|>=|>)\s*"
    found = re.fullmatch(rf"({_NUMBER}){sign}({_NAME})(?:{sign}({_NUMBER}))?", text)
    if found:
        bounds = _one(_flip(found[2]), found[1], words)
        if found[4]:
            bounds = _both(bounds, _one(found[4], found[5], words), words)
        return _free(found[3], words), bounds
    found = re.fullmatch(rf"({_NAME}){sign}({_NUMBER})", text)
    if found:
        return _free(found[1], words), _one(found[2], found[3], words)
    raise InvalidFormula(
        f"the assumption {words.strip()[:80]!r} cannot be read.\nWrite s > 0, 0 < q <= 2, "
        "d natural, n whole, t real, or A psd for a matrix."
    )


def _flip(sign: str) -> str:
    return sign.translate(str.maketrans("<>", "><"))


def _one(sign: str, text: str, words: str) -> Bounds:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidFormula(
            f"{text[:40]!r} is no number, in {words.strip()[:80]!r}."
        ) from None
    if sign[0] == ">":
        return Bounds(low=value, open_low=sign == ">")
    return Bounds(high=value, open_high=sign == "<")


def _both(a: Bounds, b: Bounds, words: str) -> Bounds:
    """What two assumptions on one number say together."""
    low, open_low = a.low, a.open_low
    if b.low is not None and (low is None or (b.low, b.open_low) > (low, open_low)):
        low, open_low = b.low, b.open_low
    high, open_high = a.high, a.open_high
    if b.high is not None and (high is None or (-b.high, b.open_high) > (-high, open_high)):
        high, open_high = b.high, b.open_high
    both = Bounds(low, high, open_low, open_high, a.whole or b.whole)
    if (
        low is not None
        and high is not None
        and (low > high or (low == high and open_low | open_high))
    ):
        raise InvalidFormula(f"no number satisfies {words.strip()!r} and what was said before.")
    return both
