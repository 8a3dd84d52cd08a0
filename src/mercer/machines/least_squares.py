"""Least squares over a sample: from the kernel and the plan to coefficients and evidence."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains import Batch
from mercer.errors import InvalidParameter, NoFeatureMap
from mercer.gram import operator
from mercer.kernels import Kernel
from mercer.machines.data import Sample
from mercer.plan import Plan
from mercer.problems.risk import LeastSquares
from mercer.selection.penalties import Path, leave_one_out
from mercer.selection.scales import subset
from mercer.solvers.cholesky import cholesky, mixed
from mercer.solvers.choose import SolverPlan, choose_least_squares
from mercer.solvers.solution import Solution
from mercer.solvers.spectral import Spectrum

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Least squares, solved.

    Attributes:
        solution: Coefficients, offset, and the evidence.
        anchors: The points that the function is a sum over.
        penalty: The penalty that was given or chosen.
        path: The penalties that were tried, None if one was given.
        spectrum: The eigenvalues, None where they were not needed.
        shift: The penalty times the sum of the weights.
        plan: What was chosen, and why.
        is_exact: Whether all points are anchors.
    """

    solution: Solution
    anchors: Batch
    penalty: float
    path: Path | None
    spectrum: Spectrum | None
    shift: float
    plan: SolverPlan
    is_exact: bool


def fit_least_squares(
    kernel: Kernel,
    sample: Sample,
    penalties: Any,
    *,
    plan: Plan,
    has_offset: bool,
    chance: Any,
) -> Fitted:
    """The best function for one penalty, or for the best of several.

    Args:
        kernel: The kernel.
        sample: Points, targets and weights.
        penalties: One number, several, or None for those that span the spectrum.
        plan: How to compute.
        has_offset: Whether a constant is added to the function.
        chance: Draws the landmarks, where there are any.
    """
    many = penalties is None or np.size(penalties) > 1 or penalties == 0
    width = None
    if plan.method in ("auto", "primal"):
        width = _width(kernel, sample.points)
    outputs = sample.targets.shape[1]
    chosen = choose_least_squares(plan, len(sample), outputs, width=width, many_penalties=many)
    if chosen.method in ("spectral", "primal", "landmarks"):
        return _by_spectrum(kernel, sample, penalties, chosen, has_offset, chance)
    if many:
        raise InvalidParameter(
            f"the method {chosen.method!r} solves for one positive penalty, and several are to "
            'be tried.\nGive one number, or the method "spectral" or "landmarks".'
        )
    penalty = float(np.ravel(penalties)[0])
    solution = _by_factor(kernel, sample, penalty, chosen, has_offset)
    shift = penalty * float(sample.weights.sum())
    return Fitted(solution, sample.points, penalty, None, None, shift, chosen, is_exact=True)


def _by_spectrum(
    kernel: Kernel,
    sample: Sample,
    penalties: Any,
    chosen: SolverPlan,
    has_offset: bool,
    chance: Any,
) -> Fitted:
    began = time.perf_counter()
    anchors, basis = sample.points, None
    if chosen.method == "landmarks":
        rows = subset(len(sample), chance, chosen.anchors)
        anchors = sample.points[rows]
        turn = whitening(kernel.square(anchors).astype(np.float64))
        features = kernel.block(sample.points, anchors).astype(np.float64) @ turn
        basis = turn @ features.T
    spectrum = _spectrum(
        kernel, sample, chosen, has_offset, features if basis is not None else None
    )
    path = None
    if penalties is None or np.size(penalties) > 1:
        path = leave_one_out(spectrum, sample.targets, penalties)
    penalty = path.best if path is not None else float(np.ravel(penalties)[0])
    shift = penalty * float(sample.weights.sum())
    coefficients, offset = spectrum.solve(sample.targets, shift)
    residual = spectrum.residual(sample.targets, coefficients, shift)
    if basis is not None:
        coefficients = basis @ coefficients
    seconds = time.perf_counter() - began
    solution = Solution(chosen.method, coefficients, offset, residual, seconds=seconds)
    return Fitted(
        solution, anchors, penalty, path, spectrum, shift, chosen, is_exact=basis is None
    )


def _spectrum(
    kernel: Kernel,
    sample: Sample,
    chosen: SolverPlan,
    has_offset: bool,
    features: Reals | None,
) -> Spectrum:
    if chosen.method == "spectral":
        matrix = operator(kernel, sample.points, plan=_blocked(chosen)).to_dense()
        stored: Reals = matrix.astype(np.float64, copy=False)
        return Spectrum.of(
            stored, sample.weights, has_offset=has_offset, threads=chosen.threads
        )
    white = features is not None
    if features is None:
        features = np.asarray(kernel.feature_map(sample.points), dtype=np.float64)
    return Spectrum.of_features(
        features, sample.weights, has_offset=has_offset, white=white, threads=chosen.threads
    )


def _by_factor(
    kernel: Kernel,
    sample: Sample,
    penalty: float,
    chosen: SolverPlan,
    has_offset: bool,
) -> Solution:
    exact = _blocked(chosen)
    problem = LeastSquares(
        operator(kernel, sample.points, plan=exact),
        sample.targets, sample.weights, penalty, has_offset,
    )  # fmt: skip
    found: Solution | None = None
    if chosen.method == "mixed":
        found = mixed(
            problem,
            lambda: single(kernel, sample.points, chosen),
            tolerance=chosen.tolerance,
            threads=chosen.threads,
        )
    return found or cholesky(problem, threads=chosen.threads)


def single(kernel: Kernel, points: Batch, chosen: SolverPlan) -> NDArray[np.float32]:
    """The Gram matrix in float32; computed in float32 where the points can be cast."""
    threads: Any = "auto" if chosen.threads is None else chosen.threads
    try:
        plan = Plan(method="blocked", precision="float32", threads=threads)
        matrix = operator(kernel, points, plan=plan).to_dense()
    except InvalidParameter:  # points that are no vectors
        matrix = operator(kernel, points, plan=_blocked(chosen)).to_dense()
    return matrix.astype(np.float32, copy=False)


def whitening(matrix: Reals) -> Reals:
    """A matrix T with T' K T = I on what K spans."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    turned: Reals = vectors[:, kept] / np.sqrt(values[kept])
    return turned


def _width(kernel: Kernel, points: Batch) -> int | None:
    """How many features an explicit map has; None where there is none."""
    try:
        return int(kernel.feature_map(points[slice(0, 1)]).shape[1])
    except NoFeatureMap:
        return None


def _blocked(chosen: SolverPlan) -> Plan:
    threads: Any = "auto" if chosen.threads is None else chosen.threads
    return Plan(method="blocked", threads=threads, tolerance=chosen.tolerance)
