"""What a machine needs that learns row by row: known labels, merged rows, and votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.errors import InvalidInput, InvalidType
from mercer.kernels import Kernel
from mercer.loops import pieces
from mercer.selection.labels import Labels
from mercer.solvers.perceptron import Walk
from mercer.types import Indices

Reals = NDArray[np.float64]

HELD = 1 << 22
"""Values of functions that are held at once while they vote."""


def among(labels: Labels, classes: Any) -> Labels:
    """The same labels, as places among classes that are known.

    Raises:
        InvalidInput: One is not among them.
    """
    places = {name: place for place, name in enumerate(classes.tolist())}
    unknown = [name for name in labels.classes.tolist() if name not in places]
    if unknown:
        raise InvalidInput(
            f"y has the label {unknown[0]!r}, and the classes are {list(places)}.\nName all "
            "classes in the first call: partial_fit(X, y, classes=...)."
        )
    codes = np.array([places[name] for name in labels.classes.tolist()], dtype=np.int64)
    return Labels(classes, codes[labels.codes])


def equal_points(points: Batch, codes: Indices) -> Indices:
    """Equal points of one class get one number, counted in the order of the rows."""
    try:
        (labels,) = points.identify()
    except InvalidType:  # nothing tells these objects apart; merging only saves work
        return np.arange(len(points))
    keys = labels * (int(codes.max(initial=0)) + 1) + codes
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    found: Indices = np.argsort(np.argsort(first))[places]
    return found


def votes(kernel: Kernel, anchors: Batch, state: Walk, points: Batch) -> Reals:
    """What the functions on the way decide, each as often as it was asked.

    Returns:
        The balance of two classes, between -1 and 1, or the share of each class.
    """
    rows, changes, asked = state.history()
    outputs = changes.shape[1]
    found = np.empty((len(points), outputs))
    for i, j in pieces(len(points), max(1, HELD // (len(rows) * outputs))):
        values = kernel.block(points[slice(i, j)], anchors).astype(np.float64)
        paths = np.cumsum(values[:, rows, None] * changes, axis=1)
        if outputs == 1:
            found[i:j, 0] = np.sign(paths[:, :, 0]) @ asked
        else:
            winners = paths.argmax(axis=2)
            for c in range(outputs):
                found[i:j, c] = (winners == c) @ asked
    return found[:, 0] if outputs == 1 else found
