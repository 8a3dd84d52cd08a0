"""Support vector classification of very many rows: landmarks, against pipelines.

The recipe is that of `svm_grid.py`: 20 features, a tenth of the labels false, so 0.9 is the
most that any machine can reach. The last 20000 rows are for the test. Each contender runs in a
process of its own, so that its peak of memory is its own, one after the other; loops are
compiled before. All take the same kernel, C = 1 and 1000 landmarks, each by its own chance.

The pipelines are not the same problem: LinearSVC has the squared hinge, and its penalty counts
the offset; SGD stops when its loss falls no longer. Of two draws of landmarks one is better by
half a percent, whoever draws them.
"""

from __future__ import annotations

from _common import peak_megabytes, row  # isort: skip - sets the environment first

import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import mercer as mc

LANDMARKS = 1_000
TEST = 20_000


def planes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, a tenth of the labels false."""
    r = np.random.default_rng(0)
    X = r.standard_normal((n + TEST, 20))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    y = np.sign(f)
    y[r.random(n + TEST) < 0.1] *= -1
    return X, y


def ours(C: float, **settings: Any) -> Any:
    """A machine over landmarks."""
    plan = mc.Plan(**({"method": "landmarks", "anchors": LANDMARKS, "threads": 2} | settings))
    return lambda gamma, _: mc.SVC(C=C, gamma=gamma, plan=plan)


def nystroem(gamma: float) -> Nystroem:
    return Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0)


CONTENDERS = {
    "mercer": ours(1.0),
    "mercer, C=100": ours(100.0),
    "mercer, 2000 landmarks": ours(1.0, anchors=2_000),
    "mercer, all points": ours(1.0, method="smo", anchors="auto"),
    "Nystroem + LinearSVC": lambda gamma, _: make_pipeline(
        nystroem(gamma), LinearSVC(C=1.0, dual="auto", random_state=0)
    ),
    "Nystroem + SGD": lambda gamma, n: make_pipeline(
        nystroem(gamma), SGDClassifier(alpha=1 / n, random_state=0)
    ),
}


def run(name: str, n: int) -> dict[str, Any]:
    """One contender on n rows."""
    X, y = planes(n)
    gamma = 1 / (X.shape[1] * X[:n].var())
    make = CONTENDERS[name]
    if name.startswith("mercer"):
        make(gamma, 2_000).fit(X[:2_000], y[:2_000])  # compiles
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        began = time.perf_counter()
        machine = make(gamma, n).fit(X[:n], y[:n])
        fitted = time.perf_counter()
    found: dict[str, Any] = {
        "seconds": fitted - began,
        "accuracy": float((machine.predict(X[n:]) == y[n:]).mean()),
        "predict": time.perf_counter() - fitted,
        "warnings": sorted({str(one.message).split(".")[0] for one in told}),
    }
    if name.startswith("mercer"):
        solution = machine.solution_
        found |= {
            "plan": str(machine.plan_),
            "gap": solution.gap,
            "violation": solution.residual,
            "objective": solution.objective,
            "support": len(machine.support_),
        }
    return found


def measured(name: str, n: int) -> dict[str, Any]:
    """One run in a process of its own."""
    command = [sys.executable, __file__, "--run", name, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(n: int, names: list[str]) -> None:
    """A row for each contender; mercer's first, and how many times longer others take."""
    own = None
    for name in names:
        found = measured(name, n)
        own = found["seconds"] if own is None else own
        row(f"SVC, {n} rows", name, **found, times_mercer=found["seconds"] / own)


QUICK = ["mercer", "mercer, C=100", "Nystroem + LinearSVC", "Nystroem + SGD"]

TASKS = {
    "100000": lambda: compare(100_000, QUICK),
    "500000": lambda: compare(500_000, QUICK),
    "more": lambda: compare(500_000, ["mercer", "mercer, 2000 landmarks"]),
    "exact": lambda: compare(100_000, ["mercer", "mercer, all points"]),
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        result = run(sys.argv[2], int(sys.argv[3]))
        print(json.dumps(result | {"peak_megabytes": round(peak_megabytes())}))
    else:
        for chosen in sys.argv[1:] or ("100000", "500000"):
            TASKS[chosen]()
