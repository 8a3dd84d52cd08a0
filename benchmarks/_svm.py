"""The problems of `svm.py`: recipes for data, real data where they are, and hard cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

NEW = 20_000
"""Rows that the first recipe keeps for testing."""


@dataclass(frozen=True)
class Problem:
    """Points and targets to learn from, others to test on, and the settings of all machines."""

    X: Any
    y: np.ndarray | None
    new: Any
    truth: np.ndarray | None
    machine: str = "SVC"
    settings: dict[str, Any] = field(default_factory=dict)


def gamma_of(X: Any) -> float:
    """gamma="scale" as a number: mercer's would take the variance of distinct rows."""
    square = X.multiply(X).mean() if sp.issparse(X) else (X.astype(np.float64) ** 2).mean()
    return float(1 / (X.shape[1] * (square - float(X.mean(dtype=np.float64)) ** 2)))


# Recipes


def planes(n: int) -> Problem:
    """Two classes, a tenth of the labels false."""
    r = np.random.default_rng(0)
    X = r.standard_normal((n + NEW, 20))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    y = np.sign(f).astype(np.int64)
    y[r.random(n + NEW) < 0.1] *= -1
    settings = {"C": 1.0, "gamma": gamma_of(X[:n])}
    return Problem(X[:n], y[:n], X[n:], y[n:], "SVC", settings)


def _waves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, 20))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * r.standard_normal(n)


def waves(n: int) -> Problem:
    X, y = _waves(n, 0)
    settings = {"C": 1.0, "gamma": gamma_of(X), "epsilon": 0.1}
    return Problem(X, y, *_waves(2_000, 1), "SVR", settings)


def cloud(n: int) -> Problem:
    X, _ = _waves(n, 0)
    settings = {"nu": 0.1, "gamma": gamma_of(X)}
    return Problem(X, None, _waves(2_000, 1)[0], None, "OneClassSVM", settings)


def blobs(n: int) -> Problem:
    """Ten classes in 64 dimensions."""
    r = np.random.default_rng(3)
    centres = 0.42 * r.standard_normal((10, 64))
    y = r.integers(0, 10, 2 * n)
    X = centres[y] + r.standard_normal((2 * n, 64))
    settings = {"C": 1.0, "gamma": gamma_of(X[:n])}
    return Problem(X[:n], y[:n], X[n:], y[n:], "SVC", settings)


# Real data


def _split(X: Any, y: np.ndarray, test: np.ndarray, C: float, gamma: float | None) -> Problem:
    rest = np.setdiff1d(np.arange(len(y)), test)
    gamma = gamma_of(X[rest]) if gamma is None else gamma
    return Problem(X[rest], y[rest], X[test], y[test], "SVC", {"C": C, "gamma": gamma})


def _drawn(rows: int) -> np.ndarray:
    """A fifth of the rows, to test on."""
    return np.sort(np.random.default_rng(0).permutation(rows)[: rows // 5])


def sparse(file: Path, C: float, gamma: float) -> Problem:
    with np.load(file, allow_pickle=False) as kept:
        parts = kept["data"].astype(np.float64), kept["indices"], kept["indptr"]
        X, y = sp.csr_matrix(parts, shape=tuple(kept["shape"])), kept["y"]
        test = kept["test_idx"] if "test_idx" in kept else _drawn(len(y))
    return _split(X, y, test, C, gamma)


def table(file: Path, C: float, gamma: float | None, divisor: float = 1.0) -> Problem:
    with np.load(file, allow_pickle=False) as kept:
        X, y = kept["X"].astype(np.float64) / divisor, kept["y"]
        test = kept["test_idx"] if "test_idx" in kept else _drawn(len(y))
    return _split(X, y, test, C, gamma)


# Hard cases


def costly(C: float) -> Problem:
    """A tenth of the labels are false, in four dimensions, and errors cost a fortune."""
    r = np.random.default_rng(0)
    X = r.standard_normal((5_000, 4))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5)
    y = y.astype(np.int64)
    y[r.random(5_000) < 0.1] *= -1
    settings = {"C": C, "gamma": gamma_of(X[:1_000])}
    return Problem(X[:1_000], y[:1_000], X[1_000:], y[1_000:], "SVC", settings)


def twins() -> Problem:
    """Every point is there four times, not quite equal, with labels that contradict."""
    found = planes(1_500)
    r = np.random.default_rng(5)
    X = np.repeat(found.X, 4, axis=0)
    X += 1e-7 * r.standard_normal(X.shape)
    y = np.repeat(found.y, 4)
    y[r.random(len(y)) < 0.1] *= -1
    return Problem(X, y, found.new, found.truth, "SVC", found.settings | {"C": 10.0})


def rare() -> Problem:
    """One row of a thousand is of the other class."""
    r = np.random.default_rng(6)
    X = r.standard_normal((20_000, 10))
    y = np.where(np.arange(20_000) % 1_000 == 0, 1, -1)
    X[y > 0] += 1.5
    new = r.standard_normal((4_000, 10))
    truth = np.where(np.arange(4_000) % 2 == 0, 1, -1)
    new[truth > 0] += 1.5
    return Problem(X, y, new, truth, "SVC", {"C": 10.0, "gamma": 0.1})


def width(gamma: float) -> Problem:
    """So narrow a kernel that the matrix is the identity, or so wide that it is all ones."""
    found = planes(5_000)
    return Problem(found.X, found.y, found.new, found.truth, "SVC", {"C": 1.0, "gamma": gamma})


def single(problem: Problem) -> Problem:
    """The same with points in float32."""
    return replace(problem, X=problem.X.astype(np.float32), new=problem.new.astype(np.float32))


PROBLEMS: dict[str, Callable[[Path], Problem]] = {
    "C1": lambda _: planes(20_000),
    "predict": lambda _: planes(20_000),
    "predict32": lambda _: single(planes(20_000)),
    "C1large": lambda _: planes(50_000),
    "C3": lambda _: blobs(10_000),
    "C4": lambda _: waves(10_000),
    "C5": lambda _: cloud(10_000),
    "a9a": lambda data: sparse(data / "a9a.npz", 1.0, 0.05),
    "w8a": lambda data: sparse(data / "w8a.npz", 10.0, 0.02),
    "covtype": lambda data: table(data / "covtype_10k.npz", 10.0, 1.0),
    "letter": lambda data: table(data / "letter.npz", 10.0, None),
    "mnist": lambda data: table(data / "mnist.npz", 10.0, 0.02, 255.0),
    "skin": lambda data: table(data / "skin.npz", 10.0, None),
    "costly": lambda _: costly(1e4),
    "costlier": lambda _: costly(1e6),
    "twins": lambda _: twins(),
    "rare": lambda _: rare(),
    "narrow": lambda _: width(1e4),
    "broad": lambda _: width(1e-8),
}
"""Each is told the folder of tables."""
