"""Names for arrays, so that signatures say what they hold."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
"""Real numbers, float32 or float64."""

Indices: TypeAlias = NDArray[np.int64]
"""Positions of rows, or labels of equal points."""
