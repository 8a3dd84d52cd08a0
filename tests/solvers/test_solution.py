"""What a solver returns, and how it is printed."""

import numpy as np

from mercer.solvers.solution import Solution


def test_it_prints_its_evidence_and_no_arrays():
    found = Solution("cholesky", np.zeros((1000, 1)), np.zeros(1), 1.234e-13)
    assert repr(found) == "Solution(cholesky, residual=1.2e-13, steps=1)"
    found = Solution(
        "newton", np.zeros(3), np.zeros(1), 1e-3, gap=2e-7, steps=12, converged=False
    )
    assert (
        repr(found)
        == "Solution(newton, residual=1.0e-03, gap=2.0e-07, steps=12, not converged)"
    )
