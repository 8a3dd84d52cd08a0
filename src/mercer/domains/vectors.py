"""Points with coordinates: what a vector is, and what is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.domains.base import Batch, Domain
from mercer.domains.coordinates import DenseBatch, SparseBatch, csr, stored
from mercer.domains.reading import floats_in
from mercer.errors import InvalidInput, InvalidParameter


@dataclass(frozen=True)
class Vectors(Domain):
    """Vectors of real numbers, all of one width.

    Reads arrays, nested lists, tensors, DataFrames of any library and SciPy's sparse
    matrices. float32 stays float32; other numbers become float64.

    Args:
        nonnegative: Do all coordinates have to be at least zero?
        max_width: The largest number of coordinates, if there is one.

    Example:
        >>> batch = Vectors().encode([[1, 2], [3, 4], [1, 2]])
        >>> len(batch), batch.width, batch.identify()
        (3, 2, (array([0, 1, 0]),))
    """

    nonnegative: bool = False
    max_width: int | None = None

    def __post_init__(self) -> None:
        if self.max_width is not None and not self.max_width >= 1:
            raise InvalidParameter(
                f"max_width is a number of coordinates, at least 1, got {self.max_width!r}."
            )

    @property
    def name(self) -> str:
        kind = "non-negative vectors" if self.nonnegative else "vectors"
        limit = self.max_width
        return (
            kind if limit is None else f"{kind} of at most {limit} coordinate{'s'[: limit - 1]}"
        )

    def encode(self, raw: Any) -> DenseBatch | SparseBatch:
        if isinstance(raw, DenseBatch | SparseBatch):
            return self._check(raw)
        if isinstance(raw, Batch):
            raise self.misread(raw)
        batch = read_vectors(raw)
        reject_missing(batch)
        return self._check(batch)

    def _check(self, batch: DenseBatch | SparseBatch) -> DenseBatch | SparseBatch:
        if self.max_width is not None and batch.width > self.max_width:
            raise InvalidInput(
                f"vectors of {batch.width} coordinates are wider than the {self.max_width} for "
                "which this is a kernel.\nSelect columns, or use a kernel for any width, such "
                "as gaussian."
            )
        values = stored(batch)
        if self.nonnegative and values.size and values.min() < 0:
            below = values < 0
            raise InvalidInput(
                f"Negative values in data: {_count(below, batch)} below zero, the first "
                f"{_place(below, batch)}. {self.name[0].upper()}{self.name[1:]} are asked for, "
                "because the kernel is positive definite only there.\n"
                "Shift or clip the data, or use a kernel on all vectors."
            )
        return batch

    def _intersect(self, other: Domain) -> Domain | None:
        if not isinstance(other, Vectors):
            return None
        limits = [d.max_width for d in (self, other) if d.max_width is not None]
        return Vectors(self.nonnegative or other.nonnegative, min(limits, default=None))


def read_vectors(raw: Any, *, line: bool = False) -> DenseBatch | SparseBatch:
    """Raw data as rows of floats, where NaN may still stand for what is missing.

    Args:
        raw: The data.
        line: Are one-dimensional data points on a line? Else they are an error.
    """
    sparse = sp.issparse(raw)
    values, columns = (raw, None) if sparse else floats_in(raw)
    if values.ndim == 1 and (line or values.shape[0] == 0):
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise InvalidInput(_wrong_shape(values.shape))
    for axis, thing in enumerate(("sample", "feature")):
        if values.shape[axis] == 0:
            raise InvalidInput(
                f"0 {thing}(s) (shape={values.shape}) while a minimum of 1 is required.\n"
                "There is nothing to compare: look at the step that selected the data."
            )
    if sparse:
        return SparseBatch(csr(values))
    return DenseBatch(np.ascontiguousarray(values), columns)


def _wrong_shape(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return (
            f"the data are one-dimensional (shape={shape}), and so do not say where one vector "
            "ends.\nReshape your data: reshape(-1, 1) for n points on a line, reshape(1, -1) "
            "for one point; kernels on numbers take it as it is."
        )
    if not shape:
        return (
            "one thing alone is not a list of points.\nReshape your data: pass a matrix with "
            "a row for each point, [[...], [...]]."
        )
    return (
        f"the data have {len(shape)} axes (shape={shape}), and vectors are the rows of a "
        "matrix, which has two.\nReshape your data: reshape(len(X), -1) makes each a row."
    )


def reject_missing(batch: DenseBatch | SparseBatch) -> None:
    """Raise an error where a coordinate is NaN or infinite."""
    values = stored(batch)
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # cheaper than a mask, and nearly always enough
            return
    missing = np.isnan(values)
    if missing.any():
        raise InvalidInput(
            f"{_count(missing, batch)} NaN, that is missing, the first "
            f"{_place(missing, batch)}. A kernel compares values, and there is none.\n"
            "Impute them (sklearn.impute.SimpleImputer) or drop those rows."
        )
    infinite = np.isinf(values)
    if infinite.any():
        raise InvalidInput(
            f"{_count(infinite, batch)} infinite, the first {_place(infinite, batch)}. The "
            "distance to infinity (inf) is no number.\nClip them or drop those rows."
        )


def _count(mask: NDArray[np.bool_], batch: DenseBatch | SparseBatch) -> str:
    found, total = int(mask.sum()), len(batch) * batch.width
    return f"{found} of {total} values {'is' if found == 1 else 'are'}"


def _place(mask: NDArray[np.bool_], batch: DenseBatch | SparseBatch) -> str:
    first = int(mask.argmax())
    if isinstance(batch, DenseBatch):
        row, column = divmod(first, batch.width)
    else:
        row = int(np.searchsorted(batch.matrix.indptr, first, side="right")) - 1
        column = int(batch.matrix.indices[first])
    named = "" if batch.columns is None else f" ({batch.columns[column]!r})"
    return f"at row {row}, column {column}{named}"
