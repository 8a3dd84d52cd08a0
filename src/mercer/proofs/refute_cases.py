r"""The cases of a formula that are worth a search, and the eigenvalues of their matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.proofs.admissible import allowed
from mercer.proofs.assumptions import Bounds
from mercer.proofs.exact import Matrix
from mercer.proofs.floating import Floats
from mercer.proofs.numeric import evaluate
from mercer.proofs.reading import Formula

_MOST = 16
"""Cases of one formula."""

_PLAIN = tuple(
    Fraction(text) for text in ("1", "2", "1/2", "3", "-1", "10", "1/10", "0", "5/2")
)

_EVERY = (1, 2, 3, 5, 8, 16)
"""Dimensions that stand for all, small and large."""


NOISE = 1e-13
"""A guess at the rounding errors of a normalised Gram matrix. It decides what is looked at more
closely, never what is believed."""


@dataclass(frozen=True)
class Case:
    """A formula with a value for each of its parameters."""

    formula: Formula
    parameters: Mapping[str, Fraction | Matrix]

    @property
    def wide(self) -> bool:
        """Whether a point is a row of coordinates."""
        return self.formula.space.points_are in ("vector", "set")

    def gram(self, P: NDArray[Any]) -> Floats:
        """The Gram matrix of an arrangement, or of each one in a batch, made symmetric."""
        x, y = (
            (P[..., :, None, :], P[..., None, :, :])
            if self.wide
            else (P[..., None], P[..., None, :])
        )
        K = self.values(x, y)
        with np.errstate(all="ignore"):
            return np.asarray(K / 2 + np.swapaxes(K, -1, -2) / 2)

    def values(self, x: NDArray[Any], y: NDArray[Any]) -> Floats:
        """The function at points that are broadcast against each other."""
        return evaluate(self.formula.tree, x, y, self.parameters, wide=self.wide)


def normalised(K: Floats) -> tuple[Floats, Floats]:
    """The matrix with a diagonal of ones where it was positive, and what rows were divided by.

    Zeros on the diagonal stay, and so do negative signs.
    """
    with np.errstate(all="ignore"):
        size = np.absolute(np.diagonal(K, axis1=-2, axis2=-1))
        most = np.max(size, axis=-1, keepdims=True, initial=0)
        size = np.where(size > 0, size, np.where(most > 0, most, 1))
        root = np.sqrt(size)
        return K / root[..., :, None] / root[..., None, :], root


def lowest(K: Floats) -> Floats:
    """The smallest eigenvalue of each normalised matrix; inf where an entry is no number."""
    N, _ = normalised(K)
    good = np.isfinite(N).all(axis=(-2, -1))
    if good.all():
        return np.asarray(np.linalg.eigvalsh(N)[..., 0])
    found = np.full(good.shape, np.inf)
    if good.any():
        found[good] = np.linalg.eigvalsh(N[good])[..., 0]
    return found


def finite(P: NDArray[Any], K: Floats) -> tuple[NDArray[Any], Floats]:
    """The points without those at which the function is undefined or too large."""
    bad = ~np.isfinite(normalised(K)[0])
    keep = ~np.diagonal(bad)
    bad = bad[np.ix_(keep, keep)]
    P, K = P[keep], K[np.ix_(keep, keep)]
    while bad.any():
        worst = int(np.argmax(bad.sum(axis=0)))
        rest = np.delete(np.arange(len(P)), worst)
        P, K, bad = P[rest], K[np.ix_(rest, rest)], bad[np.ix_(rest, rest)]
    return P, K


def cases(formula: Formula) -> list[Case]:
    """The formula with a few values for each parameter; all of them are allowed."""
    given = formula.given
    choices: list[list[tuple[str, Fraction | Matrix]]] = [
        [(name, value) for value in _values(bounds)] for name, bounds in given.numbers
    ]
    size = _matrix_size(formula) or formula.space.dimension or 2
    choices += [[(name, matrix) for matrix in _matrices(size)] for name in given.matrices]
    ranks = product(*(range(len(choice)) for choice in choices))
    ranked = sorted(islice(ranks, 4096), key=lambda rank: (sum(rank), rank))
    return [
        Case(formula, dict(choice[n] for choice, n in zip(choices, rank, strict=True)))
        for rank in ranked[:_MOST]
    ]


def _values(bounds: Bounds) -> list[Fraction]:
    """The ends of what is allowed, its middle, and simple numbers in it."""
    tries: list[Fraction] = []
    low, high = bounds.low, bounds.high
    if high is not None:
        tries += [high, high - Fraction(1, 100)]
    if low is not None:
        tries += [low, low + Fraction(1, 100)]
    if low is not None and high is not None:
        tries.insert(2, (low + high) / 2)
    tries[2:2] = _PLAIN
    inside = [value for value in dict.fromkeys(tries) if allowed(value, bounds)]
    if not inside and low is not None and high is not None and not bounds.whole:
        inside = [low + (high - low) * Fraction(k, 16) for k in (15, 8, 1)]
    if not inside:
        start = low if low is not None else (high - 3 if high is not None else Fraction(0))
        wholes = [Fraction(start.__ceil__() + k) for k in range(4)]
        inside = [value for value in wholes if allowed(value, bounds)]
    return inside[:8]


def _matrices(size: int) -> list[Matrix]:
    """A few p.s.d. matrices: the identity, one of rank one, and others between them."""
    zero, one = Fraction(0), Fraction(1)
    n = range(size)
    return [
        tuple(tuple(one if i == j else zero for j in n) for i in n),
        tuple(tuple(one for _ in n) for _ in n),
        tuple(tuple(Fraction(2 * i + 1) if i == j else zero for j in n) for i in n),
        tuple(tuple(Fraction(2) if i == j else one for j in n) for i in n),
        tuple(tuple(one if i == j == 0 else zero for j in n) for i in n),
    ]


def _matrix_size(formula: Formula) -> int | None:
    """The dimension on which the matrices of a formula act."""
    sizes = [len(part.args) for part in formula.tree.walk() if part.head == "matrix"]
    return sizes[0] if sizes else None


def dimensions(formula: Formula) -> tuple[int | None, ...]:
    """The dimensions to search in; None alone where points are no vectors."""
    where = formula.space
    if where.points_are != "vector":
        return (None,)
    if where.dimension is not None:
        return (where.dimension,)
    size = _matrix_size(formula)
    if size is not None or formula.given.matrices:
        return (size or 2,)
    return _EVERY[1:] if where.kind == "sphere" else _EVERY
