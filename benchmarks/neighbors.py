"""The 10 nearest of 50000 rows for 10000 queries, d = 50, against scikit-learn.

Each contender is timed in a process of its own. Its memory is told whole, with the libraries it
loads, and that of one more search beside the data and the answer. The neighbours have to be the
same. The floor is a GEMM in float32.
"""

from __future__ import annotations

from _common import THREADS, best_of, compare, multiply_adds, peak_megabytes  # isort: skip

import ctypes
import importlib
import json
import subprocess
import sys
from contextlib import suppress
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


def forget_the_peak() -> None:
    """Hand back what is free and let the peak begin anew. What libraries took when they were
    loaded would hide what a search takes, and what was freed would be taken again unseen.
    """
    with suppress(OSError, AttributeError):  # on Linux alone
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def run(contender: str, dtype: str, answers: str) -> None:
    """Time one contender, and keep its answers."""
    table, queries = points(dtype)
    fitted = machine(contender, table)
    seconds = best_of(lambda: fitted.kneighbors(queries))
    peak = peak_megabytes()
    forget_the_peak()
    before = peak_megabytes()
    distances, rows = fitted.kneighbors(queries)
    taken = peak_megabytes() - before - (distances.nbytes + rows.nbytes) / 1024**2
    np.savez(answers, distances=distances, rows=rows)
    print(json.dumps({"seconds": seconds, "peak": peak, "taken": taken}))


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
        megabytes_of_the_search={name: round(found[name]["taken"], 1) for name in CONTENDERS},
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        for name in sys.argv[1:] or ("float64", "float32"):
            task(name)
