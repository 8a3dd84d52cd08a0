"""Gaussian and polynomial Gram matrices, 10000 x 10000, d = 50, against scikit-learn.

The floor is what the same machine needs for one GEMM into a given array and one exponential
an entry, both on two threads; half of that, and a new array, for a symmetric matrix.
"""

from __future__ import annotations

from _common import best_of, compare, halves, writing  # isort: skip - sets the environment first

import sys

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import mercer as mc

N, D = 10_000, 50
GAMMA = 1 / D
GAUSSIAN = mc.Gaussian(scale=(2 * GAMMA) ** -0.5)
POLYNOMIAL = mc.Polynomial(degree=3, offset=1.0, scale=D**0.5)
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


def points(seed: int, dtype: str, n: int = N) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, D)).astype(dtype)


def agree(dtype: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, on a corner, which is not allowed to be large."""
    error = float(np.abs(ours[:500, :500].astype(float) - theirs[:500, :500]).max())
    assert error <= TOLERANCE[dtype] * max(1.0, float(np.abs(theirs[:500, :500]).max())), error
    return error


def floor(dtype: str, out: np.ndarray, *, exponentials: bool) -> float:
    X, Y = points(0, dtype), points(1, dtype)
    seconds = best_of(lambda: np.matmul(X, Y.T, out=out))
    if not exponentials:
        return seconds

    def negative() -> None:
        out[...] = -1.0

    return seconds + best_of(lambda: halves(lambda h: np.exp(h, out=h), out), before=negative)


def distinct(dtype: str, at_least: float) -> None:
    X, Y, out = points(0, dtype), points(1, dtype), np.zeros((N, N), dtype)
    lowest = floor(dtype, out, exponentials=True)
    ours = best_of(lambda: GAUSSIAN(X, Y, out=out))
    error = agree(dtype, out, rbf_kernel(X[:500], Y[:500], gamma=GAMMA))
    peer = best_of(lambda: rbf_kernel(X, Y, gamma=GAMMA))
    compare(
        f"gaussian X, Y {dtype} out=", ours, {"sklearn": peer}, at_least, lowest, error=error
    )


def symmetric() -> None:
    X = points(0, "float64")
    whole = floor("float64", np.zeros((N, N)), exponentials=True)
    lowest = whole / 2 + writing((N, N), "float64", fresh=True)
    ours = best_of(lambda: GAUSSIAN(X))
    error = agree("float64", GAUSSIAN(X[:500]), rbf_kernel(X[:500], gamma=GAMMA))
    peer = best_of(lambda: rbf_kernel(X, gamma=GAMMA))
    compare("gaussian X float64", ours, {"sklearn": peer}, 4.0, lowest, error=error)


def polynomial() -> None:
    X, Y = points(0, "float64"), points(1, "float64")
    out = np.zeros((N, N))
    lowest = floor("float64", out, exponentials=False)
    ours = best_of(lambda: POLYNOMIAL(X, Y, out=out))
    theirs = polynomial_kernel(X[:500], Y[:500], degree=3, gamma=1 / D, coef0=1)
    error = agree("float64", out, theirs)
    peer = best_of(lambda: polynomial_kernel(X, Y, degree=3, gamma=1 / D, coef0=1))
    compare("polynomial 3 X, Y float64", ours, {"sklearn": peer}, 2.5, lowest, error=error)


TASKS = {
    "float64": lambda: distinct("float64", 2.8),
    "float32": lambda: distinct("float32", 6.5),
    "symmetric": symmetric,
    "polynomial": polynomial,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or TASKS:
        TASKS[name]()
