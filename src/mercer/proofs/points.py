r"""Which names of a formula are its two points: x and y, x and x', A and B, x_n and x_m.

>>> from mercer.proofs.signs import tokens
>>> formula = r"k(\mathbf{x}_n, \mathbf{x}_m) = \mathbf{x}_n^T \mathbf{x}_m"
>>> [token.text for token in named(list(tokens(formula)), formula, frozenset())]
['x', '^', 'T', 'y']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from mercer.proofs.signs import GREEK, Token, refuse
from mercer.proofs.trees import FUNCTIONS

_PAIRS = [
    ("x", "z"), ("x1", "x2"), ("u", "v"), ("s", "t"), ("a", "b"), ("m", "n"), ("A", "B"),
    ("X", "Y"), ("S", "T"), ("theta", "phi"), ("alpha", "beta"),
]  # fmt: skip
"""Names of two points, where neither x and y nor x and x' stand."""


_INDEXED = re.compile(r"(?:[A-Za-z]_[A-Za-z0-9]){2,}")
"""Letters with an index of one sign each, as x_1x_2."""


@dataclass(frozen=True)
class _Name:
    """How a point may be spelled: a name, with an index, with a prime."""

    base: str
    index: str = ""
    primed: bool = False

    def __str__(self) -> str:
        return self.base + ("_" + self.index if self.index else "") + "'" * self.primed

    @property
    def bare(self) -> _Name:
        return replace(self, primed=False)


@dataclass(frozen=True)
class _Place:
    """A name among the tokens, and where the tokens after it begin."""

    name: _Name
    start: int
    end: int


def named(found: list[Token], formula: str, known: frozenset[str]) -> list[Token]:
    """The tokens with x and y for the two points, and without a head such as k(u, v) =.

    Args:
        found: The tokens.
        formula: The formula as it was written.
        known: The names of parameters, which are no points.

    Raises:
        InvalidFormula: The head is none, or a name stands for two things.
    """
    points, found = _headed(found, formula)
    for point in points or ():
        if str(point) in known:
            raise refuse(
                f"{point} is said to be a point and a parameter", formula, 0,
                "Give one of them another name.",
            )  # fmt: skip
    found = list(_apart(_merged(found, known), points, known))
    double = next((t for t, after in pairwise(found) if _is(t, "'") and _is(after, "'")), None)
    if double is not None:
        raise refuse(
            "two primes mean nothing here", formula, double.at, "The second point is y or x'."
        )
    if points is None:
        points = _guessed(found, known)
        if points is None:
            return found
        found = list(_apart(found, points, known))
    return _renamed(found, points, formula, known)


def _headed(found: list[Token], formula: str) -> tuple[tuple[_Name, _Name] | None, list[Token]]:
    """The points that k(u, v) = names, and the tokens after it."""
    sign = next((n for n, token in enumerate(found) if _is(token, "=")), None)
    if sign is None:
        return None, found
    opened = next((n for n, token in enumerate(found[:sign]) if _is(token, "(")), sign)
    first = _place(found, opened + 1, sign, primes=True)
    second = first and _place(found, first.end + 1, sign, primes=True)
    if (
        first is None
        or second is None
        or not _is(found[first.end], ",")
        or [token.text for token in found[second.end : sign]] != [")"]
        or not 1 <= opened <= 6
    ):
        raise refuse(
            "an equation is no formula", formula, found[sign].at,
            "Write the right-hand side alone, or k(x, y) = ... with both points.",
        )  # fmt: skip
    if first.name == second.name:
        raise refuse(
            f"both points are called {first.name}", formula, found[first.start].at,
            "Give them two names, as in k(x, y) = ...",
        )  # fmt: skip
    return (first.name, second.name), found[sign + 1 :]


def _merged(found: list[Token], known: frozenset[str]) -> list[Token]:
    """The tokens with the name of a parameter and its index as one, as in sigma_f."""
    out: list[Token] = []
    done = 0
    for place in _places(found, primes=False):
        if place.name.index and str(place.name) in known:
            out += found[done : place.start]
            token, last = found[place.start], found[place.end - 1]
            out.append(replace(token, text=str(place.name), end=last.end))
            done = place.end
    return out + found[done:]


def _apart(
    found: list[Token], points: tuple[_Name, _Name] | None, known: frozenset[str]
) -> Iterator[Token]:
    """Words made of points and parameters, such as xy and Ax, as letters side by side."""
    letters = {point.base for point in points} if points else {"x", "y"}
    for token in found:
        word = token.text
        if token.kind == "name" and _INDEXED.fullmatch(word) and word not in known:
            for n in range(0, len(word), 3):
                at = token.at + n
                glued = token.glued if n == 0 else True
                yield replace(token, text=word[n : n + 3], at=at, end=at + 3, glued=glued)
            continue
        single = known | letters | ({word[0]} if word[0].isupper() else set())
        if (
            token.kind != "name"
            or len(word) == 1
            or word in FUNCTIONS.keys() | known
            or not set(word) <= single
            or not set(word) & letters
        ):
            yield token
            continue
        for n, letter in enumerate(word):
            at = token.at + n
            yield replace(
                token, text=letter, at=at, end=at + 1, glued=token.glued if n == 0 else True
            )


def _guessed(found: list[Token], known: frozenset[str]) -> tuple[_Name, _Name] | None:
    """The two points where no head names them; None if they are x and y."""
    places = [place for place in _places(found, primes=True) if str(place.name) not in known]
    names = list(dict.fromkeys(place.name for place in places))
    bases = {name.base for name in names if not name.index}
    x = _Name("x")
    if "y" in bases:
        return None
    if "x" in bases and "z" in bases:
        return x, _Name("z")
    if _Name("x", primed=True) in names:
        return x, _Name("x", primed=True)
    indexed = [name for name in names if name.index]
    for base in dict.fromkeys(name.base for name in indexed):
        same = list(dict.fromkeys(name.bare for name in indexed if name.base == base))
        if len(same) == 2 and base not in bases and len(base) == 1:
            return same[0], same[1]
        primed = [name for name in indexed if name.base == base and name.primed]
        if len(same) == 1 and primed:
            return same[0], primed[0]
    if bases & {"x"}:
        return None
    for one, two in _PAIRS:
        if one in bases and two in bases:
            return _Name(one), _Name(two)
    for name in names:
        letter = len(name.base) == 1 or name.base in GREEK.values()
        if name.primed and letter and name.bare in names:
            return name.bare, name
    return None


def _renamed(
    found: list[Token], points: tuple[_Name, _Name], formula: str, known: frozenset[str]
) -> list[Token]:
    """The tokens with x for the first of two points and y for the second."""
    primes = any(point.primed for point in points)
    new = dict(zip(points, "xy", strict=True))
    out: list[Token] = []
    done = 0
    for place in _places(found, primes=primes):
        token = found[place.start]
        out += found[done : place.start]
        done = place.end
        if place.name in new:
            end = found[place.end - 1].end
            out.append(replace(token, kind="name", text=new[place.name], end=end))
            continue
        if place.name.base in ("x", "y") and str(place.name) not in known:
            raise refuse(
                f"{place.name} is none of the two points {points[0]} and {points[1]}",
                formula, token.at,
                "A kernel is a function of two points: write both by one name each.",
            )  # fmt: skip
        out += found[place.start : place.end]
    return out + found[done:]


def _places(found: list[Token], *, primes: bool) -> Iterator[_Place]:
    """All names that may be points, in order."""
    n = 0
    while n < len(found):
        place = _place(found, n, len(found), primes=primes)
        if place is not None:
            yield place
        n = place.end if place else n + 1


def _place(found: list[Token], n: int, end: int, *, primes: bool) -> _Place | None:
    """The name that begins at a token, with its index and its prime."""
    if n >= end or found[n].kind != "name" or found[n].text in FUNCTIONS:
        return None
    base, _, index = found[n].text.partition("_")
    after = n + 1
    if not index:
        index, after = _enclosed(found, after, "_", ("name", "number"))
    primed = False
    if primes:
        if after < end and _is(found[after], "'"):
            primed, after = True, after + 1
        else:
            sign, later = _enclosed(found, after, "^", ("sign",))
            if sign == "'":
                primed, after = True, later
    return _Place(_Name(base, index, primed), n, after)


def _enclosed(found: list[Token], n: int, sign: str, kinds: tuple[str, ...]) -> tuple[str, int]:
    """What stands after a sign, alone or in braces, and where to go on; "" for nothing."""
    if n >= len(found) or not _is(found[n], sign):
        return "", n
    braced = n + 1 < len(found) and _is(found[n + 1], "{")
    at = n + 1 + braced
    if at >= len(found) or found[at].kind not in kinds:
        return "", n
    if braced and not (at + 1 < len(found) and _is(found[at + 1], "}")):
        return "", n
    return found[at].text, at + 1 + braced


def _is(token: Token, sign: str) -> bool:
    return token.kind == "sign" and token.text == sign
