r"""Formulas at exact points: a fraction where the operations are rational, else an interval.

>>> from mercer.proofs.reading import read
>>> tree = read("min(x, y) / max(x, y)", "positive").tree
>>> value(tree, Fraction(1, 3), Fraction(2))
Fraction(1, 6)
>>> low, high = low_high(value(read("exp(x*y)").tree, Fraction(1), Fraction(1), bits=30))
>>> low < Fraction(2718281828, 10**9) < high
True
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

from mercer.proofs import elementary, intervals
from mercer.proofs.intervals import ZERO, Real, Undecided, Undefined, low_high
from mercer.proofs.trees import Tree

__all__ = ["Undecided", "Undefined", "low_high", "quadratic_form", "value"]

Point: TypeAlias = Fraction | tuple[Fraction, ...] | frozenset[int]
"""A number or an angle, a vector, or a set of whole numbers."""

Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]

_ONE_ARGUMENT: dict[str, Callable[[Real, int], Real]] = {
    "exp": elementary.exponential,
    "log": elementary.logarithm,
    "cos": elementary.cosine,
    "sin": elementary.sine,
    "tan": elementary.tangent,
    "atan": elementary.arctangent,
    "acos": elementary.arccosine,
    "asin": elementary.arcsine,
    "abs": intervals.absolute,
}

_TWO_ARGUMENTS: dict[str, Callable[[Real, Real, int], Real]] = {
    "add": intervals.add,
    "multiply": intervals.multiply,
    "min": intervals.least,
    "max": intervals.greatest,
}

_ON_SETS: dict[str, Callable[[frozenset[int], frozenset[int]], frozenset[int]]] = {
    "and": frozenset.__and__,
    "or": frozenset.__or__,
    "xor": frozenset.__xor__,
}

_WHOLE: dict[str, Callable[[int, int], int]] = {"gcd": gcd, "lcm": lcm}


def value(
    tree: Tree,
    x: Point,
    y: Point,
    parameters: Mapping[str, Fraction | Matrix] | None = None,
    bits: int = 64,
) -> Real:
    """The value of a formula at two points: exact, or an interval that holds it.

    Args:
        tree: The formula.
        x: The first point.
        y: The second point.
        parameters: The value of each named parameter.
        bits: The precision of what is not rational.

    Raises:
        Undefined: The formula has no value there.
        Undecided: With so many bits nothing is known of it, or the numbers are too large.
    """
    return _Pair(x, y, parameters or {}, bits).number(tree)


def quadratic_form(
    tree: Tree,
    points: Sequence[Point],
    weights: Sequence[Fraction],
    parameters: Mapping[str, Fraction | Matrix] | None = None,
    bits: int = 64,
    deadline: float | None = None,
) -> Real:
    """The sum of w_i w_j k(x_i, x_j) over all pairs of points.

    Args:
        tree: The formula of k.
        points: The points x_i.
        weights: The weights w_i.
        parameters: The value of each named parameter.
        bits: The precision of what is not rational.
        deadline: The time, of `time.monotonic`, at which to give up.

    Raises:
        Undefined: The formula has no value at two of the points.
        Undecided: Nothing is known of it, the numbers are too large, or the time is up.
    """
    total: Real = ZERO
    for x, v in zip(points, weights, strict=True):
        if deadline is not None and time.monotonic() > deadline:
            raise Undecided("the time is up")
        for y, w in zip(points, weights, strict=True):
            part = value(tree, x, y, parameters, bits)
            total = intervals.add(total, intervals.multiply(v * w, part, bits), bits)
    return total


class _Pair:
    """A formula at one pair of points; equal parts are worked out once."""

    def __init__(
        self,
        x: Point,
        y: Point,
        parameters: Mapping[str, Fraction | Matrix],
        bits: int,
    ) -> None:
        self.x, self.y, self.parameters, self.bits = x, y, parameters, bits
        self.known: dict[Tree, Real] = {}

    def number(self, tree: Tree) -> Real:
        head = tree.head
        if head == "number":
            return tree.value  # type: ignore[no-any-return]
        found = self.known.get(tree)
        if found is None:
            found = self.known[tree] = self._number(head, tree)
        return found

    def _number(self, head: str, tree: Tree) -> Real:
        args, bits = tree.args, self.bits
        if head in _ONE_ARGUMENT:
            return _ONE_ARGUMENT[head](self.number(args[0]), bits)
        if head in _TWO_ARGUMENTS:
            total = self.number(args[0])
            for part in args[1:]:
                total = _TWO_ARGUMENTS[head](total, self.number(part), bits)
            return total
        if head not in _OTHERS:
            raise Undecided(f"the formula holds {head!r}, which is no number")
        return _OTHERS[head](self, tree)

    def _pi(self, tree: Tree) -> Real:
        return elementary.pi(self.bits)

    def _hyperbolic(self, tree: Tree) -> Real:
        return elementary.hyperbolic(tree.head, self.number(tree.args[0]), self.bits)

    def _size(self, tree: Tree) -> Real:
        return Fraction(len(self._set(tree.args[0])))

    def _named(self, tree: Tree) -> Fraction:
        if tree.head == "parameter":
            found: Any = self.parameters.get(tree.value)
        else:
            found = self.x if tree.value == "x" else self.y
        if not isinstance(found, Fraction):
            raise Undefined(f"{tree.value} is not a number here")
        return found

    def _power(self, tree: Tree) -> Real:
        base, to = tree.args[0], self.number(tree.args[1])
        if base.head == "norm" and isinstance(to, Fraction):
            # The p-norm to a multiple of p needs no root, and stays rational.
            return self._norm_to(base, to)
        return elementary.power(self.number(base), to, self.bits)

    def _whole(self, tree: Tree) -> Fraction:
        head, parts = tree.head, [self.number(part) for part in tree.args]
        wholes = [int(p) for p in parts if isinstance(p, Fraction) and p.denominator == 1]
        if len(wholes) < len(parts):
            raise Undefined(f"{head} of numbers that are not whole")
        total = wholes[0]
        for part in wholes[1:]:
            total = _WHOLE[head](total, part)
        if total.bit_length() > intervals.LONGEST:
            raise Undecided("a whole number that is too large")
        return Fraction(total)

    def _set(self, tree: Tree) -> frozenset[int]:
        if tree.head == "point":
            found = self.x if tree.value == "x" else self.y
            if isinstance(found, frozenset):
                return found
        if tree.head not in _ON_SETS:
            raise Undefined("a set is wanted, and the point is none")
        total = self._set(tree.args[0])
        for part in tree.args[1:]:
            total = _ON_SETS[tree.head](total, self._set(part))
        return total

    def _vector(self, tree: Tree) -> list[Real]:
        if tree.head == "point":
            found = self.x if tree.value == "x" else self.y
            if isinstance(found, tuple):
                return list(found)
        if tree.head == "add":
            columns = zip(*(self._vector(part) for part in tree.args), strict=True)
            return [self._sum(list(column)) for column in columns]
        if tree.head != "multiply":
            raise Undefined("a vector is wanted, and the point is none")
        total: list[Real] | None = None
        factor: Real = Fraction(1)
        for part in tree.args:
            if total is None and _is_vector(part):
                total = self._vector(part)
            else:
                factor = intervals.multiply(factor, self.number(part), self.bits)
        return [intervals.multiply(factor, part, self.bits) for part in total or []]

    def _sum(self, parts: Sequence[Real]) -> Real:
        total: Real = ZERO
        for part in parts:
            total = intervals.add(total, part, self.bits)
        return total

    def _norm(self, tree: Tree) -> Real:
        return self._norm_to(tree, Fraction(1))

    def _norm_to(self, tree: Tree, to: Fraction) -> Real:
        """A power of the p-norm."""
        vector, order = tree.args
        sizes = [intervals.absolute(part, self.bits) for part in self._vector(vector)]
        if order.head == "inf":
            top = sizes[0]
            for part in sizes[1:]:
                top = intervals.greatest(top, part, self.bits)
            return elementary.power(top, to, self.bits)
        p = self.number(order)
        if intervals.sign(p) <= 0:
            raise Undefined("a norm whose order is not positive")
        total = self._sum([elementary.power(part, p, self.bits) for part in sizes])
        return elementary.power(total, intervals.divide(to, p, self.bits), self.bits)

    def _dot(self, tree: Tree) -> Real:
        args = tree.args
        left, right = self._vector(args[0]), self._vector(args[-1])
        if len(args) == 3:
            left = self._times_matrix(left, args[1])
        if len(left) != len(right):
            raise Undefined("vectors of different dimensions")
        return self._sum(
            [intervals.multiply(a, b, self.bits) for a, b in zip(left, right, strict=True)]
        )

    def _times_matrix(self, row: list[Real], tree: Tree) -> list[Real]:
        A: Any = self.parameters.get(tree.value)
        if tree.head == "matrix":
            A = [[self.number(entry) for entry in line.args] for line in tree.args]
        if not isinstance(A, tuple | list) or len(A) != len(row):
            raise Undefined("a matrix that does not act on these vectors")
        return [
            self._sum([intervals.multiply(a, b, self.bits) for a, b in zip(row, column)])  # noqa: B905
            for column in zip(*A, strict=True)
        ]


_OTHERS: dict[str, Callable[[_Pair, Tree], Real]] = {
    "point": _Pair._named,
    "parameter": _Pair._named,
    "pi": _Pair._pi,
    "power": _Pair._power,
    **dict.fromkeys(("sinh", "cosh", "tanh"), _Pair._hyperbolic),
    **dict.fromkeys(("gcd", "lcm"), _Pair._whole),
    "len": _Pair._size,
    "norm": _Pair._norm,
    "dot": _Pair._dot,
}


def _is_vector(tree: Tree) -> bool:
    """Whether a part of a vector formula is itself a vector."""
    if tree.head in ("add", "multiply"):
        return any(_is_vector(part) for part in tree.args)
    return tree.head == "point"
