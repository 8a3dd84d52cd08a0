r"""A proved formula as a kernel: it evaluates in tiles, composes, and carries its proof."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.domains import (
    NATURALS,
    NONNEGATIVE,
    POSITIVE,
    REALS,
    Batch,
    DenseBatch,
    Domain,
    SetBatch,
    Sets,
    SparseBatch,
    Vectors,
    align,
    interval,
    same_width,
)
from mercer.errors import InvalidInput, InvalidParameter, NotAKernel, NoTextForm
from mercer.kernels.base import Kernel
from mercer.kernels.parameters import number
from mercer.kernels.proof import Proof
from mercer.kernels.terms import Term
from mercer.loops import Blocks, Tiles
from mercer.proofs.numeric import evaluate
from mercer.proofs.reading import Formula, read
from mercer.proofs.search import Search
from mercer.proofs.theorems import claim
from mercer.types import Array

SECONDS = 10.0
"""How long a proof is searched for when a kernel is built from a text."""

UNIT = 2.0**-20
"""How far the length of a vector on a sphere may be from one."""


@lru_cache(maxsize=512)
def proved(text: str, domain: str, given: str, seconds: float = SECONDS) -> Proof | None:
    """A proof of a formula, searched for once."""
    return Search(read(text, domain, given), time.monotonic() + seconds).prove()


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
        values: A number for each parameter: a dict, or pairs.

    Example:
        >>> import mercer as mc
        >>> k = mc.FormulaKernel("min(x, y) / max(x, y)", "positive")
        >>> k.pair(2.0, 8.0)
        0.25
        >>> (k + mc.Min()).pair(2.0, 8.0)
        2.25
    """

    word = "formula"

    expression: str
    where: str = "reals"
    given: str = ""
    values: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        formula = read(self.expression, self.where, self.given)
        object.__setattr__(self, "expression", str(formula.tree))
        object.__setattr__(self, "where", str(formula.space))
        object.__setattr__(self, "given", str(formula.given))
        pairs = self.values.items() if isinstance(self.values, Mapping) else self.values
        object.__setattr__(self, "values", _checked(formula, dict(pairs)))
        if proved(self.expression, self.where, self.given) is None:
            raise NotAKernel(
                f"{self.expression} is not proved to be positive definite on {formula.space.in_words}."
                "\nmercer.prove says what is known; mercer.from_function takes a function on "
                "your word."
            )

    @property
    def formula(self) -> Formula:
        """The formula, read."""
        return _read(self.expression, self.where, self.given)

    @property
    def domain(self) -> Domain:
        space = self.formula.space
        match space.kind:
            case "interval":
                assert space.low is not None  # noqa: S101 - an interval has two ends
                assert space.high is not None  # noqa: S101 - the same
                return interval(float(space.low), float(space.high))
            case "vectors" | "sphere":
                return Vectors(max_width=space.dimension)
            case "sets":
                return Sets()
        numbers = {"positive": POSITIVE, "nonnegative": NONNEGATIVE, "naturals": NATURALS}
        return numbers.get(space.kind, REALS)

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        X, Y = self._points(A, B)

        def block(rows: slice, columns: slice) -> Array:
            x, y = _array(X[rows]), _array(Y[columns])
            return self._defined(
                evaluate(self.formula.tree, x[:, None], y[None], self._given())
            )

        return Blocks((len(A), len(B)), np.dtype(np.float64), block)

    def diag(self, A: Batch) -> Array:
        points = _array(self._points(A, A)[0])
        return self._defined(evaluate(self.formula.tree, points, points, self._given()))

    def term(self) -> Term:
        parts = (("text", self.expression), ("domain", self.where), ("given", self.given))
        return Term(self.word, parts)

    def proof(self) -> Proof:
        found = proved(self.expression, self.where, self.given)
        assert found is not None  # noqa: S101 - or the kernel would not have been built
        return found if found.claim == self.term() else _about(found, self.formula)

    def text(self) -> str:
        raise NoTextForm(
            f"{self} is proved anew when it is built, and a text alone proves nothing.\nPickle "
            "it, or call mercer.FormulaKernel with the same formula."
        )

    def _given(self) -> dict[str, float]:
        return dict(self.values)

    def _points(self, A: Batch, B: Batch) -> tuple[Any, Any]:
        """The points of two batches, in the shape that formulas are evaluated in."""
        if isinstance(A, SetBatch) and isinstance(B, SetBatch):
            X, Y = align(A, B)
            return X, X if A is B else Y
        assert isinstance(A, DenseBatch | SparseBatch)  # noqa: S101 - the domain encodes these
        assert isinstance(B, DenseBatch | SparseBatch)  # noqa: S101 - the same
        same_width(A, B)
        X, Y = (self._coordinates(batch) for batch in (A, B))
        return X, X if A is B else Y

    def _coordinates(self, batch: DenseBatch | SparseBatch) -> Any:
        values = batch.matrix if isinstance(batch, SparseBatch) else batch.values
        space = self.formula.space
        if space.points_are in ("number", "angle"):
            flat = np.asarray(values, dtype=np.float64)[:, 0]
            return np.mod(flat, 2 * math.pi) if space.kind == "circle" else flat
        if space.kind == "sphere":
            lengths = (
                np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
                if isinstance(batch, SparseBatch)
                else np.linalg.norm(values, axis=1)
            )
            off = np.abs(lengths - 1) > UNIT
            if off.any():
                raise InvalidInput(
                    f"{self} lives on unit vectors, and row {int(off.argmax())} has the length "
                    f"{lengths[off.argmax()]:.6g}.\nDivide the rows by their lengths."
                )
        return values

    def _defined(self, values: Array) -> Array:
        if np.isnan(values).any():
            raise InvalidInput(
                f"{self.expression} is not defined for some of these points: it divides by zero, or "
                "takes the root or the logarithm of a negative number there.\nLeave them out."
            )
        return values


@lru_cache(maxsize=512)
def _read(text: str, domain: str, given: str) -> Formula:
    return read(text, domain, given)


def _about(found: Proof, formula: Formula) -> Proof:
    return type(found)(
        found.rule, claim(str(formula.tree), formula), found.premises, found.property
    )


def _array(points: Any) -> Any:
    """Rows as an array: dense numbers, or the indicators of sets."""
    return points.toarray() if hasattr(points, "toarray") else points


def _checked(formula: Formula, values: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """A number for each parameter, within its bounds."""
    names = [name for name, _ in formula.given.numbers]
    used = {part.value for part in formula.tree.walk() if part.head == "parameter"}
    if formula.given.matrices and used & set(formula.given.matrices):
        raise InvalidParameter(
            "a kernel from a formula takes numbers, and this one has a matrix.\nWrite its "
            "entries, as in dot(x, [[2, 1], [1, 2]], y), or use mercer.Linear(metric=A)."
        )
    missing = [name for name in names if name in used and name not in values]
    unknown = [name for name in values if name not in names]
    if missing or unknown:
        said = (
            f"no value for {', '.join(missing)}" if missing else f"no parameter {unknown[0]!r}"
        )
        raise InvalidParameter(
            f"{formula} has {said}.\nGive values={{{', '.join(f'{n!r}: ...' for n in names)}}}."
        )
    found = []
    for name in names:
        if name not in values:
            continue
        value = number(str(formula), name, values[name])
        bounds = formula.given.bounds(name)
        low = bounds.low is not None and not (
            value > bounds.low or (value == bounds.low and not bounds.open_low)
        )
        high = bounds.high is not None and not (
            value < bounds.high or (value == bounds.high and not bounds.open_high)
        )
        if low or high or (bounds.whole and not value.is_integer()):
            raise NotAKernel(
                f"{formula} is proved for {bounds.says(name)}, and {name} = {value:g} is not so."
            )
        found.append((name, value))
    return tuple(found)
