r"""The support of a distribution: where points lie, and where not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from mercer.machines.svm_base import SupportVectorMachine
from mercer.problems.duals import one_class

Reals = NDArray[np.float64]


class OneClassSVM(OutlierMixin, SupportVectorMachine):  # type: ignore[misc]
    r"""The region that holds most of the points, by a support vector machine.

    With weights w that sum to W it minimises over functions f of the kernel's space and a
    level $\rho$

    $$\tfrac12 \|f\|^2 - \rho + \frac{1}{\nu W} \sum_i w_i \max(0, \rho - f(x_i)),$$

    and tells f and the level times $\nu W$, as scikit-learn does. At most the share nu of the
    points is outside, where f is below the level, and at least that share are support vectors.

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
        nu: The share, in (0, 1].
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
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
        intercept_: The offset: minus the level.
        offset_: The level.
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps.
        shape_fit_: The shape of X.
        function_: The function f, an element of the kernel's space.
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import mercer as mc
        >>> model = mc.OneClassSVM(gamma="auto").fit([[0], [0.44], [0.45], [0.46], [1]])
        >>> model.predict([[0], [0.44], [0.45], [0.46], [1]])
        array([-1,  1,  1,  1, -1])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.plan = plan

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from points.

        Args:
            X: Points of the kernel's domain.
            y: Nothing: it is not used.
            sample_weight: A number a point: as if the row were there so many times; what is
                not positive is no row.
        """
        plan = self._checked_plan()
        points = self._read(X, fitting=True)
        sample = self._sample(points, None, sample_weight)
        self.kernel_ = self._found_kernel(sample.points, sample.weights, None)
        self._tell_plan(sample.points, plan)
        dual = one_class(sample.weights, float(self.nu), len(sample))
        solution = self._solved(dual, self._rows(sample.points, plan))
        self._tell_single(points, sample, solution)
        self.offset_ = -self.intercept_
        return self

    def decision_function(self, X: Any) -> Reals:
        """How far above the level f is: negative for outliers."""
        self._require_fitted()
        values: Reals = self.function_(self._read(X, fitting=False)) + self.intercept_[0]
        return values

    def score_samples(self, X: Any) -> Reals:
        """The values f(x)."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """1 for points inside or on the border, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
