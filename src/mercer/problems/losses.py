r"""What an error costs: losses with value, slope, curvature and conjugate.

A loss is a convex function of the prediction f. Its conjugate
$L^*(y, u) = \sup_f\, u f - L(y, f)$ gives the dual problem, whose value is a lower bound: the
distance to it, the duality gap, says how far a solution is from the best.

>>> import numpy as np
>>> from mercer.problems import loss
>>> loss("pinball(0.9)")
Pinball(q=0.9)
>>> loss("huber").value(np.zeros(2), np.array([0.5, 3.0]))
array([0.25, 5.  ])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from mercer.errors import InvalidInput, InvalidParameter

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Loss(ABC):
    r"""A convex loss L(y, f) of a target y and a prediction f.

    Attributes:
        word: Its name in a text.
        targets: What y is: "numbers", "counts" (>= 0) or "signs" (-1 and 1).
        is_smooth: Whether the slope is continuous everywhere. Where it is not, the conjugate
            is $y u + \epsilon |u|$ on the slopes that there are, with the half-width
            $\epsilon$ of a `tube` around the target in which the loss is zero.
    """

    word: ClassVar[str]
    targets: ClassVar[str] = "numbers"
    is_smooth: ClassVar[bool] = True

    @property
    def tube(self) -> float:
        """The half-width of the interval around the target that costs nothing."""
        return 0.0

    @abstractmethod
    def value(self, y: Reals, f: Reals) -> Reals:
        """L(y, f)."""

    @abstractmethod
    def slope(self, y: Reals, f: Reals) -> Reals:
        """The derivative in f; where there is a kink, one of those between its two sides."""

    @abstractmethod
    def curvature(self, y: Reals, f: Reals) -> Reals:
        """The second derivative in f where there is one, and 0 on kinks."""

    def majorant(self, y: Reals, f: Reals) -> Reals:
        """The curvature of a parabola that touches a loss at f and is nowhere below it, where
        the loss is straight: its own says nothing of the way to go. Other losses have theirs.
        """
        return self.curvature(y, f)

    @abstractmethod
    def conjugate(self, y: Reals, u: Reals) -> Reals:
        """The supremum over f of u f - L(y, f); infinite where no f bounds it."""

    @abstractmethod
    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        """The least and the largest slope for each target: where the conjugate is finite."""

    def check(self, y: Reals) -> None:
        """Raise unless the targets are such that the loss has a value.

        Raises:
            InvalidInput: A target has none.
        """
        bad = np.zeros(len(y), bool)
        if self.targets == "counts":
            bad = y < 0
        elif self.targets == "signs":
            bad = np.abs(y) != 1
        if bad.any():
            at = int(bad.argmax())
            wanted = "numbers >= 0" if self.targets == "counts" else "-1 and 1"
            raise InvalidInput(
                f"{self} takes targets that are {wanted}, and row {at} has {y[at]:g}."
            )

    def mean(self, f: Reals) -> Reals:
        """What is predicted for a value f of the function."""
        return f

    def __str__(self) -> str:
        numbers = ", ".join(f"{getattr(self, part.name):g}" for part in fields(self))
        return f"{self.word}({numbers})" if numbers else self.word


@dataclass(frozen=True)
class Squared(Loss):
    r"""$(y - f)^2$: the mean of the targets is the best constant."""

    word = "squared"

    def value(self, y: Reals, f: Reals) -> Reals:
        return (y - f) ** 2

    def slope(self, y: Reals, f: Reals) -> Reals:
        return 2 * (f - y)

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return np.full_like(f, 2.0)

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        return y * u + u**2 / 4

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)


@dataclass(frozen=True)
class Huber(Loss):
    r"""$(y - f)^2$ up to the distance $\delta$, and $2 \delta |y - f| - \delta^2$ beyond, so
    that no single target pulls harder than $2 \delta$.

    Args:
        delta: Where the square ends.
    """

    word = "huber"
    delta: float = 1.0

    def __post_init__(self) -> None:
        _positive(self, "delta", self.delta)

    def value(self, y: Reals, f: Reals) -> Reals:
        gap = np.abs(y - f)
        return np.where(gap <= self.delta, gap**2, self.delta * (2 * gap - self.delta))

    def slope(self, y: Reals, f: Reals) -> Reals:
        return 2 * np.clip(f - y, -self.delta, self.delta)

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return np.where(np.abs(y - f) < self.delta, 2.0, 0.0)

    def majorant(self, y: Reals, f: Reals) -> Reals:
        found: Reals = 2 * self.delta / np.maximum(np.abs(y - f), self.delta)
        return found

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        return np.where(np.abs(u) <= 2 * self.delta, y * u + u**2 / 4, np.inf)

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        return np.full_like(y, -2 * self.delta), np.full_like(y, 2 * self.delta)


@dataclass(frozen=True)
class Expectile(Loss):
    r"""Squares with two weights, $q$ where the target is above and $1 - q$ where it is below:
    $q\,(y - f)_+^2 + (1 - q)\,(f - y)_+^2$.

    Args:
        q: Which expectile, between 0 and 1.
    """

    word = "expectile"
    q: float = 0.5

    def __post_init__(self) -> None:
        _share(self, self.q)

    def _weight(self, y: Reals, f: Reals) -> Reals:
        return np.where(f < y, self.q, 1 - self.q)

    def value(self, y: Reals, f: Reals) -> Reals:
        return self._weight(y, f) * (y - f) ** 2

    def slope(self, y: Reals, f: Reals) -> Reals:
        return 2 * self._weight(y, f) * (f - y)

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return 2 * self._weight(y, f)

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        found: Reals = y * u + u**2 / (4 * np.where(u < 0, self.q, 1 - self.q))
        return found

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)


@dataclass(frozen=True)
class Poisson(Loss):
    r"""$e^f - y f$: the negative logarithm of a Poisson likelihood. It predicts $e^f$."""

    word = "poisson"
    targets = "counts"

    def value(self, y: Reals, f: Reals) -> Reals:
        return _exp(f) - y * f

    def slope(self, y: Reals, f: Reals) -> Reals:
        return _exp(f) - y

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return _exp(f)

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        rate = u + y
        return np.where(
            rate >= 0, xlogy(np.maximum(rate, 0), np.maximum(rate, 0)) - rate, np.inf
        )

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        return -y, np.full_like(y, np.inf)

    def mean(self, f: Reals) -> Reals:
        return _exp(f)


# ------------------------------------------------------------------- losses of a margin y f


@dataclass(frozen=True)
class _Margin(Loss):
    """A loss of the margin m = y f alone, for y = -1 or 1."""

    targets = "signs"

    @abstractmethod
    def of(self, m: Reals) -> Reals:
        """The loss of a margin."""

    @abstractmethod
    def first(self, m: Reals) -> Reals:
        """Its derivative."""

    @abstractmethod
    def second(self, m: Reals) -> Reals:
        """Its second derivative."""

    @abstractmethod
    def dual(self, s: Reals) -> Reals:
        """Its conjugate at a slope."""

    lowest: ClassVar[float] = -1.0

    def value(self, y: Reals, f: Reals) -> Reals:
        return self.of(y * f)

    def slope(self, y: Reals, f: Reals) -> Reals:
        return y * self.first(y * f)

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return self.second(y * f)

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        return self.dual(y * u)

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        # The slope in m is between `lowest` and 0.
        return np.where(y > 0, self.lowest, 0.0), np.where(y > 0, 0.0, -self.lowest)


@dataclass(frozen=True)
class Logistic(_Margin):
    r"""$\ln(1 + e^{-y f})$, whose slope is minus the probability of the other class."""

    word = "logistic"

    def of(self, m: Reals) -> Reals:
        return np.logaddexp(0, -m)

    def first(self, m: Reals) -> Reals:
        return -_sigmoid(-m)

    def second(self, m: Reals) -> Reals:
        return _sigmoid(m) * _sigmoid(-m)

    def dual(self, s: Reals) -> Reals:
        inside = (s >= -1) & (s <= 0)
        t = np.clip(-s, 0, 1)
        return np.where(inside, xlogy(t, t) + xlogy(1 - t, 1 - t), np.inf)


@dataclass(frozen=True)
class SquaredHinge(_Margin):
    r"""$\max(0, 1 - y f)^2$: nothing beyond the margin, a square short of it."""

    word = "squared_hinge"
    lowest = -np.inf

    def of(self, m: Reals) -> Reals:
        return np.maximum(0, 1 - m) ** 2

    def first(self, m: Reals) -> Reals:
        return -2 * np.maximum(0, 1 - m)

    def second(self, m: Reals) -> Reals:
        return np.where(m < 1, 2.0, 0.0)

    def dual(self, s: Reals) -> Reals:
        return np.where(s <= 0, s + s**2 / 4, np.inf)


# ------------------------------------------------------------------------ losses with kinks


@dataclass(frozen=True)
class Hinge(_Margin):
    r"""$\max(0, 1 - y f)$, the loss of support vector machines."""

    word = "hinge"
    is_smooth = False

    def of(self, m: Reals) -> Reals:
        return np.maximum(0, 1 - m)

    def first(self, m: Reals) -> Reals:
        return np.where(m < 1, -1.0, 0.0)

    def second(self, m: Reals) -> Reals:
        return np.zeros_like(m)

    def dual(self, s: Reals) -> Reals:
        return np.where((s >= -1) & (s <= 0), s, np.inf)


@dataclass(frozen=True)
class _Kinked(Loss):
    r"""The largest of $u (f - y) - \epsilon |u|$ over slopes u between two numbers."""

    is_smooth = False

    @abstractmethod
    def _ends(self) -> tuple[float, float]:
        """The least and the largest slope."""

    def slope(self, y: Reals, f: Reals) -> Reals:
        low, high = self._ends()
        gap = f - y
        found: Reals = np.where(gap > self.tube, high, np.where(gap < -self.tube, low, 0.0))
        return found

    def value(self, y: Reals, f: Reals) -> Reals:
        return self.slope(y, f) * (f - y - np.sign(f - y) * self.tube)

    def curvature(self, y: Reals, f: Reals) -> Reals:
        return np.zeros_like(f)

    def conjugate(self, y: Reals, u: Reals) -> Reals:
        low, high = self._ends()
        return np.where((u >= low) & (u <= high), y * u + self.tube * np.abs(u), np.inf)

    def slopes(self, y: Reals) -> tuple[Reals, Reals]:
        low, high = self._ends()
        return np.full_like(y, low), np.full_like(y, high)


@dataclass(frozen=True)
class Absolute(_Kinked):
    r"""$|y - f|$: the median of the targets is the best constant."""

    word = "absolute"

    def _ends(self) -> tuple[float, float]:
        return -1.0, 1.0


@dataclass(frozen=True)
class EpsilonInsensitive(_Kinked):
    r"""$\max(0, |y - f| - \epsilon)$: errors up to $\epsilon$ cost nothing.

    Args:
        epsilon: The half-width of the tube.
    """

    word = "epsilon_insensitive"
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise InvalidParameter(f"{self.word} needs epsilon >= 0, got {self.epsilon!r}.")

    @property
    def tube(self) -> float:
        return self.epsilon

    def _ends(self) -> tuple[float, float]:
        return -1.0, 1.0


@dataclass(frozen=True)
class Pinball(_Kinked):
    r"""$q\,(y - f)_+ + (1 - q)\,(f - y)_+$: the quantile of order q is the best constant.

    Args:
        q: Which quantile, between 0 and 1.
    """

    word = "pinball"
    q: float = 0.5

    def __post_init__(self) -> None:
        _share(self, self.q)

    def _ends(self) -> tuple[float, float]:
        return -self.q, 1 - self.q


# ------------------------------------------------------------------------------------ names

LOSSES: dict[str, type[Loss]] = {
    kind.word: kind
    for kind in (
        Squared, Absolute, Huber, EpsilonInsensitive, Pinball, Expectile, Poisson, Logistic,
        Hinge, SquaredHinge,
    )
}  # fmt: skip
"""The losses by name."""


def loss(given: Any) -> Loss:
    """A loss from its name, with a parameter in brackets if it has one; a Loss as it is.

    Raises:
        InvalidParameter: There is no such loss.
    """
    if isinstance(given, Loss):
        return given
    name, _, rest = str(given).strip().partition("(")
    kind = LOSSES.get(name.strip()) if isinstance(given, str) else None
    if kind is None:
        raise InvalidParameter(
            f"there is no loss {given!r}.\nThe losses are {', '.join(LOSSES)}; a parameter "
            'stands in brackets, as in "pinball(0.9)".'
        )
    try:
        numbers = [float(part) for part in rest.removesuffix(")").split(",") if part.strip()]
    except ValueError:
        numbers = [np.nan, np.nan]
    takes = len(fields(kind))
    if len(numbers) > takes or (rest and not rest.endswith(")")):
        example = f'"{name}(0.5)"' if takes else f'"{name}"'
        raise InvalidParameter(f"{given!r} is no loss: write {example}.")
    return kind(*numbers)


def _positive(owner: Loss, name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise InvalidParameter(f"{owner.word} needs {name} > 0, got {value!r}.")


def _share(owner: Loss, q: float) -> None:
    if not 0 < q < 1:
        raise InvalidParameter(f"{owner.word} needs q between 0 and 1, got {q!r}.")


def _exp(f: Reals) -> Reals:
    with np.errstate(over="ignore"):
        found: Reals = np.exp(f)
    return found


def _sigmoid(u: Reals) -> Reals:
    found: Reals = expit(u)
    return found
