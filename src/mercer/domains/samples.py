"""Raw data as a measure: what a machine learns from.

Equal rows are one row with their summed weight, weight zero is no row, and rows have a
canonical order. So weights equal repetition, the order of rows never matters, and what is
learned is the same for data that are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, RecordBatch, distinct
from mercer.errors import InvalidInput, InvalidType
from mercer.types import Array, Indices

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """The distinct rows of positive weight.

    Attributes:
        points: Their points.
        targets: Their targets, a row each, or None.
        weights: Their weights.
        labels: For each row as it came, its place among them; -1 for a row of weight zero.
        shares: For each row as it came, its part of the weight of its distinct row.
    """

    points: Batch
    targets: Reals
    weights: Reals
    labels: Indices
    shares: Reals

    def __len__(self) -> int:
        return len(self.weights)

    def weighted(self, factors: Reals, targets: Reals) -> Sample:
        """The same rows with their weights times positive factors, and with other targets."""
        return replace(self, weights=self.weights * factors, targets=targets)

    def as_they_came(self, values: Array, *, share: bool = False) -> Array:
        """Numbers of the distinct rows, told for the rows as they came; 0 for those of weight
        zero. A `share` of a number goes to each of the rows that were merged.
        """
        told = np.where(
            (self.labels >= 0)[(...,) + (None,) * (values.ndim - 1)], values[self.labels], 0
        )
        if not share:
            return told
        shared: Array = told * self.shares.reshape(-1, *[1] * (values.ndim - 1))
        return shared


def as_sample(points: Batch, targets: Array | Indices | None, weights: Any) -> Sample:
    """The measure that points, targets and weights describe.

    Raises:
        InvalidInput: A weight is negative or not finite, or all are zero.
    """
    rows = len(points)
    told: Reals = np.zeros((rows, 0))
    parts: dict[Any, Batch] = {"points": points}
    if targets is not None:
        told = np.ascontiguousarray(targets.reshape(rows, -1), dtype=np.float64)
        parts["targets"] = DenseBatch(told)
    given = None if weights is None else checked_weights(weights, rows)
    try:
        once = distinct(RecordBatch(parts, rows), given)
        kept, mass, labels = once.points, once.weights, once.labels
        places = np.full(len(mass), rows)
        ordered = np.flatnonzero(labels >= 0)
        np.minimum.at(places, labels[ordered], ordered)
        chosen = kept.columns["points"]  # type: ignore[attr-defined]
    except InvalidType:  # nothing tells these objects apart
        mass = np.ones(rows) if given is None else given
        places = np.flatnonzero(mass > 0)
        if not places.size:
            raise InvalidInput(_NOTHING) from None
        labels = np.full(rows, -1, dtype=np.int64)
        labels[places] = np.arange(len(places))
        chosen, mass = points[places], mass[places]
    own = np.ones(rows) if given is None else given
    total = np.where(labels >= 0, mass[labels], 1.0)
    return Sample(
        chosen, told[places], as_reals(mass), labels, np.where(labels >= 0, own / total, 0.0)
    )


def as_reals(values: Array) -> Reals:
    """The numbers in double precision."""
    reals: Reals = values.astype(np.float64, copy=False)
    return reals


_NOTHING = (
    "all weights are zero, and a row of weight zero is no row: nothing is left.\nGive a "
    "positive weight to at least one row."
)


def checked_weights(given: Any, rows: int) -> Reals:
    """A weight for each row, finite and not negative.

    Raises:
        InvalidInput: They are not.
    """
    weights = np.asarray(given, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise InvalidInput(
            f"{rows} rows need as many weights: sample_weight.shape == {weights.shape}, "
            f"expected ({rows},)."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InvalidInput(
            f"weights are finite and not negative, and row {bad} has {weights[bad]}.\nDrop "
            "that row, or mend its weight."
        )
    return weights
