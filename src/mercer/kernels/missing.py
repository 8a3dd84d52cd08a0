"""Kernels for data with gaps: one that fills them, and one that compares where they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mercer.domains import (
    Anything,
    Batch,
    CategoryBatch,
    DenseBatch,
    Domain,
    Incomplete,
    ObjectBatch,
    SparseBatch,
)
from mercer.domains.reading import is_missing
from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels import parameters
from mercer.kernels.algebra import Power, named
from mercer.kernels.base import Kernel
from mercer.kernels.lifts import Lift
from mercer.kernels.points import float_type
from mercer.loops import Blocks, Tiles
from mercer.types import Array


@dataclass(frozen=True)
class Missing(Kernel):
    r"""Whether both points are there or both are missing, $k(x, y) = 1$ if so, else 0.

    Why it is a kernel (feature map): what is there has the feature (1, 0), and what is missing
    (NaN, None) has the feature (0, 1). A vector is missing if one of its coordinates is.

    Example:
        >>> import mercer as mc
        >>> mc.Missing()(["red", None, "blue"])
        array([[1., 0., 1.],
               [0., 1., 0.],
               [1., 0., 1.]])
    """

    word = "missing"

    @property
    def domain(self) -> Domain:
        return Anything()

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        left = gaps(A)
        right = left if A is B else gaps(B)
        dtype = np.result_type(float_type(A), float_type(B))

        def block(rows: slice, columns: slice) -> Array:
            same: Array = (left[rows, None] == right[None, columns]).astype(dtype)
            return same

        return Blocks((len(A), len(B)), dtype, block)

    def diag(self, A: Batch) -> Array:
        return np.ones(len(A), float_type(A))

    def feature_map(self, A: Batch) -> Array:
        absent = gaps(A)
        return np.stack([~absent, absent], axis=1).astype(float_type(A))


def gaps(points: Batch) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each point, whether it is missing or, if it is a vector, a coordinate of it is."""
    if isinstance(points, DenseBatch):
        found: Any = np.isnan(points.values).any(axis=1)
    elif isinstance(points, CategoryBatch):
        found = np.array([level is None for level in points.levels], dtype=bool)[points.codes]
    elif isinstance(points, ObjectBatch):
        found = np.array([is_missing(item) for item in points.items], dtype=bool)
    else:  # sets and sparse rows are there, be they empty or not
        found = np.zeros(len(points), dtype=bool)
    absent: np.ndarray[Any, np.dtype[np.bool_]] = found
    return absent


@dataclass(frozen=True)
class Filled(Lift):
    r"""A kernel on vectors with gaps, $k(\varphi(x), \varphi(y))$, where $\varphi$ puts a
    number in the place of each coordinate that is missing.

    Why it is a kernel (pullback): its feature map is $\Phi(\varphi(x))$. What is missing is
    NaN; times a kernel such as `Schoenberg(rate, Missing())` on the same column, a number that
    was filled in is told from one that was there.

    Args:
        fill: What stands for a missing coordinate; one number, or one a feature.
        kernel: The kernel $k$, on vectors.

    Example:
        >>> import mercer as mc
        >>> k = mc.Filled(30.0, mc.Gaussian(10.0))
        >>> k([[30.0], [float("nan")]])
        array([[1., 1.],
               [1., 1.]])
    """

    word = "filled"

    fill: float | tuple[float, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        fill: Any = self.fill
        many = isinstance(fill, Iterable) and not isinstance(fill, str)
        given = tuple(fill) if many else (fill,)
        numbers = tuple(parameters.number("Filled", "fill", value) for value in given)
        if not numbers:
            raise InvalidParameter("Filled needs a number for what is missing: Filled(0.0, k).")
        object.__setattr__(self, "fill", numbers if many else numbers[0])
        self.domain  # noqa: B018 - a kernel that reads no vectors is refused now

    @property
    def domain(self) -> Domain:
        inner = self.kernel.domain.meet(Incomplete())  # raises where these are no vectors
        known = {field.name: getattr(inner, field.name) for field in fields(Incomplete)}
        return Incomplete(**known)

    def rooted(self, exponent: float) -> Kernel:
        return Filled(self.fill, Power(exponent, self.kernel))

    def _image(self, A: Batch) -> Batch:
        if isinstance(A, SparseBatch):
            return self.kernel.domain.encode(A)
        values = A.values  # type: ignore[attr-defined]
        if isinstance(self.fill, tuple) and len(self.fill) != values.shape[1]:
            raise InvalidInput(
                f"{self} fills {len(self.fill)} features, and the points have "
                f"{values.shape[1]}.\nGive one number, or one for each feature."
            )
        absent = np.isnan(values)
        if absent.any():
            values = np.where(absent, np.asarray(self.fill, dtype=values.dtype), values)
        return self.kernel.domain.encode(DenseBatch(values, A.columns))  # type: ignore[attr-defined]

    def _images(self, A: Batch, B: Batch) -> tuple[Batch, Batch]:
        image = self._image(A)
        return image, (image if A is B else self._image(B))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return self.kernel.tiles(*self._images(A, B))

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        return self.kernel.normalized_tiles(*self._images(A, B))

    def diag(self, A: Batch) -> Array:
        return self.kernel.diag(self._image(A))

    def check_finite(self, A: Batch) -> None:
        self.kernel.check_finite(self._image(A))

    def feature_map(self, A: Batch) -> Array:
        return self.kernel.feature_map(self._image(A))

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        slope = self.kernel.gradient_block(*self._images(A, B))
        if isinstance(A, DenseBatch):  # what is not there cannot move
            slope = np.where(np.isnan(A.values)[:, None, :], 0.0, slope)
        return slope

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        return named("kernel", self.kernel.parameter_block(*self._images(A, B)))
