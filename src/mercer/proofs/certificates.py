r"""Refutations: points and weights whose quadratic form is negative, which anyone can check.

A function k is positive definite when sum w_i w_j k(x_i, x_j) >= 0 for all points and weights.
One negative sum, in exact arithmetic or in intervals, refutes it.

>>> from mercer.proofs.reading import read
>>> zero, one = Fraction(0), Fraction(1)
>>> found = certify(read("norm(x - y)", "vectors"), [(zero,), (one,)], [one, -one])
>>> print(found)
norm(x - y, 2) is not positive definite on vectors of every dimension:
  points   (0), (1)
  weights  1, -1
the sum of w_i w_j k(x_i, x_j) is -2.
>>> Refutation.from_dict(found.to_dict()).check()
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import Any

from mercer.errors import InvalidFormula, InvalidProof
from mercer.proofs.admissible import allowed, belongs, semidefinite
from mercer.proofs.assumptions import Given
from mercer.proofs.exact import Matrix, Point, Undecided, Undefined, low_high, quadratic_form
from mercer.proofs.intervals import ZERO
from mercer.proofs.reading import Formula, read
from mercer.proofs.spaces import Space, space

_FIRST, _LAST = 64, 8192
"""Bits of the first look and of the last one; each look doubles them."""

_SHORT = 40
"""Characters up to which an exact value is told; a longer one is bounded by three digits."""

_NUMBER = re.compile(r"[+-]?\d{1,20000}(?:/\d{1,20000}|(?:\.\d{1,400})?(?:[eE][+-]?\d{1,5})?)")


@dataclass(frozen=True)
class Refutation:
    """Why a function is not positive definite.

    Attributes:
        formula: The text of the function.
        domain: The name of the set that the points come from.
        assumptions: What is known of its parameters.
        points: Exact points: fractions, tuples of them, or sets of whole numbers.
        weights: One number a point.
        value: The quadratic form of the weights, or a negative number that bounds it above.
        exact: Whether `value` is the quadratic form itself.
        parameters: The names of the parameters, each with a value that is allowed.
    """

    formula: str
    domain: str
    assumptions: str
    points: tuple[Point, ...]
    weights: tuple[Fraction, ...]
    value: Fraction
    exact: bool
    parameters: tuple[tuple[str, Fraction | Matrix], ...] = ()

    def check(self) -> None:
        """Verify all of it from scratch, reading the formula again from its text.

        Raises:
            InvalidProof: A point, a parameter or the value is not what it is said to be.
        """
        try:
            formula = read(self.formula, self.domain, self.assumptions)
        except InvalidFormula as error:
            raise InvalidProof(f"the refuted formula cannot be read: {error}") from None
        self._check_points(formula.space)
        self._check_parameters(formula.given)
        if self.value >= 0:
            raise InvalidProof(
                f"the value {self.value} is not negative, so nothing is refuted."
            )
        bits = _FIRST
        while bits <= _LAST:
            if self._verified(formula, bits):
                return
            bits *= 2
        raise InvalidProof(f"{_LAST} bits do not show a form of at most {self.value}.")

    def _verified(self, formula: Formula, bits: int) -> bool:
        """Whether so many bits decide in favour. That they decide against it is an error."""
        parameters = dict(self.parameters)
        try:
            form = quadratic_form(formula.tree, self.points, self.weights, parameters, bits)
            low, high = low_high(form)
        except Undefined as error:
            raise InvalidProof(
                f"the function is undefined at two of the points: {error}."
            ) from None
        except Undecided:
            return False
        if self.exact and isinstance(form, Fraction) and form != self.value:
            raise InvalidProof(f"the quadratic form is {form}, not {self.value}.")
        if low > self.value:
            raise InvalidProof(f"the quadratic form exceeds {self.value}.")
        return form == self.value if self.exact else high <= self.value

    def _check_points(self, where: Space) -> None:
        if not self.points or len(self.points) != len(self.weights):
            raise InvalidProof(
                f"there are {len(self.points)} points and {len(self.weights)} weights: each "
                "point needs one weight, and there must be a point."
            )
        for point in self.points:
            if not belongs(point, where):
                raise InvalidProof(f"{_shown(point)} is none of {where.in_words}.")
        if len({len(point) for point in self.points if isinstance(point, tuple)}) > 1:
            raise InvalidProof("the points have different numbers of coordinates.")
        if not all(isinstance(weight, Fraction) for weight in self.weights):
            raise InvalidProof("a weight is no exact fraction.")

    def _check_parameters(self, given: Given) -> None:
        values = dict(self.parameters)
        if len(values) != len(self.parameters) or set(values) != set(given.names):
            raise InvalidProof(
                f"values are given for {', '.join(values) or 'no parameter'}, and wanted for "
                f"{', '.join(given.names) or 'none'}."
            )
        for name, bounds in given.numbers:
            if not allowed(values[name], bounds):
                raise InvalidProof(f"{name} = {values[name]} contradicts {bounds.says(name)}.")
        for name in given.matrices:
            if not semidefinite(values[name]):
                raise InvalidProof(f"the matrix {name} is not positive semidefinite.")

    def to_dict(self) -> dict[str, Any]:
        """The refutation for JSON: numbers are exact texts such as "-3/2"."""
        found: dict[str, Any] = {"formula": self.formula, "domain": self.domain}
        if self.parameters:
            found["assumptions"] = self.assumptions
            found["parameters"] = {name: _listed(value) for name, value in self.parameters}
        found["points"] = [_listed(point) for point in self.points]
        found["weights"] = [str(weight) for weight in self.weights]
        found["value"] = str(self.value) if self.exact else _decimal(self.value)
        found["value_is"] = "exact" if self.exact else "at most"
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Refutation:
        """The refutation that `to_dict` wrote. It is not checked yet.

        Raises:
            InvalidProof: Something is missing or cannot be read.
        """
        try:
            kind = data["value_is"]
            where = space(data["domain"]).points_are
            points = tuple(_unlisted(point, kind=where) for point in _list(data["points"]))
            given = data.get("parameters", {}).items()
            parameters = tuple((str(name), _unlisted_parameter(v)) for name, v in given)
            weights = tuple(_fraction(weight) for weight in _list(data["weights"]))
            value = _fraction(data["value"])
            texts = [str(data[key]) for key in ("formula", "domain")]
            if kind not in ("exact", "at most"):
                raise InvalidProof(f"value_is is 'exact' or 'at most', got {kind!r}.")
        except (KeyError, TypeError, AttributeError, InvalidFormula) as error:
            raise InvalidProof(f"this is no refutation: {error!r}.") from None
        said = str(data.get("assumptions", ""))
        return cls(
            texts[0], texts[1], said, points, weights, value, kind == "exact", parameters
        )

    def __str__(self) -> str:
        named = ", ".join(f"{name} = {_shown(value)}" for name, value in self.parameters)
        where = space(self.domain).in_words
        value = self.value if self.exact else f"at most {_decimal(self.value)}"
        lines = [
            f"{self.formula} is not positive definite on {where}{named and f', for {named}'}:",
            _row("points", [_shown(point) for point in self.points]),
            _row("weights", [str(weight) for weight in self.weights]),
            f"the sum of w_i w_j k(x_i, x_j) is {value}.",
        ]
        return "\n".join(lines)


def certify(
    formula: Formula,
    points: Sequence[Point],
    weights: Sequence[Fraction],
    parameters: Mapping[str, Fraction | Matrix] | None = None,
    *,
    bits: int = 1024,
    deadline: float | None = None,
) -> Refutation | None:
    """The refutation that points and weights make; None if their form is not seen to be < 0.

    Args:
        formula: The function.
        points: Exact points of its space.
        weights: One number a point.
        parameters: A value for each of its parameters.
        bits: The precision at which to give up.
        deadline: The time, of `time.monotonic`, at which to give up.
    """
    named = dict(parameters or {})
    look = _FIRST
    while look <= bits:
        try:
            form = quadratic_form(formula.tree, points, weights, named, look, deadline)
            low, high = low_high(form)
        except Undefined:
            return None
        except Undecided:
            low, high = Fraction(-1), ZERO
        if low >= 0:
            return None
        if high < 0:
            exact = isinstance(form, Fraction) and len(str(low)) <= _SHORT
            return Refutation(
                str(formula),
                str(formula.space),
                str(formula.given),
                tuple(points),
                tuple(weights),
                low if exact else _rounded(high),
                exact,
                tuple(named.items()),
            )
        look *= 2
    return None


def _rounded(bound: Fraction) -> Fraction:
    """A decimal of three digits, just above a negative bound and below zero."""
    size = -bound
    scale = len(str(size.denominator)) - len(str(size.numerator)) + 3
    # The first digit may be one place off; then there are four digits, which is as good.
    return -Fraction(int(size * Fraction(10) ** scale)) / Fraction(10) ** scale


# -------------------------------------------------------------------------------------- text


def _listed(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return [_listed(part) for part in value] if isinstance(value, tuple) else str(value)


def _fraction(text: Any) -> Fraction:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise InvalidProof(f"{str(text)[:40]!r} is no exact number, such as '-3/2'.")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise InvalidProof(f"{text!r} divides by zero.") from None


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidProof(f"a list is wanted, got {str(value)[:40]!r}.")
    return list(value)


def _unlisted(point: Any, *, kind: str) -> Point:
    if kind == "set":
        return frozenset(int(_fraction(str(part))) for part in _list(point))
    if kind == "vector":
        return tuple(_fraction(part) for part in _list(point))
    return _fraction(point)


def _unlisted_parameter(value: Any) -> Fraction | Matrix:
    if isinstance(value, list | tuple):
        return tuple(tuple(_fraction(part) for part in row) for row in value)
    return _fraction(value)


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(str, sorted(value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(_shown(part) for part in value)})"
    return str(value)


def _row(name: str, words: list[str]) -> str:
    return fill(", ".join(words), 96, initial_indent=f"  {name:9}", subsequent_indent=" " * 11)


def _decimal(value: Fraction) -> str:
    """A decimal fraction as such; any other as a quotient."""
    places = 0
    while 10**places % value.denominator and places < 10**5:
        places = 2 * places + 1
    if 10**places % value.denominator:
        return str(value)
    whole = int(value * 10**places)
    digits = str(abs(whole)).rstrip("0") or "0"
    sign, order = "-" if whole < 0 else "", len(str(abs(whole))) - places
    if 0 < order < 16:
        digits = digits.ljust(order, "0")
        return f"{sign}{digits[:order]}.{digits[order:]}".rstrip(".")
    if -6 < order <= 0:
        return f"{sign}0.{'0' * -order}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or 0}e{order - 1}"
