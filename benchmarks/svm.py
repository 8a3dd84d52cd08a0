"""Support vector machines from points to fitted machines, against LIBSVM and its heirs.

Every contender gets the same points, settings and tolerance, and fits in a process of its own,
so that its memory is its own. Of what it found, the dual objective, the largest violation and
the duality gap are computed here, in float64, by the same code for all. scikit-learn-intelex
may have its points in float32, which makes it faster; mercer has them in float64.

    python benchmarks/svm.py                  every task, without peers that take minutes
    python benchmarks/svm.py C1 letter        some tasks
    python benchmarks/svm.py mnist --slow     with those peers
    python benchmarks/svm.py C1 --only mercer --only sklearnex

Real data are looked for beside the project's folder, or where --data says; a task without its
data says so.
"""

from __future__ import annotations

from _common import THREADS, best_of, peak_megabytes, row  # isort: skip

import argparse
import importlib
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _svm import PROBLEMS, Problem, single

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "tabular"

CACHE = 4_000
"""Megabytes that the peers may keep."""

CLOSE = 1e-3
"""How far accuracies may be apart and count as equal: machines stop at other points."""


@dataclass(frozen=True)
class Goal:
    """What a task compares, and how many times faster than each peer it is meant to be."""

    least: dict[str, float]
    slow: tuple[str, ...] = ()
    quick: bool = False
    """Whether prediction counts, instead of the fit."""


REAL = {"sklearnex": 1.0, "sklearnex-float32": 1.0}
HARD = {"sklearn": 1.0, "libsvm": 1.0}

TASKS = {
    "C1": Goal({"sklearn": 7.0, "sklearnex": 2.0, "sklearnex-float32": 1.5}),
    "C1large": Goal({"sklearn": 8.0, "sklearnex": 2.0, "sklearnex-float32": 2.0}),
    "C3": Goal({"sklearn": 3.0, "sklearnex": 3.0, "sklearnex-float32": 3.0}),
    "C4": Goal({"sklearn": 3.0, "sklearnex": 3.0, "sklearnex-float32": 3.0}),
    "C5": Goal({"sklearn": 2.0}),
    "predict": Goal({"sklearnex": 1.5}, quick=True),
    "predict32": Goal({"sklearnex": 1.5}, quick=True),
    "a9a": Goal(REAL | {"sklearn": 1.0}),
    "w8a": Goal(REAL | {"sklearn": 1.0}),
    "covtype": Goal(REAL | {"sklearn": 1.0}),
    "letter": Goal(REAL | {"sklearn": 1.0}),
    "mnist": Goal(REAL | {"sklearn": 1.0}, ("sklearn",)),
    "skin": Goal(REAL | {"sklearn": 1.0}),
    "costly": Goal(HARD),
    "costlier": Goal(HARD),
    "twins": Goal(HARD),
    "rare": Goal(HARD),
    "narrow": Goal(HARD),
    "broad": Goal(HARD),
}


# One contender, in a process of its own


class Said(logging.Handler):
    """What scikit-learn-intelex says of the way it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.words.append(record.getMessage())


def machine(contender: str, problem: Problem) -> Any:
    # Each is imported alone: its libraries are part of its memory.
    if contender.startswith("mercer"):
        mc = importlib.import_module("mercer")
        plan = mc.Plan(threads=THREADS)
        return getattr(mc, problem.machine)(plan=plan, **problem.settings)
    module = importlib.import_module(f"{contender.partition('-')[0]}.svm")
    return getattr(module, problem.machine)(cache_size=CACHE, **problem.settings)


class Libsvm:
    """LIBSVM itself. Its own form of the points is made before the clock runs."""

    def __init__(self, problem: Problem) -> None:
        self._svm = importlib.import_module("libsvm.svmutil")
        settings = problem.settings
        self._problem = self._svm.svm_problem(problem.y, sp.csr_matrix(problem.X))
        self._asked = self._svm.svm_parameter(
            f"-q -m {CACHE} -c {settings['C']!r} -g {settings['gamma']!r}"
        )

    def fit(self, *_: Any) -> None:
        self._model = self._svm.svm_train(self._problem, self._asked)

    def tell(self) -> None:
        self.support_ = np.array(self._model.get_sv_indices()) - 1
        self.dual_coef_ = np.array(self._model.get_sv_coef()).T

    def predict(self, X: Any) -> np.ndarray:
        return np.array(self._svm.svm_predict([], sp.csr_matrix(X), self._model, "-q")[0])


def run(name: str, contender: str, data: str, answers: str) -> None:
    """Time one contender, and keep its answers."""
    warnings.simplefilter("ignore")
    problem = PROBLEMS[name](Path(data))
    problem = single(problem) if contender.endswith("float32") else problem
    X, new = problem.X, problem.new
    said = Said()
    logging.getLogger("sklearnex").addHandler(said)
    made = Libsvm(problem) if contender == "libsvm" else machine(contender, problem)
    logging.getLogger("sklearnex").setLevel(logging.INFO)
    told = {"before": peak_megabytes()}
    told["seconds"] = best_of(lambda: made.fit(X, problem.y), repeat=2)
    told["peak"] = peak_megabytes()
    told["predict"] = best_of(lambda: made.predict(new), repeat=3 if TASKS[name].quick else 1)
    told["accelerated"] = all("accelerated" in words for words in said.words)
    told["converged"] = int(getattr(made, "fit_status_", 0)) == 0
    if contender == "libsvm":
        made.tell()
    coefficients = made.dual_coef_
    coefficients = coefficients.toarray() if sp.issparse(coefficients) else coefficients
    np.savez(answers, support=made.support_, coefficients=coefficients, found=made.predict(new))
    print(json.dumps(told))


# What they found, judged alike


def judge(problem: Problem, support: np.ndarray, coefficients: np.ndarray) -> dict[str, float]:
    """Objective, violation and duality gap of coefficients, added up over pairs of classes."""
    mc = importlib.import_module("mercer")
    duals = importlib.import_module("mercer.problems.duals")
    solution = importlib.import_module("mercer.solvers.smo_solution")
    kernel = mc.Gaussian(scale=(2 * problem.settings["gamma"]) ** -0.5)
    settings, rows, parts = problem.settings, problem.X.shape[0], []
    support = support.astype(np.int64)
    every = np.arange(rows)
    if problem.machine == "SVR":
        dual = duals.regression(problem.y, settings["C"], settings["epsilon"])
        parts.append((dual, every, coefficients[0]))
    elif problem.machine == "OneClassSVM":
        dual = duals.one_class(1.0, settings["nu"], rows)
        parts.append((dual, every, coefficients[0]))
    else:
        classes = np.unique(problem.y)
        codes = np.searchsorted(classes, problem.y)
        for first, second in combinations(range(len(classes)), 2):
            places = np.flatnonzero((codes == first) | (codes == second))
            mine = codes[support]
            own = np.where(mine == first, coefficients[second - 1], 0.0)
            own = np.where(mine == second, coefficients[first], own)
            signs = np.where(codes[places] == first, 1.0, -1.0)
            own = own if (own[mine == first] >= 0).all() else -own
            parts.append((duals.classification(signs, settings["C"]), places, own))
    batch = kernel.domain.encode(problem.X)
    images = mc.Function(kernel, batch[support], np.column_stack([p[2] for p in parts]))(batch)
    objective = gap = 0.0
    violation = -np.inf
    for column, (dual, places, own) in enumerate(parts):
        full = np.zeros(rows)
        full[support] = own
        signed = full[places]
        if dual.copies == 2:
            signed = np.concatenate([np.maximum(full, 0.0), np.minimum(full, 0.0)])
        signed = np.clip(signed, dual.low, dual.high)
        slopes = dual.slopes(images[places, column])
        up, down = signed < dual.high, signed > dual.low
        span = float(slopes[up].min(initial=np.inf)), float(slopes[down].max(initial=-np.inf))
        levels = solution.levels_of(dual, signed, slopes, [span])
        objective += dual.objective(signed, slopes)
        violation = max(violation, span[1] - span[0])
        gap += solution.gap_of(dual, signed, slopes, levels)
    return {"objective": objective, "violation": violation, "gap": gap / abs(objective)}


def quality(problem: Problem, found: np.ndarray) -> float | None:
    """Accuracy; in regression R2."""
    if problem.truth is None:
        return None
    if problem.machine == "SVC":
        return float((found == problem.truth).mean())
    rest = problem.truth - problem.truth.mean()
    return 1 - float(((found - problem.truth) ** 2).sum() / (rest @ rest))


# A task


def contend(name: str, contenders: list[str], data: Path) -> None:
    goal = TASKS[name]
    try:
        problem = PROBLEMS[name](data)
    except FileNotFoundError as missing:
        row(name, "mercer", 0.0, skipped=f"no data: {Path(missing.filename).name} is not there")
        return
    times, facts = {}, {}
    for contender in contenders:
        with tempfile.TemporaryDirectory() as folder:
            answers = str(Path(folder) / "answers.npz")
            command = [sys.executable, __file__, "--run", name, contender, str(data), answers]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                row(name, contender, 0.0, failed=ended.stderr.splitlines()[-1])
                continue
            told = json.loads(ended.stdout.splitlines()[-1])
            with np.load(answers) as kept:
                answer = dict(kept)
        times[contender] = told["predict" if goal.quick else "seconds"]
        facts[contender] = {
            "fit": told["seconds"], "predict": told["predict"],
            "peak_megabytes": round(told["peak"]), "before": round(told["before"]),
            "support": len(answer["support"]), "accuracy": quality(problem, answer["found"]),
            **judge(problem, answer["support"], answer["coefficients"]),
            "converged": told["converged"],
        }  # fmt: skip
        if contender.startswith("sklearnex"):
            facts[contender]["onedal"] = told["accelerated"]
        if contender != "mercer":
            row(name, contender, times[contender], **facts[contender])
    if "mercer" in times:
        verdict(name, goal, times, facts)


def verdict(name: str, goal: Goal, times: dict, facts: dict) -> None:
    """The row of mercer: how many times faster, and whether what it found is as good."""
    ours, own = times.pop("mercer"), facts.pop("mercer")
    ratios = {f"times_{peer}": times[peer] / ours for peer in times}
    reached = all(times[peer] / ours >= goal.least.get(peer, 0) for peer in times)
    reached &= own["converged"]
    if facts:
        lowest = min(other["objective"] for other in facts.values())
        ratios["objective_above_lowest"] = (own["objective"] - lowest) / abs(lowest)
        reached &= ratios["objective_above_lowest"] <= 1e-4
        best = max(other["accuracy"] or 0.0 for other in facts.values())
        reached &= (own["accuracy"] or 0.0) >= best - CLOSE
    row(name, "mercer", ours, **own, **ratios, at_least=goal.least, reached=bool(reached))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"some of {', '.join(TASKS)}")
    parser.add_argument("--slow", action="store_true", help="peers that take minutes too")
    parser.add_argument("--only", action="append", help="some contenders")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of tables")
    asked = parser.parse_args()
    for name in asked.tasks or TASKS:
        goal = TASKS[name]
        peers = [peer for peer in goal.least if asked.slow or peer not in goal.slow]
        contenders = asked.only or ["mercer", *peers]
        contend(name, contenders, asked.data)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        main()
