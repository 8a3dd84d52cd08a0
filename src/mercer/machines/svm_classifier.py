"""What support vector classifiers share: labels, weights of classes, problems and votes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from mercer.domains import Batch
from mercer.domains.samples import Sample
from mercer.errors import InvalidInput, InvalidParameter, NotSeparable
from mercer.gram.rows import Rows
from mercer.gram.shared import is_sharp
from mercer.machines.svm_auto import held_out
from mercer.machines.svm_base import SupportVectorMachine, arranged
from mercer.machines.svm_multiclass import solve_pairs, told_by_class
from mercer.plan import Plan
from mercer.problems.duals import Dual
from mercer.problems.pairs import Problem, against_rest, pairs_of, problems_of, votes
from mercer.selection.calibration import Sigmoids, coupled
from mercer.selection.dual_tasks import Classes
from mercer.selection.labels import Labels, class_weights, read_labels
from mercer.selection.svm_path import COSTS
from mercer.solvers.smo_solution import DualSolution
from mercer.types import Array, Indices

Reals = NDArray[np.float64]


def _foretells(machine: SupportVectorClassifier) -> bool:
    """Whether there are probabilities."""
    if machine.probability is not True:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SupportVectorClassifier(ClassifierMixin, SupportVectorMachine):  # type: ignore[misc]
    """What SVC and NuSVC share."""

    one_class: ClassVar[str]
    probability: Any
    class_weight: Any
    multi_class: Any
    decision_function_shape: Any
    break_ties: Any

    def _dual(self, signs: Reals, weights: Reals, factors: Reals) -> Dual:
        """The problem of two classes, whose factors are those of class_weight."""
        raise NotImplementedError

    def _look_ahead(
        self, problems: list[Problem], weights: Reals, factors: Reals, codes: Indices
    ) -> None:
        """Warn where a problem cannot be solved as it is put, as far as weights tell."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points and their labels.

        Args:
            X: Points of the kernel's domain.
            y: A label a point.
            sample_weight: A number a point: as if the row were there so many times; what is
                not positive is no row.
        """
        plan = self._checked_plan()
        self._check_decisions()
        points = self._read(X, fitting=True)
        given = read_labels(y, len(points), type(self).__name__)
        sample = self._sample(points, given.codes, sample_weight)
        sample = arranged(sample, np.argsort(sample.targets[:, 0], kind="stable"))
        labels = given.kept(sample.targets[:, 0].astype(np.int64))
        self._require_two(labels)
        rest = self.multi_class == "ovr"
        self.classes_ = labels.classes
        factors = class_weights(self.class_weight, labels, sample.weights)
        self.class_weight_ = factors[np.unique(labels.codes, return_index=True)[1]]
        weights = sample.weights * factors
        self._choose_kernel(
            sample, weights, labels.columns(), COSTS,
            lambda rows: Classes.of(labels.kept(labels.codes[rows]), weights[rows], rest=rest),
            labels.codes, plan,
        )  # fmt: skip
        self._tell_plan(sample.points, plan)
        self._fit_classes(points, sample, labels.codes, factors, plan)
        return self

    def _fit_classes(
        self, points: Batch, sample: Sample, codes: Indices, factors: Reals, plan: Plan
    ) -> None:
        weights = sample.weights
        problems = problems_of(codes, rest=self.multi_class == "ovr")
        self._look_ahead(problems, weights, factors, codes)
        told = np.zeros((len(problems), 2, 2))

        def solve(number: int, rows: Rows) -> DualSolution:
            places, signs = problems[number]
            mine, factor = weights[places], factors[places]

            def make(left: Reals) -> Dual:
                return self._dual(signs, left, factor)

            try:
                found = self._solved(make(mine), rows)
            except NotSeparable as error:
                weighted = np.zeros(len(sample))
                weighted[places] = error.certificate
                weights_told = sample.as_they_came(weighted, share=True)
                sides = self._sides(codes[places], signs)
                raise NotSeparable(
                    f"{error}\nThe two are {sides}.", weights_told, error.distance
                ) from None
            if self.probability is True:
                held = held_out(make, found, rows, mine, self._solved, codes[places])
                sigmoids = Sigmoids.of(held, signs, mine * factor)
                told[number] = sigmoids.below, sigmoids.above
            return found

        if len(problems) == 1:
            one = solve(0, self._rows(sample.points, plan))
            self.solution_ = one
            self.n_iter_ = np.array([one.steps], np.int32)
            coefficients, offsets, seen = one.coefficients, one.offset.copy(), one.weights
        else:
            sharp = is_sharp(len(sample), plan)
            features = self._features(sample.points, plan)
            found = solve_pairs(
                self.kernel_,
                sample.points,
                problems,
                solve,
                plan,
                sharp=sharp,
                features=features,
            )
            self.solution_, self.n_iter_ = found.evidence, found.steps
            coefficients, offsets, seen = found.coefficients, found.offsets, found.weights
        self.__dict__.pop("calibration_", None)
        if self.probability is True:
            self.calibration_ = told
        self._tell_function(sample.points, coefficients, offsets, seen)
        self._tell_classes(points, sample, codes, coefficients)
        self._end(converged=self.solution_.converged)

    def _tell_classes(
        self, points: Batch, sample: Sample, codes: Indices, coefficients: Reals
    ) -> None:
        """Support vectors class by class, as scikit-learn lists them."""
        columns = coefficients.reshape(len(sample), -1)
        told = sample.as_they_came(columns, share=True)
        support = np.flatnonzero(told.any(axis=1))
        mine = codes[sample.labels[support]]
        order = np.argsort(mine, kind="stable")
        support, mine = support[order], mine[order]
        self.n_support_ = np.bincount(mine, minlength=len(self.classes_)).astype(np.int32)
        chosen = told[support]
        by_pair = len(self.classes_) > 2 and self.multi_class == "ovo"
        rows = told_by_class(chosen, mine, len(self.classes_)) if by_pair else chosen.T
        self._tell_support(points, support, np.ascontiguousarray(rows))

    def _sides(self, codes: Indices, signs: Reals) -> str:
        """The two sides of a problem, for messages."""
        sides = [self.classes_[np.unique(codes[signs == sign])].tolist() for sign in (1, -1)]
        told = [repr(side[0]) if len(side) == 1 else "all other classes" for side in sides]
        return " and ".join(told)

    def _check_decisions(self) -> None:
        for name in ("multi_class", "decision_function_shape"):
            if getattr(self, name) not in ("ovr", "ovo"):
                raise InvalidParameter(
                    f'{name} is "ovr" or "ovo", got {getattr(self, name)!r}.'
                )
        if self.multi_class == "ovr":
            self._require_no_pairs()
        if self.probability not in (True, False, "deprecated"):
            raise InvalidParameter(f"probability is True or False, got {self.probability!r}.")

    def _require_two(self, labels: Labels) -> None:
        if len(labels.classes) < 2:
            raise InvalidInput(
                f"{self.one_class}, got 1 class, {labels.classes.tolist()[0]!r}.\nGive rows of "
                "at least two classes a positive weight."
            )

    # Deciding

    @property
    def _has_rest(self) -> bool:
        """Whether each of several classes was told from the rest: it is in the coefficients."""
        return len(self.classes_) > 2 and self.dual_coef_.shape[0] == len(self.classes_)

    def _require_no_pairs(self) -> None:
        if self.decision_function_shape == "ovo":
            raise InvalidParameter(
                'decision_function_shape="ovo" asks for a decision a pair of classes, and '
                'multi_class="ovr" tells each class from all others: there are no pairs.\nUse '
                '"ovr" for both, or multi_class="ovo".'
            )

    def _values(self, X: Any) -> Reals:
        """The values f(x) + b: flat for two classes, else a column a problem."""
        self._require_fitted()
        if self._has_rest:
            self._require_no_pairs()
        values: Reals = self.function_(self._read(X, fitting=False))
        offset = self.intercept_[0] if values.ndim == 1 else self.intercept_
        return values + offset

    def decision_function(self, X: Any) -> Reals:
        """The values f(x) + b for two classes; for more a row a point, with a column for each
        class ("ovr") or each pair ("ovo": positive for the first).

        The decision of a class is its own value, where each was told from the rest; else the
        pairs that it wins, and less than one for how surely.
        """
        values = self._values(X)
        if values.ndim == 1 or self._has_rest or self.decision_function_shape == "ovo":
            return values
        return against_rest(values, len(self.classes_))

    def predict(self, X: Any) -> Any:
        """The label of each point: by the sign, or of the class that wins most pairs, or of
        the one with the largest value where each was told from the rest.

        Of classes with equally many pairs it is the first, or with `break_ties` the one whose
        decisions are surest.
        """
        self._require_fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter(
                "break_ties must be False when decision_function_shape is 'ovo': pairs are "
                'not compared then.\nUse "ovr".'
            )
        values = self._values(X)
        if values.ndim == 1:
            codes = (values >= 0).astype(np.int64)
        elif self._has_rest:
            codes = values.argmax(axis=1)
        else:
            count = against_rest if self.break_ties else votes
            codes = count(values, len(self.classes_)).argmax(axis=1)
        found: Array = self.classes_[codes]
        return found

    @available_if(_foretells)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Reals:
        """The probability of each class, a column each.

        Between two classes it grows with the decision, and is at least 1/2 for the one that
        `predict` names. Several classes share what their pairs say, or what each says against
        the rest; where the race is close, the largest may then be another than that one.
        Weights of classes count: they are those of the population that is meant.
        """
        self._require_fitted()
        if not hasattr(self, "calibration_"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: they come "
                "from rows held out.\nFit again."
            )
        values = self._values(X)
        columns = values.reshape(len(values), -1)
        said = np.column_stack(
            [
                Sigmoids(tuple(below), tuple(above))(column)
                for (below, above), column in zip(self.calibration_, columns.T, strict=True)
            ]
        )
        if len(self.classes_) == 2:
            return np.hstack([1 - said, said])
        if self._has_rest:
            shares: Reals = said / said.sum(axis=1, keepdims=True)
            return shares
        count = len(self.classes_)
        pairs = np.full((len(said), count, count), 0.5)
        for column, (first, second) in enumerate(pairs_of(count)):
            pairs[:, first, second] = said[:, column]
            pairs[:, second, first] = 1 - said[:, column]
        return coupled(pairs)

    @available_if(_foretells)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Reals:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            found: Reals = np.log(self.predict_proba(X))
        return found
