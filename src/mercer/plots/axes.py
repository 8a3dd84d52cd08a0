"""What the displays share: axes, colours, grids, and points read as coordinates."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, Vectors
from mercer.errors import InvalidInput, InvalidParameter, MissingExtra
from mercer.functions.batches import coordinates
from mercer.types import Array

Reals = NDArray[np.float64]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's: told apart by nearly everyone."""

PALE = ("#bcd9ea", "#f5cfb2", "#b2ddcf", "#efd8e5", "#f7e0b2", "#d2ebf9", "#cccccc")
"""The same, for areas that others are drawn on."""

MANY = 2_000
"""Points beyond which the best place of a legend is not looked for."""

STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def new_axes(**options: Any) -> Any:
    """A figure's axes, or an error that names the extra."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtra(
            "Pictures need matplotlib. Install it: pip install 'mercer[plots]'."
        ) from error
    return plt.subplots(layout="constrained", **options)[1]


def line(low: float, high: float, size: int) -> Reals:
    """The grid along one axis.

    Raises:
        InvalidParameter: There is none between these ends.
    """
    if not (np.isfinite([low, high]).all() and low < high and size >= 2):
        raise InvalidParameter(
            f"a picture goes from low to a higher number, on 2 points or more: got low={low}, "
            f"high={high}, size={size}."
        )
    return np.linspace(low, high, size)


def around(values: Reals, size: int, margin: float = 0.08) -> Reals:
    """The grid along one axis that holds these values, with some room beside them."""
    low, high = float(values.min()), float(values.max())
    # Equal values still have a picture: a unit around them, or what their size can tell apart.
    room = margin * (high - low) or max(1.0, abs(low) * 1e-3)
    return line(low - room, high + room, size)


def points(X: Any, width: int) -> Reals:
    """Points with so many coordinates.

    Raises:
        InvalidInput: They have another number.
    """
    found = X if isinstance(X, Batch) else Vectors().encode(X)
    values = coordinates(Vectors().encode(found))
    if values.shape[1] != width:
        wanted = ("a line have one coordinate", "the plane have two coordinates")[width - 1]
        raise InvalidInput(
            f"points of {wanted}, and these have {values.shape[1]}.\nSelect "
            f"{'a column' if width == 1 else 'two columns'}, and fit the machine to it."
        )
    return values


def like(X: Any, values: Reals) -> Any:
    """Other points in the form of these: a table with the same columns, or an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return values
    columns = dict(zip(frame.columns, values.T, strict=True))
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def legend(ax: Any, count: int) -> None:
    """Names, where they hide the least; with many points that would take too long to find."""
    ax.legend(loc="best" if count <= MANY else "upper right", framealpha=0.85, fontsize=8)


def grid(axes: tuple[Reals, Reals]) -> Reals:
    """All points of a grid in the plane, the first coordinate running fastest."""
    found: Reals = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
    return found


def contours(
    ax: Any,
    axes: tuple[Array, ...],
    values: Array,
    colors: str,
    label: str,
    middle: float | None = None,
) -> None:
    """Filled level sets with their scale; `middle` is where two colours meet."""
    table = values.reshape(len(axes[1]), len(axes[0]))
    reach = float(np.abs(table - (middle or 0.0)).max()) or 1.0
    limits = {} if middle is None else {"vmin": middle - reach, "vmax": middle + reach}
    filled = ax.contourf(*axes, table, levels=20, cmap=colors, **limits)
    ax.figure.colorbar(filled, ax=ax, label=label, shrink=0.85)
    ax.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
