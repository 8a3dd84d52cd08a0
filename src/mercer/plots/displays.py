"""Displays: each holds the numbers of one picture, and draws it on axes of your choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.domains import Categories, DenseBatch, SparseBatch, Vectors
from mercer.errors import InvalidInput
from mercer.functions import distance_to_set, gap
from mercer.functions.batches import coordinates
from mercer.kernels import Kernel, kernel
from mercer.plots.axes import contours, grid, line, new_axes
from mercer.types import Array, Indices


@dataclass
class GramDisplay:
    """A Gram matrix as an image.

    Attributes:
        matrix: The matrix, rows in the order shown.
        groups: The position at which each group of rows ends, and its name.
    """

    matrix: Array
    groups: tuple[tuple[int, str], ...] = ()
    title: str = ""

    @classmethod
    def from_kernel(cls, k: Kernel | str, X: Any, labels: Any = None, ax: Any = None) -> Self:
        """Compute and draw. `labels` groups the rows, so that blocks become visible.

        Args:
            k: A kernel, or its text.
            X: Points of its domain.
            labels: A label a point.
            ax: Axes to draw on; by default new ones.
        """
        k = kernel(k)
        matrix = k(X)
        if labels is None:
            return cls(matrix, title=str(k)).plot(ax)
        names, codes = grouped(labels)
        if len(codes) != len(matrix):
            raise InvalidInput(
                f"{len(matrix)} points need {len(matrix)} labels, got {len(codes)}."
            )
        order: Indices = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes))
        groups = tuple((int(end), str(name)) for end, name in zip(ends, names, strict=True))
        return cls(matrix[np.ix_(order, order)], groups, str(k)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.6, 4.8)) if ax is None else ax
        image = self.ax_.imshow(self.matrix, cmap="viridis", interpolation="nearest")
        self.ax_.figure.colorbar(image, ax=self.ax_, label="k(x, y)", shrink=0.85)
        starts = [0, *(end for end, _ in self.groups)]
        for end, _ in self.groups[:-1]:
            self.ax_.axhline(end - 0.5, color="white", linewidth=0.8)
            self.ax_.axvline(end - 0.5, color="white", linewidth=0.8)
        if self.groups:
            centres = [(a + end) / 2 for a, (end, _) in zip(starts, self.groups, strict=False)]
            names = [name for _, name in self.groups]
            self.ax_.set_xticks(centres, names)
            self.ax_.set_yticks(centres, names, rotation=90, va="center")
        self.ax_.set_title(self.title, fontsize=9, wrap=True)
        return self


@dataclass
class SetDistanceDisplay:
    """The distance to the barycentre of a set, on a line or in the plane.

    Attributes:
        axes: The coordinates of the grid, one array an axis.
        distances: The distance at each point of the grid.
        points: The points of the set.
    """

    axes: tuple[Array, ...]
    distances: Array
    points: Array
    title: str = ""

    @classmethod
    def from_kernel(
        cls, k: Kernel | str, S: Any, low: float, high: float, ax: Any = None, size: int = 201
    ) -> Self:
        """Compute and draw, on a grid from `low` to `high` in each coordinate.

        Args:
            k: A kernel on vectors, or its text.
            S: The points of the set, with one or two coordinates.
            low: Where the grid begins.
            high: Where it ends.
            ax: Axes to draw on; by default new ones.
            size: Points of the grid along each axis.
        """
        k = kernel(k)
        points = _coordinates(k, S)
        if points.shape[1] > 2:
            raise InvalidInput(f"A picture has one or two coordinates, got {points.shape[1]}.")
        axes = (line(low, high, size),) * points.shape[1]
        every = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
        return cls(axes, distance_to_set(k, every, points), points, str(k)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(4.8, 3.6)) if ax is None else ax
        if len(self.axes) == 1:
            self.ax_.plot(self.axes[0], self.distances, color="#0072b2")
            self.ax_.plot(self.points[:, 0], np.zeros(len(self.points)), "o", color="#d55e00")
            self.ax_.set(xlabel="x", ylabel="distance to S")
        else:
            contours(self.ax_, self.axes, self.distances, "viridis", "distance to S")
            self.ax_.plot(*self.points.T, "o", color="white", markeredgecolor="black")
        self.ax_.set_title(self.title, fontsize=9)
        return self


@dataclass
class DiscriminationDisplay:
    """Which of two sets is nearer: d(x, S1)^2 - d(x, S2)^2 in the plane.

    Attributes:
        axes: The coordinates of the grid.
        difference: The difference at each point of the grid; negative where S1 is nearer.
        first: The points of S1.
        second: The points of S2.
    """

    axes: tuple[Array, ...]
    difference: Array
    first: Array
    second: Array
    title: str = ""

    @classmethod
    def from_kernel(
        cls, k: Kernel | str, S1: Any, S2: Any, low: float, high: float, ax: Any = None
    ) -> Self:
        """Compute and draw, on a grid from `low` to `high` in each coordinate.

        Args:
            k: A kernel on vectors, or its text.
            S1: Points of the plane.
            S2: Other points of the plane.
            low: Where the grid begins.
            high: Where it ends.
            ax: Axes to draw on; by default new ones.
        """
        k = kernel(k)
        first, second = (_coordinates(k, S) for S in (S1, S2))
        if first.shape[1] != 2:
            raise InvalidInput(f"The plane has two coordinates, got {first.shape[1]}.")
        axes = (line(low, high, 201),) * 2
        difference = gap(k, grid(axes), first, second)
        return cls(axes, difference, first, second, str(k)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(4.8, 3.6)) if ax is None else ax
        contours(
            self.ax_, self.axes, self.difference, "RdBu_r", "d(x, S1)² - d(x, S2)²", middle=0
        )
        shape = len(self.axes[1]), len(self.axes[0])
        border = self.difference.reshape(shape)
        if border.min() < 0 < border.max():  # else one set is nearer everywhere
            self.ax_.contour(*self.axes, border, levels=[0], colors="black", linewidths=1.2)
        self.ax_.plot(*self.first.T, "o", color="#0072b2", markeredgecolor="white", label="S1")
        self.ax_.plot(*self.second.T, "s", color="#d55e00", markeredgecolor="white", label="S2")
        self.ax_.legend(loc="lower right", framealpha=0.9)
        self.ax_.set_title(self.title, fontsize=9)
        return self


def _coordinates(k: Kernel, S: Any) -> Array:
    """The points of a set, as the kernel reads them, in coordinates."""
    batch = k.domain.encode(S)
    if not isinstance(batch, DenseBatch | SparseBatch):
        batch = Vectors().encode(S)  # or an error: sets and labels have no coordinates
    return coordinates(batch)


def grouped(labels: Any) -> tuple[list[Any], Indices]:
    """The names of the groups in order, and which of them each label is."""
    given = np.asarray(labels)
    if given.ndim != 1:
        raise InvalidInput(
            f"labels are a list, one a point, and their shape is {given.shape}.\nPass "
            "list(labels), or one column of the table."
        )
    try:
        found, codes = np.unique(given, return_inverse=True)
        return list(found), codes
    except TypeError:  # labels of several kinds, such as a missing one, have no order
        batch = Categories().encode(given)
        used, codes = np.unique(batch.codes, return_inverse=True)
        return [batch.levels[code] for code in used], codes
