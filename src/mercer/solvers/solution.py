"""What a solver returns: numbers, and the evidence that they solve the problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram.features import Approximation

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Coefficients, and how well they solve the problem.

    Attributes:
        method: What solved it, in a word.
        coefficients: A number an anchor, or a row of them for several targets.
        offset: The constant that is added to the function.
        residual: The relative residual of the equations; for a loss without equations the
            norm of the gradient.
        gap: How far the objective is above a proved lower bound, relative to it; None where
            the residual says all.
        steps: Iterations, 1 for a direct method.
        converged: Whether the tolerance was reached.
        seconds: How long it took.
        approximation: How far the features that were solved for are from the kernel; None where
            they are not known to be.
    """

    method: str
    coefficients: Reals
    offset: Reals
    residual: float
    gap: float | None = None
    steps: int = 1
    converged: bool = True
    seconds: float = 0.0
    approximation: Approximation | None = None

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={self.gap:.1e}"
        end = "" if self.converged else ", not converged"
        near = self.approximation
        told = "" if near is None else f", missed={near.missed:.1e} of the trace"
        return (
            f"Solution({self.method}, residual={self.residual:.1e}{gap}, "
            f"steps={self.steps}{end}{told})"
        )
