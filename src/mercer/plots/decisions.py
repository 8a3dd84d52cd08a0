"""What a classifier has learned in the plane: which class where, and how surely."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots.axes import (
    COLOURS,
    MARKERS,
    PALE,
    around,
    contours,
    grid,
    legend,
    like,
    new_axes,
    points,
)
from mercer.problems import loss
from mercer.types import Indices

Reals = NDArray[np.float64]

RESPONSES = ("auto", "decision_function", "predict_proba")

NONE = 1e-6
"""The share of the largest coefficient below which one is zero, up to the solver's gap."""

MARGIN = 1e-3
"""How far from 1 a margin counts as 1, where the machine has no `tol` that says it."""


@dataclass
class DecisionDisplay:
    """The level sets of a classifier in the plane, its border and its data.

    Two classes are drawn by one number a point, and the border is where they are even. More
    classes are drawn as areas, with level sets of the number of the class that wins.

    Attributes:
        axes: The coordinates of the grid.
        values: For each point of the grid the decision, or the probability of the second
            class; a row with one a class for more than two.
        classes: The labels.
        points: The data.
        codes: Which of the classes each is.
        support: The rows of the support vectors, where there are any.
        bounded: Those of them that are inside the margin or on the wrong side, where the
            hinge loss tells two classes apart; the others are free, and on the margin.
        middle: The value on the border of two classes.
        label: What the values are, in words.
        title: What was learned, in words.
    """

    axes: tuple[Reals, Reals]
    values: Reals
    classes: Any
    points: Reals
    codes: Indices
    support: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    bounded: Indices | None = None
    middle: float = 0.0
    label: str = ""
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        machine: Any,
        X: Any,
        y: Any,
        *,
        response: str = "auto",
        ax: Any = None,
        size: int = 151,
    ) -> Self:
        """Decide on a grid, and draw.

        Args:
            machine: A fitted classifier, or a pipeline that ends in one.
            X: The points it was fitted to, with two coordinates.
            y: Their labels.
            response: "decision_function", "predict_proba", or "auto": the first that there is.
            ax: Axes to draw on; by default new ones.
            size: Points of the grid along each axis.
        """
        at = points(X, 2)
        classes = np.asarray(machine.classes_)
        codes = _codes(y, classes, len(at))
        word = _response(machine, response)
        axes = around(at[:, 0], size), around(at[:, 1], size)
        values = np.asarray(getattr(machine, word)(like(X, grid(axes))), dtype=np.float64)
        probable = word == "predict_proba"
        if probable and len(classes) == 2:
            values = values[:, 1]
        label = f"probability of {classes[1]}" if probable else "decision function"
        support = _support(machine, len(at))
        return cls(
            axes, values, classes, at, codes, support, _bounded(machine, X, codes, support),
            0.5 if probable else 0.0, label, type(machine).__name__,
        ).plot(ax)  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.2, 4.0)) if ax is None else ax
        if self.values.ndim == 1:
            self._plot_two()
        else:
            self._plot_several()
        for code, name in enumerate(self.classes):
            self.ax_.plot(
                *self.points[self.codes == code].T,
                MARKERS[code % len(MARKERS)],
                color=COLOURS[code % len(COLOURS)],
                markeredgecolor="white",
                markersize=5,
                label=str(name),
            )
        if self.bounded is None:
            self._ring(self.support, "o", "support vectors")
        else:
            free = np.setdiff1d(self.support, self.bounded)
            self._ring(free, "o", "free support vectors")
            self._ring(self.bounded, "s", "bounded support vectors")
        legend(self.ax_, len(self.points))
        self.ax_.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
        self.ax_.set_title(self.title, fontsize=9)
        return self

    def _ring(self, rows: Indices, marker: str, label: str) -> None:
        if rows.size:
            self.ax_.plot(
                *self.points[rows].T, marker, markerfacecolor="none", markersize=9,
                markeredgecolor="black", markeredgewidth=0.8, label=label,
            )  # fmt: skip

    def _plot_two(self) -> None:
        contours(self.ax_, self.axes, self.values, "RdBu_r", self.label, middle=self.middle)
        table = self._table(self.values)
        step = 0.25 if self.middle else 1.0
        sides = [
            level for level in (self.middle - step, self.middle + step) if _cuts(table, level)
        ]
        if sides:
            self.ax_.contour(
                *self.axes, table, levels=sides, colors="black", linewidths=0.7,
                linestyles="dashed",
            )  # fmt: skip
        if _cuts(table, self.middle):  # else one class is everywhere
            self.ax_.contour(
                *self.axes, table, levels=[self.middle], colors="black", linewidths=1.4
            )

    def _plot_several(self) -> None:
        winner = self.values.argmax(axis=1)
        best = self._table(self.values.max(axis=1))
        edges = np.arange(len(self.classes) + 1) - 0.5
        colours = [PALE[code % len(PALE)] for code in range(len(self.classes))]
        self.ax_.contourf(*self.axes, self._table(winner), levels=edges, colors=colours)
        if best.min() < best.max():
            found = self.ax_.contour(
                *self.axes, best, levels=5, colors="#777777", linewidths=0.6
            )
            self.ax_.clabel(found, fontsize=7, fmt="%.2g")
        for code in range(len(self.classes)):
            own = self.values[:, code]
            lead = own - np.delete(self.values, code, axis=1).max(axis=1)
            table = self._table(lead)
            if _cuts(table, 0.0):
                self.ax_.contour(
                    *self.axes, table, levels=[0.0], colors="black", linewidths=1.0
                )

    def _table(self, values: Any) -> Reals:
        found: Reals = np.asarray(values).reshape(len(self.axes[1]), len(self.axes[0]))
        return found


def _cuts(table: Reals, level: float) -> bool:
    """Whether some values are below a level, and some above."""
    return bool(table.min() < level < table.max())


def _codes(y: Any, classes: Any, count: int) -> Indices:
    labels = np.asarray(y).ravel()
    if len(labels) != count:
        raise InvalidInput(f"{count} points need {count} labels, got {len(labels)}.")
    codes = np.full(count, -1, dtype=np.int64)
    for code, name in enumerate(classes):
        codes[labels == name] = code
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise InvalidInput(
            f"the machine knows no class {labels[row]!r}, the label of row {row}.\nDraw it on "
            "the data that it was fitted to."
        )
    return codes


def _response(machine: Any, wanted: str) -> str:
    """The method that says how sure the machine is."""
    if wanted not in RESPONSES:
        raise InvalidParameter(
            f"response is {', '.join(map(repr, RESPONSES))}, got {wanted!r}."
        )
    asked = RESPONSES[1:] if wanted == "auto" else (wanted,)
    found = next((word for word in asked if hasattr(machine, word)), None)
    if found is None:
        raise InvalidParameter(
            f"this {type(machine).__name__} has no {' and no '.join(asked)}.\nLeave "
            'response="auto", or draw another machine.'
        )
    return found


def _support(machine: Any, rows: int) -> Indices:
    """The rows that the function needs, where the machine leaves some out by itself."""
    support = getattr(machine, "support_", None)
    if support is not None:
        return np.asarray(support, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    weights = getattr(machine, "dual_coef_", None)
    if weights is None or len(weights) != rows or not hasattr(machine, "loss"):
        return none
    # A loss without a slope far beyond the margin gives points there no coefficient.
    one = np.ones(1)
    if loss(machine.loss).slope(one, 10 * one)[0] != 0:
        return none
    sizes = np.abs(weights).reshape(rows, -1).max(axis=1)
    found: Indices = np.flatnonzero(sizes > NONE * sizes.max())
    return found


def _bounded(machine: Any, X: Any, codes: Indices, support: Indices) -> Indices | None:
    """The support vectors whose margin is below 1, where it is the hinge loss that has them."""
    hinge = getattr(machine, "loss", None) == "hinge"
    # With nu in place of C, which is 0 then or missing, `tol` is none of the margins.
    by_dual = hasattr(machine, "support_") and getattr(machine, "C", 0.0) > 0
    if len(machine.classes_) > 2 or not support.size or not (hinge or by_dual):
        return None
    values = np.asarray(machine.decision_function(X), dtype=np.float64)[support]
    margins = np.where(codes[support] == 1, values, -values)
    found: Indices = support[margins < 1 - float(getattr(machine, "tol", MARGIN))]
    return found
