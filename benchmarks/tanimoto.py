"""Tanimoto Gram matrix of 8000 molecules, 2048 bits, against NumPy's GEMM and SciPy's sparse.

Real fingerprints (the first 8000 of MoleculeNet's HIV set, as counts) where the data folder
is given; else random ones of the same density.

The floor is a multiplication with an addition for each stored number of a row and each column
of the upper half, at the rate of a GEMM, and one pass of writing over the matrix.
"""

from __future__ import annotations

from _common import best_of, compare, halves, multiply_adds, writing  # isort: skip - sets the environment first

import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import mercer as mc

N, WIDTH = 8_000, 2_048


def fingerprints(path: Path | None) -> sparse.csr_array:
    if path is None:
        rng = np.random.default_rng(0)
        counts = sparse.random_array((N, WIDTH), density=0.017, rng=rng, format="csr")
        counts.data = 1.0 + rng.poisson(0.5, counts.nnz)
        return counts.astype(np.float32)
    stored = np.load(path)
    parts = stored["data"], stored["indices"], stored["indptr"]
    return sparse.csr_array(parts, shape=tuple(stored["shape"]))[:N].astype(np.float32)


def finish(inner: np.ndarray, own: np.ndarray) -> np.ndarray:
    """<x, y> to <x, y> / (|x|^2 + |y|^2 - <x, y>), a few rows at a time, on two threads."""
    rows = 32

    def part(mine: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):
            for i in mine:
                block = inner[i : i + rows]
                union = own[i : i + rows, None] + own[None, :]
                union -= block
                np.divide(block, union, out=block)

    halves(part, np.arange(0, len(inner), rows))
    return inner


def compare_on(kind: str, counts: sparse.csr_array) -> None:
    array = counts.toarray()
    own = np.einsum("ij,ij->i", array, array)
    k = mc.Tanimoto()
    peers = {
        # NumPy sees X @ X.T and computes one half.
        "numpy GEMM float32": best_of(lambda: finish(array @ array.T, own), repeat=3),
        "scipy sparse": best_of(lambda: finish((counts @ counts.T).toarray(), own), repeat=1),
    }
    expected = finish(array[:1000] @ array[:1000].T, own[:1000])
    found = k(counts[:1000])
    full = np.flatnonzero(own[:1000] > 0)
    error = float(np.abs(found - expected)[np.ix_(full, full)].max())
    assert error <= 1e-6, error
    out = np.zeros((N, N), np.float32)
    lowest = counts.nnz * N / 2 / multiply_adds("float32")
    lowest += writing((N, N), "float32", fresh=False)
    for form, X in (("sparse", counts), ("dense", array)):
        seconds = best_of(lambda X=X: k(X, out=out))
        compare(f"tanimoto {kind}, {form} input", seconds, peers, 4.0, lowest, error=error)


def main(path: Path | None) -> None:
    counts = fingerprints(path)
    compare_on("counts", counts)
    bits = counts.copy()
    bits.data[:] = 1
    compare_on("bits", bits)


if __name__ == "__main__":
    default = Path(__file__).parents[2] / "shared/data/molecules/hiv_ecfp4.npz"
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    main(chosen if chosen.exists() else None)
