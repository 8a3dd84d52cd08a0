"""What an error costs, as curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidParameter
from mercer.plots.axes import COLOURS, STYLES, line, new_axes
from mercer.problems import Loss, loss

Reals = NDArray[np.float64]

MISTAKE = "0/1"
"""The name of the loss that counts mistakes, also a value of 0: not convex, and no Loss."""

ORDERS = ("loss", "slope of the loss", "curvature of the loss")
ACROSS = {"numbers": "f(x) - y", "signs": "margin y f(x)", "counts": "f(x), for y = 1"}


@dataclass
class LossDisplay:
    """Losses, or their derivatives, as curves over the error or the margin.

    Attributes:
        line: The errors or margins.
        curves: The name of each loss, and its values.
        names: The names of the axes.
    """

    line: Reals
    curves: dict[str, Reals]
    names: tuple[str, str] = ("", "loss")

    @classmethod
    def from_losses(
        cls,
        *losses: Loss | str,
        low: float = -3.0,
        high: float = 3.0,
        order: int = 0,
        ax: Any = None,
        size: int = 601,
    ) -> Self:
        """Compute the curves, and draw.

        Args:
            losses: Losses, or their names, all of numbers or all of margins; "0/1" is the one
                that counts mistakes.
            low: Where the line begins.
            high: Where it ends.
            order: 0 for the losses, 1 for their slopes, 2 for their curvatures.
            ax: Axes to draw on; by default new ones.
            size: Points of the line.
        """
        if order not in (0, 1, 2):
            raise InvalidParameter(f"order is 0, 1 or 2, got {order!r}.")
        found = [one if one == MISTAKE else loss(one) for one in losses]
        kinds = {one.targets if isinstance(one, Loss) else "signs" for one in found}
        if len(kinds) != 1:
            raise InvalidParameter(
                f"the losses of one picture share an axis, and these are of "
                f"{' and '.join(sorted(kinds)) or 'nothing'}.\nDraw those of numbers, of signs "
                "and of counts apart."
            )
        (kind,) = kinds
        across = line(low, high, size)
        target = np.full(size, 0.0 if kind == "numbers" else 1.0)
        curves = {str(one): _values(one, target, across, order) for one in found}
        return cls(across, curves, (ACROSS[kind], ORDERS[order])).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; they become `ax_`."""
        self.ax_ = new_axes(figsize=(5.6, 3.6)) if ax is None else ax
        for at, (name, values) in enumerate(self.curves.items()):
            style = STYLES[at % len(STYLES)]
            self.ax_.plot(
                self.line, values, style, color=COLOURS[at % len(COLOURS)], label=name
            )
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.legend(frameon=False, fontsize=8)
        return self


def _values(one: Loss | str, target: Reals, across: Reals, order: int) -> Reals:
    """A loss or a derivative of it; the count of mistakes has a gap where it jumps."""
    if isinstance(one, Loss):
        word = ("value", "slope", "curvature")[order]
        found = getattr(one, word)(target, across)
    elif order:
        found = np.zeros_like(across)
    else:
        found = np.where(across <= 0, 1.0, 0.0)
        found[:-1][np.diff(found) < 0] = np.nan
    return np.asarray(found, dtype=np.float64)
