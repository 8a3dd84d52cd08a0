r"""What a table is made of, when its kernel is to be found: numbers, and what is compared.

The kernel of a table is a product,

$$k(x, y) = p(x_{\text{numbers}}, y_{\text{numbers}})\,
  \exp\left(-\sum_c r_c\, d_c(x_c, y_c)^2\right),$$

where $p$ has one length a feature and fills gaps with the mean, and $d_c$ is the distance in
the feature space of a plain kernel on column c: of `Delta` for labels, of `Jaccard` for sets,
of `Missing` for gaps among numbers. It is the kernel that columns of ones and zeros would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import (
    Batch,
    CategoryBatch,
    DenseBatch,
    ObjectBatch,
    RecordBatch,
    SetBatch,
    SparseBatch,
)
from mercer.domains.reading import is_missing
from mercer.errors import InvalidType
from mercer.kernels import (
    Bias,
    Delta,
    Filled,
    Gaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Missing,
    Schoenberg,
)

Reals = NDArray[np.float64]

FAMILIES: dict[str, Any] = {"gaussian": Gaussian, "matern": Matern, "laplacian": Laplacian}
"""The kernels of numbers that are tried: smooth, rougher, and one feature at a time."""

DIGITS = 4
"""Digits of a length: more would pretend to know it."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of points, and their spread.

    Attributes:
        names: The columns that they come from; None where the points are vectors.
        values: A row a point, gaps filled by the mean.
        fills: The weighted means.
        spreads: The weighted standard deviations; 1 where a feature does not move.
        moving: Which features move.
        has_gaps: Whether a number may be missing.
    """

    names: tuple[Any, ...] | None
    values: Reals
    fills: Reals
    spreads: Reals
    moving: NDArray[np.bool_]
    has_gaps: bool


@dataclass(frozen=True, eq=False)
class Compared:
    """A column that is compared as a whole.

    Attributes:
        name: The column.
        leaf: The plain kernel on it.
        unit: The squared distance of two points that are not alike.
    """

    name: Any
    leaf: Kernel
    unit: float

    def kernel(self) -> Kernel:
        """The plain kernel, on the table."""
        return self.leaf.on(self.name)


@dataclass(frozen=True, eq=False)
class Parts:
    """What points are made of.

    Attributes:
        numbers: Their numbers, None if they have none that move.
        compared: What is compared column by column.
        ignored: The columns that tell nothing, and why.
        first: A column, for the kernel of a table that tells nothing at all.
    """

    numbers: Numbers | None
    compared: tuple[Compared, ...] = ()
    ignored: tuple[tuple[Any, str], ...] = ()
    first: Any = None

    @property
    def moving(self) -> int:
        """How many features move."""
        return 0 if self.numbers is None else int(self.numbers.moving.sum())

    def start(self, family: str, exponent: float) -> Reals:
        """Logarithms of inverse lengths, in units of the spreads, and of the rates: all alike,
        times 2^exponent. Two typical points are at a distance of about sqrt(2).
        """
        width = max(self.moving + len(self.compared), 1)
        if family == "laplacian":
            length, rate = np.log(width) + exponent * np.log(2), exponent * np.log(2)
        else:
            length, rate = 0.5 * np.log(width) + exponent * np.log(2), exponent * np.log(4)
        logs: Reals = np.full(self.moving + len(self.compared), -np.log(width) - rate)
        logs[: self.moving] = -length
        return logs

    def kernel(self, family: str, logs: Reals) -> Kernel:
        """The kernel with these lengths and rates."""
        factors: list[Kernel] = []
        if self.numbers is not None:
            factors.append(_of_numbers(self.numbers, family, logs[: self.moving]))
        rates = np.exp(logs[self.moving :])
        terms = [
            _rounded(2 * rate / part.unit) * part.kernel()
            for part, rate in zip(self.compared, rates, strict=True)
        ]
        if terms:
            factors.append(Schoenberg(1.0, reduce(add, terms)))
        if not factors:
            return Bias().on(self.first) if self.first is not None else Bias()
        return factors[0] if len(factors) == 1 else factors[0] * factors[1]


def _of_numbers(numbers: Numbers, family: str, logs: Reals) -> Kernel:
    # A feature that stood still gets the typical length of the others: should it move one
    # day, it counts as they do.
    inverse = np.full(len(numbers.spreads), np.median(logs) if logs.size else 0.0)
    inverse[numbers.moving] = logs
    lengths = tuple(_rounded(s) for s in numbers.spreads * np.exp(-inverse))
    kernel: Kernel = FAMILIES[family](scale=lengths if len(lengths) > 1 else lengths[0])
    if numbers.has_gaps:
        fills = tuple(_rounded(f, 6) for f in numbers.fills)
        kernel = Filled(fills if len(fills) > 1 else fills[0], kernel)
    return kernel if numbers.names is None else kernel.on(*numbers.names)


def _rounded(value: float, digits: int = DIGITS) -> float:
    return float(f"{value:.{digits}g}")


# ------------------------------------------------------------------------- what points are


def parts_of(points: Batch, weights: Reals) -> Parts | None:
    """The parts of vectors, or of the rows of a table; None for other points.

    Raises:
        InvalidType: A column holds what has no kernel to start from.
    """
    if isinstance(points, SparseBatch):
        return Parts(_sparse(points, weights))
    if isinstance(points, DenseBatch):
        return Parts(_described(None, points.values.astype(np.float64), weights))
    return _of_table(points, weights) if isinstance(points, RecordBatch) else None


def _of_table(table: RecordBatch, weights: Reals) -> Parts:
    names, blocks = [], []
    compared: list[Compared] = []
    ignored: list[tuple[Any, str]] = []
    positions: dict[Any, Any] = {name: at for at, name in enumerate(table.columns)}
    if all(isinstance(name, str) for name in positions):
        positions = {name: name for name in positions}
    for column, part in table.columns.items():
        name: Any = positions[column]
        if isinstance(part, DenseBatch):
            values = part.values.astype(np.float64)
            gaps = np.isnan(values).any(axis=1)
            if gaps.any() and not gaps.all():
                compared.append(Compared(name, Missing(), 2.0))
            if _described(None, values, weights).moving.any():
                names.append(name)
                blocks.append(values)
            elif not (gaps.any() and not gaps.all()):
                ignored.append((column, "nothing but gaps" if gaps.all() else "constant"))
            continue
        leaf, why = _leaf(column, part)
        if leaf is None:
            ignored.append((column, why))
        else:
            unit = _unit(part, weights) if isinstance(part, SparseBatch) else 2.0
            compared.append(Compared(name, leaf, unit))
    numbers = None
    if blocks:
        numbers = _described(tuple(names), np.hstack(blocks), weights)
    return Parts(numbers, tuple(compared), tuple(ignored), next(iter(positions.values())))


def _described(names: Any, values: Reals, weights: Reals) -> Numbers:
    """Means and spreads of the numbers that are there. Weights count as repetition."""
    there = ~np.isnan(values)
    mass = np.where(there, weights[:, None], 0.0)
    total = mass.sum(axis=0)
    share = mass / np.where(total > 0, total, 1.0)
    mean = (share * np.where(there, values, 0.0)).sum(axis=0)
    apart = np.where(there, values - mean, 0.0)
    # Divided by the largest, for squares may leave the range of numbers.
    largest = np.abs(apart).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    spread = unit * np.sqrt((share * (apart / unit) ** 2).sum(axis=0))
    low = np.where(there, values, np.inf).min(axis=0)
    moving = (np.where(there, values, -np.inf).max(axis=0) > low) & (spread > 0)
    return Numbers(
        names,
        np.where(there, values, mean),
        mean,
        np.where(moving, spread, 1.0),
        moving,
        # A table is read by columns, and a gap may come later: it is filled then.
        has_gaps=names is not None,
    )


def _sparse(points: SparseBatch, weights: Reals) -> Numbers:
    share = weights / weights.sum()
    mean = np.asarray(points.matrix.T @ share).ravel()
    squares = np.asarray(points.matrix.multiply(points.matrix).T @ share).ravel()
    spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
    moving = spread > 1e-12 * np.maximum(np.abs(mean), np.finfo(float).tiny)
    return Numbers(
        None, np.empty((0, len(mean))), mean, np.where(moving, spread, 1.0), moving,
        has_gaps=False,
    )  # fmt: skip


def _unit(part: SparseBatch, weights: Reals) -> float:
    """The squared distance of two typical rows: twice the sum of the variances."""
    numbers = _sparse(part, weights)
    return float(2 * (numbers.spreads[numbers.moving] ** 2).sum()) or 1.0


def _leaf(column: Any, part: Batch) -> tuple[Kernel | None, str]:
    """A plain kernel on a column; or None, and why the column tells nothing."""
    if isinstance(part, SetBatch):
        return Jaccard(), ""
    if isinstance(part, SparseBatch):
        return Linear(), ""
    if isinstance(part, CategoryBatch):
        return _of_labels(part)
    items = part.items if isinstance(part, ObjectBatch) else ()
    first = next((item for item in items if not is_missing(item)), None)
    if isinstance(part, ObjectBatch) and first is None:
        return None, "nothing but gaps"
    kind = "other things" if first is None else f"objects such as a {type(first).__name__}"
    raise InvalidType(
        f'column {column!r} holds {kind}, and kernel="auto" reads numbers, labels and sets.\n'
        "Make numbers of dates and durations (days since the first), drop the column, or pass "
        'a kernel that reads it, as in mercer.from_function(f).on("column").'
    )


def _of_labels(part: CategoryBatch) -> tuple[Kernel | None, str]:
    if all(level is None for level in part.levels):
        return None, "nothing but gaps"
    counts = np.bincount(part.codes, minlength=len(part.levels))
    occurring = int((counts > 0).sum())
    if occurring <= 1:
        return None, "constant"
    if occurring == len(part) > 2:
        return None, "different in every row"
    return Delta(), ""
