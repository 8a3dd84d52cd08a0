"""Vectors with gaps: NaN stands where a coordinate is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.base import Batch
from mercer.domains.coordinates import DenseBatch, SparseBatch
from mercer.domains.vectors import Vectors, read_vectors, reject_missing


@dataclass(frozen=True)
class Incomplete(Vectors):
    """Vectors of which coordinates may be missing.

    Reads what `Vectors` reads; missing values (NaN, None, pandas' NA) are kept as NaN.

    Example:
        >>> Incomplete().encode([[1.0, None], [3.0, 4.0]]).values
        array([[ 1., nan],
               [ 3.,  4.]])
    """

    @property
    def name(self) -> str:
        return f"{super().name} with gaps"

    def encode(self, raw: Any) -> DenseBatch | SparseBatch:
        if isinstance(raw, Batch):
            if not isinstance(raw, DenseBatch | SparseBatch):
                raise self.misread(raw)
            batch = raw
        else:
            batch = read_vectors(raw)
        reject_missing(_without_gaps(batch))
        return self._check(batch)


def _without_gaps(batch: DenseBatch | SparseBatch) -> DenseBatch | SparseBatch:
    """The same with zeros for what is missing: what else is wrong is found there."""
    if isinstance(batch, SparseBatch):
        return batch
    return DenseBatch(np.where(np.isnan(batch.values), 0.0, batch.values), batch.columns)
