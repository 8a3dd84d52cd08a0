r"""Where the two points of a formula live: numbers, vectors, spheres, the circle, sets.

>>> str(space("interval(-1, 1)"))
'interval(-1, 1)'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from mercer.errors import InvalidFormula

KINDS = (
    "reals", "positive", "nonnegative", "naturals", "interval", "vectors", "sphere", "circle",
    "sets",
)  # fmt: skip

_ALIASES = {
    "real": "reals", "r": "reals", "ℝ": "reals", "numbers": "reals", "r+": "nonnegative",
    "natural": "naturals", "n": "naturals", "ℕ": "naturals", "set": "sets",
    "vector": "vectors", "non-negative": "nonnegative", "unit circle": "circle",
}  # fmt: skip

WIDEST = 64
"""Coordinates that a space of vectors may be said to have."""


@dataclass(frozen=True)
class Space:
    """The set that both points come from.

    Attributes:
        kind: One of `KINDS`.
        low: The lower end of an interval, which is open.
        high: Its upper end.
        dimension: The number of coordinates of vectors; None for every dimension.
    """

    kind: str
    low: Fraction | None = None
    high: Fraction | None = None
    dimension: int | None = None

    def __str__(self) -> str:
        if self.kind == "interval":
            return f"interval({self.low}, {self.high})"
        return self.kind if self.dimension is None else f"{self.kind}({self.dimension})"

    @property
    def points_are(self) -> str:
        """What kind of value a point is: "number", "vector", "angle" or "set"."""
        kinds = {"vectors": "vector", "sphere": "vector", "circle": "angle", "sets": "set"}
        return kinds.get(self.kind, "number")

    @property
    def in_words(self) -> str:
        """The space for a message."""
        words = {
            "reals": "the real numbers",
            "positive": "the numbers > 0",
            "nonnegative": "the numbers >= 0",
            "naturals": "the whole numbers 1, 2, 3, ...",
            "interval": f"the numbers between {self.low} and {self.high}",
            "circle": "the circle",
            "sets": "finite sets",
        }
        if self.kind in words:
            return words[self.kind]
        many = "every dimension" if self.dimension is None else f"dimension {self.dimension}"
        return f"unit vectors of {many}" if self.kind == "sphere" else f"vectors of {many}"


def space(name: str | Space) -> Space:
    """A space from its name.

    Raises:
        InvalidFormula: There is no such space.
    """
    if isinstance(name, Space):
        return name
    if not isinstance(name, str):
        raise InvalidFormula(f"a domain is named by a text, such as 'reals', got {name!r}.")
    found = re.fullmatch(r"\s*([^\s()]+(?: circle)?)\s*(?:\(([^()]*)\))?\s*", name)
    kind = found[1].lower() if found else ""
    kind = _ALIASES.get(kind, kind)
    if found is None or kind not in KINDS:
        raise InvalidFormula(
            f"there is no domain {name!r}.\nThe domains are reals, positive, nonnegative, "
            "naturals, interval(a, b), vectors, vectors(d), sphere(d), circle and sets."
        )
    arguments = [] if found[2] is None else found[2].split(",")
    if kind == "interval":
        return _interval(name, arguments)
    if kind in ("vectors", "sphere"):
        return _dimensional(kind, name, arguments)
    if arguments:
        raise InvalidFormula(f"{kind} takes no arguments, got {name!r}.")
    return Space(kind)


def _interval(name: str, arguments: list[str]) -> Space:
    try:
        low, high = (Fraction(part.strip()) for part in arguments)
    except (ValueError, ZeroDivisionError):
        raise InvalidFormula(
            f"an interval has two rational ends, as in interval(-1, 1), got {name!r}."
        ) from None
    if not low < high:
        raise InvalidFormula(f"{name} holds no number: the first end must be the smaller one.")
    return Space("interval", low, high)


def _dimensional(kind: str, name: str, arguments: list[str]) -> Space:
    if not arguments:
        return Space(kind)
    least = 2 if kind == "sphere" else 1
    text = arguments[0].strip()
    whole = len(arguments) == 1 and text.isdecimal() and len(text) < 4
    if not whole or not least <= int(text) <= WIDEST:
        raise InvalidFormula(
            f"{kind}(d) takes a number of coordinates from {least} to {WIDEST}, got {name!r}."
        )
    return Space(kind, dimension=int(text))


def larger(inner: Space) -> Space | None:
    """The plain space that a space is a part of, if there is one."""
    if inner.points_are == "number" and inner.kind != "reals":
        return Space("reals")
    if inner.kind == "sphere":
        return Space("vectors", dimension=inner.dimension)
    return None
