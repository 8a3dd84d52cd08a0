"""From sums over coordinates to kernel values: one pass over a row while it is in cache.

A profile is a number (`GAUSSIAN`, `POLYNOMIAL`, ...) with at most three parameters. `finish`
turns the sums of one row into values; each profile is one branch-free loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.loops.compiled import compiled
from mercer.loops.vector import exp, full_width

FAR: Any = np.float32(1e4)
ONE: Any = np.float32(1)

RAW, GAUSSIAN, EXPONENTIAL, MATERN32, MATERN52, POLYNOMIAL, EXP_DOT, TANIMOTO, COSINE = range(9)


@compiled()
def finish(
    sums: Any, out: Any, profile: Any, p: Any, q: Any, whole: Any, a: Any, norms: Any
) -> None:
    """Set `out[j]` from `sums[j]`, which may be overwritten.

    `p`, `q`, `whole` are the parameters of the profile, `a` is the norm of the row and
    `norms[j]` that of the column, for the profiles that need them.
    """
    full_width()
    count = len(out)
    if profile == GAUSSIAN:
        for j in range(count):
            out[j] = exp(-p * sums[j])
    elif profile == EXPONENTIAL:
        for j in range(count):
            out[j] = exp(-p * np.sqrt(sums[j]))
    elif profile == MATERN32:
        for j in range(count):
            r = p * np.sqrt(sums[j])
            # Beyond this exp(-r) is 0, and infinity times 0 would not be.
            r = FAR if r > FAR else r
            out[j] = (r + q) * exp(-r)
    elif profile == MATERN52:
        for j in range(count):
            r = p * np.sqrt(sums[j])
            r = FAR if r > FAR else r
            out[j] = (r * r * q + r + ONE) * exp(-r)
    elif profile == POLYNOMIAL:
        for j in range(count):
            sums[j] = p * sums[j] + q
            out[j] = sums[j]
        for _ in range(whole - 1):
            for j in range(count):
                out[j] *= sums[j]
    elif profile == EXP_DOT:
        for j in range(count):
            out[j] = exp(p * sums[j] + q)
    elif profile == TANIMOTO:
        for j in range(count):
            union = a + norms[j] - sums[j]
            # Two empty points are equal: 0/0 is 1. NaN is not 0, so it gets through.
            out[j] = q if union == 0 else sums[j] / union
    elif profile == COSINE:
        for j in range(count):
            out[j] = sums[j] * (a * norms[j])
    else:
        for j in range(count):
            out[j] = sums[j]


@compiled()
def shift(sums: Any, a: Any, norms: Any, zero: Any) -> None:
    """Complete -2 x'y to a squared distance, which rounding must not make negative."""
    full_width()
    for j in range(len(sums)):
        squared = sums[j] + (a + norms[j])
        sums[j] = zero if squared < zero else squared
