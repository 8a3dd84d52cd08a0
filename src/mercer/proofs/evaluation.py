r"""A formula on two batches of encoded points: what is worked out before, and tile by tile.

Where points are sets, a formula depends on three numbers a pair: how many elements are in x
alone, in y alone and in both. On the sphere the inner product is $1 - |x - y|^2 / 2$, which is
exactly 1 where x = y, and the angle is $2 \operatorname{atan2}(|x - y|, |x + y|)$, which loses
no digits where its cosine is near 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Batch, DenseBatch, SetBatch, SparseBatch, align, same_width
from mercer.errors import InvalidInput
from mercer.proofs.floating import Floats, distances
from mercer.proofs.numeric import evaluate
from mercer.proofs.reading import Formula
from mercer.proofs.trees import Tree, call, number, parameter, point
from mercer.types import Array

UNIT = 2.0**-20
"""How far the length of a vector on a sphere may be from one: it is divided by it."""

# Names that no user can give to a parameter.
_X, _Y, _BOTH = "in x alone", "in y alone", "in both"
_COSINE, _ANGLE = "cosine", "angle"


class Evaluation:
    """A formula on the points of two batches.

    Args:
        formula: The formula.
        values: A number, or the rows of a matrix, for each of its parameters.
        A: The points x, encoded.
        B: The points y.
    """

    def __init__(self, formula: Formula, values: Mapping[str, Any], A: Batch, B: Batch) -> None:
        self.formula, self.values = formula, values
        self.tree = prepared(formula)
        self.kind = formula.space.points_are
        self.X = _points(formula, A, B)
        self.Y = self.X if A is B else _points(formula, B, A)
        self.used = {part.value for part in self.tree.walk() if part.head == "parameter"}
        # A matrix acts on the coordinates as they are numbered.
        self.numbered = any(
            part.head == "dot" and len(part.args) == 3 for part in self.tree.walk()
        )

    def block(self, rows: slice, columns: slice) -> Array:
        """The values between some points and some others."""
        X, Y = self.X[rows], self.Y[columns]
        if self.kind == "set":
            both = (X @ Y.T).toarray()
            alone = _sizes(X)[:, None] - both, _sizes(Y)[None, :] - both
            return self._counted(*alone, both)
        if self.kind != "vector":
            return self._defined(evaluate(self.tree, X[:, None], Y[None, :], self.values))
        X, Y = self._arrays(X, Y)
        known = self._known(X, Y)
        return self._defined(evaluate(self.tree, X[:, None], Y[None], known, wide=True))

    def diagonal(self) -> Array:
        """The values of each point with itself."""
        if self.kind == "set":
            sizes = _sizes(self.X)
            return self._counted(0 * sizes, 0 * sizes, sizes)
        if self.kind != "vector":
            return self._defined(evaluate(self.tree, self.X, self.X, self.values))
        # A few thousand rows at once: sparse ones are written out.
        parts = [slice(start, start + 4096) for start in range(0, self.X.shape[0], 4096)]
        return np.concatenate([self._own(part) for part in parts] or [np.zeros(0)])

    def _own(self, rows: slice) -> Array:
        X, _ = self._arrays(self.X[rows], self.X[rows])
        known = {**self.values, _COSINE: np.ones(len(X)), _ANGLE: np.zeros(len(X))}
        return self._defined(evaluate(self.tree, X, X, known, wide=True))

    def _arrays(self, X: Any, Y: Any) -> tuple[Floats, Floats]:
        """Rows as arrays; of sparse ones without the columns that are zero in all of them."""
        if sparse.issparse(X) and sparse.issparse(Y) and not self.numbered:
            used = np.union1d(X.indices, Y.indices)
            # Without columns every norm is zero, but there has to be one to say so.
            used = used if len(used) else np.zeros(1, dtype=np.int64)
            X, Y = X[:, used], Y[:, used]
        left, right = (P.toarray() if sparse.issparse(P) else P for P in (X, Y))
        return left, right

    def _known(self, X: Floats, Y: Floats) -> dict[str, Any]:
        """The values of the parameters, and what is known of pairs of points."""
        known = dict(self.values)
        if self.formula.space.kind == "sphere" and self.used & {_COSINE, _ANGLE}:
            squares = distances(X, Y, 2, root=False)
            known[_COSINE] = np.maximum(1 - squares / 2, -1)
            if _ANGLE in self.used:
                known[_ANGLE] = 2 * np.arctan2(np.sqrt(squares), distances(X, -Y, 2, root=True))
        return known

    def _counted(self, x: Floats, y: Floats, both: Floats) -> Array:
        known = {**self.values, _X: x, _Y: y, _BOTH: both}
        return self._defined(evaluate(self.tree, both, both, known, wide=False))

    def _defined(self, values: Array) -> Array:
        if np.isnan(values).any():
            raise InvalidInput(
                f"{self.formula} is not defined for some of these points: there it divides by "
                "zero, takes the root or the logarithm of a negative number, or passes "
                "through a number that is too large.\nLeave these points out, or rescale them."
            )
        return values


# ------------------------------------------------------------------------------------ trees


@lru_cache(maxsize=256)
def prepared(formula: Formula) -> Tree:
    """The formula in terms of what is worked out for each pair of points."""
    kind = formula.space.kind
    if kind == "sets":
        return formula.tree.replace(_count)
    return formula.tree.replace(_on_sphere) if kind == "sphere" else formula.tree


def _count(tree: Tree) -> Tree | None:
    """The number of elements of a set that is made of x and y."""
    if tree.head != "len":
        return None
    places = {(True, False): _X, (False, True): _Y, (True, True): _BOTH}
    names = [name for place, name in places.items() if _holds(tree.args[0], *place)]
    if not names:
        return number(0)
    total = parameter(names[0])
    for name in names[1:]:
        total = total + parameter(name)
    return total


def _holds(tree: Tree, x: bool, y: bool) -> bool:
    """Whether a set holds what is in x, or in y, or in both."""
    if tree.head == "point":
        return x if tree.value == "x" else y
    parts = [_holds(part, x, y) for part in tree.args]
    if tree.head == "xor":
        return sum(parts) % 2 == 1
    return all(parts) if tree.head == "and" else any(parts)


def _on_sphere(tree: Tree) -> Tree | None:
    """Inner products, lengths and angles of unit vectors."""
    x, y = point("x"), point("y")
    if tree.head == "norm" and tree.args[0] in (x, y) and tree.args[1] == number(2):
        return number(1)
    if tree in (call("dot", x, x), call("dot", y, y)):
        return number(1)
    if tree in (call("dot", x, y), call("dot", y, x)):
        return parameter(_COSINE)
    if tree.head == "acos" and _on_sphere(tree.args[0]) == parameter(_COSINE):
        return parameter(_ANGLE)
    return None


# ----------------------------------------------------------------------------------- points


def _points(formula: Formula, batch: Batch, other: Batch) -> Any:
    """The points of a batch in double precision: numbers, or the rows of a matrix."""
    if isinstance(batch, SetBatch):
        assert isinstance(other, SetBatch)  # noqa: S101 - of the same domain
        return align(batch, other)[0]
    assert isinstance(batch, DenseBatch | SparseBatch)  # noqa: S101 - the rest are vectors
    assert isinstance(other, DenseBatch | SparseBatch)  # noqa: S101 - the same
    same_width(batch, other)
    values = batch.matrix if isinstance(batch, SparseBatch) else batch.values
    values = values.astype(np.float64, copy=False)
    if formula.space.points_are != "vector":
        return np.mod(values[:, 0], 2 * math.pi) if _is_circle(formula) else values[:, 0]
    return _scaled_to_one(values) if formula.space.kind == "sphere" else values


def _is_circle(formula: Formula) -> bool:
    return formula.space.kind == "circle"


def _scaled_to_one(values: Any) -> Any:
    """Unit vectors divided by their lengths, which rounding moves."""
    if sparse.issparse(values):
        lengths = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
    else:
        lengths = np.linalg.norm(values, axis=1)
    off = ~(np.abs(lengths - 1) <= UNIT)
    if off.any():
        row = int(off.argmax())
        raise InvalidInput(
            f"the kernel lives on unit vectors, and row {row} has the length "
            f"{lengths[row]:.6g}.\nDivide the rows by their lengths."
        )
    if sparse.issparse(values):
        return sparse.csr_array(sparse.diags_array(1 / lengths) @ values)
    return values / lengths[:, None]


def _sizes(members: Any) -> Floats:
    sizes: Floats = np.diff(members.indptr).astype(np.float64)
    return sizes
