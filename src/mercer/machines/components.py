"""Principal components of points in feature space: what the machines that need them share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.gram import operator
from mercer.kernels import Kernel
from mercer.loops import available
from mercer.machines.least_squares import feature_width
from mercer.machines.precomputed import GIVEN, Precomputed
from mercer.plan import Plan
from mercer.solvers.choose_eigen import EigenPlan, choose_eigen
from mercer.solvers.eigen import Centred, Eigenpairs, of_features, spectral
from mercer.types import Array

Reals = NDArray[np.float64]


def chosen_plan(kernel: Kernel, points: Batch, plan: Plan, count: int | None) -> EigenPlan:
    """The method for so many components, None for all."""
    entry = 4 if plan.precision == "float32" else 8
    return choose_eigen(
        plan, len(points), count, width=feature_width(kernel, points), entry=entry
    )


def direct(
    kernel: Kernel, points: Batch, weights: Reals, chosen: EigenPlan, plan: Plan
) -> Eigenpairs | None:
    """All components above rounding, by a direct method; None if the plan is another one."""
    if chosen.method == "primal":
        features = kernel.feature_map(points)
        rows = features.toarray() if hasattr(features, "toarray") else features
        return of_features(np.asarray(rows, dtype=np.float64), weights, threads=chosen.threads)
    if chosen.method == "spectral":
        matrix = centred(kernel, points, weights, chosen, plan)
        return spectral(matrix, threads=chosen.threads)
    return None


def all_pairs(
    kernel: Kernel, points: Batch, weights: Reals, plan: Plan
) -> tuple[Eigenpairs, EigenPlan]:
    """All components above rounding, and how they were found."""
    chosen = chosen_plan(kernel, points, plan, None)
    found = direct(kernel, points, weights, chosen, plan)
    if found is None:  # a plan for a few of them was asked for
        matrix = centred(kernel, points, weights, chosen, plan)
        found = spectral(matrix, threads=chosen.threads)
    return found, chosen


def centred(
    kernel: Kernel, points: Batch, weights: Reals, chosen: EigenPlan, plan: Plan
) -> Centred:
    """The centred Gram matrix, stored or not, as was chosen."""
    # Told by their number, threads of products do not follow the limit of BLAS.
    threads = available() if chosen.threads is None else chosen.threads
    # LAPACK needs a copy of its own to overwrite, so its matrix is stored only once.
    stores = chosen.stores and chosen.method != "spectral"
    storage = Plan(
        method="dense" if stores else "blocked",
        memory=chosen.budget,
        precision=plan.precision,
        threads=threads,
    )
    promise = GIVEN if isinstance(kernel, Precomputed) else None
    return Centred(operator(kernel, points, plan=storage), weights, promise)


def as_given(values: Array, X: Any) -> Array:
    """Numbers in single precision, if the data were."""
    single: Array = values.astype(np.float32)
    return single if getattr(X, "dtype", None) == np.float32 else values
