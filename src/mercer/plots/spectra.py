"""Eigenvalues, and what the first of their directions show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions import center
from mercer.kernels import Kernel, kernel
from mercer.plots.axes import COLOURS, MARKERS, legend, new_axes
from mercer.plots.displays import grouped
from mercer.types import Indices

Reals = NDArray[np.float64]

ROUNDING = float(np.finfo(np.float64).eps)


@dataclass
class SpectrumDisplay:
    """Eigenvalues, the largest first.

    Attributes:
        eigenvalues: The eigenvalues.
        rounding: Below it they are rounding: n times the unit roundoff, times the largest.
        title: Of what, in words.
    """

    eigenvalues: Reals
    rounding: float = 0.0
    title: str = ""

    @classmethod
    def from_kernel(
        cls, k: Kernel | str, X: Any, *, centred: bool = False, ax: Any = None
    ) -> Self:
        """Find the eigenvalues of a Gram matrix, and draw.

        Args:
            k: A kernel, or its text.
            X: Points of its domain.
            centred: Whether the points are centred in feature space first.
            ax: Axes to draw on; by default new ones.
        """
        k = kernel(k)
        matrix = np.asarray(k(X), dtype=np.float64)
        rounding = len(matrix) * ROUNDING * float(np.linalg.norm(matrix, 2))
        values = np.linalg.eigvalsh(center(matrix) if centred else matrix)[::-1]
        return cls(np.asarray(values, dtype=np.float64), rounding, str(k)).plot(ax)

    @classmethod
    def from_estimator(cls, machine: Any, *, ax: Any = None) -> Self:
        """Read them off a fitted machine, and draw.

        Args:
            machine: A fitted machine with `eigenvalues_`, such as KernelPCA.
            ax: Axes to draw on; by default new ones.
        """
        values = getattr(machine, "eigenvalues_", None)
        if values is None:
            raise InvalidInput(
                f"this {type(machine).__name__} has no eigenvalues_.\nFit a KernelPCA, or draw "
                "those of a Gram matrix: SpectrumDisplay.from_kernel(k, X)."
            )
        found = np.asarray(values, dtype=np.float64)
        return cls(found, title=f"{type(machine).__name__}, {machine.kernel_}").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.2, 3.6)) if ax is None else ax
        shown = self.eigenvalues > 0  # what rounding made negative has no place on this scale
        ranks = np.arange(1, len(self.eigenvalues) + 1)[shown]
        self.ax_.plot(ranks, self.eigenvalues[shown], ".-", color=COLOURS[0], markersize=4)
        if self.rounding > 0:
            self.ax_.axhline(
                self.rounding, color=COLOURS[1], linestyle="--", linewidth=1, label="rounding"
            )
            self.ax_.legend(frameon=False, fontsize=8)
        self.ax_.set(xlabel="rank", ylabel="eigenvalue")
        if shown.any():
            self.ax_.set_yscale("log")
        self.ax_.set_title(self.title, fontsize=9)
        return self


@dataclass
class ComponentsDisplay:
    """The projections of points on two principal components.

    Attributes:
        projections: A row a point, with two coordinates.
        groups: The name of each group of points, and its rows.
        names: The names of the axes.
        title: Of what, in words.
    """

    projections: Reals
    groups: tuple[tuple[str, Indices], ...] = ()
    names: tuple[str, str] = ("", "")
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        machine: Any,
        X: Any,
        labels: Any = None,
        *,
        components: tuple[int, int] = (0, 1),
        ax: Any = None,
    ) -> Self:
        """Project, and draw.

        Args:
            machine: A fitted KernelPCA.
            X: Points of its domain.
            labels: A label a point, by which points get a colour and a marker.
            components: Which two components, counted from 0.
            ax: Axes to draw on; by default new ones.
        """
        projected = np.asarray(machine.transform(X), dtype=np.float64)
        found = projected.shape[1]
        if len(components) != 2 or not all(0 <= one < found for one in components):
            raise InvalidParameter(
                f"components are two numbers from 0 to {found - 1}, for there are {found}; got "
                f"{components!r}."
            )
        groups: tuple[tuple[str, Indices], ...] = ()
        if labels is not None:
            names, codes = grouped(labels)
            if len(codes) != len(projected):
                raise InvalidInput(
                    f"{len(projected)} points need {len(projected)} labels, got {len(codes)}."
                )
            groups = tuple(
                (str(name), np.flatnonzero(codes == code)) for code, name in enumerate(names)
            )
        shares = getattr(machine, "explained_variance_ratio_", None)
        first, second = (
            f"component {one + 1}" + ("" if shares is None else f" ({100 * shares[one]:.0f} %)")
            for one in components
        )
        title = f"{type(machine).__name__}, {getattr(machine, 'kernel_', '')}"
        return cls(projected[:, list(components)], groups, (first, second), title).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(4.8, 4.0)) if ax is None else ax
        for at, (name, rows) in enumerate(
            self.groups or (("", np.arange(len(self.projections))),)
        ):
            self.ax_.plot(
                *self.projections[rows].T,
                MARKERS[at % len(MARKERS)],
                color=COLOURS[at % len(COLOURS)],
                markersize=4,
                alpha=0.8,
                label=name or None,
            )
        if self.groups:
            legend(self.ax_, len(self.projections))
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.set_title(self.title, fontsize=9)
        return self
