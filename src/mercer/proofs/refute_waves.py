r"""Where smooth functions fail: at one frequency, or among points that are very close.

A function of x - y is positive definite when its Fourier transform is nowhere negative. Weights
w_j exp(i omega j) on a progression feel the transform near omega alone, and one fast Fourier
transform tells the quadratic form at every omega.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from mercer.proofs.exact import Point
from mercer.proofs.floating import Floats
from mercer.proofs.refute_cases import NOISE, Case
from mercer.proofs.spaces import Space

_POINTS = 192
"""Points of a progression: enough to tell frequencies half a percent apart."""

_STEPS = 2.0 ** (np.arange(-16, 5) / 2)


def waves(case: Case) -> Iterator[Floats]:
    """Progressions on which a function of x - y, or of x / y, has a negative frequency."""
    kind = case.formula.space.kind
    if kind not in ("reals", "positive", "nonnegative"):
        return
    column = _column(case, 0.0)
    if not _equal(column, _column(case, 0.7)):
        return
    window = np.hanning(_POINTS + 2)[1:-1]
    size = 4 * _POINTS
    overlap = np.fft.irfft(np.abs(np.fft.rfft(window, size)) ** 2, size)[:_POINTS]
    known = np.isfinite(column).all(axis=1, keepdims=True)
    terms = np.where(known, column, 0) * overlap
    power = 2 * np.fft.rfft(terms, size, axis=1).real - terms[:, :1]
    deepest = power.min(axis=1) / np.where(terms[:, 0] > 0, terms[:, 0], np.inf)
    for n in np.argsort(deepest, kind="stable")[:4]:
        if float(deepest[n]) < -NOISE:
            yield _line(kind, _STEPS[n] * np.arange(_POINTS))


def _line(kind: str, steps: Any) -> Floats:
    """Points that differ by these steps, or whose logarithms do."""
    return np.asarray(steps if kind == "reals" else np.exp(np.minimum(steps, 300)))


def _column(case: Case, start: float) -> Floats:
    """The function between one point and each progression from it on; a row a step."""
    kind = case.formula.space.kind
    last = start + _STEPS[:, None] * np.arange(_POINTS)
    return case.values(_line(kind, np.full((1, 1), start)), _line(kind, last))


def _equal(a: Floats, b: Floats) -> bool:
    """Whether two rows seem to be the same function. A wrong guess costs time, no more."""
    with np.errstate(all="ignore"):
        close = np.absolute(a - b) <= 1e-7 * np.absolute(a[:, :1])
    return bool(np.all(close | ~np.isfinite(a) | ~np.isfinite(b)))


def close_points(where: Space, dimensions: tuple[int | None, ...]) -> Iterator[list[Point]]:
    """A few exact points at many small distances, for arithmetic with many digits."""
    if where.kind in ("naturals", "sets", "sphere"):
        return
    centres = [Fraction(0), Fraction(1)]
    if where.kind == "interval" and where.low is not None and where.high is not None:
        centres = [(where.low + where.high) / 2]
    elif where.kind in ("positive", "circle"):
        centres = [Fraction(1)]
    for digits in range(1, 10):
        for centre in centres:
            for count in (3, 4, 6):
                step = Fraction(1, 10**digits)
                line = [centre + step * k for k in range(count)]
                if where.points_are != "vector":
                    yield list(line)
                elif dimensions[0] is not None:
                    yield [(part, *[Fraction(0)] * (dimensions[0] - 1)) for part in line]
