"""What a grid of support vector machines is about: its problems, and how a fold is scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from mercer.errors import InvalidParameter
from mercer.problems.duals import Dual, classification, one_class, regression
from mercer.problems.pairs import pairs_of, problems_of
from mercer.selection.dual_path import Make, Problem
from mercer.selection.labels import Labels
from mercer.types import Indices

Reals = NDArray[np.float64]
Kept = NDArray[Any]


class Task(Protocol):
    """What the machines of a grid have in common.

    Attributes:
        name: What the score is.
        problems: The problems of a kernel.
    """

    name: str

    @property
    def problems(self) -> list[Problem]: ...

    def kept(self, values: Reals) -> Kept:
        """What has to be kept of the values of one problem."""

    def score(self, cost: float, asked: Indices, kept: list[Kept]) -> float:
        """The score, from what was kept of each problem.

        Args:
            cost: The cost.
            asked: The rows held out.
            kept: For each problem, a value a row.
        """


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels: the accuracy, by the sign for two classes, and for more by the votes of pairs.

    Attributes:
        codes: The class of each row.
        classes: How many there are.
        weights: The weights.
        rest: Whether each class is told from the rest, and the largest value decides.
    """

    codes: Indices
    classes: int
    weights: Reals
    rest: bool = False
    name = "accuracy"

    @classmethod
    def of(cls, labels: Labels, weights: Reals, *, rest: bool = False) -> Classes:
        return cls(labels.codes, len(labels.classes), weights, rest)

    @property
    def problems(self) -> list[Problem]:
        found = []
        for places, signs in problems_of(self.codes, rest=self.rest):
            whole = len(places) == len(self.codes)
            found.append(Problem(None if whole else places, _told_apart(signs)))
        return found

    def kept(self, values: Reals) -> Kept:
        if self.classes == 2:
            return values >= 0
        return values if self.rest else values > 0

    def score(self, cost: float, asked: Indices, kept: list[Kept]) -> float:
        if self.classes == 2:
            guess = kept[0].astype(np.int64)
        elif self.rest:
            guess = np.argmax(kept, axis=0)
        else:
            votes = np.zeros((len(asked), self.classes))
            for wins, (one, other) in zip(kept, pairs_of(self.classes), strict=True):
                votes[:, one] += wins
                votes[:, other] += ~wins
            guess = votes.argmax(axis=1)
        found = accuracy_score(self.codes[asked], guess, sample_weight=self.weights[asked])
        return float(found)


def _told_apart(signs: Reals) -> Make:
    def make(cost: float, weights: Reals) -> Dual:
        return classification(signs, cost * weights)

    return make


@dataclass(frozen=True, eq=False)
class Targets:
    """Numbers: the coefficient of determination.

    Attributes:
        targets: A number a row.
        weights: The weights.
        epsilon: The width that costs nothing.
    """

    targets: Reals
    weights: Reals
    epsilon: float
    name = "R2"

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < np.inf:
            raise InvalidParameter(f"epsilon is a finite number >= 0, got {self.epsilon!r}.")

    @property
    def spread(self) -> float:
        """The standard deviation of the targets, 1 where there is none."""
        mean = np.average(self.targets, weights=self.weights)
        spread = float(np.average((self.targets - mean) ** 2, weights=self.weights) ** 0.5)
        return spread if spread > 0 else 1.0

    @property
    def problems(self) -> list[Problem]:
        def make(cost: float, weights: Reals) -> Dual:
            return regression(self.targets, cost * weights, self.epsilon)

        return [Problem(None, make)]

    def kept(self, values: Reals) -> Kept:
        return values

    def score(self, cost: float, asked: Indices, kept: list[Kept]) -> float:
        found = r2_score(self.targets[asked], kept[0], sample_weight=self.weights[asked])
        return float(found)


@dataclass(frozen=True, eq=False)
class Region:
    """Nothing but points: whether the share outside is what was asked for.

    Attributes:
        weights: The weights.
    """

    weights: Reals
    name = "minus the error of the share outside"

    @property
    def problems(self) -> list[Problem]:
        def make(nu: float, weights: Reals) -> Dual:
            return one_class(weights, nu, len(weights))

        return [Problem(None, make)]

    def kept(self, values: Reals) -> Kept:
        return values < 0

    def score(self, cost: float, asked: Indices, kept: list[Kept]) -> float:
        return -abs(float(np.average(kept[0], weights=self.weights[asked])) - cost)
