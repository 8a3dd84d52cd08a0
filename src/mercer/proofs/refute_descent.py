r"""Descent on the smallest eigenvalue over the points themselves.

With unit eigenvector v, the eigenvalue of the normalised matrix falls along the points at the
rate d lambda / d x_i = 2 v_i sum_j v_j d k(x_i, x_j) / d x_i. The derivatives are differences,
so kinks do no harm. Points that are whole numbers or sets are exchanged for others instead.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer.proofs.floating import Floats
from mercer.proofs.refute_cases import Case, lowest, normalised

_TOO_HIGH = 1e3
"""What is told to the optimiser where the function is undefined."""


class _OutOfTimeError(Exception):
    pass


def descended(
    case: Case,
    batch: NDArray[Any],
    deadline: float,
    rng: np.random.Generator | None = None,
) -> NDArray[Any] | None:
    """The arrangement that descent makes of the lowest one of a batch.

    Args:
        case: The function.
        batch: Arrangements to start from.
        deadline: The time, of `time.monotonic`, at which to stop.
        rng: The source of chance, for exchanges; without one there are none.
    """
    bottoms = lowest(case.gram(batch))
    best = int(np.argmin(bottoms))
    if not np.isfinite(bottoms[best]):
        return None
    where = case.formula.space
    if where.points_are == "set" or where.kind == "naturals":
        pool = np.concatenate(batch)
        return None if rng is None else _exchanged(case, batch[best], pool, rng, deadline)
    return _Slope(case, batch[best], deadline).run()


def _exchanged(
    case: Case, P: NDArray[Any], pool: NDArray[Any], rng: np.random.Generator, deadline: float
) -> NDArray[Any]:
    """One point at a time replaced by the one of a pool that lowers the eigenvalue most."""
    low = float(lowest(case.gram(P)))
    for _ in range(8 * len(P)):
        if time.monotonic() > deadline:
            break
        tries = np.repeat(P[None], 24, axis=0)
        tries[:, rng.integers(len(P))] = pool[rng.integers(len(pool), size=24)]
        bottoms = lowest(case.gram(tries))
        if bottoms.min() < low:
            low, P = float(bottoms.min()), tries[int(np.argmin(bottoms))]
    return P


class _Slope:
    """The eigenvalue as a function of free coordinates, which stand for points of the space."""

    def __init__(self, case: Case, P: NDArray[Any], deadline: float) -> None:
        self.case, self.deadline = case, deadline
        self.shape = P.shape
        self.where = case.formula.space
        self.free = self._freed(np.asarray(P, dtype=np.float64))
        self.lowest, self.found = np.inf, P

    def run(self) -> NDArray[Any]:
        """The lowest arrangement that was met."""
        spread = float(np.std(self.free)) or 1.0
        self.reach = 1e-5 * spread
        with suppress(_OutOfTimeError, np.linalg.LinAlgError):
            minimize(
                self.value,
                self.free.ravel() / spread,
                args=(spread,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 60},
            )
        return self.found

    def value(self, z: Floats, spread: float) -> tuple[float, Floats]:
        """The eigenvalue and its slopes, in units of the spread of the points."""
        if time.monotonic() > self.deadline:
            raise _OutOfTimeError
        Z = (z * spread).reshape(self.shape)
        P = self._points(Z)
        K = self.case.gram(P)
        N, root = normalised(K)
        if not np.isfinite(N).all():
            return _TOO_HIGH, np.zeros_like(z)
        values, vectors = np.linalg.eigh(N)
        if values[0] < self.lowest:
            self.lowest, self.found = float(values[0]), P
        slopes = self._slopes(Z, P, root, vectors[:, 0])
        return float(values[0]), np.nan_to_num(slopes.ravel() * spread)

    def _slopes(self, Z: Floats, P: Floats, root: Floats, v: Floats) -> Floats:
        slopes = np.zeros(self.shape)
        for c in range(1 if Z.ndim == 1 else Z.shape[1]):
            step = np.zeros(Z.shape[1:])
            step[...] = 0 if Z.ndim > 1 else self.reach
            if Z.ndim > 1:
                step[c] = self.reach
            rise = sum(
                side * self._row(self._points(Z + side * step), P, root) for side in (1, -1)
            )
            np.fill_diagonal(rise, 0)
            slope = v * (rise @ v) / self.reach
            slopes[(...,) if Z.ndim == 1 else (..., c)] = slope
        return slopes

    def _row(self, moved: Floats, P: Floats, root: Floats) -> Any:
        """The normalised function between moved points and the others."""
        rows = self.case.values(moved[:, None], P[None, :])
        own = np.sqrt(np.absolute(self.case.values(moved, moved)))
        with np.errstate(all="ignore"):
            return rows / np.where(own > 0, own, root)[:, None] / root

    def _points(self, Z: Floats) -> Floats:
        kind = self.where.kind
        if kind == "sphere":
            return np.asarray(Z / np.linalg.norm(Z, axis=-1, keepdims=True))
        if kind == "interval" and self.where.low is not None and self.where.high is not None:
            low, high = float(self.where.low), float(self.where.high)
            return np.asarray(low + (high - low) / (1 + np.exp(-np.clip(Z, -30, 30))))
        if kind in ("positive", "nonnegative"):
            return np.asarray(np.exp(np.clip(Z, -30, 30)))
        return np.mod(Z, 6.283185307) if kind == "circle" else Z

    def _freed(self, P: Floats) -> Floats:
        """The coordinates of which `_points` makes these points."""
        if self.where.kind in ("positive", "nonnegative"):
            return np.asarray(np.log(np.maximum(P, 1e-12)))
        if (
            self.where.kind == "interval"
            and self.where.low is not None
            and self.where.high is not None
        ):
            share = (P - float(self.where.low)) / float(self.where.high - self.where.low)
            share = np.clip(share, 1e-12, 1 - 1e-12)
            return np.asarray(np.log(share / (1 - share)))
        return P
