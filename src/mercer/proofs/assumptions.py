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
from mercer.proofs.signs import GREEK, LONGEST

_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:/\d+|[eE][+-]?\d{1,2})?"
_PSD = r"(?:psd|p\.s\.d\.?|positive semi-?definite)"
_SPELLED = {"≥": ">=", "≤": "<=", "∈": " in ", "≽": "⪰", "ℕ": "N", "ℤ": "Z", "∞": "inf"}
_SPELLED |= {"ℝ": "R", **GREEK}
_SIGNS = {
    "leqslant": "<=", "leq": "<=", "le": "<=", "geqslant": ">=", "geq": ">=", "ge": ">=",
    "lt": "<", "gt": ">", "in": " in ", "succeq": "⪰", "succcurlyeq": "⪰", "infty": "inf",
    "left": "", "right": "", ",": " ", ";": " ", " ": " ", "!": "",
}  # fmt: skip
_COMMAND = re.compile(r"\\(" + "|".join(map(re.escape, _SIGNS)) + r")(?![A-Za-z])")
_FIRST_WORDS = re.compile(
    r"\A\s*(?:(?:(?:where|with|given|let|for|all|every|each|any|\\?forall)(?!\w)|∀)\s*)*"
)
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
    for words in _each(said):
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


def _each(said: Iterable[str]) -> list[str]:
    """The assumptions on one name each: a, b > 0 says a > 0 and b > 0."""
    out: list[str] = []
    names: list[str] = []
    below = ""
    name = rf"\\?{_NAME}|[{''.join(GREEK)}]"
    for words in said:
        if re.fullmatch(rf"\s*(?:{name})\s*", words):
            names.append(words.strip())
            continue
        text = _usual(words)
        if below and re.fullmatch(rf"{_NAME}\s*<=?\s*{_NUMBER}", text):
            raise InvalidFormula(
                f"{below[:40]}, {words.strip()[:40]} may be understood in two ways.\n"
                "Write each on its own: 0 < a < 1, 0 < b < 1."
            )
        below = words.strip() if re.fullmatch(rf"{_NUMBER}\s*<=?\s*{_NAME}", text) else ""
        found = re.match(rf"\s*(?:{name})", words)
        if names and found is None:
            raise InvalidFormula(_unread(names[0]))
        out += [other + words[found.end() :] for other in names if found] + [words]
        names = []
    return out + names


def clauses(said: str) -> list[str]:
    """The parts of a list of assumptions, which commas, semicolons and "and" divide.

    >>> clauses("s > 0, q in (0, 2] and A psd")
    ['s > 0', 'q in (0, 2]', 'A psd']
    """
    if len(said) > LONGEST:
        raise InvalidFormula(
            f"the assumptions have {len(said)} characters, and at most {LONGEST} are read."
        )
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r" \1 ", said).replace("$", " ")
    parts = re.split(r"[,;](?![^(\[]*[)\]])|\band\b|\\qquad|\\quad|\\land", text)
    return [_FIRST_WORDS.sub("", part).strip(". \n\t") for part in parts]


def _usual(words: str) -> str:
    """An assumption in its one spelling: Greek letters and signs as words."""
    text = re.sub(r"\\math(?:bb|cal|rm)\s*\{?\s*([A-Za-z])\s*\}?", r" \1 ", words)
    text = _COMMAND.sub(lambda found: _SIGNS[found[1]], text)
    for sign, word in _SPELLED.items():
        text = text.replace(sign, word)
    text = re.sub(r"\s*⪰\s*0", " psd", text).replace("\\", "").strip()
    kinds = {"N": "natural", "Z": "whole", "R": "real"}
    found = re.fullmatch(rf"({_NAME})\s+in\s+([NZR])", text)
    if found:
        return f"{found[1]} {kinds[found[2]]}"
    found = re.fullmatch(rf"({_NAME})\s+in\s*([(\[])\s*(.+?)\s*,\s*(.+?)\s*([)\]])", text)
    if not found:
        return text
    name, left, low, high, right = found.groups()
    below = "" if low == "-inf" else f"{low} {'<' if left == '(' else '<='} "
    above = "" if high in ("inf", "+inf") else f" {'<' if right == ')' else '<='} {high}"
    return f"{below}{name}{above}" if below or above else f"{name} real"


def _free(name: str, words: str) -> str:
    if name in _RESERVED:
        raise InvalidFormula(
            f"{name!r} is no parameter, in the assumption {words.strip()[:80]!r}.\n"
            "Where points live is said by the domain, such as 'positive' or 'interval(0, 1)'."
        )
    return {"lambda": "lambda_"}.get(name, name)


def _bounds(text: str, words: str) -> tuple[str, Bounds]:
    kinds = "natural|whole|integer|real|positive|non-?negative"
    found = re.fullmatch(
        rf"({_NAME})\s+(?:is\s+)?(?:a\s+|in\s+)?({kinds})s?(?:\s+number)?", text
    )
    if found:
        name = _free(found[1], words)
        return name, {
            "natural": Bounds(Fraction(1), whole=True),
            "real": Bounds(),
            "positive": Bounds(Fraction(0), open_low=True),
            "nonnegative": Bounds(Fraction(0)),
        }.get(found[2].replace("-", ""), Bounds(whole=True))
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
    raise InvalidFormula(_unread(words))


def _unread(words: str) -> str:
    return (
        f"the assumption {words.strip()[:80]!r} cannot be read.\nWrite s > 0, 0 < q <= 2, "
        "d natural, n whole, t real, q in (0, 2], or A psd for a matrix."
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
