"""Grids of support vector machines: 25 pairs of C and scale, 5 folds, with the refit.

mercer's `svm_path` and one fit, against scikit-learn's GridSearchCV over its own SVC and that
of scikit-learn-intelex, at their fastest: two processes of one thread. The folds are the same
rows, and the scores have to be the same. liquidSVM selects on its own folds, without an offset
and without a refit, so only its time is told. The path has 20 costs, 5 folds and one scale.
"""

from __future__ import annotations

from _common import THREADS, compare, row  # isort: skip - sets the environment first

import importlib
import os
import sys
import sysconfig
import time
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import mercer as mc
from mercer.selection import svm_path

COSTS, GAMMAS = (0.1, 1.0, 10.0, 100.0, 1000.0), (0.001, 0.01, 0.05, 0.1, 0.5)


def planes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, a tenth of the labels false."""
    r = np.random.default_rng(0)
    X = r.standard_normal((n, 20))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    y = np.sign(f)
    y[r.random(n) < 0.1] *= -1
    return X, y


def timed(run):
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def ours(X, y, costs, gammas, folds):
    """The scores, and the machine with the best."""
    kernels = [mc.Gaussian((2 * gamma) ** -0.5) for gamma in gammas]
    plan = mc.Plan(threads=THREADS)
    path = svm_path(X, y, costs, kernels, folds, plan=plan)
    kernel, cost = path.best
    return path, mc.SVC(C=cost, kernel=kernel, plan=plan).fit(X, y)


def peer(module, X, y, costs, gammas, folds):
    """A grid search of a peer, in two processes of one thread."""
    machine = importlib.import_module(module).SVC(cache_size=2000)
    grid = {"gamma": list(gammas), "C": list(costs)}
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        return GridSearchCV(machine, grid, cv=folds, n_jobs=THREADS).fit(X, y)
    finally:
        os.environ["OMP_NUM_THREADS"] = str(THREADS)


def scores_of(search, costs, gammas, folds) -> np.ndarray:
    """The scores of a grid search, in the shape of ours."""
    found = np.empty((len(gammas), len(costs), len(folds)))
    for at, chosen in enumerate(search.cv_results_["params"]):
        place = gammas.index(chosen["gamma"]), costs.index(chosen["C"])
        for fold in range(len(folds)):
            found[(*place, fold)] = search.cv_results_[f"split{fold}_test_score"][at]
    return found


def liquid(X, y) -> float | None:
    """Seconds of liquidSVM's own grid over the same numbers; None where it is not there."""
    ask = sysconfig.get_config_var
    sysconfig.get_config_var = lambda name: ".so" if name == "SO" else ask(name)
    try:
        svm = importlib.import_module("liquidSVM")
    except (ImportError, OSError):
        return None
    finally:
        sysconfig.get_config_var = ask
    settings = {
        "grid_choice": -2, "gammas": [gamma**-0.5 for gamma in GAMMAS], "c_values": list(COSTS),
        "folds": 5, "threads": THREADS,
    }  # fmt: skip
    return timed(lambda: svm.mcSVM(X, y, mc_type="OvA_hinge", **settings))[0]


def contend(task: str, n: int, costs, gammas, at_least: float) -> dict[str, float]:
    X, y = planes(n)
    folds = list(StratifiedKFold(5).split(X, y))
    ours(X[:300], y[:300], costs[:2], gammas[:1], 3)  # compiles
    runs = [timed(lambda: ours(X, y, costs, gammas, folds)) for _ in range(3)]
    seconds, (path, _) = min(runs, key=lambda run: run[0])
    times = {}
    for name, module in (("sklearn", "sklearn.svm"), ("sklearnex", "sklearnex.svm")):
        try:
            times[name], search = timed(lambda m=module: peer(m, X, y, costs, gammas, folds))
        except ImportError:
            continue
        theirs = scores_of(search, costs, gammas, folds)
        # Rows so near the border that a tolerance of 1e-3 decides for them.
        apart = np.abs(theirs - path.scores).max() * len(folds[0][1])
        row(task, name, times[name], score=float(search.best_score_), rows_apart=float(apart))
        assert np.abs(theirs.mean(axis=2) - path.means).max() < 0.005, name
    if not times:
        raise SystemExit("no peer is installed")
    compare(
        task, seconds, times, at_least, score=float(path.means.max()), best_cost=path.best[1],
        best_scale=path.best[0].scale, runs=[round(run[0], 3) for run in runs],
    )  # fmt: skip
    return {"mercer": seconds, **times}


def grid() -> None:
    contend("C6 grid 5 x 5 x 5, n=4000, with the refit", 4000, COSTS, GAMMAS, 12.0)
    seconds = liquid(*planes(4000))
    if seconds is not None:
        row("C6 grid 5 x 5 x 5, n=4000", "liquidSVM", seconds, note="no offset, no refit")


def path() -> None:
    costs = tuple(np.logspace(-2, 2, 20).tolist())
    contend("C7 path of 20 costs, 5 folds, n=2000", 2000, costs, (1 / 20,), 3.0)


TASKS = {"grid": grid, "path": path}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or TASKS:
        TASKS[name]()
