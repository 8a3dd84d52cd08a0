"""What a machine tells after it has minimised a convex loss."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from mercer.domains.samples import Sample
from mercer.functions import Function
from mercer.machines.convex import Fitted
from mercer.solvers.solution import Solution


def told(machine: Any, fitted: Fitted, sample: Sample, *, flat: bool) -> None:
    """Write down the function, the penalty and the evidence as fitted attributes.

    Args:
        machine: The estimator; its `kernel_` is known.
        fitted: What was found.
        sample: What it was learned from.
        flat: Whether there is one function, told without a second axis.
    """
    for name in ("dual_coef_", "loo_predictions_", "loo_decisions_"):
        vars(machine).pop(name, None)  # of an earlier fit, which may have told more
    solution, path = fitted.solution, fitted.path
    coefficients = solution.coefficients[:, 0] if flat else solution.coefficients
    machine.solution_, machine.plan_ = solution, fitted.plan
    machine.penalty_ = fitted.penalty
    machine.penalties_ = None if path is None else path.penalties
    machine.loo_errors_ = None if path is None else path.errors
    machine.intercept_ = float(solution.offset[0]) if flat else solution.offset
    machine.function_ = Function(machine.kernel_, fitted.anchors, coefficients)
    if fitted.is_exact:
        machine.dual_coef_ = sample.as_they_came(coefficients, share=True)


def warn_unless_converged(solution: Solution, owner: str) -> None:
    """Warn where the duality gap, or the gradient, is not what was asked for."""
    if solution.converged:
        return
    reached = solution.residual if solution.gap is None else solution.gap
    kind = "gradient" if solution.gap is None else "duality gap"
    warnings.warn(
        f"{owner} stopped at a relative {kind} of {reached:.1e} after {solution.steps} steps.\n"
        "Raise the penalty, or the tolerance: plan=mercer.Plan(tolerance=...).",
        ConvergenceWarning,
        stacklevel=4,
    )
