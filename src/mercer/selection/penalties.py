r"""Which penalty: the one whose leave-one-out error is least.

The grid spans the spectrum: a penalty below the least eigenvalue changes nothing, and one far
above the largest leaves a constant. Around the best of the grid the minimum is looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from mercer.solvers.shifted import Shifted
from mercer.solvers.spectral import Spectrum

Reals = NDArray[np.float64]

GRID = 40
"""Penalties that are tried."""

LEAST = 1e-12
"""The least shift that is tried, relative to the largest eigenvalue."""


@dataclass(frozen=True, eq=False)
class Path:
    """The penalties that were tried, and the error of each.

    Attributes:
        penalties: The penalties, ascending.
        errors: The mean squared error on rows that were left out.
        best: The penalty with the least error; of equals the largest.
    """

    penalties: Reals
    errors: Reals
    best: float


def shifts_of(spectrum: Spectrum) -> Reals:
    """A grid of shifts that spans the spectrum."""
    largest = float(spectrum.values[-1]) if spectrum.values.size else 0.0
    if not largest > 0:
        return np.array([1.0])
    positive = spectrum.values[spectrum.values > LEAST * largest]
    least = float(positive[0]) if spectrum.is_full else LEAST * largest
    grid: Reals = np.geomspace(max(least / 10, LEAST * largest), 10 * largest, GRID)
    return grid


def leave_one_out(spectrum: Spectrum, targets: Reals, penalties: Reals | None = None) -> Path:
    """The path of penalties with their leave-one-out errors.

    Args:
        spectrum: Of the weighted Gram matrix.
        targets: A column each.
        penalties: The penalties to choose among; by default a grid that spans the spectrum,
            and the minimum around its best.
    """
    if penalties is not None:
        return along(spectrum, targets, penalties)
    total = float(spectrum.roots @ spectrum.roots)
    shifts = shifts_of(spectrum)
    errors = spectrum.errors(targets, shifts)
    at = _last_least(errors, targets)
    best = float(shifts[at])
    if 0 < at < len(shifts) - 1:
        best = around(
            lambda shift: float(spectrum.errors(targets, np.array([shift]))[0]),
            float(shifts[at - 1]),
            best,
            float(shifts[at + 1]),
            float(errors[at]),
        )
        if best not in shifts:
            error = spectrum.errors(targets, np.array([best]))
            place = int(np.searchsorted(shifts, best))
            shifts, errors = np.insert(shifts, place, best), np.insert(errors, place, error)
    return Path(shifts / total, errors, best / total)


def along(factor: Shifted, targets: Reals, penalties: Reals) -> Path:
    """The path of penalties that are given."""
    total = float(factor.roots @ factor.roots)
    tried = np.sort(np.asarray(penalties, dtype=np.float64))
    errors = factor.errors(targets, tried * total)
    return Path(tried, errors, float(tried[_last_least(errors, targets)]))


def within(spectrum: Spectrum, targets: Reals, radius: float) -> float:
    """The shift at which the norm of the function is `radius`; 0 if it is never above it.

    The larger the penalty, the smaller is the norm, so the constraint |f| <= radius has one
    multiplier: the penalty. Several targets have one radius, for the root of the sum of the
    squares of their norms.
    """
    norms = spectrum.squared_norms(targets)
    if norms(0.0) <= radius**2 or not spectrum.values.size:
        return 0.0
    low = high = float(spectrum.values[-1])
    while norms(high) > radius**2:
        high *= 4
    while low > 0 and norms(low) <= radius**2:
        low /= 4
    if not low > 0:
        return 0.0
    found = brentq(
        lambda exponent: float(np.log(norms(float(np.exp(exponent))) / radius**2)),
        np.log(low),
        np.log(high),
        xtol=1e-14,
        rtol=1e-14,
    )
    return float(np.exp(found))


def around(
    error: Callable[[float], float], low: float, middle: float, high: float, known: float
) -> float:
    """A number between two whose error is no larger than that in the middle."""
    found = minimize_scalar(
        lambda exponent: error(float(np.exp(exponent))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": 0.05, "maxiter": 12},
    )
    return float(np.exp(found.x)) if found.fun < known else middle


def _last_least(errors: Reals, targets: Reals) -> int:
    """The last place of the least error; errors that differ by rounding count as equal."""
    least = float(errors.min())
    rounding = 2.0**-88 * float((targets**2).sum()) / len(targets)  # of what is squared, 2^-44
    return int(np.flatnonzero(errors <= least * (1 + 1e-9) + rounding)[-1])
