"""What a regression has learned: its values on a line, and how its penalty was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots.axes import COLOURS, PALE, around, legend, like, new_axes, points

Reals = NDArray[np.float64]

BANDS = ("auto", "interval", "std", None)


@dataclass
class FitDisplay:
    """A function of one coordinate that was learned, with its data and a band around it.

    Attributes:
        line: Where the function is drawn.
        values: Its values there.
        points: The coordinates of the data.
        targets: Their targets.
        lower: The lower end of the band; None where there is none.
        upper: The upper end.
        band: What the band is, in words.
        title: What was learned, in words.
    """

    line: Reals
    values: Reals
    points: Reals
    targets: Reals
    lower: Reals | None = None
    upper: Reals | None = None
    band: str = ""
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        machine: Any,
        X: Any,
        y: Any,
        *,
        band: str | None = "auto",
        coverage: float = 0.9,
        ax: Any = None,
        size: int = 301,
    ) -> Self:
        """Predict on a grid, and draw.

        Args:
            machine: A fitted machine, or a pipeline that ends in one.
            X: The points it was fitted to, with one coordinate.
            y: Their targets.
            band: "interval", where a new target is expected (`predict_interval`); "std", two
                standard deviations of the function (`predict` with return_std); None; or
                "auto", the interval where the machine has one.
            coverage: The probability of the interval.
            ax: Axes to draw on; by default new ones.
            size: Points of the grid.
        """
        at = points(X, 1)
        targets = np.asarray(y, dtype=np.float64)
        if targets.shape not in ((len(at),), (len(at), 1)):
            raise InvalidInput(
                f"{len(at)} points need {len(at)} targets, a number each; their shape is "
                f"{targets.shape}.\nDraw one target at a time."
            )
        if band not in BANDS:
            raise InvalidParameter(f'band is "auto", "interval", "std" or None, got {band!r}.')
        if band == "auto":
            band = "interval" if hasattr(machine, "predict_interval") else None
        here = around(at[:, 0], size)
        new = like(X, here[:, None])
        lower: Reals | None = None
        upper: Reals | None = None
        told = ""
        if band == "std":
            values, spread = machine.predict(new, return_std=True)
            lower, upper, told = values - 2 * spread, values + 2 * spread, "± 2 deviations of f"
        else:
            values = machine.predict(new)
        if band == "interval":
            ends = machine.predict_interval(new, coverage=coverage)
            lower, upper = ends[:, 0], ends[:, 1]
            told = f"{100 * coverage:g} % interval"
        return cls(
            here,
            np.ravel(values),
            at[:, 0],
            targets.ravel(),
            lower,
            upper,
            told,
            _told(machine),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.6, 3.6)) if ax is None else ax
        if self.lower is not None and self.upper is not None:
            self.ax_.fill_between(
                self.line, self.lower, self.upper, color=PALE[0], linewidth=0, label=self.band
            )
        self.ax_.plot(
            self.points, self.targets, ".", color="#555555", markersize=4, label="data"
        )
        self.ax_.plot(self.line, self.values, color=COLOURS[0], label="f(x) + b")
        self.ax_.set(xlabel="x", ylabel="y")
        self.ax_.set_title(self.title, fontsize=9)
        legend(self.ax_, len(self.points))
        return self


@dataclass
class PenaltyPathDisplay:
    """The penalties that were tried, the error of each on rows left out, and the choice.

    Attributes:
        penalties: The penalties.
        errors: Their leave-one-out errors.
        chosen: The penalty that was taken.
        title: What was learned, in words.
    """

    penalties: Reals
    errors: Reals
    chosen: float
    title: str = ""

    @classmethod
    def from_estimator(cls, machine: Any, *, ax: Any = None) -> Self:
        """Read the path off a machine that chose its penalty, and draw.

        Args:
            machine: A fitted machine with `penalties_` and `loo_errors_`.
            ax: Axes to draw on; by default new ones.
        """
        penalties = getattr(machine, "penalties_", None)
        errors = getattr(machine, "loo_errors_", None)
        if penalties is None or errors is None:
            raise InvalidInput(
                f"this {type(machine).__name__} has no path of penalties: it is not fitted, or "
                'one penalty was given to it.\nFit it with penalty="auto", or with several.'
            )
        return cls(
            np.asarray(penalties), np.asarray(errors), float(machine.penalty_), _told(machine)
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.6, 3.6)) if ax is None else ax
        order = np.argsort(self.penalties)
        penalties, errors = self.penalties[order], self.errors[order]
        self.ax_.plot(penalties, errors, ".-", color=COLOURS[0], markersize=4)
        at = int(np.argmin(np.abs(np.log(penalties / self.chosen))))
        told = f"chosen: {self.chosen:.2g}"
        self.ax_.axvline(self.chosen, color=COLOURS[1], linestyle="--", linewidth=1)
        self.ax_.plot(self.chosen, errors[at], "o", color=COLOURS[1], label=told)
        self.ax_.set(xlabel="penalty", ylabel="leave-one-out error", xscale="log")
        finite = errors[np.isfinite(errors)]
        if finite.size and (finite > 0).all() and finite.max() > 10 * finite.min():
            self.ax_.set_yscale("log")
        self.ax_.set_title(self.title, fontsize=9)
        self.ax_.legend(frameon=False, fontsize=8)
        return self


def _told(machine: Any) -> str:
    """The name of a machine, and its kernel where it has one."""
    found = getattr(machine, "kernel_", None)
    return type(machine).__name__ + ("" if found is None else f", {found}")
