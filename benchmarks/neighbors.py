"""The 10 nearest of 50000 rows for 10000 queries, d = 50, against scikit-learn.

Each contender is timed in a process of its own. Its memory is told whole, with the libraries it
loads, and that of the search beside the data. The neighbours have to be the same. The floor is
a GEMM in float32.
"""

from __future__ import annotations

from _common import THREADS, best_of, compare, multiply_adds, peak_megabytes  # isort: skip

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS, QUERIES, D, K = 50_000, 10_000, 50, 10
CONTENDERS = ("mercer", "sklearn", "sklearnex")


def points(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((ROWS, D)).astype(dtype)
    return table, rng.standard_normal((QUERIES, D)).astype(dtype)


def machine(contender: str, table: np.ndarray):
    labels = np.arange(ROWS) % 2
    # Each is imported alone: its libraries are part of its memory.
    if contender == "mercer":
        mc = importlib.import_module("mercer")
        plan = mc.Plan(threads=THREADS)
        return mc.KernelNeighborsClassifier("linear", K, plan=plan).fit(table, labels)
    peer = importlib.import_module(f"{contender}.neighbors").KNeighborsClassifier
    return peer(K, algorithm="brute", n_jobs=THREADS).fit(table, labels)


def run(contender: str, dtype: str, answers: str) -> None:
    """Time one contender, and keep its answers."""
    table, queries = points(dtype)
    fitted = machine(contender, table)
    fitted.kneighbors(queries[:100])  # compiles, and starts the threads
    before = peak_megabytes()
    seconds = best_of(lambda: fitted.kneighbors(queries))
    taken = peak_megabytes() - before
    distances, rows = fitted.kneighbors(queries)
    np.savez(answers, distances=distances, rows=rows)
    print(json.dumps({"seconds": seconds, "peak": peak_megabytes(), "taken": taken}))


def task(dtype: str) -> None:
    found, answers = {}, {}
    for contender in CONTENDERS:
        file = Path(f"neighbors-{contender}-{dtype}.npz")
        command = [sys.executable, __file__, "--run", contender, dtype, str(file)]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        found[contender] = json.loads(told.stdout.splitlines()[-1])
        with np.load(file) as kept:
            answers[contender] = dict(kept)
        file.unlink()
    ours = answers["mercer"]
    table, queries = (part.astype(np.float64) for part in points(dtype))
    gaps = np.linalg.norm(queries[:200, None] - table[ours["rows"][:200]], axis=2)
    error = float(np.abs(ours["distances"][:200] - gaps).max())
    assert error <= 1e-12, error
    # In float32 the peers may take neighbours at nearly the same distance for each other.
    same = min(float((ours["rows"] == answers[peer]["rows"]).mean()) for peer in CONTENDERS[1:])
    assert same == 1 if dtype == "float64" else same > 0.999, same
    compare(
        f"{K} nearest of {ROWS} for {QUERIES}, d = {D}, {dtype}",
        found["mercer"]["seconds"],
        {peer: found[peer]["seconds"] for peer in CONTENDERS[1:]},
        1.5,
        ROWS * QUERIES * D / multiply_adds("float32"),
        error=error,
        same_rows=same,
        megabytes={name: round(found[name]["peak"]) for name in CONTENDERS},
        megabytes_of_the_search={name: round(found[name]["taken"]) for name in CONTENDERS},
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        for name in sys.argv[1:] or ("float64", "float32"):
            task(name)
