r"""Formulas on arrays of points, in floating point: fast, and honest about what is undefined.

>>> import numpy as np
>>> from mercer.proofs.reading import read
>>> tree = read("min(x, y) / max(x, y)", "positive").tree
>>> points = np.array([1.0, 2.0, 4.0])
>>> evaluate(tree, points[:, None], points[None, :])
array([[1.  , 0.5 , 0.25],
       [0.5 , 1.  , 0.5 ],
       [0.25, 0.5 , 1.  ]])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput
from mercer.proofs.floating import (
    MULTIPLIED,
    Floats,
    arc,
    crossed,
    distances,
    divided,
    divisors,
    folded,
    folded_angle,
    inner,
    logarithm,
    owned,
    times,
    total,
    unless,
    whole,
)
from mercer.proofs.reading import Formula
from mercer.proofs.trees import Tree, number

_INVERSE = number(-1)

_PLAIN: dict[str, Any] = {
    "exp": np.exp,
    "cos": np.cos,
    "sin": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "atan": np.arctan,
    "abs": np.absolute,
}


def evaluate(
    tree: Tree,
    x: NDArray[Any],
    y: NDArray[Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    wide: bool | None = None,
) -> Floats:
    """The values of a formula at pairs of points, by broadcasting.

    Numbers and angles have the shapes (n, 1) and (1, m), vectors and the indicators of sets
    (booleans) one axis more, the last; further axes may come first. What is undefined, such as
    a division by zero, is NaN; what is too large is inf.

    Args:
        tree: The formula.
        x: The first points.
        y: The second points.
        parameters: The value of each named parameter: a number, the rows of a matrix, or an
            array with a number for each pair of points.
        wide: Whether the last axis holds coordinates; None to read it off the formula.
    """
    if wide is None:
        narrow = "point" in _heads(tree)
        wide = bool(_heads(tree) & {"norm", "dot", "len"}) or (not narrow and x.ndim > 2)
    shapes = (x.shape[:-1], y.shape[:-1]) if wide else (x.shape, y.shape)
    with np.errstate(all="ignore"):
        value, free = _Run(tree, x, y, parameters or {}).take(tree)
    shape = np.broadcast_shapes(*shapes)
    if free and isinstance(value, np.ndarray) and value.shape == shape:
        return np.asarray(value, dtype=np.float64)
    return np.array(np.broadcast_to(value, shape), dtype=np.float64)


def gram(
    formula: Formula, points: Sequence[Any], parameters: Mapping[str, Any] | None = None
) -> Floats:
    """The Gram matrix of exact points: numbers, tuples of numbers, or sets."""
    P = as_array(points)
    wide = P.ndim == 2
    x, y = (P[:, None, :], P[None, :, :]) if wide else (P[:, None], P[None, :])
    return evaluate(formula.tree, x, y, parameters, wide=wide)


def as_array(points: Sequence[Any]) -> NDArray[Any]:
    """Points as an array: numbers (n,), vectors (n, d), sets as indicators (n, u)."""
    if points and isinstance(points[0], frozenset | set):
        universe = sorted(set().union(*points))
        return np.array([[u in part for u in universe] for part in points], dtype=bool)
    return np.array(points, dtype=np.float64)


@lru_cache(maxsize=256)
def _heads(tree: Tree) -> frozenset[str]:
    return frozenset(part.head for part in tree.walk())


@lru_cache(maxsize=256)
def _uses(tree: Tree) -> Counter[Tree]:
    """How often each part is an argument of a part: equal parts are worked out once."""
    uses: Counter[Tree] = Counter([tree])
    seen: set[Tree] = set()
    stack = [tree]
    while stack:
        part = stack.pop()
        if part not in seen:
            seen.add(part)
            uses.update(part.args)
            stack.extend(part.args)
    return uses


def _float(value: Any) -> np.float64:
    try:
        return np.float64(float(value))
    except OverflowError:
        return np.float64(np.inf if value > 0 else -np.inf)


class _Run:
    """One evaluation. A part that only one other needs lends it its memory."""

    def __init__(
        self, tree: Tree, x: NDArray[Any], y: NDArray[Any], parameters: Mapping[str, Any]
    ) -> None:
        self.x, self.y, self.parameters = x, y, parameters
        self.uses = _uses(tree)
        self.left = dict(self.uses)
        self.kept: dict[Tree, Any] = {}

    def take(self, tree: Tree) -> tuple[Any, bool]:
        """The value of a part, and whether the caller may write into it."""
        if not tree.args:
            return self._leaf(tree), False
        uses = self.uses[tree]
        if uses == 1:
            value = self._compute(tree)
            return value, isinstance(value, np.ndarray)
        # Whoever took it first may hold it still, so the last one may not write either.
        value = self.kept[tree] if tree in self.kept else self._compute(tree)
        self.left[tree] -= 1
        if self.left[tree] > 0:
            self.kept[tree] = value
        else:
            self.kept.pop(tree, None)
        return value, False

    def _leaf(self, tree: Tree) -> Any:
        if tree.head == "point":
            return self.x if tree.value == "x" else self.y
        if tree.head in ("pi", "inf"):
            return np.float64(getattr(np, tree.head))
        value = self.parameters[tree.value] if tree.head == "parameter" else tree.value
        return value if isinstance(value, np.ndarray) else _float(value)

    def _compute(self, tree: Tree) -> Any:
        """A part from its arguments, in memory of its own."""
        if tree.head in _PLAIN:
            value, free = self.take(tree.args[0])
            return _PLAIN[tree.head](value, out=value if free else None)
        if tree.head not in _OTHERS:
            raise InvalidInput(f"the formula holds {tree.head!r}, which is no number.")
        return _OTHERS[tree.head](self, tree)

    def _sum(self, tree: Tree) -> Any:
        return self._fold(_FOLDED[tree.head], tree.args)

    def _log(self, tree: Tree) -> Any:
        return logarithm(*self.take(tree.args[0]))

    def _arc(self, tree: Tree) -> Any:
        inner = tree.args[0]
        if tree.head == "acos" and inner.head == "cos":
            # The angle itself, folded: near 0 its cosine has lost half of the digits.
            return folded_angle(self.take(inner.args[0])[0])
        return arc(tree.head, self.take(inner)[0])

    def _divisors(self, tree: Tree) -> Any:
        return divisors(tree.head, [self.take(part)[0] for part in tree.args])

    def _fold(self, operation: Any, args: tuple[Tree, ...]) -> Any:
        """n-ary operations, the small operands first: only the last steps are of full size."""
        parts = sorted((self.take(part) for part in args), key=lambda part: np.size(part[0]))
        return owned(*parts[0]) if len(parts) == 1 else folded(operation, parts)

    def _product(self, tree: Tree) -> Any:
        """Factors; those with the exponent -1 divide, so that x/x is exactly 1."""
        above = tuple(t for t in tree.args if t.head != "power" or t.args[1] != _INVERSE)
        below = tuple(t.args[0] for t in tree.args if t not in above)
        if not below:
            return self._fold(np.multiply, above)
        top = self._fold(np.multiply, above) if above else np.float64(1)
        return divided(top, self._fold(np.multiply, below))

    def _power(self, tree: Tree) -> Any:
        base, exponent = tree.args
        if exponent.head != "number":
            a, b = self.take(base)[0], self.take(exponent)[0]
            return unless((a == 0) & (b < 0), np.power(a, b))
        power = exponent.value
        if base.head == "norm" and base.args[1].value == 2 and power % 2 == 0 and power > 0:
            return whole(self._norm_of(*base.args, root=False), int(power) // 2, free=True)
        value, free = self.take(base)
        size = abs(power)
        if size.denominator == 2 and size.numerator <= MULTIPLIED:
            value = np.sqrt(value, out=value if free else None)
            free, size = isinstance(value, np.ndarray), size * 2
        if size.denominator == 1 and size <= MULTIPLIED:
            value = whole(value, int(size), free=free)
            return value if power >= 0 else divided(np.float64(1), value)
        result = np.power(value, _float(power))
        return result if power > 0 else unless(value == 0, result)

    def _size(self, tree: Tree) -> Any:
        """The number of elements; of a pair of sets by one matrix product."""
        tree = tree.args[0]
        if tree.head in _SETS and len(tree.args) == 2:
            a, b = (self._set(part) for part in tree.args)
            if crossed(a, b):
                both = inner(a.astype(np.float64), b.astype(np.float64))
                if tree.head == "and":
                    return both
                both *= -1 if tree.head == "or" else -2
                both += np.count_nonzero(a, axis=-1)
                both += np.count_nonzero(b, axis=-1)
                return both
        return np.count_nonzero(self._set(tree), axis=-1).astype(np.float64)

    def _set(self, tree: Tree) -> NDArray[np.bool_]:
        if tree.head == "point":
            return np.asarray(self.x if tree.value == "x" else self.y, dtype=np.bool_)
        value = self._set(tree.args[0])
        for part in tree.args[1:]:
            value = _SETS[tree.head](value, self._set(part))
        return value

    def _vector(self, tree: Tree) -> tuple[Any, Any]:
        """Every vector is a x + b y; None where there is no such term."""
        if tree.head == "point":
            return (np.float64(1), None) if tree.value == "x" else (None, np.float64(1))
        if tree.head == "add":
            terms = [self._vector(part) for part in tree.args]
            a, b = (total(column) for column in zip(*terms, strict=True))
            return a, b
        if tree.head != "multiply":
            raise InvalidInput(f"the formula holds {tree.head!r} where a vector stands.")
        vector = next(n for n, part in enumerate(tree.args) if _is_vector(part))
        a, b = self._vector(tree.args[vector])
        rest = tree.args[:vector] + tree.args[vector + 1 :]
        factor = self._fold(np.multiply, rest) if rest else np.float64(1)
        return (None if a is None else a * factor), (None if b is None else b * factor)

    def _coordinates(self, terms: tuple[Any, Any]) -> list[Any]:
        (a, b), d = terms, self.x.shape[-1]
        return [total([times(a, self.x, c), times(b, self.y, c)]) for c in range(d)]

    def _norm(self, tree: Tree) -> Any:
        return self._norm_of(*tree.args)

    def _norm_of(self, tree: Tree, order: Tree, *, root: bool = True) -> Any:
        """The p-norm, a coordinate at a time; without the root, the square of the 2-norm."""
        p = float(self.take(order)[0])
        a, b = self._vector(tree)
        if not p > 0:
            return np.float64(np.nan)
        constant = np.ndim(a) == np.ndim(b) == 0 and (a, b) in ((1, -1), (-1, 1))
        if constant and self.x.ndim == 3 and crossed(self.x, self.y):
            return distances(self.x[:, 0, :], self.y[0], p, root=root)
        parts = self._coordinates((a, b))
        if p == np.inf:
            return folded(np.maximum, [(np.absolute(part), True) for part in parts])
        if p == 2:
            total = folded(np.add, [(np.square(part), True) for part in parts])
            return np.sqrt(total) if root else total
        if p.is_integer() and p <= MULTIPLIED:
            powers = [(whole(np.absolute(part), int(p), free=True), True) for part in parts]
        else:
            powers = [(np.absolute(part) ** p, True) for part in parts]
        total = folded(np.add, powers)
        return np.sqrt(np.sqrt(total)) if p == 4 else total ** (1 / p)

    def _dot(self, tree: Tree) -> Any:
        args = tree.args
        u, v = self._vector(args[0]), self._vector(args[-1])
        A = None if len(args) == 2 else self._matrix(args[1])
        single = [(a, P) for a, P in (*zip(u, (self.x, self.y), strict=True),) if a is not None]
        double = [(b, P) for b, P in (*zip(v, (self.x, self.y), strict=True),) if b is not None]
        if len(single) == len(double) == 1:
            (a, P), (b, Q) = single[0], double[0]
            value = inner(P if A is None else P @ A, Q)
            return value if np.ndim(a) == np.ndim(b) == 0 and a * b == 1 else value * (a * b)
        left, right = self._coordinates(u), self._coordinates(v)
        if A is None:
            return sum(s * t for s, t in zip(left, right, strict=True))
        return sum(A[m, n] * (s * t) for m, s in enumerate(left) for n, t in enumerate(right))

    def _matrix(self, tree: Tree) -> Floats:
        if tree.head == "parameter":
            A = np.array(self.parameters[tree.value], dtype=np.float64)
        else:
            A = np.array([[self.take(e)[0] for e in row.args] for row in tree.args])
        if A.shape != (self.x.shape[-1],) * 2:
            raise InvalidInput(
                f"a matrix of shape {A.shape} does not act on vectors of {self.x.shape[-1]} "
                "coordinates."
            )
        return A


_FOLDED: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}

_SETS: dict[str, Any] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}

_OTHERS: dict[str, Callable[[_Run, Tree], Any]] = {
    **dict.fromkeys(_FOLDED, _Run._sum),
    "multiply": _Run._product,
    "power": _Run._power,
    "log": _Run._log,
    **dict.fromkeys(("acos", "asin"), _Run._arc),
    **dict.fromkeys(("gcd", "lcm"), _Run._divisors),
    "len": _Run._size,
    "norm": _Run._norm,
    "dot": _Run._dot,
}


def _is_vector(tree: Tree) -> bool:
    """Whether a part of a vector formula is itself a vector."""
    if tree.head in ("add", "multiply"):
        return any(_is_vector(part) for part in tree.args)
    return tree.head == "point"
