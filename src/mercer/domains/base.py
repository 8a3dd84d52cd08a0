"""What a point is: raw data are encoded once into a `Batch`, and only batches travel on.

A `Domain` is a small immutable value that says which points exist (`Vectors()`,
`Numbers(low=0)`, `Sets()`, ...). `domain.encode(raw)` checks raw data once and returns a
`Batch`: a length, a slice, and a way to find equal points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer.domains.reading import floats_in
from mercer.errors import DomainMismatch, InvalidInput, InvalidType
from mercer.types import Array, Indices


class Batch(ABC):
    """Points of one domain, encoded once.

    A batch has a length, cheap slices (`batch[2:5]`, `batch[indices]`, a mask), and finds
    equal points.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: slice | Indices) -> Self:
        """The points at these positions, as a batch of the same kind."""

    @abstractmethod
    def identify(self, *others: Self) -> tuple[Indices, ...]:
        """Label the points of this batch and of the others so that equal points, and only
        they, share a label. Labels count from 0 in an order that depends on the values of
        the points and not on the order of the rows.
        """

    def raw(self) -> Sequence[Any]:
        """The points one by one, as a user's own function receives them."""
        raise NotImplementedError(f"{type(self).__name__} does not list its points.")

    def shares_memory(self, out: Array) -> bool:
        """May writing to this array change the points?"""
        return any(np.may_share_memory(out, array) for array in _arrays(vars(self).values()))


def _arrays(values: Iterable[Any]) -> Iterator[Any]:
    """The arrays in which a batch keeps its points."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif sp.issparse(value):
            yield value.data
        elif isinstance(value, dict):
            yield from _arrays(value.values())
        elif isinstance(value, Batch):
            yield from _arrays(vars(value).values())
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, np.ndarray))


@dataclass(frozen=True, eq=False)
class Lazy(Sequence[Any]):
    """Points that are made one by one, as they are asked for, and not kept.

    Attributes:
        length: How many there are.
        make: The point at a position.
    """

    length: int
    make: Callable[[int], Any]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, at: Any) -> Any:
        chosen = range(self.length)[at]
        return list(map(self.make, chosen)) if isinstance(at, slice) else self.make(chosen)


class Domain(ABC):
    """The set a kernel lives on. Domains are immutable and compared by value."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The domain in words, for messages: "vectors", "numbers >= 0"."""

    @abstractmethod
    def encode(self, raw: Any) -> Batch:
        """Check raw data and encode it. A batch is checked and returned as it is.

        Raises:
            InvalidInput: The data are not points of this domain.
            InvalidType: The data cannot be read at all.
        """

    def misread(self, batch: Batch) -> InvalidType:
        """The error for a batch that another domain encoded."""
        return InvalidType(
            f"these points are already encoded, as a {type(batch).__name__}, and {self.name} "
            "are asked for.\nA batch keeps only what its own domain reads.\n"
            f"Pass the raw data, or encode them with {self!r}."
        )

    def meet(self, other: Domain) -> Domain:
        """The points that belong to both domains.

        Raises:
            DomainMismatch: No encoding serves both.
        """
        if self == other:
            return self
        both = self._intersect(other) or other._intersect(self)
        if both is None:
            raise DomainMismatch(
                f"one kernel reads {self.name} and the other reads {other.name}: no point "
                "belongs to both.\nTo combine kernels on different parts of a record, say "
                'which column each one reads: k1.on("age") + k2.on("city").'
            )
        return both

    def _intersect(self, other: Domain) -> Domain | None:
        """The common points of this domain and another kind of domain, None if unknown."""
        return None


@dataclass(frozen=True)
class Distinct:
    """Data as a measure: each distinct point once, with its weight.

    Attributes:
        points: The distinct points of positive weight, in canonical order.
        weights: Their weights: the summed weight of all equal rows.
        labels: For each row as it came, its position in `points`, or -1 where its point
            has weight zero.
    """

    points: Batch
    weights: Array
    labels: Indices


def distinct(batch: Batch, weights: Array | None = None) -> Distinct:
    """Merge equal points: weights equal repetition, and the order of rows is forgotten.

    Args:
        batch: The points, row by row.
        weights: A non-negative weight a row, not all zero; by default one each.

    Example:
        >>> from mercer.domains import REALS
        >>> once = distinct(REALS.encode([3.0, 1.0, 3.0]), [1.0, 1.0, 0.5])
        >>> once.points.values.ravel(), once.weights, once.labels
        (array([1., 3.]), array([1. , 1.5]), array([1, 0, 1]))
    """
    rows = len(batch)
    mass = np.ones(rows) if weights is None else _numbers_of(weights)
    if mass.shape != (rows,):
        raise InvalidInput(f"{rows} points need {rows} weights, got shape {mass.shape}.")
    if not (np.isfinite(mass).all() and (mass >= 0).all()):
        raise InvalidInput("weights must be finite and not negative; drop or mend those rows.")
    if not mass.any():
        raise InvalidInput(
            "all weights are zero, and a row of weight zero is no row: nothing is left.\n"
            "Give a positive weight to at least one row."
        )
    (labels,) = batch.identify()
    count = int(labels.max(initial=-1)) + 1
    # Equal points add up from the smallest weight on, so that not even the last digit of
    # the sum depends on the order of the rows.
    order = np.lexsort((mass, labels))
    total = np.bincount(labels[order], mass[order], minlength=count).astype(np.float64)
    if not np.isfinite(total).all():
        raise InvalidInput(
            "the weights of equal points add up to more than 1e308, the largest float.\n"
            "Divide all weights by one number: only their ratios matter."
        )
    first = np.full(count, rows, dtype=np.int64)
    np.minimum.at(first, labels, np.arange(rows))
    kept = np.flatnonzero(total > 0)
    position = np.full(count, -1, dtype=np.int64)
    position[kept] = np.arange(len(kept))
    return Distinct(batch[first[kept]], total[kept], position[labels])


def _numbers_of(weights: Any) -> Array:
    try:
        return floats_in(weights)[0].astype(np.float64)
    except (InvalidInput, InvalidType) as error:
        raise type(error)(
            f"weights are one number a row, and cannot be read: {error}"
        ) from error
