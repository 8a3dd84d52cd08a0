r"""Support vector regression: errors below a width cost nothing."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from mercer.domains.samples import Sample
from mercer.errors import InvalidParameter
from mercer.machines.svm_base import SupportVectorMachine
from mercer.machines.targets import one_target
from mercer.plan import Plan
from mercer.problems.duals import Dual, regression, regression_by_share
from mercer.selection.dual_tasks import Targets
from mercer.selection.svm_path import COSTS

Reals = NDArray[np.float64]


class SupportVectorRegressor(RegressorMixin, SupportVectorMachine):  # type: ignore[misc]
    """What SVR and NuSVR share."""

    C: Any

    def _dual(self, targets: Reals, weights: Reals) -> Dual:
        """The problem of these targets."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points and their targets.

        Args:
            X: Points of the kernel's domain.
            y: A number a point.
            sample_weight: A number a point: as if the row were there so many times; what is
                not positive is no row.
        """
        plan = self._checked_plan()
        points = self._read(X, fitting=True)
        numbers = one_target(y, len(points), type(self).__name__)
        sample = self._sample(points, numbers, sample_weight)
        self._find_kernel(sample, plan)
        self._tell_plan(sample.points, plan)
        dual = self._dual(sample.targets[:, 0], sample.weights)
        solution = self._solved(dual, self._rows(sample.points, plan))
        self._tell_single(points, sample, solution)
        return self

    def _find_kernel(self, sample: Sample, plan: Plan) -> None:
        """Find the kernel, and the cost if it is to be found."""
        self.kernel_ = self._found_kernel(sample.points, sample.weights, sample.targets)

    def predict(self, X: Any) -> Reals:
        """The values f(x) + b."""
        self._require_fitted()
        values: Reals = self.function_(self._read(X, fitting=False)) + self.intercept_[0]
        return values


class SVR(SupportVectorRegressor):
    r"""Support vector regression with a given width.

    It minimises over functions f of the kernel's space and an offset b

    $$\tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \varepsilon).$$

    It has scikit-learn's parameters, attributes and conventions, and is solved exactly, by
    mercer's own solver. Equal rows are one row with their summed weight, as everywhere in
    mercer, so weights equal repetition; gamma="scale" takes the weighted variance.

    Args:
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        tol: The largest violation of a pair that is left, as in LIBSVM.
        C: The cost of errors, a number > 0 or inf; or "auto": of nine costs, in units of the
            spread of y, the one with the best R2 on rows held out. With kernel="auto" lengths
            are compared likewise.
        epsilon: The width that costs nothing.
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        plan: How to compute: a `Plan`, or the name of a method: "smo" (exactly), "landmarks"
            (by default beyond 100000 distinct rows) or "primal" (the kernel's own features).

    Attributes:
        C_: The cost.
        path_: The scores of the costs and lengths that were compared; only for C="auto".
        support_: The rows of the support vectors.
        support_vectors_: The support vectors.
        n_support_: How many there are.
        dual_coef_: Their coefficients: one row.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset.
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps.
        shape_fit_: The shape of X.
        function_: The function f, an element of the kernel's space.
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(0, 6, 40)[:, None]
        >>> model = mc.SVR(C=100, epsilon=0.01).fit(x, np.sin(x[:, 0]))
        >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
        True
    """

    finds_cost = True

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        plan: Any = "auto",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.plan = plan

    def _checked_plan(self) -> Plan:
        if not (isinstance(self.epsilon, Real) and 0 <= self.epsilon < np.inf):
            raise InvalidParameter(f"epsilon is a finite number >= 0, got {self.epsilon!r}.")
        return super()._checked_plan()

    def _find_kernel(self, sample: Sample, plan: Plan) -> None:
        y, weights = sample.targets[:, 0], sample.weights
        every = Targets(y, weights, float(self.epsilon))
        self._choose_kernel(
            sample, weights, sample.targets, COSTS * every.spread,
            lambda rows: Targets(y[rows], weights[rows], every.epsilon), None, plan,
        )  # fmt: skip

    def _dual(self, targets: Reals, weights: Reals) -> Dual:
        return regression(targets, self.C_ * weights, float(self.epsilon))


class NuSVR(SupportVectorRegressor):
    r"""Support vector regression whose width is found from the share nu of rows outside.

    nu is at least the share of rows outside the tube, and at most that of support vectors. It
    minimises over functions f of the kernel's space, an offset b and a width $\varepsilon$

    $$\tfrac12 \|f\|^2 + C \sum_i w_i \bigl(\nu \varepsilon
      + \max(0, |y_i - f(x_i) - b| - \varepsilon)\bigr).$$

    All else is as in `SVR`.

    Args:
        nu: The share, in (0, 1].
        C: The cost of errors, a number > 0.
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        tol: The largest violation of a pair that is left, as in LIBSVM.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        plan: How to compute: a `Plan`, or the name of a method: "smo" (exactly), "landmarks"
            (by default beyond 100000 distinct rows) or "primal" (the kernel's own features).

    Attributes:
        support_: The rows of the support vectors.
        support_vectors_: The support vectors.
        n_support_: How many there are.
        dual_coef_: Their coefficients: one row.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset.
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps.
        shape_fit_: The shape of X.
        function_: The function f, an element of the kernel's space.
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(0, 6, 40)[:, None]
        >>> model = mc.NuSVR(C=100, nu=0.5).fit(x, np.sin(x[:, 0]))
        >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
        True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        plan: Any = "auto",
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.plan = plan

    def _dual(self, targets: Reals, weights: Reals) -> Dual:
        if np.isinf(self.C):
            raise InvalidParameter(
                "NuSVR needs a finite C: nu C is what a wider tube costs, and would be "
                "infinite.\nUse SVR, whose C may be inf."
            )
        return regression_by_share(targets, float(self.C) * weights, float(self.nu))
