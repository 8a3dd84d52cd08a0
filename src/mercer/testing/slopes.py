"""The laws of slopes: gradients against differences, where the kernel is smooth.

A central difference of step h is off by O(h^2), and by the error of the values over h. The
difference at half the step shows the first, so each slope is compared at the step that shows
the smallest error, and may differ by that much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.errors import InvalidInput, MercerError, NotSmooth
from mercer.kernels import Kernel
from mercer.testing.case import FEW, Case, agree
from mercer.testing.report import BrokenLaw, NotApplicable
from mercer.testing.rounding import parts, rounding
from mercer.types import Indices

STEPS = tuple(2.0 ** -np.arange(2, 36, 3))
"""Steps, in units of the spread of the points or of the logarithm of a parameter."""

HUGE = float(np.finfo(np.float32).max) ** 0.5
"""Values beyond which a slope may overflow."""

COORDINATES = 6
"""Coordinates, or entries of a parameter, in which slopes are checked."""

CLUSTER = 1024.0
"""How much farther than their neighbours the points must reach to be called clusters."""

MISSED = 2.0**-20
"""The part of a step that may be lost in rounding the moved point."""

Values = NDArray[np.float64]


def _gradient(case: Case) -> None:
    at = case.some(FEW)
    few = case.points[at]
    if not isinstance(few, DenseBatch | SparseBatch):
        raise NotApplicable("the points are no vectors")
    found = _ask(case.kernel, few, case.kernel.gradient)
    wanted = (len(at), len(at), few.width)
    if np.shape(found) != wanted:
        raise BrokenLaw(f"the gradient has shape {np.shape(found)}, not {wanted}.")
    few = _double(few)
    X = few.matrix.toarray() if isinstance(few, SparseBatch) else few.values
    Y = DenseBatch(X)
    spread = _spread(X)
    for c in np.unique(np.linspace(0, X.shape[1] - 1, COORDINATES).astype(int)):

        def moved(step: float, c: int = int(c)) -> Values:
            shifted = X.copy()
            shifted[:, c] += step * spread
            missed = np.abs((shifted - X)[:, c] / (step * spread) - 1).max()
            if missed > MISSED:
                raise InvalidInput(f"the points cannot be moved by {step * spread}")
            return case.kernel(shifted, Y).astype(float)

        meaning = f"k.gradient(X, Y) in coordinate {c} is not the slope of k(X, Y)."
        _slope(case, at, found[:, :, c].astype(float) * spread, moved, meaning)


def _spread(X: Values) -> float:
    """The unit of the steps in x: how far the points reach, or less where they are clusters."""
    reach = float(np.ptp(X)) or float(np.abs(X).max()) or 1.0
    # From one cluster to the next a kernel may look flat at every step, and is not inside.
    apart = np.abs(X[:, None] - X[None, :]).max(axis=-1)
    near = float(np.median(np.where(apart > 0, apart, np.inf).min(axis=1)))
    # A power of two: most steps then lead to a number that is there.
    return float(2.0 ** np.floor(np.log2(min(reach, CLUSTER * near))))


def _parameter_gradient(case: Case) -> None:
    at = case.some(FEW)
    few = _double(case.points[at])
    slopes = _ask(case.kernel, few, case.kernel.parameter_gradient)
    if not slopes:
        raise NotApplicable("no parameter can be varied")
    given = case.kernel.parameters()
    for name, slope in slopes.items():
        if name not in given:
            raise BrokenLaw(f"k.parameter_gradient has {name!r}, which is no parameter of k.")
        several = isinstance(given[name], tuple)
        parts = np.asarray(slope) if several else np.asarray(slope)[..., None]
        entries = np.asarray(given[name], dtype=float).reshape(-1)
        if parts.shape != (len(at), len(at), len(entries)):
            raise BrokenLaw(f"the slope in {name} has shape {np.shape(slope)}.")
        for n in np.unique(np.linspace(0, len(entries) - 1, COORDINATES).astype(int)):

            def moved(
                step: float, name: str = name, n: int = int(n), entries: Values = entries
            ) -> Values:
                changed = entries.copy()
                changed[n] *= np.exp(step)
                value = tuple(changed) if isinstance(given[name], tuple) else float(changed[0])
                return case.kernel.replace(**{name: value})(few, few).astype(float)

            meaning = f"k.parameter_gradient in log {name} is not the slope of k(X, Y)."
            _slope(case, at, parts[:, :, n], moved, meaning)


def _ask(kernel: Kernel, A: Batch, method: Callable[[Batch, Batch], Any]) -> Any:
    """The slopes, if there are any."""
    try:
        return method(A, A)
    except NotSmooth as reason:
        raise NotApplicable(str(reason)) from None
    except InvalidInput as reason:
        # Slopes may overflow where values do not, but not before some part is very large, or
        # some point very short.
        pairs = list(parts(kernel, A))
        if all(np.max(part.diag(batch)) < HUGE and not _short(batch) for part, batch in pairs):
            raise
        raise NotApplicable(str(reason)) from None


def _short(points: Batch) -> bool:
    """Is some coordinate that is not zero so small that its inverse is huge?"""
    if not isinstance(points, DenseBatch | SparseBatch):
        return False
    sizes = np.abs(points.matrix.data if isinstance(points, SparseBatch) else points.values)
    return bool(((sizes > 0) & (sizes < 1 / HUGE)).any())


def _double(points: Any) -> Any:
    """Vectors in float64, where slopes can be told from rounding."""
    if isinstance(points, DenseBatch):
        return DenseBatch(points.values.astype(np.float64))
    return (
        SparseBatch(points.matrix.astype(np.float64))
        if isinstance(points, SparseBatch)
        else points
    )


def _slope(
    case: Case, at: Indices, found: Values, moved: Callable[[float], Values], meaning: str
) -> None:
    """Compare with the slope at the best step."""
    slopes, doubts, noises, bends = [], [], [], []
    error = rounding(case.kernel, case.points[at], np.dtype(np.float64))
    off = error * np.outer(case.size[at], case.size[at]) + np.finfo(float).tiny
    here, blur = case.matrix[np.ix_(at, at)].astype(float), 4 * case.allowed(at, at)
    for step in STEPS:
        try:
            once = (moved(step) - moved(-step)) / (2 * step)
            ahead, behind = moved(step / 2), moved(-step / 2)
        except MercerError:  # outside the domain, or no kernel there
            continue
        twice = (ahead - behind) / step
        bends.append(_bent(here, ahead, behind, blur))
        slopes.append((4 * twice - once) / 3)
        noises.append(4 * off / step)
        doubts.append(2 * np.abs(twice - once) + noises[-1])
    if len(slopes) < 2:
        return  # nearly every step leaves the domain
    # Where the shortest steps go round a bend, differences know nothing of the slope. A wave
    # may meet three points in a line by chance, but not at three steps.
    blind = np.any(bends[-3:], axis=0)
    slope, doubt, noise = map(np.stack, (slopes, doubts, noises))
    # A wave may look flat at a step as long as itself: smaller steps must agree.
    for n in range(len(slope) - 1):
        apart = np.abs(slope[n + 1 :] - slope[n])
        doubt[n] += apart[0] + np.maximum(apart - noise[n + 1 :], 0).max(axis=0)
    best = doubt[:-1].argmin(axis=0)[None]
    wanted, doubt = (np.take_along_axis(table, best, 0)[0] for table in (slope, doubt))
    # Where no step is short enough, the sizes of the slopes that were seen are all there is.
    seen = np.abs(slope).max(axis=0)
    doubt = np.where(doubt > seen / 4, 2 * (doubt + seen), doubt)
    # The slope itself is as exact as the values, relative to its own size.
    relative = 16 * case.error + 2 * MISSED
    allowed = doubt + relative * np.abs(wanted).max() + case.allowed(at, at)
    agree(found, np.where(blind, found, wanted), allowed, meaning, at, at)


def _bent(here: Values, ahead: Values, behind: Values, noise: Values) -> NDArray[np.bool_]:
    """Are three values far from a straight line, beside their own size and rounding?"""
    largest = np.max(np.abs([here, ahead, behind]), axis=0)
    bent: NDArray[np.bool_] = np.abs(ahead / 2 + behind / 2 - here) > largest / 4 + noise
    return bent


SLOPES: Mapping[str, Callable[[Case], None]] = MappingProxyType(
    {
        "k.gradient(X, Y) is the slope in x": _gradient,
        "k.parameter_gradient(X, Y) is the slope in log-parameters": _parameter_gradient,
    }
)
"""Each law in words, and its check."""
