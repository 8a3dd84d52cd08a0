"""Kernel values instead of points: a training row is known by its place in the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, Domain
from mercer.errors import InvalidParameter
from mercer.kernels import FunctionKernel
from mercer.loops import Blocks, Tiles
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

GIVEN = 2.0**-17
"""How exact kernel values are that were computed elsewhere, relative to the diagonal: they are
often rounded to single precision."""


@dataclass(frozen=True, eq=False)
class Places(Batch):
    """Rows of the training data, by their places; each is a point of its own."""

    places: Indices

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(self.places[index])

    def raw(self) -> Sequence[Any]:
        return list(self.places.tolist())

    def identify(self, *others: Self) -> tuple[Indices, ...]:
        parts = [self.places, *(other.places for other in others)]
        _, labels = np.unique(np.concatenate(parts), return_inverse=True)
        ends = np.cumsum([len(part) for part in parts])
        return tuple(np.split(labels.astype(np.int64), ends[:-1]))


@dataclass(frozen=True, eq=False)
class Crossed(Batch):
    """New points, by their kernel values against the training rows: a row each."""

    values: Reals

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: slice | Indices) -> Self:
        return type(self)(self.values[index])

    def identify(self, *others: Self) -> tuple[Indices, ...]:
        raise InvalidParameter(
            'new points are known only by kernel values, with kernel="precomputed": nothing '
            "tells whether two of them are equal.\nPass a kernel instead of its values."
        )


@dataclass(frozen=True)
class Given(Domain):
    """What has kernel values against so many training rows."""

    rows: int

    @property
    def name(self) -> str:
        return f"kernel values against {self.rows} training rows"

    def encode(self, raw: Any) -> Batch:
        if isinstance(raw, Places | Crossed):
            return raw
        if isinstance(raw, Batch):
            raise self.misread(raw)
        return Crossed(np.asarray(raw, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class _Lookup:
    """A matrix as the function of two places."""

    matrix: Reals

    def __call__(self, row: int, column: int) -> float:
        return float(self.matrix[row, column])


@dataclass(frozen=True)
class Precomputed(FunctionKernel):
    """A matrix as a kernel between its rows, which nobody has proved to be one."""

    @classmethod
    def of(cls, matrix: Reals) -> Self:
        """The kernel with these values between the training rows."""
        return cls(_Lookup(matrix), points=Given(len(matrix)))

    def __str__(self) -> str:
        return "the precomputed matrix"

    @property
    def matrix(self) -> Reals:
        """The values between the training rows."""
        return self.function.matrix  # type: ignore[attr-defined, no-any-return]

    @property
    def every(self) -> Places:
        """All training rows."""
        return Places(np.arange(len(self.matrix)))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return Blocks((len(A), len(B)), np.dtype(np.float64), self._values(A, B))

    def _values(self, A: Batch, B: Batch) -> Any:
        if isinstance(A, Places) and isinstance(B, Places):
            return lambda rows, columns: self.matrix[np.ix_(A.places[rows], B.places[columns])]
        if isinstance(A, Crossed) and isinstance(B, Places):
            return lambda rows, columns: A.values[rows][:, B.places[columns]]
        if isinstance(A, Places) and isinstance(B, Crossed):
            return lambda rows, columns: B.values[columns][:, A.places[rows]].T
        raise _unknown("between new points")

    def diag(self, A: Batch) -> Array:
        if not isinstance(A, Places):
            raise _unknown("k(x, x) of a new point")
        own: Array = self.matrix[A.places, A.places]
        return own

    def check_finite(self, A: Batch) -> None:
        """The values were checked as they were read."""


def _unknown(what: str) -> InvalidParameter:
    return InvalidParameter(
        f'with kernel="precomputed" no value is known {what}, and it is needed here.\nPass a '
        "kernel instead of its values."
    )
