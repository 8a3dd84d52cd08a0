r"""Classifiers for any convex loss of a margin, and logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from mercer.domains.samples import Sample, as_sample
from mercer.errors import InvalidParameter
from mercer.functions import Function
from mercer.machines.base import KernelMachine
from mercer.machines.convex import Fitted, Fitter, Multinomial, Objective, OneByOne
from mercer.machines.evidence import told, warn_unless_converged
from mercer.machines.penalties import check_radius, positive_penalties
from mercer.problems.losses import Logistic, Loss
from mercer.problems.losses import loss as as_loss
from mercer.selection.labels import Labels, class_weights, read_labels, require_two

Reals = NDArray[np.float64]


def _foretells(machine: KernelClassifier) -> bool:
    """Whether there are probabilities: those of the logistic loss."""
    if not isinstance(machine._loss(), Logistic):
        raise AttributeError(  # noqa: TRY004 - hasattr is asked
            f"probabilities come from the logistic loss, and this one is {machine._loss()}."
        )
    return True


class KernelClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    r"""A classifier that minimises any convex loss of the margin.

    For two classes, as y = -1 and 1, it minimises over functions f of the kernel's space and
    an offset b

    $$\frac{1}{\sum_i w_i} \sum_i w_i\, L(y_i, f(x_i) + b) + \lambda \|f\|^2.$$

    More classes take the softmax loss with "logistic", and otherwise a function each against
    the rest. For the hinge loss scikit-learn's C is $1 / (2 \lambda n)$.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data, whose lengths are tuned.
        loss: "logistic", "hinge" or "squared_hinge", or a Loss.
        penalty: The number $\lambda > 0$; several, to choose among; or "auto": the one with
            the least loss on rows left out, to first order.
        fit_intercept: Whether there is an offset b.
        class_weight: None, "balanced", or a number a label.
        radius: The constrained form instead: the least mean loss among functions with
            ||f|| <= radius. The penalty is then found.
        plan: How to compute: a `Plan`, or the name of a method.
        random_state: Draws the landmarks, and the rows on which lengths are tuned.
        verbose: Whether what is chosen is printed.

    Attributes:
        classes_: The labels.
        function_: The function f, an element of the kernel's space; with several columns for
            more than two classes.
        intercept_: The offset, one a function.
        kernel_: The kernel.
        penalty_: The penalty.
        penalties_: The penalties that were tried, None if one was given.
        loo_errors_: The mean loss on rows left out, for each.
        loo_decisions_: For each row the decision of the others, when the penalty was chosen.
        dual_coef_: The coefficients, for the rows as they came.
        solution_: The evidence: duality gap, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> model = mc.KernelClassifier(mc.Gaussian(), "hinge", 0.01)
        >>> model.fit(X, ["a", "a", "b", "b"]).predict([[0.4], [2.7]])
        array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        kernel: Any = "auto",
        loss: Any = "logistic",
        penalty: Any = "auto",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        radius: float | None = None,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.radius = radius
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points and their labels.

        Args:
            X: Points of the kernel's domain.
            y: A label a point.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        plan, loss = self._wanted_plan(), self._loss()
        penalties = positive_penalties(self.penalty)
        check_radius(self.radius, penalties)
        points = self._read(X, fitting=True)
        name = type(self).__name__
        given = read_labels(y, len(points), name)
        sample = as_sample(points, given.codes, sample_weight)
        labels = given.kept(sample.targets[:, 0].astype(np.int64))
        require_two(labels.classes, name)
        self.classes_ = labels.classes
        factors = class_weights(self.class_weight, labels, sample.weights)
        sample = sample.weighted(factors, labels.columns())
        self.kernel_ = self._found_kernel(sample.points, sample.weights, sample.targets)
        objective = self._objective(loss, labels, sample)
        fitter = Fitter(self.kernel_, sample, objective, plan, self._chance())
        self._tell(fitter.fit(penalties, self.radius), sample)
        return self

    def _loss(self) -> Loss:
        loss = as_loss(self.loss)
        if loss.targets != "signs":
            raise InvalidParameter(
                f"a classifier takes the loss of a margin, and {loss} is that of a number.\n"
                'Say "logistic", "hinge" or "squared_hinge".'
            )
        return loss

    def _objective(self, loss: Loss, labels: Labels, sample: Sample) -> Objective:
        offset = bool(self.fit_intercept)
        if isinstance(loss, Logistic) and len(labels.classes) > 2:
            return Multinomial(labels.hot(), sample.weights, offset)
        return OneByOne(loss, sample.targets, sample.weights, offset)

    def _tell(self, fitted: Fitted, sample: Sample) -> None:
        """What a fit is known for afterwards."""
        told(self, fitted, sample, flat=len(self.classes_) == 2)
        if fitted.left_out is not None:
            self.loo_decisions_ = self._shaped(sample.as_they_came(fitted.left_out))
        warn_unless_converged(fitted.solution, type(self).__name__)
        if self.verbose:
            print(f"{self.kernel_}, penalty {self.penalty_:.3g}; {self.plan_}")  # noqa: T201

    def _shaped(self, values: Any) -> Reals:
        """A column a class, or flat for two classes."""
        shaped: Reals = values[:, 0] if len(self.classes_) == 2 else values
        return shaped

    # Predicting

    def decision_function(self, X: Any) -> Reals:
        """The values f(x) + b: one a point for two classes, else a row with one a class."""
        self._require_fitted()
        function: Function = self.function_
        values: Reals = function(self._read(X, fitting=False)) + self.intercept_
        return values

    def predict(self, X: Any) -> Any:
        """The label of each point: where two classes are even, the first."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.int64)]
        return self.classes_[values.argmax(axis=1)]

    @available_if(_foretells)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Reals:
        """The probability of each class: a row a point, in the order of `classes_`."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([expit(-values), expit(values)])
        found: Reals = softmax(values, axis=1)
        return found

    @available_if(_foretells)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Reals:
        """The logarithm of each probability, also of those that are too small for a number."""
        values = self.decision_function(X)
        if values.ndim == 1:
            sides = np.column_stack([-values, values])
            return -np.logaddexp(0, -sides)
        found: Reals = log_softmax(values, axis=1)
        return found


class KernelLogisticRegression(KernelClassifier):
    r"""Logistic regression in the space of a kernel, for two classes or more.

    For two classes it minimises over functions f of the kernel's space and an offset b

    $$\frac{1}{\sum_i w_i} \sum_i w_i \ln(1 + e^{-y_i (f(x_i) + b)}) + \lambda \|f\|^2$$

    by Newton's method, each step of which is a weighted ridge regression (iteratively
    reweighted least squares). For more classes the loss is
    $\ln \sum_c e^{f_c} - f_y$ and the penalty the sum of the squared norms. The probability of
    a class is then the share of $e^{f_c}$. Scikit-learn's C is $1 / (2 \lambda n)$; the seeds
    have a mean too, and write $\lambda / 2$ for this $\lambda$.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data, whose lengths are tuned.
        penalty: The number $\lambda > 0$; several, to choose among; or "auto": the one with
            the least loss on rows left out, to first order.
        fit_intercept: Whether there is an offset b.
        class_weight: None, "balanced", or a number a label.
        radius: The constrained form instead: the least mean loss among functions with
            ||f|| <= radius. The penalty is then found.
        plan: How to compute: a `Plan`, or the name of a method.
        random_state: Draws the landmarks, and the rows on which lengths are tuned.
        verbose: Whether what is chosen is printed.

    Attributes:
        classes_: The labels.
        function_: The function f, an element of the kernel's space; with several columns for
            more than two classes.
        intercept_: The offset, one a function.
        kernel_: The kernel.
        penalty_: The penalty.
        penalties_: The penalties that were tried, None if one was given.
        loo_errors_: The mean loss on rows left out, for each.
        loo_decisions_: For each row the decision of the others, when the penalty was chosen.
        dual_coef_: The coefficients, for the rows as they came.
        solution_: The evidence: duality gap, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = np.where((X**2).sum(axis=1) < 1, "in", "out")
        >>> model = mc.KernelLogisticRegression().fit(X, y)
        >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
        array(['in', 'out'], dtype='<U3')
        >>> bool(model.predict_proba([[0.0, 0.0]])[0, 0] > 0.9)
        True
    """

    def __init__(
        self,
        kernel: Any = "auto",
        penalty: Any = "auto",
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        radius: float | None = None,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.radius = radius
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self) -> Loss:
        return Logistic()
