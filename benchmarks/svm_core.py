"""The solver of support vector machines, against LIBSVM and scikit-learn-intelex.

The same problem, from the same float64 points to the dual solution: Gram rows, the search and
its checks are timed. `floor` is what the same machine needs for the Gram matrix in float32, and
to read one row of it for each support vector.
"""

from __future__ import annotations

from _common import best_of, row  # isort: skip - sets the environment first

import sys
import time
import warnings

import numpy as np
import sklearn.svm

import mercer as mc
from mercer.gram.rows import KernelRows
from mercer.loops.smo import add_rows
from mercer.plan import Plan
from mercer.problems import duals
from mercer.solvers.smo import smo

CACHE = 4_000


def planes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, a tenth of the labels false."""
    r = np.random.default_rng(0)
    X = r.standard_normal((n + 20_000, 20))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    y = np.sign(f)
    y[r.random(n + 20_000) < 0.1] *= -1
    return X[:n], y[:n]


def waves(n: int) -> tuple[np.ndarray, np.ndarray]:
    r = np.random.default_rng(0)
    X = r.standard_normal((n, 20))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * r.standard_normal(n)


def digits(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten classes in 64 dimensions."""
    r = np.random.default_rng(3)
    centres = 0.42 * r.standard_normal((10, 64))
    y = r.integers(0, 10, 20_000)
    return (centres[y] + r.standard_normal((20_000, 64)))[:n], y[:n]


def gamma_of(X: np.ndarray) -> float:
    return 1 / (X.shape[1] * X.var())


def solved(dual, X: np.ndarray):
    """The solution, and the source of its rows."""
    kernel = mc.Gaussian(scale=(2 * gamma_of(X)) ** -0.5)
    rows = KernelRows(kernel, kernel.domain.encode(X), Plan(threads=2))
    return smo(dual, rows), rows


def objective(machine, dual, X: np.ndarray) -> float:
    """The dual objective of a peer's coefficients, in float64."""
    kernel = mc.Gaussian(scale=(2 * gamma_of(X)) ** -0.5)
    b = np.asarray(machine.dual_coef_, float).ravel()
    image = kernel(X[machine.support_]) @ b
    if dual.copies == 2:
        n = len(X)
        epsilon = (dual.linear[0] + dual.linear[n]) / 2
        y = (dual.linear[n:] - dual.linear[:n]) / 2
        return 0.5 * b @ image - b @ y[machine.support_] + epsilon * np.abs(b).sum()
    return 0.5 * b @ image + dual.linear[machine.support_] @ np.abs(b)


def floor(X: np.ndarray, supports: int) -> float:
    """Seconds for half of the matrix, and for reading the rows of the support vectors."""
    kernel = mc.Gaussian(scale=(2 * gamma_of(X)) ** -0.5)
    batch = kernel.domain.encode(X.astype(np.float32))
    seconds = best_of(lambda: kernel.square(batch), repeat=2)
    store, out = np.zeros((256, len(X)), np.float32), np.zeros(len(X))
    rows, factors = np.arange(256), np.ones(256)
    one = best_of(
        lambda: add_rows(store.reshape(-1), len(X), rows, factors, 0, len(X), out), repeat=3
    )
    return seconds + one / 2 * supports / 256


def contend(task: str, dual, X, y, peers, at_least: float, repeat: int = 3) -> None:
    solved(dual, X)
    best = None
    for _ in range(repeat):
        start = time.perf_counter()
        found, rows = solved(dual, X)
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    times, values = {}, {}
    for name, make in peers.items():
        machine = make()
        times[name] = best_of(lambda m=machine: m.fit(X, y), repeat=1)
        values[name] = objective(machine, dual, X)
        row(task, name, times[name], objective=values[name])
    fastest = min(times, key=times.__getitem__)
    lowest = min(values.values())
    assert found.objective <= lowest + 1e-4 * abs(lowest), (found.objective, values)
    least = floor(X, int(np.count_nonzero(found.coefficients)))
    row(
        task,
        "mercer",
        best,
        objective=found.objective,
        gap=found.gap,
        violation=found.residual,
        steps=found.steps,
        support=int(np.count_nonzero(found.coefficients)),
        megabytes=rows.memory / 1e6,
        peer=fastest,
        times_faster=times[fastest] / best,
        times_sklearn=times["sklearn"] / best,
        floor_seconds=least,
        times_floor=best / least,
        at_least=at_least,
        reached=times[fastest] / best >= at_least,
    )


def intelex(name: str, **settings):
    """A machine of scikit-learn-intelex; nothing where it is not installed."""
    try:
        import sklearnex.svm as fast  # noqa: PLC0415 - optional
    except ImportError:
        return {}
    return {"sklearnex": lambda: getattr(fast, name)(cache_size=CACHE, **settings)}


def classify(n: int, at_least: float) -> None:
    X, y = planes(n)
    settings = {"C": 1.0, "gamma": gamma_of(X)}
    peers = {"sklearn": lambda: sklearn.svm.SVC(cache_size=CACHE, **settings)}
    peers |= intelex("SVC", **settings)
    contend(f"C1 SVC n={n}", duals.classification(y, 1.0), X, y, peers, at_least)


def regress(n: int) -> None:
    X, y = waves(n)
    settings = {"C": 1.0, "gamma": gamma_of(X), "epsilon": 0.1}
    peers = {"sklearn": lambda: sklearn.svm.SVR(cache_size=CACHE, **settings)}
    peers |= intelex("SVR", **settings)
    contend(f"C4 SVR n={n}", duals.regression(y, 1.0, 0.1), X, y, peers, 3.0)


def one_class(n: int) -> None:
    X, _ = waves(n)
    settings = {"nu": 0.1, "gamma": gamma_of(X)}
    peers = {"sklearn": lambda: sklearn.svm.OneClassSVM(cache_size=CACHE, **settings)}
    contend(f"C5 OneClassSVM n={n}", duals.one_class(1.0, 0.1, n), X, None, peers, 2.0)


def ten_classes(n: int) -> None:
    """All pairs of classes one after the other, without a Gram matrix in common."""
    X, y = digits(n)
    gamma = gamma_of(X)
    kernel = mc.Gaussian(scale=(2 * gamma) ** -0.5)
    batch = kernel.domain.encode(X)

    def pairs() -> None:
        for a in range(10):
            for b in range(a + 1, 10):
                mine = np.flatnonzero((y == a) | (y == b))
                labels = np.where(y[mine] == a, 1.0, -1.0)
                rows = KernelRows(kernel, batch[mine], Plan(threads=2))
                assert smo(duals.classification(labels, 1.0), rows).converged

    ours = best_of(pairs, repeat=2)
    settings = {"C": 1.0, "gamma": gamma}
    peers = {"sklearn": lambda: sklearn.svm.SVC(cache_size=CACHE, **settings)}
    peers |= intelex("SVC", **settings)
    times = {}
    for name, make in peers.items():
        machine = make()
        times[name] = best_of(lambda m=machine: m.fit(X, y), repeat=1)
        row(f"C3 SVC ten classes n={n}", name, times[name])
    fastest = min(times, key=times.__getitem__)
    row(
        f"C3 SVC ten classes n={n}", "mercer", ours, peer=fastest,
        times_faster=times[fastest] / ours, at_least=3.0,
    )  # fmt: skip


TASKS = {
    "C1": lambda: classify(20_000, 2.0),
    "C1large": lambda: classify(50_000, 2.0),
    "C3": lambda: ten_classes(10_000),
    "C4": lambda: regress(10_000),
    "C5": lambda: one_class(10_000),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or TASKS:
        TASKS[name]()
