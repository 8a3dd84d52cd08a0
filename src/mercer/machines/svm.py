r"""Support vector classification: few rows decide."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.errors import InvalidParameter, NotSeparable
from mercer.gram.rows import Rows
from mercer.machines.svm_classifier import SupportVectorClassifier
from mercer.problems.duals import (
    Dual,
    classification,
    classification_by_share,
    largest_share,
    require_share,
)
from mercer.problems.pairs import Problem
from mercer.solvers.smo import TOUCHING
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.smo_start import Start
from mercer.types import Indices

Reals = NDArray[np.float64]

MOST = 1e3
"""How much larger variables become at once, where the margin is not known well."""


class SVC(SupportVectorClassifier):
    r"""Support vector classification with the cost C of errors.

    For two classes, as y = -1 and 1, it minimises over functions f of the kernel's space and
    an offset b

    $$\tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b)).$$

    It has scikit-learn's parameters, attributes and conventions, and is solved exactly, by
    mercer's own solver. C = inf is the hard margin, and an error with a certificate where
    there is none. More classes are told apart in pairs, or each from the rest.

    Equal rows are one row with their summed weight, as everywhere in mercer, so weights equal
    repetition. That concerns gamma="scale" too, which takes the weighted variance, and
    class_weight="balanced".

    Args:
        C: The cost of errors, a number > 0 or inf; or "auto": of nine costs the one with the
            best accuracy on rows held out. With kernel="auto" lengths are compared likewise.
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        probability: Whether `predict_proba` is there: after the fit five machines are solved
            near it, and their decisions on rows held out say how often one is right.
        tol: The largest violation of a pair that is left, as in LIBSVM.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        class_weight: None, "balanced", or a number a label, by which its C is multiplied.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        multi_class: How three classes or more are told apart: "ovo", one machine for each pair
            as in scikit-learn, or "ovr", one for each class against the rest.
        decision_function_shape: "ovr" for a decision a class, "ovo" for one a pair; there
            are no pairs with multi_class="ovr".
        break_ties: Whether ties of three classes or more are broken by how sure they are.
        random_state: Draws the rows on which lengths of "auto" are tuned.
        plan: How to compute: a `Plan`, or the name of a method: "smo" (exactly), "landmarks"
            (by default beyond 100000 distinct rows) or "primal" (the kernel's own features).

    Attributes:
        C_: The cost.
        path_: The scores of the costs and lengths that were compared; only for C="auto".
        classes_: The labels.
        class_weight_: The factor of each class.
        support_: The rows of the support vectors, class by class.
        support_vectors_: The support vectors.
        n_support_: How many each class has.
        dual_coef_: Their coefficients with signs: one row, or for three classes or more one
            less than there are classes, and with "ovr" one a class.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset, one a pair, or a class with "ovr".
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps, one number a pair of classes, or a class with "ovr".
        shape_fit_: The shape of X.
        calibration_: With `probability`, what `predict_proba` follows: for each problem the
            log-odds at 0 and their slope, for negative and for positive decisions.
        function_: The function f, an element of the kernel's space; with a column a pair, or a
            class with "ovr".
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import mercer as mc
        >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], ["left", "left", "right", "right"]
        >>> model = mc.SVC(kernel="linear").fit(X, y)
        >>> model.predict([[-0.8, -1]]), model.support_
        (array(['left'], dtype='<U5'), array([1, 2], dtype=int32))
    """

    finds_cost = True
    one_class = (
        "Invalid input - all samples with positive weights belong to the same class, and the "
        "number of classes has to be greater than one"
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        plan: Any = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.plan = plan

    def _dual(self, signs: Reals, weights: Reals, factors: Reals) -> Dual:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # inf * 0
            upper = np.where(weights > 0, self.C_ * weights * factors, 0.0)
        if not (upper[weights > 0] > 0).all() or np.isinf(upper).any() != np.isinf(self.C_):
            raise InvalidParameter(
                f"C times the weights of rows and classes leaves what floating point holds: "
                f"C={self.C_}, and the weights are from {weights.min():.3g} to "
                f"{weights.max():.3g}.\nRescale C or the weights."
            )
        return classification(signs, upper)


class NuSVC(SupportVectorClassifier):
    r"""Support vector classification with the share nu of margin errors.

    nu is at least the share of margin errors, and at most that of support vectors. For two
    classes, as y = -1 and 1, and weights w that sum to W, it minimises over functions f of the
    kernel's space, an offset b and a margin $\rho \ge 0$

    $$\tfrac12 \|f\|^2 - \nu \rho + \tfrac1W \sum_i w_i \max(0, \rho - y_i (f(x_i) + b)),$$

    and divides f and b by $\rho$, so that the margin is at 1; where $\rho = 0$ that is an error
    with a certificate. All else is as in `SVC`.

    nu is at most twice the weight of the lighter class over that of both: more is infeasible,
    where scikit-learn has an error. A warning says then how much is possible, and that is
    taken. class_weight multiplies the weights of rows, as
    everywhere, and so moves that bound; scikit-learn's NuSVC takes class_weight and ignores it.
    With "balanced" every nu is feasible for two classes, and in pairs.

    Args:
        nu: The share, in (0, 1].
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        probability: Whether `predict_proba` is there: after the fit five machines are solved
            near it, and their decisions on rows held out say how often one is right.
        tol: The largest violation of a pair that is left, as in LIBSVM.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        class_weight: None, "balanced", or a number a label, by which its weight is multiplied.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        multi_class: How three classes or more are told apart: "ovo", one machine for each pair
            as in scikit-learn, or "ovr", one for each class against the rest.
        decision_function_shape: "ovr" for a decision a class, "ovo" for one a pair; there
            are no pairs with multi_class="ovr".
        break_ties: Whether ties of three classes or more are broken by how sure they are.
        random_state: Draws the rows on which lengths of "auto" are tuned.
        plan: How to compute: a `Plan`, or the name of a method: "smo" (exactly), "landmarks"
            (by default beyond 100000 distinct rows) or "primal" (the kernel's own features).

    Attributes:
        classes_: The labels.
        class_weight_: The factor of each class.
        support_: The rows of the support vectors, class by class.
        support_vectors_: The support vectors.
        n_support_: How many each class has.
        dual_coef_: Their coefficients with signs: one row, or for three classes or more one
            less than there are classes, and with "ovr" one a class.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset, one a pair, or a class with "ovr".
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps, one number a pair of classes, or a class with "ovr".
        shape_fit_: The shape of X.
        calibration_: With `probability`, what `predict_proba` follows: for each problem the
            log-odds at 0 and their slope, for negative and for positive decisions.
        function_: The function f, an element of the kernel's space; with a column a pair, or a
            class with "ovr".
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import mercer as mc
        >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], [1, 1, 2, 2]
        >>> mc.NuSVC(kernel="linear").fit(X, y).predict([[-0.8, -1]])
        array([1])
    """

    one_class = "specified nu is infeasible, as all rows of positive weight are of one class"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        plan: Any = "auto",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.plan = plan

    def _dual(self, signs: Reals, weights: Reals, factors: Reals) -> Dual:
        bounds = _around_one(weights, factors)
        share = min(float(self.nu), largest_share(signs, bounds))
        return classification_by_share(signs, bounds, share)

    def _look_ahead(
        self, problems: list[Problem], weights: Reals, factors: Reals, codes: Indices
    ) -> None:
        bounds = _around_one(weights, factors)
        shares = [largest_share(signs, bounds[places]) for places, signs in problems]
        least = int(np.argmin(shares))
        places, signs = problems[least]
        try:
            require_share(
                float(self.nu),
                shares[least],
                f"the lighter of {self._sides(codes[places], signs)}",
            )
        except InvalidParameter as error:
            message = f"{error}\nThat one is taken in its place, where nu is too large."
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _solved(
        self, dual: Dual, rows: Rows, start: Start | None = None, spent: int = 0
    ) -> DualSolution:
        """The solution, to the tolerance when the margin is at 1.

        The solver stops by violations as they are before that. Where the margin is below 1
        then, it goes on with all variables enlarged, which changes nothing else.
        """
        found = super()._solved(dual, rows, start, spent)
        while found.converged:
            _require_margin(found, dual, float(rows.diagonal.max()))
            margin = float(found.levels[0] - found.levels[1]) / 2
            if found.residual <= float(self.tol) * margin or found.objective < 0:
                break
            dual = _enlarged(dual, found.variables, 2 / max(margin, 2 / MOST))
            spent += found.steps
            found = super()._solved(dual, rows, None, spent)
        return replace(found, steps=spent + found.steps)


def _around_one(weights: Reals, factors: Reals) -> Reals:
    """Their products where only ratios matter: the tolerance is meant for numbers around 1."""
    bounds = (weights / weights.max()) * (factors / factors.max())
    return np.asarray(bounds / bounds.mean())


def _enlarged(dual: Dual, variables: Reals, factor: float) -> Dual:
    """The same problem in larger variables, to go on from these."""
    grown = max(factor, 2.0)
    return replace(dual, upper=dual.upper * grown, start=variables * grown)


def _require_margin(found: DualSolution, dual: Dual, size: float) -> None:
    """Raise if there is no margin: the barycentres with the variables as weights coincide."""
    half = float(dual.start[dual.signs > 0].sum())
    squared = 2 * found.objective / half**2
    if abs(squared) > TOUCHING**2 * size:
        return
    distance = abs(squared) ** 0.5
    raise NotSeparable(
        "there is no margin for this nu: the best f is 0. In the feature space of this kernel "
        "two barycentres of the two classes, in which no row has more than its part of nu, "
        f"coincide (their distance is {distance:.1e}, and {TOUCHING * size**0.5:.1e} counts as "
        "none).\nUse a larger nu, a kernel with more features, or SVC with a cost C; the "
        "weights are the `certificate` of this error.",
        found.variables / half,
        distance,
    )
