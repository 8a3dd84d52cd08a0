"""What it costs to begin: the import, and the first call in a fresh environment."""

from __future__ import annotations

from _common import row  # isort: skip - sets the environment first

import os
import subprocess
import sys
import tempfile

PEERS = "import sklearn.base, numba, scipy.sparse.linalg, scipy.special, scipy.linalg"
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
CALLS = {
    "gaussian float64": "mc.Gaussian()(np.zeros((3, 2)))",
    "gaussian float32": "mc.Gaussian()(np.zeros((3, 2), np.float32))",
    "laplacian": "mc.Laplacian()(np.zeros((3, 2)))",
    "polynomial": "mc.Polynomial()(np.zeros((3, 2)))",
    "intersection": "mc.Intersection()(np.ones((3, 2)))",
    "tanimoto, sparse": "mc.Tanimoto()(sparse.csr_array(np.eye(3)))",
    "K @ v": "mc.operator(mc.Gaussian(), np.zeros((3, 2)), plan='blocked') @ np.ones(3)",
}


def seconds(code: str, cache: str, before: str = "") -> float:
    """How long code takes in a process of its own, with its own cache of compiled loops."""
    script = f"{before}\n" + TIMED.format(code)
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        beyond = min(seconds("import mercer", cache, before=PEERS) for _ in range(5))
        row(
            "import mercer beyond scikit-learn and numba",
            "mercer",
            beyond,
            at_most=0.3,
            reached=beyond <= 0.3,
        )
        before = "import numpy as np, mercer as mc; from scipy import sparse"
    for name, call in CALLS.items():
        with tempfile.TemporaryDirectory() as cache:
            first = seconds(call, cache, before=before)
            later = min(seconds(call, cache, before=before) for _ in range(2))
        row(
            f"first call: {name}",
            "mercer",
            first,
            later_process=later,
            at_most=10,
            reached=first <= 10,
        )


if __name__ == "__main__":
    main()
