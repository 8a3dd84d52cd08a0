"""What support vector machines share: scikit-learn's parameters, reading, solving, telling."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mercer.domains import Batch, DenseBatch, SparseBatch, Vectors
from mercer.domains.samples import Sample, as_sample
from mercer.errors import InvalidInput, InvalidParameter, InvalidType
from mercer.functions import Function
from mercer.gram.features import FeatureRows
from mercer.gram.rows import KernelRows, Rows
from mercer.gram.shared import is_sharp
from mercer.kernels import Kernel, Linear
from mercer.machines.base import KernelMachine
from mercer.machines.least_squares import feature_width
from mercer.machines.precomputed import Places, Precomputed
from mercer.machines.svm_auto import best_of, candidates
from mercer.machines.svm_features import Landmarks, by_features, by_landmarks
from mercer.machines.svm_kernels import WORDS, gamma_of, kernel_called
from mercer.plan import Plan
from mercer.problems.duals import Dual
from mercer.selection.dual_tasks import Task
from mercer.solvers.choose_dual import choose_dual
from mercer.solvers.descent import solved
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.smo_start import Start
from mercer.types import Array, Indices

Reals = NDArray[np.float64]

LEAST = 4
"""Rows from which on some can be held out."""


class SupportVectorMachine(KernelMachine):
    """A machine whose function is a sum over few rows, found by the dual problem."""

    finds_cost: ClassVar[bool] = False
    C: Any
    degree: Any
    gamma: Any
    coef0: Any
    tol: Any
    cache_size: Any
    max_iter: Any
    verbose: Any
    function_: Function
    plan_: Any
    support_: Indices
    intercept_: Reals
    n_iter_: Any
    solution_: Any

    # Parameters

    def _checked_plan(self) -> Plan:
        """The plan, once it and the parameters that all have in common make sense."""
        for name, least, most in _RANGES:
            if hasattr(self, name) and not (name == "C" and self._asks_for_cost):
                _check_range(name, getattr(self, name), least, most)
        gamma = self.gamma
        named = isinstance(gamma, str) and gamma in ("scale", "auto")
        if not (named or (isinstance(gamma, Real) and 0 <= float(gamma) < np.inf)):
            raise InvalidParameter(
                f'gamma is "scale", "auto" or a finite number >= 0, got {gamma!r}.'
            )
        for name, least in (("degree", 0), ("max_iter", -1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InvalidParameter(f"{name} is a whole number >= {least}, got {value!r}.")
        if not (isinstance(self.coef0, Real) and np.isfinite(float(self.coef0))):
            raise InvalidParameter(f"coef0 is a finite number, got {self.coef0!r}.")
        plan = self._wanted_plan()
        if plan.tolerance != "auto":
            raise InvalidParameter(
                "the plan of a support vector machine says how and where, and `tol` is its "
                f"tolerance; got {plan}.\nSet `tol`, and leave the tolerance of the plan."
            )
        return plan

    # Reading

    @property
    def _is_function(self) -> bool:
        """Whether the kernel is a function of two arrays, as scikit-learn calls one."""
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    @property
    def _is_word(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in WORDS

    def _read(self, X: Any, *, fitting: bool) -> Batch:
        if self._is_function:
            return self._read_through_function(X, fitting=fitting)
        if self._is_precomputed and sp.issparse(X):
            raise InvalidType(
                "Sparse precomputed kernels are not supported.\nPass the matrix as an array."
            )
        if fitting and self._is_word:
            return Vectors().encode(self._checked_vectors(X, fitting=True))
        return super()._read(X, fitting=fitting)

    def _read_through_function(self, X: Any, *, fitting: bool) -> Batch:
        """Points by what the user's function says of them and of the training points."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=fitting, skip_check_array=True)
        if fitting:
            self._known = X
        found = self.kernel(X, self._known)
        values = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
        rows, known = _count(X), _count(self._known)
        if values.shape != (rows, known):
            raise InvalidInput(
                f"the kernel gave values of the shape {values.shape} for {rows} points and "
                f"{known} training points.\nIt is called with two lists of points, and returns "
                f"a row for each of the first: shape ({rows}, {known})."
            )
        if not np.isfinite(values).all():
            raise InvalidInput("the kernel gave values that are NaN or infinite.")
        if not fitting:
            return self.kernel_.domain.encode(values)
        kernel = Precomputed.of(values)
        self.kernel_ = kernel
        return kernel.every

    def _found_kernel(self, points: Batch, weights: Reals, targets: Reals | None) -> Kernel:
        if self._is_function:
            return self.kernel_
        if self._is_word:
            uses = self.kernel != "linear"
            gamma = gamma_of(self.gamma, points, weights) if uses else 1.0
            return kernel_called(self.kernel, gamma, int(self.degree), float(self.coef0))
        return super()._found_kernel(points, weights, targets)

    def _sample(self, points: Batch, targets: Any, sample_weight: Any) -> Sample:
        """The measure that rows, targets and weights describe.

        Rows of a matrix of kernel values that are equal stand for one point of the feature
        space, and are one row as any others.
        """
        weights = _counted(sample_weight)
        if not isinstance(points, Places):
            return as_sample(points, targets, weights)
        assert isinstance(self.kernel_, Precomputed)  # noqa: S101 - whose points are places
        rows = DenseBatch(np.ascontiguousarray(self.kernel_.matrix))
        sample = as_sample(rows, targets, weights)
        first = np.full(len(sample), len(points))
        counted = np.flatnonzero(sample.labels >= 0)
        np.minimum.at(first, sample.labels[counted], counted)
        # Values follow the order of all rows, so the order in which they came is as good.
        return arranged(replace(sample, points=points[first]), np.argsort(first))

    # Solving

    def _solved(
        self, dual: Dual, rows: Rows, start: Start | None = None, spent: int = 0
    ) -> DualSolution:
        """The solution of one dual problem, for which so many pairs were moved before."""
        return solved(
            dual,
            rows,
            tolerance=float(self.tol),
            start=start,
            max_steps=None if self.max_iter == -1 else max(0, int(self.max_iter) - spent),
            watch=_show if self.verbose else None,
        )

    def _rows(self, points: Batch, plan: Plan) -> Rows:
        """The rows of the Gram matrix, as precise as the plan wants."""
        features = self._features(points, plan)
        if features is not None:
            return features
        rows = KernelRows(self.kernel_, points, plan)
        if is_sharp(len(points), plan):
            rows.sharpen()
        return rows

    def _features(self, points: Batch, plan: Plan) -> FeatureRows | None:
        """The features that stand for all rows, where the plan has chosen any."""
        self._landmarks: Landmarks | None = None
        if self.plan_.method == "smo":
            return None
        if self.plan_.method == "primal":
            rows, self._landmarks = by_features(self.kernel_, points, plan)
            return rows
        self._landmarks = Landmarks.of(self.kernel_, points, self.plan_.anchors, self._chance())
        sharp = is_sharp(len(points), plan)
        rows = by_landmarks(self.kernel_, points, self._landmarks, plan, sharp=sharp)
        self.plan_ = self.plan_.told(str(rows.approximation))
        return rows

    def _chance(self) -> Any:
        """What draws: always the same where no state is given, as few of these machines ask."""
        state = getattr(self, "random_state", None)
        return check_random_state(0 if state is None else state)

    # The cost

    @property
    def _asks_for_cost(self) -> bool:
        """Whether the cost is to be found."""
        return self.finds_cost and isinstance(self.C, str) and self.C == "auto"

    def _choose_kernel(
        self, sample: Sample, weights: Reals, targets: Reals, costs: Reals,
        task: Callable[[Indices], Task], codes: Indices | None, plan: Plan,
    ) -> None:  # fmt: skip
        """Find the kernel, and the cost: what was given, or what scores best.

        Args:
            sample: The rows.
            weights: Their weights, with those of classes.
            targets: Numbers to predict, a column each, by which lengths are tuned.
            costs: The costs to choose from.
            task: What is learned from some of the rows.
            codes: Their classes, where they have any.
            plan: The memory, and the threads.
        """
        points = sample.points
        if not self._asks_for_cost:
            if self.finds_cost:
                self.C_ = float(self.C)
            self.kernel_ = self._found_kernel(points, sample.weights, targets)
            return
        self.path_, self.C_ = None, float(costs[len(costs) // 2])
        is_open = not (self._is_function or self._is_word or self._is_precomputed)
        if is_open and self._given_kernel() is None:
            kernels = candidates(points, targets, sample.weights, self._chance())
        else:
            kernels = [self._found_kernel(points, sample.weights, targets)]
        self.kernel_ = kernels[len(kernels) // 2]
        if len(sample) < LEAST:
            return
        self.path_ = best_of(
            task, points, weights, kernels, costs, codes, self._chance(), float(self.tol), plan
        )
        self.kernel_, self.C_ = self.path_.best

    def _tell_plan(self, points: Batch, plan: Plan) -> None:
        self.plan_ = choose_dual(
            plan,
            len(points),
            width=lambda: feature_width(self.kernel_, points),
            tolerance=float(self.tol),
            sharp=is_sharp(len(points), plan),
        )
        if self.verbose:
            print(f"{self.kernel_}; {self.plan_}")  # noqa: T201

    def _end(self, *, converged: bool) -> None:
        """Say whether the search ended where it should."""
        self.fit_status_ = 0 if converged else 1
        if converged:
            return
        if self.max_iter != -1:
            why = f"Solver terminated early (max_iter={self.max_iter})."
        else:
            why = f"Solver terminated early: rounding allows no violation below {self.tol}."
        warnings.warn(
            f"{why}  Consider pre-processing your data with StandardScaler or MinMaxScaler.",
            ConvergenceWarning,
            stacklevel=4,
        )

    # Telling

    def _tell_function(
        self, points: Batch, coefficients: Reals, offsets: Reals, weights: Reals | None
    ) -> None:
        """The function over the points that have a coefficient, or over landmarks; and its
        offset.
        """
        self.intercept_ = offsets
        landmarks, self._landmarks = self._landmarks, None
        if landmarks is not None and weights is not None:
            self.function_ = landmarks.function(self.kernel_, weights)
            return
        used = np.flatnonzero(coefficients.reshape(len(points), -1).any(axis=1))
        kept = used if len(used) else np.zeros(1, np.int64)
        self.function_ = Function(self.kernel_, points[kept], coefficients[kept])

    def _tell_support(self, points: Batch, support: Indices, coefficients: Array) -> None:
        """The support vectors among the rows as they came, and their coefficients.

        Args:
            points: All rows as they came.
            support: Which of them.
            coefficients: A row a function.
        """
        self.support_ = support.astype(np.int32)
        self.dual_coef_: Any = coefficients
        rows = np.asarray(self.support_, np.int64)
        if isinstance(points, DenseBatch):
            self.support_vectors_: Any = points.values[rows]
        elif isinstance(points, SparseBatch):
            self.support_vectors_ = points.matrix[rows]
            self.dual_coef_ = sp.csr_array(coefficients)
        elif self._is_precomputed or self._is_function:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = points[rows]
        width = getattr(points, "width", len(points) if self._is_precomputed else None)
        self.shape_fit_ = (len(points),) if width is None else (len(points), width)

    def _tell_single(self, points: Batch, sample: Sample, solution: DualSolution) -> None:
        """What a machine with one function is known for."""
        self._tell_function(
            sample.points, solution.coefficients, solution.offset.copy(), solution.weights
        )
        told = sample.as_they_came(solution.coefficients, share=True)
        support = np.flatnonzero(told)
        self._tell_support(points, support, told[None, support])
        self.n_support_ = np.array([len(support)], np.int32)
        self.solution_, self.n_iter_ = solution, int(solution.steps)
        self._end(converged=solution.converged)

    @property
    def coef_(self) -> Any:
        """The weights of the features, for the linear kernel: a row a function."""
        kernel = vars(self).get("kernel_")
        linear = isinstance(kernel, Linear) and kernel == Linear()
        if not linear or not hasattr(self, "function_"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        columns = self.function_.coefficients.reshape(len(self.function_.coefficients), -1)
        anchors = self.function_.anchors
        if isinstance(anchors, SparseBatch):
            sparse = sp.csr_array(columns.T) @ anchors.matrix
            sparse.data.setflags(write=False)
            return sparse
        weights: Array = columns.T @ anchors.values
        weights.setflags(write=False)
        return weights


_RANGES = (
    ("C", 0.0, np.inf),
    ("tol", 0.0, np.inf),
    ("cache_size", 0.0, np.inf),
    ("nu", 0.0, 1.0),
)


def _check_range(name: str, value: Any, least: float, most: float) -> None:
    """Raise unless a number is above the least, and at most the most."""
    good = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not (good and least < value <= most):
        end = "" if np.isinf(most) else f" and <= {most:g}"
        raise InvalidParameter(f"{name} is a number > {least:g}{end}, got {value!r}.")


def _counted(sample_weight: Any) -> Any:
    """Weights where one that is negative is zero, as scikit-learn's machines take them.

    Raises:
        InvalidInput: No weight is positive.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.size and (weights <= 0).all():
        raise InvalidInput(
            "Invalid input - all samples have zero or negative weights.\nGive a positive "
            "weight to at least one row."
        )
    return np.maximum(weights, 0.0)


def arranged(sample: Sample, order: Indices) -> Sample:
    """The same sample with its distinct rows in another order."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return replace(
        sample,
        points=sample.points[order],
        targets=sample.targets[order],
        weights=sample.weights[order],
        labels=np.where(sample.labels >= 0, place[sample.labels], -1),
    )


def _count(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _show(steps: int, objective: float, violation: float) -> None:
    print(f"{steps} moves: objective {objective:.6g}, violation {violation:.1e}")  # noqa: T201
