"""Dense points against dense points: sums over coordinates, then a profile."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.loops import profiles
from mercer.loops.compiled import compiled
from mercer.loops.profiles import finish, shift
from mercer.loops.tiles import ROWS as TILE_ROWS
from mercer.loops.tiles import Slice, Tiles, Workspace, flatten, mirrored
from mercer.loops.vector import (
    ROWS,
    full_width,
    lanes,
    roundings,
    run_length,
    tile_chi2,
    tile_dot,
    tile_manhattan,
    tile_minimum,
    tile_squared,
    wide,
)
from mercer.types import Array, Indices

DOT, SQUARED, MANHATTAN, MINIMUM, CHI2 = range(5)

PANELS = 32
"""Column panels between two finishing passes: the sums of eight rows then still sit in the
first or second cache."""

DIRECT = 9216
"""Columns to fill at once when nothing reads the tile again."""


@dataclass(frozen=True)
class Profile:
    """What becomes of a sum: a kind from `mercer.loops.profiles` and its parameters."""

    kind: int = profiles.RAW
    p: float = 1.0
    q: float = 1.0
    whole: int = 1


@compiled()
def _fill(
    X: Any, Y: Any, operation: Any, profile: Any, p: Any, q: Any, whole: Any, a: Any, b: Any,
    shifted: Any, same: Any, own: Any, width: Any, run: Any, wide_: Any,
    i: Any, j: Any, k: Any, m: Any, out: Any, stride: Any,
) -> None:  # fmt: skip
    """Fill rows i:j and columns k:m of the matrix, into flat `out`."""
    full_width()
    group = PANELS * wide_
    sums = np.empty(ROWS * group, X.dtype)
    zero = p - p
    for c in range(k, m, group):
        stop = min(c + group, m)
        for r in range(i, j, ROWS):
            x = (r // ROWS) * width * ROWS
            for column in range(c, stop, wide_):
                y = (column // wide_) * width * wide_
                s = column - c
                if operation == 0:
                    tile_dot(X, x, Y, y, sums, s, group, width, run)
                elif operation == 1:
                    tile_squared(X, x, Y, y, sums, s, group, width, run)
                elif operation == 2:
                    tile_manhattan(X, x, Y, y, sums, s, group, width, run)
                elif operation == 3:
                    tile_minimum(X, x, Y, y, sums, s, group, width, run)
                else:
                    tile_chi2(X, x, Y, y, sums, s, group, width, run)
            for row in range(r, min(r + ROWS, j)):
                start = (row - r) * group
                part = sums[start : start + stop - c]
                norms = b[c:stop]
                at = (row - i) * stride + (c - k)
                if shifted:
                    shift(part, a[row], norms, zero)
                if same and c <= row < stop:
                    part[row - c] = own[row]
                finish(part, out[at : at + stop - c], profile, p, q, whole, a[row], norms)


@compiled()
def _fill_right(
    X: Any, Y: Any, operation: Any, profile: Any, p: Any, q: Any, whole: Any, a: Any, b: Any,
    shifted: Any, same: Any, own: Any, width: Any, run: Any, wide_: Any,
    i: Any, j: Any, height: Any, span: Any, out: Any, stride: Any, mirror: Any, size: Any,
) -> None:  # fmt: skip
    """Fill rows i:j of a symmetric matrix, from the diagonal on, and what they mirror."""
    for r in range(i, j, height):
        stop = min(r + height, j)
        for c in range(r, len(a), span):
            end = min(c + span, len(a))
            _fill(
                X, Y, operation, profile, p, q, whole, a, b, shifted, same, own, width, run,
                wide_, r, stop, c, end, out[r * stride + c :], stride,
            )  # fmt: skip
            if mirror:
                mirrored(out, stride, r, stop, c, end, size)


class Pairwise(Tiles):
    """`profile(sum_c operation(x_c, y_c))` for dense points.

    Args:
        X: Points, a row each.
        Y: Points of the same width and type; `X` itself makes the matrix symmetric.
        operation: `DOT`, `SQUARED` (differences), `MANHATTAN`, `MINIMUM` or `CHI2`.
        profile: What becomes of the sum.
        norms: A number for each row and each column, for the profiles that use them.
        product: Squared distances as |x|^2 + |y|^2 - 2 x'y, from the squared norms in
            `norms`. The caller has checked that rounding allows it.
        own: The sums of each point with itself, where `Y is X`: the diagonal is exact.
    """

    span = DIRECT
    tall = 4 * TILE_ROWS

    def __init__(
        self,
        X: Array,
        Y: Array,
        operation: int,
        profile: Profile,
        *,
        norms: tuple[Array, Array] | None = None,
        product: bool = False,
        own: Array | None = None,
    ) -> None:
        self.dtype = X.dtype
        self.shape = len(X), len(Y)
        self._wide = wide(self.dtype)
        if product:
            norms = exact_norms(X, Y, norms)
        self._X = pack(X, ROWS, -2.0 if product else 1.0)
        self._Y = pack(Y, self._wide)
        self._missing: NDArray[np.bool_] | None = None
        if operation == MINIMUM and np.isnan(X).any():
            self._missing = np.asarray(np.isnan(X).any(axis=1))
        self._operation, self._width = DOT if product else operation, X.shape[1]
        self._finishing = finishing(self.dtype, len(X), profile, norms, own, product=product)

    def fill(self, rows: Slice, columns: Slice, out: Array, work: Workspace) -> None:
        # Points are packed in panels, and a tile begins with one.
        assert rows[0] % ROWS == 0 == columns[0] % self._wide  # noqa: S101
        flat, stride = flatten(out)
        _fill(
            self._X, self._Y, self._operation, *self._finishing, self._width,
            run_length(self._width), self._wide, *rows, *columns, flat, stride,
        )  # fmt: skip
        if self._missing is not None:
            out[self._missing[slice(*rows)]] = np.nan

    def fill_right(
        self, rows: Slice, height: int, out: Array, work: Workspace, *, mirror: bool
    ) -> None:
        # In one piece: several threads that fill small matrices meet less often.
        if self._missing is not None:
            super().fill_right(rows, height, out, work, mirror=mirror)
            return
        flat, stride = flatten(out)
        _fill_right(
            self._X, self._Y, self._operation, *self._finishing, self._width,
            run_length(self._width), self._wide, *rows, height, self.span, flat, stride,
            mirror, lanes(self.dtype),
        )  # fmt: skip

    def picked(self, rows: Indices, columns: Indices | None = None) -> Pairwise:
        found = copy(self)
        found.shape = len(rows), self.shape[1] if columns is None else len(columns)
        found._X = repack(self._X, ROWS, self._width, rows)
        if columns is not None:
            found._Y = repack(self._Y, self._wide, self._width, columns)
        if self._missing is not None:
            found._missing = self._missing[rows]
        found._finishing = picked_finishing(self._finishing, self.shape[1], rows, columns)
        return found


def finishing(
    dtype: np.dtype[Any],
    rows: int,
    profile: Profile,
    norms: tuple[Array, Array] | None,
    own: Array | None,
    *,
    product: bool,
) -> tuple[Any, ...]:
    """What the compiled loops need to turn sums into values, each of the right type."""
    nothing, cast = np.zeros(1, dtype), dtype.type
    a, b = (np.zeros(rows, dtype), nothing) if norms is None else norms
    return (
        profile.kind,
        cast(profile.p),
        cast(profile.q),
        profile.whole,
        np.ascontiguousarray(a, dtype),
        np.ascontiguousarray(b, dtype),
        product,
        own is not None,
        nothing if own is None else np.ascontiguousarray(own, dtype),
    )


def picked_finishing(
    given: tuple[Any, ...], count: int, rows: Indices, columns: Indices | None
) -> tuple[Any, ...]:
    """What `finishing` says of some of the rows, and some of so many columns."""
    kind, p, q, whole, a, b, product, same, own = given
    if columns is not None and len(b) == count:
        b = b[columns]
    same = same and columns is rows
    return kind, p, q, whole, a[rows], b, product, same, own[rows] if same else own[:1]


def pack(points: Array, size: int, factor: float = 1.0) -> Array:
    """Points, times a factor, in panels of `size`, each panel coordinate by coordinate, flat;
    the last one is filled up with zeros. So a register tile reads memory in order.
    """
    count, width = points.shape
    packed = np.empty(-(-count // size) * width * size, points.dtype)
    _pack(np.ascontiguousarray(points), size, points.dtype.type(factor), packed)
    return packed


@compiled()
def _pack(points: Any, size: Any, factor: Any, packed: Any) -> None:
    """Fill `packed`, panel after panel."""
    count, width = points.shape
    for first in range(0, count, size):
        stop = min(first + size, count)
        panel = packed[first * width : (first + size) * width]
        for c in range(width):
            for row in range(first, stop):
                panel[c * size + row - first] = factor * points[row, c]
            for rest in range(stop - first, size):
                panel[c * size + rest] = 0


def repack(packed: Array, size: int, width: int, chosen: Indices) -> Array:
    """Some of the points that were packed, packed."""
    found = np.empty(-(-len(chosen) // size) * width * size, packed.dtype)
    _repack(packed, size, width, chosen, found)
    return found


@compiled()
def _repack(packed: Any, size: Any, width: Any, chosen: Any, found: Any) -> None:
    """Fill `found`, panel after panel."""
    at = np.empty(size, np.int64)
    for first in range(0, len(chosen), size):
        count = min(size, len(chosen) - first)
        for r in range(count):
            place = chosen[first + r]
            at[r] = place // size * size * width + place % size
        panel = found[first * width : (first + size) * width]
        for c in range(width):
            for r in range(count):
                panel[c * size + r] = packed[at[r] + c * size]
            for r in range(count, size):
                panel[c * size + r] = 0


def exact_norms(
    X: Array, Y: Array, norms: tuple[Array, Array] | None
) -> tuple[Array, Array] | None:
    """Squared norms for the product form. Those of float32 points are there in float64; those
    of float64 points are added up anew, or their roundings would be as many as the features.
    """
    if X.dtype != np.float64:
        return norms

    def rows(points: Array) -> Array:
        starts = np.arange(len(points) + 1) * points.shape[1]
        return squared_norms(np.ascontiguousarray(points).reshape(-1), starts)

    own = rows(X)
    return own, own if Y is X else rows(Y)


def squared_norms(data: Array, starts: NDArray[np.int64]) -> Array:
    """The squared norms of rows of numbers, each right to two units."""
    sums = np.empty(len(starts) - 1)
    _squared_norms(data, starts, sums)
    return sums


@compiled(frozenset())
def _squared_norms(data: Any, starts: Any, sums: Any) -> None:
    """Add up squares, and what is lost in each sum (Knuth). Nothing may be contracted here."""
    for row in range(len(sums)):
        total = lost = 0.0
        for t in range(starts[row], starts[row + 1]):
            square = data[t] * data[t]
            more = total + square
            part = more - total
            lost += (total - (more - part)) + (square - part)
            total = more
        sums[row] = total + lost


def product_is_safe(
    squares: tuple[Array, Array], width: int, slope: float, dtype: np.dtype[Any]
) -> bool:
    r"""Whether |x|^2 + |y|^2 - 2 x'y is exact enough for a profile of this slope.

    Each term of a dot product goes through at most `roundings(width)` roundings, so it is off
    by so many $u\,|x||y|$, and $2|x||y| \le |x|^2+|y|^2$. The norms and the two sums add at
    most $5u(|x|^2+|y|^2)$, rounding centred points to the type at most $2u(|x|^2+|y|^2)$. A
    profile whose slope in the squared distance is at most `slope` turns this into an error of
    its value, which must stay below 2^-40 (float64) or 2^-15 (float32).

    Args:
        squares: The squared norms of the rows and of the columns.
        width: The number of coordinates.
        slope: The largest slope of the profile; infinite for one that has a cusp at zero.
        dtype: The type of the matrix.
    """
    unit = float(np.finfo(dtype).eps) / 2
    largest = float(squares[0].max(initial=0)) + float(squares[1].max(initial=0))
    error = slope * largest * unit * (roundings(width) + 7)
    return bool(error <= (2.0**-40 if dtype == np.float64 else 2.0**-15))
