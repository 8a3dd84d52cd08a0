"""Kernel PCA, 10 components of 10000 points: mercer beside scikit-learn.

`python benchmarks/pca.py [rows]`. The eigenvalues have to agree to 1e-8 before a time is
printed, and so do the projections, up to signs.
"""

from __future__ import annotations

from _common import best_of, compare  # isort: skip - sets the environment first

import sys
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

import mercer as mc

WIDTH, COMPONENTS = 20, 10


def main(rows: int) -> None:
    X = np.random.default_rng(0).standard_normal((rows, WIDTH))
    kernel = mc.Gaussian(scale=float(np.sqrt(WIDTH / 2)))
    found: dict[str, Any] = {}

    def ours() -> None:
        found["mercer"] = mc.KernelPCA(COMPONENTS, kernel=kernel, random_state=0).fit(X)

    def peer(solver: str) -> None:
        machine = KernelPCA(
            COMPONENTS, kernel="rbf", gamma=1 / WIDTH, eigen_solver=solver, random_state=0
        )
        found[solver] = machine.fit(X)

    seconds = best_of(ours)
    peers = {f"sklearn {name}": best_of(lambda name=name: peer(name)) for name in ("arpack",)}
    mine, theirs = found["mercer"], found["arpack"]
    apart = np.abs(mine.eigenvalues_ / theirs.eigenvalues_ - 1).max()
    assert apart < 1e-8, apart
    left, right = mine.transform(X[:100]), theirs.transform(X[:100])
    signs = np.sign((left * right).sum(axis=0))
    turned = np.abs(left - signs * right).max() / np.abs(right).max()
    assert turned < 1e-5, turned
    compare(
        f"kernel PCA, n={rows}, d={WIDTH}, {COMPONENTS} components",
        seconds,
        peers,
        at_least=3.0,
        eigenvalues_apart=float(apart),
        projections_apart=float(turned),
        residual=mine.solution_.residual,
        steps=mine.solution_.steps,
        method=mine.plan_.method,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
