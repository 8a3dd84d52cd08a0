r"""Support vector classification: few rows decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.machines.svm_classifier import SupportVectorClassifier
from mercer.problems.duals import Dual, classification, classification_by_share

Reals = NDArray[np.float64]


class SVC(SupportVectorClassifier):
    r"""Support vector classification with the cost C of errors.

    For two classes, as y = -1 and 1, it minimises over functions f of the kernel's space and
    an offset b

    $$\tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b)).$$

    It has scikit-learn's parameters, attributes and conventions, and is solved exactly, by
    mercer's own solver. C = inf is the hard margin, and an error with a certificate where
    there is none. More classes are told apart in pairs.

    Equal rows are one row with their summed weight, as everywhere in mercer, so weights equal
    repetition. That concerns gamma="scale" too, which takes the weighted variance, and
    class_weight="balanced".

    Args:
        C: The cost of errors, a number > 0 or inf.
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        probability: Only False: probabilities are scikit-learn's CalibratedClassifierCV's.
        tol: The largest violation of a pair that is left, as in LIBSVM.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        class_weight: None, "balanced", or a number a label, by which its C is multiplied.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        decision_function_shape: "ovr" for a decision a class, "ovo" for one a pair.
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
        dual_coef_: Their coefficients with signs: one row, or one less than there are classes.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset, one a pair.
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps, one number a pair of classes.
        shape_fit_: The shape of X.
        function_: The function f, an element of the kernel's space; with a column a pair.
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
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.plan = plan

    def _dual(self, signs: Reals, weights: Reals, factors: Reals) -> Dual:
        return classification(signs, float(self.C) * weights * factors)


class NuSVC(SupportVectorClassifier):
    r"""Support vector classification with the share nu of margin errors.

    nu is at least the share of margin errors, and at most that of support vectors. For two
    classes, as y = -1 and 1, and weights w that sum to W, it minimises over functions f of the
    kernel's space, an offset b and a margin $\rho \ge 0$

    $$\tfrac12 \|f\|^2 - \nu \rho + \tfrac1W \sum_i w_i \max(0, \rho - y_i (f(x_i) + b)),$$

    and divides f and b by $\rho$, so that the margin is at 1. All else is as in `SVC`, except
    that class_weight may make one class so light that no solution has this share: the largest
    share that one has stands for nu then.

    Args:
        nu: The share, in (0, 1].
        kernel: "linear", "poly", "rbf", "sigmoid" or "precomputed"; a function of two lists of
            points that returns all their kernel values; or a Kernel, its text, or "auto".
        degree: The degree of "poly".
        gamma: The factor of "rbf", "poly" and "sigmoid": a number, "scale" (one over the
            features and the variance of X) or "auto" (one over the features).
        coef0: The constant of "poly" and "sigmoid".
        shrinking: Taken for scikit-learn's sake; the solver decides by itself.
        probability: Only False: probabilities are scikit-learn's CalibratedClassifierCV's.
        tol: The largest violation of a pair that is left, as in LIBSVM.
        cache_size: Taken for scikit-learn's sake; the plan says how much memory there is.
        class_weight: None, "balanced", or a number a label, by which its weight is multiplied.
        verbose: Whether progress is printed.
        max_iter: The most pairs to move, -1 for no limit.
        decision_function_shape: "ovr" for a decision a class, "ovo" for one a pair.
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
        dual_coef_: Their coefficients with signs: one row, or one less than there are classes.
        coef_: The weights of the features, with the linear kernel.
        intercept_: The offset, one a pair.
        fit_status_: 0 if it converged, else 1.
        n_iter_: The steps, one number a pair of classes.
        shape_fit_: The shape of X.
        function_: The function f, an element of the kernel's space; with a column a pair.
        kernel_: The kernel.
        solution_: The evidence: duality gap, violation, steps.
        plan_: What was chosen, and why; print it.

    Example:
        >>> from mercer.machines.svm import NuSVC
        >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], [1, 1, 2, 2]
        >>> NuSVC(kernel="linear").fit(X, y).predict([[-0.8, -1]])
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
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.plan = plan

    def _dual(self, signs: Reals, weights: Reals, factors: Reals) -> Dual:
        nu = float(self.nu)
        if self.class_weight is None:
            return classification_by_share(signs, weights, nu)
        bounds = weights * factors
        share = min(nu, _largest(signs, bounds))
        # Only ratios matter; the tolerance is meant for variables of this size.
        size = nu * float(weights.sum()) / (share * float(bounds.sum()))
        return classification_by_share(signs, bounds * size, share)


def _largest(signs: Reals, weights: Reals) -> float:
    """The largest nu for these weights, twice the share of the lighter class."""
    masses = float(weights[signs > 0].sum()), float(weights[signs < 0].sum())
    return 2 * min(masses) / sum(masses)
