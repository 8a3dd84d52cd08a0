r"""The perceptron with a kernel: it learns from its mistakes, row by row."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from mercer.domains import Batch
from mercer.domains.samples import as_sample
from mercer.errors import (
    BudgetExceeded,
    InvalidParameter,
    NoFeatureMap,
)
from mercer.functions import Function, concatenate
from mercer.functions.rounding import product
from mercer.loops import dense, symmetric
from mercer.machines.base import KernelMachine
from mercer.machines.online import among, equal_points, votes
from mercer.plan import Plan, readable
from mercer.selection.labels import Labels, read_labels, require_two
from mercer.solvers.choose import SolverPlan
from mercer.solvers.perceptron import Dual, Form, Primal, Walk, walk
from mercer.solvers.solution import Solution
from mercer.types import Indices

Reals = NDArray[np.float64]

WHOLE = 4_096
"""Rows up to which all kernel values are computed at once."""

LEAN = 8
"""The primal form is taken by itself where there are so many times fewer features than rows."""


def _knows_new_points(machine: Any) -> bool:
    """Whether there is a partial_fit: kernel values that are given say nothing of new rows."""
    if machine._is_precomputed:
        raise AttributeError(
            'kernel="precomputed" has no partial_fit: new rows have no kernel values among '
            "themselves in a matrix of the old ones.\nPass a kernel instead."
        )
    return True


class KernelPerceptron(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    r"""The perceptron in feature space (Igel's Algorithm 1; Shamir and Yakhini).

    It visits the rows in the order of the data. Where $y_i f(x_i) \le 0$ it adds $y_i\,k(x_i,
    \cdot)$, times a rate, to f, which begins at 0; so a value of 0 is a mistake, or it would
    never start. It goes through the data until a pass without a mistake. If some f of norm 1
    has $y_i f(x_i) \ge \gamma$ for all rows, there are at most $\max_i k(x_i, x_i) / \gamma^2$
    mistakes (Novikoff). It minimises no objective, and the order of the rows matters; of the
    rows only those with a mistake, the support vectors, are kept. The other form of the rule,
    $\Delta w = -\eta (o - t) x$ with outputs of -1 and 1, is the rate $2 \eta$.

    For more than two classes there is a function for each. A mistake adds the row to that of
    its class, and takes it from the one that was highest among the others. There is no offset:
    the kernel `k + 1` has one.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data.
        rate: What a mistake adds is multiplied by it. It scales f and changes no decision.
        passes: How many times the data are gone through at most.
        averaged: False for the last function; True for the mean of the functions after each
            visit; "votes" for the majority of their decisions (Freund and Schapire).
        budget: How many support vectors are kept at most. Beyond, the one goes that is most
            on the right side without itself (Crammer, Kandola and Singer).
        plan: How to compute: a `Plan`, or "primal" (a weight vector for the features of the
            kernel), "dense" (all kernel values at once) or "blocked" (those of the mistakes).
        random_state: Draws the rows on which the lengths of "auto" are tuned, where there are
            many.
        verbose: Whether the mistakes of each pass are printed.

    Attributes:
        function_: The function f, or one a class; with "votes" the last one.
        classes_: The labels, in order.
        kernel_: The kernel.
        support_: The rows of the support vectors; None after `partial_fit`, which forgets rows.
        dual_coef_: Their coefficients.
        mistakes_: The mistakes of each pass.
        n_iter_: The number of passes.
        operations_: What it has cost: visits, mistakes, kernel values, multiplications.
        solution_: Whether the last pass was without a mistake.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import mercer as mc
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mc.KernelPerceptron(mc.Polynomial(degree=2)).fit(X, y)
        >>> model.predict(X)
        array(['even', 'odd', 'odd', 'even'], dtype='<U4')
        >>> model.mistakes_[-1]
        0
    """

    order_matters = "it learns from one row after the other"

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        rate: float = 1.0,
        passes: int = 100,
        averaged: Any = False,
        budget: int | None = None,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.rate = rate
        self.passes = passes
        self.averaged = averaged
        self.budget = budget
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any) -> Self:
        """Go through the data until no mistake is made.

        Args:
            X: Points of the kernel's domain, in the order in which they are visited.
            y: A label a point.
        """
        began = time.perf_counter()
        plan = self._checked_plan()
        points = self._read(X, fitting=True)
        labels = read_labels(y, len(points), type(self).__name__)
        require_two(labels.classes, type(self).__name__)
        self._begin(points, labels)
        form = self._form(points, plan, None)
        state, codes = self._fresh(len(points)), labels.codes
        own = self._own(points)
        self.mistakes_ = []
        for number in range(int(self.passes)):
            self.mistakes_.append(
                walk(form, codes, state, budget=self.budget, own=own, keep=self._votes)
            )
            if self.verbose:
                print(f"pass {number + 1}: {self.mistakes_[-1]} mistakes")  # noqa: T201
            if not self.mistakes_[-1]:
                break
        self.support_: Any = self._finish(points, codes, state, began)
        return self

    @available_if(_knows_new_points)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Visit new rows once, in order, and go on from the function that is there.

        Args:
            X: Points of the kernel's domain.
            y: A label a point.
            classes: All labels that will come; needed at the first call where y has not all.
        """
        began = time.perf_counter()
        plan = self._checked_plan()
        first = not hasattr(self, "_state")
        points = self._read(X, fitting=first)
        labels = read_labels(y, len(points), type(self).__name__)
        if first:
            known = labels if classes is None else among(labels, np.unique(classes))
            require_two(known.classes, type(self).__name__)
            self._begin(points, known)
            self._state, self._codes = self._fresh(0), np.zeros(0, dtype=np.int64)
            self.mistakes_ = []
        else:
            known = among(labels, self.classes_)
        self._go_on(points, known.codes, plan, began)
        return self

    def _go_on(self, points: Batch, codes: Indices, plan: Plan, began: float) -> None:
        """One pass over new rows, which follow the support vectors."""
        old, state = len(self._codes), self._state
        values = None
        if old:
            points = concatenate(self._points, points, self.kernel_.domain)
            codes = np.concatenate([self._codes, codes])
            values = product(self.kernel_, points, points[slice(0, old)], state.counts)
        blank = np.zeros((len(points) - old, self._outputs))
        state.counts = np.concatenate([state.counts, blank])
        state.delayed = np.concatenate([state.delayed, blank])
        form = self._form(points, plan, values)
        found = walk(
            form, codes, state, start=old, budget=self.budget, own=self._own(points),
            keep=self._votes,
        )  # fmt: skip
        self.mistakes_.append(found)
        self._finish(points, codes, state, began, visited=len(points) - old)
        self.support_ = None

    def _begin(self, points: Batch, labels: Labels) -> None:
        """Choose the kernel, and forget what was."""
        self.classes_ = labels.classes
        self._outputs = 1 if len(labels.classes) == 2 else len(labels.classes)
        if self._is_precomputed or self._given_kernel() is not None:
            self.kernel_ = self._found_kernel(points, np.ones(len(points)), None)
            return
        sample = as_sample(points, labels.columns(), None)
        self.kernel_ = self._found_kernel(sample.points, sample.weights, sample.targets)

    def _fresh(self, rows: int) -> Walk:
        shape = rows, self._outputs
        return Walk(np.zeros(shape), np.zeros(shape))

    def _own(self, points: Batch) -> Reals | None:
        """The values k(x, x), where a budget needs them."""
        if self.budget is None:
            return None
        return np.asarray(self.kernel_.diag(points), dtype=np.float64)

    def _form(self, points: Batch, plan: Plan, values: Reals | None) -> Form:
        """The primal form where it is asked for, or much narrower than the data are long; else
        the dual one.
        """
        count, budget, crew = len(points), plan.budget(), plan.crew()

        def tell(method: str, why: str, memory: int) -> None:
            self.plan_ = SolverPlan(method, why, memory, budget, count, crew, 0.0)

        width = self._width(points) if plan.method in ("auto", "primal") else None
        lean = width is not None and LEAN * width <= count and 8 * count * width <= budget
        if values is None and (plan.method == "primal" or lean):
            # A map that was asked for and does not exist says so itself.
            features = np.asarray(self.kernel_.feature_map(points), dtype=np.float64)
            tell("primal", f"{features.shape[1]} features for {count} rows", features.nbytes)
            return Primal(features, self._outputs)
        values = np.zeros((count, self._outputs)) if values is None else values
        fits = 8 * count**2 <= budget
        if plan.method == "dense" or (plan.method != "blocked" and count <= WHOLE and fits):
            if not fits:
                raise BudgetExceeded(
                    f"{count} x {count} kernel values take {readable(8 * count**2)}, and "
                    f'{readable(budget)} are allowed.\nUse plan="blocked".'
                )
            matrix = symmetric(self.kernel_.tiles(points, points), threads=crew)
            tell("dense", f"all kernel values of {count} rows", 8 * count**2)
            return Dual(values, matrix.astype(np.float64, copy=False))
        memory = min(budget // 2, 8 * count**2)
        tell("blocked", "the kernel values of the mistakes with all rows", memory)
        return Dual(
            values,
            lambda rows: dense(self.kernel_.tiles(points, points[rows]), threads=crew),
            memory,
        )

    def _width(self, points: Batch) -> int | None:
        """How many features an explicit map has; None where there is none."""
        try:
            return int(self.kernel_.feature_map(points[slice(0, 1)]).shape[1])
        except NoFeatureMap:
            return None

    def _finish(
        self,
        points: Batch,
        codes: Indices,
        state: Walk,
        began: float,
        visited: int | None = None,
    ) -> Indices:
        """Keep what has a coefficient, and make it a function; the rows that are left."""
        used = np.asarray(state.counts.any(axis=1))
        if self.averaged is True:
            used |= state.delayed.any(axis=1)
        used[[update.row for update in state.updates]] = True
        rows = np.flatnonzero(used)
        whole = visited is None  # all rows, which are told as they came
        places = np.arange(len(rows)) if whole else equal_points(points[rows], codes[rows])
        self._state = state.only(rows, places)
        _, first = np.unique(places, return_index=True)
        rows = rows[first]
        self._points, self._codes = points[rows], codes[rows]
        found = self._state.counts
        if self.averaged is True:
            found = found - self._state.delayed / self._state.operations.visits
        held = np.flatnonzero(found.any(axis=1))
        held = held if held.size else np.arange(1)
        found = float(self.rate) * found[held]
        found = found[:, 0] if self._outputs == 1 else found
        self.function_ = Function(self.kernel_, self._points[held], found)
        self.dual_coef_ = self.function_.coefficients
        self.operations_, self.n_iter_ = self._state.operations, len(self.mistakes_)
        share = self.mistakes_[-1] / (visited or len(points))
        self.solution_ = Solution(
            "perceptron", found, np.zeros(1), share, steps=self.n_iter_,
            converged=not self.mistakes_[-1], seconds=time.perf_counter() - began,
        )  # fmt: skip
        return rows[held]

    # Deciding

    def decision_function(self, X: Any) -> Reals:
        """The values of the function, or of that of each class; with "votes" the balance of
        the decisions between -1 and 1, or the share of each class.
        """
        self._require_fitted()
        points = self._read(X, fitting=False)
        if not self._votes:
            return self.function_(points)
        return votes(self.kernel_, self._points, self._state, points)

    def predict(self, X: Any) -> Any:
        """The classes of points; of equal values the first class."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    # Parameters

    @property
    def _votes(self) -> bool:
        return isinstance(self.averaged, str)

    def _checked_plan(self) -> Plan:
        plan = self._wanted_plan()
        if plan.method not in ("auto", "primal", "dense", "blocked"):
            raise InvalidParameter(
                'a perceptron goes by "auto", "primal", "dense" or "blocked", and the plan '
                f"asks for {plan.method!r}."
            )
        if not (isinstance(self.rate, Real) and 0 < float(self.rate) < np.inf):
            raise InvalidParameter(f"rate is a finite number > 0, got {self.rate!r}.")
        if not _whole(self.passes):
            raise InvalidParameter(f"passes is a whole number >= 1, got {self.passes!r}.")
        if not (self.budget is None or _whole(self.budget)):
            raise InvalidParameter(
                f"budget is None or a whole number >= 1 of support vectors, got "
                f"{self.budget!r}."
            )
        if not (isinstance(self.averaged, bool) or self.averaged == "votes"):
            raise InvalidParameter(
                f'averaged is False, True or "votes", got {self.averaged!r}.'
            )
        return plan


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
