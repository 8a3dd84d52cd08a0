"""K @ v for n = 100000, d = 10, float32, storing nothing, against tiled NumPy and KeOps.

Run it with `numpy` or `keops` to choose the peer, or with `memory` for mercer alone. The peak
memory in the first row is that of a process that has imported mercer, made the data and
multiplied.

The floor is the arithmetic of half the pairs, each used twice: an exponential, and a
multiplication with an addition for each coordinate and for each of the two results, at the
rates that NumPy reaches in cache on two threads.
"""

from __future__ import annotations

from _common import (  # isort: skip - sets the environment first
    THREADS,
    best_of,
    compare,
    exponentials,
    multiply_adds,
    peak_megabytes,
    row,
)

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

import mercer as mc

N, D = 100_000, 10
GAMMA = 1 / 20


def data() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((N, D)).astype(np.float32)
    v = np.random.default_rng(1).standard_normal((N, 1)).astype(np.float32)
    return X, v


def relative_error(X: np.ndarray, v: np.ndarray, product: np.ndarray) -> float:
    """On the first 200 rows, against float64 differences."""
    X, v = X.astype(float), v.astype(float)
    exact = np.zeros((200, 1))
    for start in range(0, N, 5_000):
        part = X[start : start + 5_000]
        squared = ((X[:200, None] - part[None]) ** 2).sum(axis=-1)
        exact += np.exp(-GAMMA * squared) @ v[start : start + 5_000]
    return float(np.linalg.norm(product[:200] - exact) / np.linalg.norm(exact))


def ours(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    return mc.operator(mc.Gaussian((2 * GAMMA) ** -0.5), X, plan="blocked") @ v


def numpy_tiled(
    X: np.ndarray, v: np.ndarray, rows: int = 256, columns: int = 512
) -> np.ndarray:
    """The strongest form found: norms folded into the GEMM, tiles in cache, two threads."""
    norms = np.einsum("ij,ij->i", X, X)
    ones = np.ones(N, np.float32)
    left = np.column_stack([2 * GAMMA * X, -GAMMA * norms, -GAMMA * ones]).astype(np.float32)
    right = np.ascontiguousarray(np.column_stack([X, ones, norms]).T.astype(np.float32))
    out = np.zeros((N, 1), np.float32)

    def part(starts: range) -> None:
        tile = np.empty((rows, columns), np.float32)
        for i in starts:
            total = np.zeros((min(rows, N - i), 1), np.float32)
            for j in range(0, N, columns):
                view = tile[: len(total), : min(columns, N - j)]
                np.matmul(left[i : i + rows], right[:, j : j + columns], out=view)
                np.exp(view, out=view)
                total += view @ v[j : j + columns]
            out[i : i + rows] = total

    starts = range(0, N, rows)
    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(part, (starts[::2], starts[1::2])))
    return out


def keops(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    from pykeops.numpy import LazyTensor  # noqa: PLC0415 - it looks for a compiler at once

    x, y = LazyTensor(X[:, None, :]), LazyTensor(X[None, :, :])
    return (-GAMMA * ((x - y) ** 2).sum(-1)).exp() @ v


def main(names: list[str]) -> None:
    X, v = data()
    ours(X, v)
    memory = peak_megabytes()
    seconds = best_of(lambda: ours(X, v), repeat=3)
    error = relative_error(X, v, ours(X, v))
    assert error <= 2e-6, error
    row(
        "K @ v float32 peak",
        "mercer",
        seconds,
        error=error,
        peak_megabytes=round(memory),
        below=300,
        reached=memory < 300,
    )
    if names == ["memory"]:
        return
    pairs = N * N / 2
    lowest = pairs / exponentials("float32") + pairs * (D + 2) / multiply_adds("float32")
    peers = {"numpy": numpy_tiled, "keops": keops}
    for name in names or peers:
        run = peers[name]
        found = relative_error(X, v, run(X, v))
        assert found <= 5e-6, found
        peer = best_of(lambda run=run: run(X, v), repeat=2)
        at_least = {"numpy": 2.0, "keops": 18.0}[name]
        compare(
            "K @ v float32",
            seconds,
            {name: peer},
            at_least,
            lowest,
            error=error,
            peer_error=found,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
