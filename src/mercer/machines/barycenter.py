r"""Discrimination by barycentres: the class whose mean in feature space is the nearest."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from mercer.domains import Batch
from mercer.domains.samples import as_sample
from mercer.errors import InvalidParameter
from mercer.functions import Function
from mercer.functions.rounding import lengths, norms
from mercer.loops import multiply
from mercer.machines.base import KernelMachine
from mercer.selection.labels import read_labels, require_two

Reals = NDArray[np.float64]


class NearestBarycenter(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    r"""The class with the nearest barycentre in feature space.

    With the barycentre $\mu_c = \frac{1}{\sum w} \sum_{i \in c} w_i\, k(x_i, \cdot)$ of each
    class, the distance of a point is
    $d(x, c)^2 = k(x, x) - 2 \mu_c(x) + \|\mu_c\|^2$, and the smallest wins (Vert's basic
    application in discrimination: the sign of $d(x, S_1)^2 - d(x, S_2)^2$). $k(x, x)$ drops
    out, so what decides is an element of the kernel's space and a constant. For the linear
    kernel it is the nearest centroid. There is nothing to solve.

    Barycentres of few points are noisy. Shrinkage moves each towards the mean of all data,
    $\mu$, by a share s: $(1 - s) \mu_c + s \mu$. With "auto" the share of a class is that of
    the noise, $\sigma_c^2 / (\sigma_c^2 + \|\mu_c - \mu\|^2)$, where $\sigma_c^2$ estimates the
    squared error of its barycentre from the spread of the class (after Muandet and others).

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": a
            kernel that suits the data.
        shrinkage: The share s, from 0 to below 1, or "auto".
        plan: How to compute: a `Plan`, of which the threads count.
        random_state: Draws the rows on which the lengths of "auto" are tuned, where there are
            many.

    Attributes:
        barycenters_: The barycentres, a Function with an output a class.
        function_: What decides, without the constant: one function for two classes, positive
            for the second, else one a class.
        intercept_: The constants.
        shrinkages_: The share of each class.
        classes_: The labels, in order.
        kernel_: The kernel.

    Example:
        >>> import mercer as mc
        >>> X, y = [[1, 1], [1, 2], [1, 3], [2, 2]], [1, 1, 2, 2]
        >>> model = mc.NearestBarycenter(mc.Linear()).fit(X, y)
        >>> model.distances([[1.0, 1.5]]).round(3)
        array([[0.   , 1.118]])
        >>> model.predict([[2.0, 3.0]])
        array([2])
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        shrinkage: Any = 0.0,
        plan: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.shrinkage = shrinkage
        self.plan = plan
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the barycentre of each class.

        Args:
            X: Points of the kernel's domain.
            y: A label a point.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        crew = self._wanted_plan().crew()
        share = _shrinkage(self.shrinkage)
        points = self._read(X, fitting=True)
        labels = read_labels(y, len(points), type(self).__name__)
        sample = as_sample(points, labels.codes[:, None].astype(np.float64), sample_weight)
        # A class of which all rows have weight zero is no class.
        known = labels.kept(sample.targets[:, 0].astype(np.int64))
        require_two(known.classes, type(self).__name__)
        self.classes_ = known.classes
        self.kernel_ = self._found_kernel(sample.points, sample.weights, known.columns())
        self._fit_means(sample.points, known.hot() * sample.weights[:, None], share, crew)
        return self

    def _fit_means(
        self, points: Batch, mass: Reals, share: float | None, crew: int | None
    ) -> None:
        """Barycentres of a column of weights each."""
        weights = mass / mass.sum(axis=0)
        tiles = self.kernel_.tiles(points, points)
        values = multiply(tiles, weights, is_symmetric=True, threads=crew)
        inner = weights.T @ values
        whole = mass.sum(axis=0) / mass.sum()
        if share is None:
            own = np.asarray(self.kernel_.diag(points), dtype=np.float64)
            self.shrinkages_ = _noise(inner, own @ weights, mass.sum(axis=0), whole)
        else:
            self.shrinkages_ = np.full(len(whole), share)
        turn = np.diag(1 - self.shrinkages_) + np.outer(whole, self.shrinkages_)
        weights, self._squares = weights @ turn, np.diag(turn.T @ inner @ turn).copy()
        self.barycenters_ = Function(self.kernel_, points, weights)
        if len(whole) == 2:
            self.function_ = Function(self.kernel_, points, 2 * (weights[:, 1] - weights[:, 0]))
            self.intercept_: Any = float(self._squares[0] - self._squares[1])
        else:
            self.function_ = 2 * self.barycenters_
            self.intercept_ = -self._squares

    def decision_function(self, X: Any) -> Reals:
        """For two classes $d(x, 1)^2 - d(x, 2)^2$, positive where the second is nearer; for
        more $k(x, x) - d(x, c)^2$ for each class.
        """
        self._require_fitted()
        values: Reals = self.function_(self._read(X, fitting=False)) + self.intercept_
        return values

    def predict(self, X: Any) -> Any:
        """The class of the nearest barycentre; of equally near ones the first."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    def distances(self, X: Any) -> Reals:
        """The distances to the barycentres, a column a class."""
        self._require_fitted()
        points = self._read(X, fitting=False)
        own = norms(self.kernel_, points)[:, None]
        squared = own**2 - 2 * self.barycenters_(points) + self._squares
        size = own + np.sqrt(np.maximum(self._squares, 0.0))
        return lengths(squared, size, self.kernel_.diag(points[slice(0, 1)]).dtype)


def _noise(inner: Reals, own: Reals, mass: Reals, whole: Reals) -> Reals:
    """For each class, the share of noise in how far its barycentre is from that of all.

    Args:
        inner: The inner products of the barycentres.
        own: The means of k(x, x) in each class.
        mass: How many rows each class has, by weight.
        whole: The share of each class in all rows.
    """
    squares = np.diag(inner)
    spread = np.maximum(own - squares, 0.0)  # the mean squared distance of a row from its own
    # One row says nothing about the spread of its class: that of all classes does.
    several = mass > 1
    rest = np.maximum(mass - 1, 0.0)
    pooled = float(spread @ mass) / max(float(rest.sum()), 1.0)
    error = np.full(len(mass), pooled) / mass
    error[several] = spread[several] / rest[several]
    away = np.maximum(squares - 2 * inner @ whole + whole @ inner @ whole, 0.0)
    found: Reals = np.zeros(len(mass))
    np.divide(error, error + away, out=found, where=error + away > 0)
    return found


def _shrinkage(given: Any) -> float | None:
    """A share, None for "auto".

    Raises:
        InvalidParameter: It is none.
    """
    if isinstance(given, str) and given == "auto":
        return None
    if not (isinstance(given, Real) and 0 <= float(given) < 1):
        raise InvalidParameter(
            f'shrinkage is a number from 0 to below 1, or "auto", got {given!r}.'
        )
    return float(given)
