r"""Regression with any convex loss, by the representer theorem."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from mercer.domains.samples import as_sample
from mercer.errors import InvalidParameter
from mercer.machines.base import KernelMachine
from mercer.machines.convex import Fitter, OneByOne
from mercer.machines.evidence import told, warn_unless_converged
from mercer.machines.penalties import check_radius, positive_penalties
from mercer.machines.targets import one_target
from mercer.problems.losses import Loss
from mercer.problems.losses import loss as as_loss

Reals = NDArray[np.float64]


class KernelRegressor(RegressorMixin, KernelMachine):  # type: ignore[misc]
    r"""Regression that minimises any convex loss.

    Over functions f of the kernel's space and an offset b it minimises

    $$\frac{1}{\sum_i w_i} \sum_i w_i\, L(y_i, f(x_i) + b) + \lambda \|f\|^2.$$

    By the representer theorem $f = \sum_i a_i k(x_i, \cdot)$. Smooth losses are minimised by
    Newton's method, each step a weighted ridge regression; losses with kinks by interior points
    of the dual problem. For "epsilon_insensitive" scikit-learn's C is $1 / (2 \lambda n)$;
    "squared" is what `KernelRidge` minimises, with its $\lambda$.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data, whose lengths are tuned.
        loss: "squared", "absolute", "huber(1.0)", "epsilon_insensitive(0.1)",
            "pinball(0.9)" for the 0.9-quantile, "expectile(0.9)", "poisson", which predicts
            $e^{f + b}$; or a Loss.
        penalty: The number $\lambda > 0$; several, to choose among; or "auto": the one with
            the least loss on rows left out, to first order.
        fit_intercept: Whether there is an offset b.
        radius: The constrained form instead: the least mean loss among functions with
            ||f|| <= radius. The penalty is then found.
        plan: How to compute: a `Plan`, or the name of a method.
        random_state: Draws the landmarks, and the rows on which lengths are tuned.
        verbose: Whether what is chosen is printed.

    Attributes:
        function_: The function f, an element of the kernel's space.
        intercept_: The offset.
        kernel_: The kernel.
        penalty_: The penalty.
        penalties_: The penalties that were tried, None if one was given.
        loo_errors_: The mean loss on rows left out, for each.
        loo_predictions_: For each row the prediction of the others, when the penalty was
            chosen.
        dual_coef_: The coefficients, for the rows as they came.
        solution_: The evidence: duality gap, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(0, 6, 60)[:, None]
        >>> y = np.sin(x[:, 0])
        >>> y[::10] += 5  # mistakes
        >>> model = mc.KernelRegressor(mc.Gaussian(), "absolute", 1e-3).fit(x, y)
        >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.02)
        True
    """

    def __init__(
        self,
        kernel: Any = "auto",
        loss: Any = "huber",
        penalty: Any = "auto",
        *,
        fit_intercept: bool = True,
        radius: float | None = None,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points and their targets.

        Args:
            X: Points of the kernel's domain.
            y: A number a point.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        plan, loss = self._wanted_plan(), self._loss()
        penalties = positive_penalties(self.penalty)
        check_radius(self.radius, penalties)
        points = self._read(X, fitting=True)
        targets = one_target(y, len(points), type(self).__name__)
        loss.check(targets)
        sample = as_sample(points, targets, sample_weight)
        self.kernel_ = self._found_kernel(sample.points, sample.weights, sample.targets)
        objective = OneByOne(loss, sample.targets, sample.weights, bool(self.fit_intercept))
        fitter = Fitter(self.kernel_, sample, objective, plan, self._chance())
        fitted = fitter.fit(penalties, self.radius)
        told(self, fitted, sample, flat=True)
        if fitted.left_out is not None:
            self.loo_predictions_ = sample.as_they_came(loss.mean(fitted.left_out))[:, 0]
        warn_unless_converged(fitted.solution, type(self).__name__)
        if self.verbose:
            print(f"{self.kernel_}, penalty {self.penalty_:.3g}; {self.plan_}")  # noqa: T201
        return self

    def _loss(self) -> Loss:
        loss = as_loss(self.loss)
        if loss.targets == "signs":
            raise InvalidParameter(
                f"a regressor takes the loss of a number, and {loss} is that of a margin.\n"
                "Use mercer.KernelClassifier for it."
            )
        return loss

    def predict(self, X: Any) -> Reals:
        """The predictions at new points: f(x) + b, and its exponential for "poisson"."""
        self._require_fitted()
        values = self.function_(self._read(X, fitting=False)) + self.intercept_
        return self._loss().mean(values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = isinstance(self.loss, Loss | str)
        tags.target_tags.positive_only = known and str(self.loss).startswith("poisson")
        # A quantile or an expectile is not meant to be near the mean.
        tags.regressor_tags.poor_score = known and str(self.loss).startswith(("pin", "exp"))
        return tags
