r"""The regularised risk over a Gram matrix: frozen data between the operator and a solver.

$$\frac{1}{\sum_i w_i} \sum_i w_i\, L(y_i, f(x_i) + b) + \lambda \|f\|^2$$

By the representer theorem the best f is $\sum_i a_i k(x_i, \cdot)$, so its values are $K a$ and
its squared norm is $a^\top K a$.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Operator
from mercer.problems.losses import Loss

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Squared errors, for as many targets at once as there are columns.

    Attributes:
        gram: The Gram matrix.
        targets: A row a point, a column a target.
        weights: A positive number a point.
        penalty: The number lambda >= 0.
        has_offset: Whether a constant b, which costs nothing, is added to f.
    """

    gram: Operator
    targets: Reals
    weights: Reals
    penalty: float
    has_offset: bool = True

    @cached_property
    def shift(self) -> float:
        """What is added to the eigenvalues of the weighted Gram matrix: lambda sum(w)."""
        return float(self.penalty * self.weights.sum())

    @cached_property
    def roots(self) -> Reals:
        """The roots of the weights."""
        return np.sqrt(self.weights)

    @cached_property
    def mean(self) -> Reals:
        """The weighted mean of each target if there is an offset, which takes it up; else 0."""
        if not self.has_offset:
            return np.zeros(self.targets.shape[1])
        found: Reals = self.weights @ self.targets / self.weights.sum()
        return found

    @property
    def right(self) -> Reals:
        r"""The right-hand sides $S (y - \bar y)$ of the equations in weighted coordinates."""
        found: Reals = self.roots[:, None] * (self.targets - self.mean)
        return np.asfortranarray(found)

    def apply(self, columns: Reals) -> Reals:
        r"""The matrix $S K S + \mu$ times columns."""
        image: Reals = self.gram @ (self.roots[:, None] * columns)
        image *= self.roots[:, None]
        image += self.shift * columns
        return image

    def unscaled(self, scaled: Reals, offset: Reals) -> tuple[Reals, Reals]:
        """Coefficients and offset, from a solution in weighted coordinates."""
        return self.roots[:, None] * scaled, offset + self.mean

    def residual(self, coefficients: Reals, offset: Reals) -> float:
        r"""$\|(K + \lambda \textstyle\sum w\, W^{-1}) a + b - y\|$ in the norm of the weights,
        relative to the targets, whose mean does not count if there is an offset.
        """
        image = self.gram @ coefficients
        rest = (self.targets - offset - image) * self.roots[:, None]
        rest -= self.shift / self.roots[:, None] * coefficients
        size = float(np.linalg.norm(self.right))
        # Targets that are constant to the last digit are rounding around their mean.
        unit = np.finfo(np.float64).eps
        least = unit * float(np.linalg.norm(self.roots[:, None] * self.targets))
        return float(np.linalg.norm(rest)) / (max(size, least) or 1.0)


@dataclass(frozen=True, eq=False)
class Risk:
    """A convex loss, for one target.

    Attributes:
        loss: What an error costs.
        targets: A number a point.
        weights: A positive number a point.
        penalty: The number lambda > 0.
        has_offset: Whether a constant b, which costs nothing, is added to f.
    """

    loss: Loss
    targets: Reals
    weights: Reals
    penalty: float
    has_offset: bool = True

    @cached_property
    def shares(self) -> Reals:
        """The weights as shares of one."""
        shares: Reals = self.weights / self.weights.sum()
        return shares

    def value(self, values: Reals, squared_norm: float) -> float:
        """The risk of a function with these values (offset included) and this norm."""
        losses = self.loss.value(self.targets, values)
        return float(self.shares @ losses + self.penalty * squared_norm)

    @cached_property
    def size(self) -> float:
        """What a gap is compared with where the least risk is nothing: a thousandth of the
        risk of the function zero.
        """
        zero = self.value(np.zeros_like(self.targets), 0.0)
        return max(1e-3 * abs(zero), float(np.finfo(np.float64).tiny))

    def gap(self, objective: float, lower: float) -> float:
        """How far an objective is above a lower bound, relative to it."""
        return (objective - lower) / max(abs(objective), self.size)

    def slope(self, values: Reals) -> Reals:
        """The derivative of the mean loss in each value."""
        found: Reals = self.shares * self.loss.slope(self.targets, values)
        return found

    def curvature(self, values: Reals) -> Reals:
        """The second derivative of the mean loss in each value."""
        found: Reals = self.shares * self.loss.curvature(self.targets, values)
        return found

    def majorant(self, values: Reals) -> Reals:
        """The same, with parabolas from above where the loss is straight."""
        found: Reals = self.shares * self.loss.majorant(self.targets, values)
        return found

    def bound(self, slopes: Reals, matrix: Any) -> float:
        r"""A lower bound of the least risk (Fenchel): for any slopes u that the loss can have,
        and that sum to zero if there is an offset,
        $-\sum_i s_i L^*(y_i, u_i / s_i) - u^\top K u / 4 \lambda$ with the shares s.
        """
        inside = self.feasible(slopes)
        if inside is None:
            return -np.inf
        quadratic = float(inside @ (matrix @ inside)) / (4 * self.penalty)
        return -self.conjugate(inside) - quadratic

    def conjugate(self, slopes: Reals) -> float:
        """The sum of the conjugates at slopes that the loss can have."""
        low, high = self.loss.slopes(self.targets)
        # Division may round to just outside.
        inside = np.clip(slopes / self.shares, low, high)
        return float(self.shares @ self.loss.conjugate(self.targets, inside))

    def feasible(self, slopes: Reals) -> Reals | None:
        """The slopes moved into their bounds, and to the sum zero where there is an offset;
        None where that cannot be.
        """
        low, high = (self.shares * end for end in self.loss.slopes(self.targets))
        inside: Reals = np.clip(slopes, low, high)
        excess = float(inside.sum())
        if not self.has_offset or excess == 0:
            return inside
        # Scaling down those that pull the wrong way keeps all within their bounds, which
        # hold zero.
        wrong = inside > 0 if excess > 0 else inside < 0
        side = float(inside[wrong].sum())
        if not side or not (low[wrong] <= 0).all() or not (high[wrong] >= 0).all():
            return None
        scaled: Reals = inside.copy()
        scaled[wrong] *= 1 - excess / side
        return scaled
