"""Targets that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_array, check_consistent_length

from mercer.errors import InvalidInput

Reals = NDArray[np.float64]


def targets(y: Any, rows: int, owner: str) -> Reals:
    """Finite numbers a row: one, or several as a row of them.

    Raises:
        InvalidInput: They are missing, no numbers, or not finite.
    """
    if y is None:
        raise InvalidInput(
            f"This {owner} estimator requires y to be passed, but the target y is None."
        )
    found: Reals = check_array(
        y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_all_finite=False
    )
    if found.ndim not in (1, 2):
        raise InvalidInput(f"y is a number a row or a row of them, got {found.ndim} axes.")
    check_consistent_length(np.empty(rows), found)
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        raise InvalidInput(
            f"y has {len(bad)} values that are NaN or inf, the first in row {bad[0][0]}"
            f"{', column ' + str(bad[0][1]) if found.ndim > 1 else ''}.\nDrop those rows."
        )
    return found


def one_target(y: Any, rows: int, owner: str) -> Reals:
    """One number a row."""
    found = targets(y, rows, owner)
    flat: Reals = column_or_1d(found, warn=True)
    return flat
