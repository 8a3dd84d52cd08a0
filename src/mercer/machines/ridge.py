r"""Kernel ridge regression: squared errors and a penalty on the norm."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from mercer.domains.samples import Sample, as_sample
from mercer.errors import InvalidParameter
from mercer.functions import Function
from mercer.machines.base import KernelMachine
from mercer.machines.intervals import deviations, jackknife
from mercer.machines.least_squares import fit_least_squares, spectrum_of
from mercer.machines.penalties import check_radius, penalties
from mercer.machines.targets import targets
from mercer.plan import Plan
from mercer.solvers.choose import SPECTRAL, needed
from mercer.solvers.shifted import Shifted

Reals = NDArray[np.float64]

LATE = 2_000
"""Rows up to which what needs eigenvalues is found when it is asked for."""

_LATE = ("loo_predictions_", "log_marginal_likelihood_")

_SHORT = (
    "the equations are not solved to the tolerance: {!r}.\nRaise the penalty, or the tolerance "
    "of the plan."
)


class KernelRidge(RegressorMixin, MultiOutputMixin, KernelMachine):  # type: ignore[misc]
    r"""Least squares with a penalty on the norm of the function.

    It minimises, over functions f of the kernel's space and an offset b,

    $$\frac{1}{\sum_i w_i} \sum_i w_i\, |y_i - f(x_i) - b|^2 + \lambda \|f\|^2.$$

    By the representer theorem $f = \sum_i a_i k(x_i, \cdot)$, and the coefficients solve
    $(K + \lambda \textstyle\sum w\, W^{-1})\, a + b = y$. Scikit-learn's `alpha` is
    $\lambda n$, and so is the $\ell \gamma$ of a regularization network; Weinberger's
    $\tau^2$ and Bishop's $\lambda$ are $\lambda n$ as well. A weighted mean
    $\frac1n \sum_i W_i (y_i - f(x_i))^2 + \lambda' \|f\|^2$ has
    $\lambda = n \lambda' / \sum_i W_i$ here.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data, whose lengths are tuned by leave-one-out.
        penalty: The number $\lambda$; several, to choose among; or "auto": the one with the
            least leave-one-out error. 0 is least squares, by the function of least norm.
        radius: The constrained form instead: the least mean squared error among functions
            with ||f|| <= radius. The penalty is then found, and is 0 if the bound is slack.
        fit_intercept: Whether there is an offset b.
        plan: How to compute: a `Plan`, or the name of a method.
        random_state: Draws the rows on which lengths are tuned, where there are many.
        verbose: Whether what is chosen is printed.

    Attributes:
        function_: The function f, an element of the kernel's space.
        intercept_: The offset, one a target.
        kernel_: The kernel.
        penalty_: The penalty.
        penalties_: The penalties that were tried, None if one was given.
        loo_errors_: Their mean squared leave-one-out errors; for more than 5000 rows those of
            functions over landmarks.
        loo_predictions_: For each row, what is predicted by the others; for up to 2000 rows if
            the penalty was given and the method tells no eigenvalues.
        dual_coef_: The coefficients, for the rows as they came.
        log_marginal_likelihood_: Of the targets under the Gaussian process of this kernel,
            at its most likely variance; told when `loo_predictions_` is.
        solution_: The evidence that the equations are solved.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(0, 6, 40)[:, None]
        >>> model = mc.KernelRidge().fit(x, np.sin(x[:, 0]))
        >>> float(abs(model.predict([[1.5]])[0] - np.sin(1.5))) < 1e-3
        True
    """

    looks_itself = True

    def __init__(
        self,
        kernel: Any = "auto",
        penalty: Any = "auto",
        *,
        radius: float | None = None,
        fit_intercept: bool = True,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points and their targets.

        Args:
            X: Points of the kernel's domain.
            y: A number a point, or a row of them.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        plan = self._wanted_plan()
        wanted = penalties(self.penalty)
        check_radius(self.radius, wanted)
        points = self._read(X, fitting=True)
        numbers = targets(y, len(points), type(self).__name__)
        self._flat = numbers.ndim == 1
        sample = as_sample(points, numbers, sample_weight)
        self.kernel_ = self._found_kernel(sample.points, sample.weights, sample.targets)
        self._fit_sample(sample, plan, wanted)
        return self

    # Fitting

    def _fit_sample(self, sample: Sample, plan: Plan, wanted: Any) -> None:
        fitted = fit_least_squares(
            self.kernel_,
            sample,
            wanted,
            plan=plan,
            has_offset=bool(self.fit_intercept),
            chance=self._chance(),
            radius=None if self.radius is None else float(self.radius),
        )
        if not fitted.solution.converged:
            warnings.warn(_SHORT.format(fitted.solution), ConvergenceWarning, stacklevel=3)
        self.solution_, self.plan_, self.penalty_ = fitted.solution, fitted.plan, fitted.penalty
        path = fitted.path
        self.penalties_ = None if path is None else path.penalties
        self.loo_errors_ = None if path is None else path.errors
        coefficients, offset = fitted.solution.coefficients, fitted.solution.offset
        self.intercept_ = float(offset[0]) if self._flat else offset
        self.function_ = Function(self.kernel_, fitted.anchors, self._shaped(coefficients))
        if fitted.is_exact:
            self.dual_coef_ = self._shaped(sample.as_they_came(coefficients, share=True))
        else:
            self.__dict__.pop("dual_coef_", None)
        self._forget()
        self._sample, self._fitted = sample, fitted
        if fitted.spectrum is not None and fitted.shift > 0:
            self._tell(fitted.spectrum)
        if self.verbose:
            print(f"{self.kernel_}, penalty {self.penalty_:.3g}; {self.plan_}")  # noqa: T201

    def _tell(self, spectrum: Shifted) -> None:
        """What eigenvalues or a band tell at once: leave-one-out and the likelihood."""
        sample, shift = self._sample, self._fitted.shift
        errors = spectrum.left_out(sample.targets, shift)
        told = sample.as_they_came(sample.targets - errors)
        self.loo_predictions_ = self._shaped(told)
        likelihood = spectrum.log_likelihood(sample.targets, shift)
        self.log_marginal_likelihood_ = float(likelihood[0]) if self._flat else likelihood

    def _forget(self) -> None:
        """Drop what an earlier fit has told."""
        for name in _LATE:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # Asked for only where it was not told in fit.
        fitted = vars(self).get("_fitted")
        if name in _LATE and fitted is not None and len(fitted.anchors) <= LATE:
            with suppress(InvalidParameter):
                self._tell(self._needed_spectrum(name)[0])
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _shaped(self, values: Any) -> Reals:
        """A column for each target, or flat for one."""
        shaped: Reals = values[:, 0] if self._flat else values
        return shaped

    # Predicting

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictions at new points.

        Args:
            X: Points.
            return_std: Whether the standard deviation of f(x) + b is told as well: that of the
                Gaussian process with this kernel, times the factor that makes the targets most
                likely. It does not hold the noise of a new target.

        Returns:
            The predictions, or a pair of them and their deviations.
        """
        self._require_fitted()
        points = self._read(X, fitting=False)
        values = self.function_(points) + self.intercept_
        if not return_std:
            return values
        spectrum, shift = self._needed_spectrum("return_std")
        found = deviations(self.kernel_, self._sample, spectrum, shift, points)
        return values, self._shaped(found)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Reals:
        """Intervals that hold a new target with about this probability (jackknife+).

        From every row that is left out comes a prediction at x, and the error on that row: the
        interval goes between quantiles of their sums. Whatever the law of the data, it holds a
        target with a probability of at least 2 coverage - 1, and about `coverage` in practice.

        Args:
            X: Points.
            coverage: A probability between 0 and 1.

        Returns:
            The lower and the upper ends: shape (points, 2).
        """
        self._require_fitted()
        if not 0 < coverage < 1:
            raise InvalidParameter(f"coverage is between 0 and 1, got {coverage!r}.")
        if not self._flat:
            raise InvalidParameter("intervals are told for one target; fit one at a time.")
        points = self._read(X, fitting=False)
        spectrum, shift = self._needed_spectrum("predict_interval")
        center = self.function_(points) + self.intercept_
        return jackknife(self.kernel_, self._sample, spectrum, shift, points, center, coverage)

    def _needed_spectrum(self, what: str) -> tuple[Shifted, float]:
        """The eigenvalues, found now if they were not needed before."""
        fitted, sample = self._fitted, self._sample
        if sample is None or not (fitted.is_exact and fitted.shift > 0):
            raise InvalidParameter(
                f"{what} needs all points as anchors and a positive penalty.\nFit fewer rows, "
                'or with plan="spectral" and penalty="auto", and save with intervals=True.'
            )
        if fitted.spectrum is not None:
            return fitted.spectrum, fitted.shift
        rows = len(sample)
        needs = needed(rows, sample.targets.shape[1], 0, 0, many_penalties=True)["spectral"]
        if rows > SPECTRAL or needs > fitted.plan.budget:
            raise InvalidParameter(
                f"{what} needs the eigenvalues, and the equations were solved by "
                f"{fitted.solution.method}; for {rows} rows they are not found by the way.\n"
                'Fit with plan="spectral".'
            )
        found = spectrum_of(
            self.kernel_, sample, fitted.plan, has_offset=bool(self.fit_intercept)
        )
        self._fitted = replace(fitted, spectrum=found)
        return found, fitted.shift
