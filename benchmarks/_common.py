"""What the benchmarks share: fair timing, agreement of answers, and rows of JSON.

Every script runs mercer and its peers side by side in one process, on two threads, checks that
the answers agree, and prints a row for each contender. Ratios matter, not seconds: machines
differ, and are shared.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

THREADS = 2

# OpenBLAS reads these when it is loaded: told to be another processor, it is half as fast.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{name}_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402 - after the environment that it reads


def best_of(
    run: Callable[[], Any], repeat: int = 5, before: Callable[[], Any] | None = None
) -> float:
    """The shortest of several runs, in seconds, after one that is not counted."""
    seconds = []
    for _ in range(repeat + 1):
        if before is not None:
            before()
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 5:
            break
    return min(seconds[1:] or seconds)


def peak_megabytes() -> float:
    """The most memory that this process has held."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1024**2 if sys.platform == "darwin" else 1024)


def halves(function: Callable[[Any], Any], array: Any) -> None:
    """Run a function on the upper and the lower half of an array, in two threads."""
    middle = len(array) // 2
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(function, (array[:middle], array[middle:])))


def multiply_adds(dtype: str) -> float:
    """Multiplications with an addition that a GEMM does in a second."""
    square = np.ones((2_000, 2_000), dtype)
    out = np.empty_like(square)
    return 2_000**3 / best_of(lambda: np.matmul(square, square, out=out))


def exponentials(dtype: str) -> float:
    """Exponentials a second, on numbers that stay in cache."""
    numbers = -np.random.default_rng(0).random((2, 1 << 15)).astype(dtype)
    out = np.empty_like(numbers)

    def repeat(which: Any) -> None:
        for _ in range(200):
            np.exp(numbers[which[0]], out=out[which[0]])

    return 200 * numbers.size / best_of(lambda: halves(repeat, [0, 1]))


def row(task: str, contender: str, seconds: float, **facts: Any) -> None:
    """Print one result as a line of JSON."""
    shown = {
        k: round(v, 6) if isinstance(v, float) and abs(v) > 1e-3 else v
        for k, v in facts.items()
    }
    print(
        json.dumps(
            {"task": task, "contender": contender, "seconds": round(seconds, 5), **shown}
        )
    )


def writing(shape: tuple[int, int], dtype: str, *, fresh: bool) -> float:
    """Seconds to write an array once: one that is there, or one that the system hands out."""
    there = np.zeros(shape, dtype)

    def write() -> None:
        out = np.empty(shape, dtype) if fresh else there
        halves(lambda half: half.fill(1), out)

    return best_of(write)


def compare(
    task: str,
    mercer: float,
    peers: dict[str, float],
    at_least: float,
    floor: float | None = None,
    **facts: Any,
) -> None:
    """Print a row for each contender, and one for the ratio to the fastest peer."""
    for name, seconds in peers.items():
        row(task, name, seconds)
    fastest = min(peers, key=peers.__getitem__)
    ratio = peers[fastest] / mercer
    if floor is not None:
        facts["floor_seconds"], facts["times_floor"] = floor, mercer / floor
    facts |= {"at_least": at_least, "reached": ratio >= at_least, "threads": THREADS}
    facts["peak_megabytes"] = round(peak_megabytes())
    row(task, "mercer", mercer, peer=fastest, times_faster=ratio, **facts)
