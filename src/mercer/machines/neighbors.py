r"""The nearest neighbours in feature space, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from mercer.domains import Batch, DenseBatch, SparseBatch
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions.batches import coordinates
from mercer.functions.rounding import lengths, norms
from mercer.loops import COLUMNS, ROWS, available, pieces
from mercer.loops.heaps import lowest
from mercer.loops.nearest import nearest, scratch
from mercer.machines.base import KernelMachine
from mercer.machines.euclidean import Euclidean, neighbours_by_distance
from mercer.machines.targets import targets
from mercer.plan import readable
from mercer.selection.labels import read_labels
from mercer.types import Indices

Reals = NDArray[np.float64]

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""The share of k(x, x) + k(y, y) below which a squared distance is rounding: as good as 0."""


@dataclass(frozen=True)
class NeighborsPlan:
    """How neighbours are found.

    Attributes:
        method: "euclidean" or "blocked".
        why: The reason, in words.
        memory: The bytes that a search takes beside its result.
        budget: The bytes that were allowed.
        threads: The number of threads, None for as many as are available.
    """

    method: str
    why: str
    memory: int
    budget: int
    threads: int | None

    def __str__(self) -> str:
        used, allowed = readable(self.memory), readable(self.budget)
        return f"{self.method}: {self.why}; {used} of {allowed} allowed"


class KernelNeighbors(KernelMachine):
    """What the machines that ask the neighbours share.

    Attributes:
        kernel_: The kernel.
        n_samples_fit_: The number of training points.
        plan_: How neighbours are found, and why; print it.
    """

    keeps_single = True
    order_matters = "of rows at the same distance the first are neighbours"

    n_neighbors: Any
    weights: Any

    def __init__(
        self,
        kernel: Any = "auto",
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        plan: Any = "auto",
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.plan = plan

    def _fit_points(self, X: Any) -> Batch:
        """Read the points and find their kernel."""
        plan = self._wanted_plan()
        if plan.method not in ("auto", "blocked"):
            raise InvalidParameter(
                f'neighbours are found by "auto" or by "blocked" kernel values, and the plan '
                f'asks for {plan.method!r}.\nUse plan="auto".'
            )
        _wanted(self.n_neighbors)
        word = isinstance(self.weights, str) and self.weights in ("uniform", "distance")
        if not (word or callable(self.weights)):
            raise InvalidParameter(
                f'weights is "uniform", "distance" or a function of the distances, got '
                f"{self.weights!r}."
            )
        points = self._read(X, fitting=True)
        self.kernel_ = self._found_kernel(points, np.ones(len(points)), None)
        self._points = points if self._view(points, points) else _double(points)
        self.n_samples_fit_ = len(points)
        self.plan_ = self._chosen_plan()
        return points

    def _view(self, A: Batch, B: Batch) -> Euclidean | None:
        """The Euclidean distance that orders these points as the kernel does."""
        if self._wanted_plan().method == "blocked":
            return None
        return neighbours_by_distance(self.kernel_, A, B)

    def _chosen_plan(self) -> NeighborsPlan:
        wanted, count = self._wanted_plan(), len(self._points)
        crew = wanted.crew()
        view = self._view(self._points, self._points)
        if view is not None:
            why = "the distance grows with a Euclidean one; candidates in float32 are proved"
            width = self._points.width  # type: ignore[attr-defined]
            memory = scratch(width, self.n_neighbors, crew) + view.written(self._points)  # type: ignore[arg-type]
            return NeighborsPlan("euclidean", why, memory, wanted.budget(), crew)
        why = "distances follow from kernel values, a tile at a time"
        tiles = available() if crew is None else crew
        memory = 8 * min(count, COLUMNS) * ROWS * tiles
        return NeighborsPlan("blocked", why, memory, wanted.budget(), crew)

    # Neighbours

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        r"""The nearest training points in feature space, the nearest first.

        The distance is $\sqrt{k(x, x) - 2 k(x, y) + k(y, y)}$. Of points at the same distance
        the one that came first is the nearer.

        Args:
            X: Points; by default each training point, which then is not a neighbour of itself.
            n_neighbors: How many; by default the parameter.
            return_distance: Whether the distances are returned as well.

        Returns:
            The distances and the rows of the training points, or the rows alone.
        """
        self._require_fitted()
        count = _wanted(self.n_neighbors if n_neighbors is None else n_neighbors)
        alone = X is None
        self._require_enough(count + alone)
        points = self._points if alone else self._read(X, fitting=False)
        distances, places = self._search(points, count + alone, distances=return_distance)
        if alone:
            distances, places = _without_self(distances, places)
        return (distances, places) if return_distance else places

    def _require_enough(self, count: int) -> None:
        if count > self.n_samples_fit_:
            raise InvalidParameter(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {count}, "
                f"n_samples_fit = {self.n_samples_fit_}: there are not so many others.\nAsk "
                "for fewer neighbours, or fit more points."
            )

    def _search(self, points: Batch, count: int, *, distances: bool) -> tuple[Reals, Indices]:
        """Distances, if they are wanted, and rows of the nearest training points."""
        view = self._view(points, self._points)
        if view is not None:
            return self._by_distance(view, points, count)
        points, crew = _double(points), self._wanted_plan().crew()
        own = np.asarray(self.kernel_.diag(self._points), dtype=np.float64)
        tiles = self.kernel_.tiles(points, self._points)
        scores, places = lowest(tiles, own, count, crew)
        if (places < 0).any():
            raise _overflow()
        if not distances:
            return scores, places
        # Only here is k(x, x) needed: it says nothing about who is nearest.
        norm = norms(self.kernel_, points)[:, None]
        other = norms(self.kernel_, self._points)[places]
        squared = scores + norm**2
        squared[np.abs(squared) <= ROUNDING * (norm**2 + other**2)] = 0.0
        return lengths(squared, norm + other, np.dtype(np.float64)), places

    def _by_distance(self, view: Euclidean, points: Batch, count: int) -> tuple[Reals, Indices]:
        queries, table = view.points(points), view.points(self._points)  # type: ignore[arg-type]
        crew = self._wanted_plan().crew()
        r, places = nearest(queries, table, count, view.factor(table.shape[1]), crew)
        for part in (r[slice(*piece)] for piece in pieces(len(r), ROWS)):
            if not np.isfinite(part).all():
                raise _overflow()
            part[...] = view.distances(part)
        return r, places

    def _votes(self, X: Any) -> tuple[Indices, Reals]:
        """The neighbours of new points, and the weight of each; the weights sum to one."""
        self._require_fitted()
        count = _wanted(self.n_neighbors)
        self._require_enough(count)
        points = self._read(X, fitting=False)
        uniform = isinstance(self.weights, str) and self.weights == "uniform"
        distances, places = self._search(points, count, distances=not uniform)
        if uniform:
            return places, np.full(places.shape, 1 / count)
        return places, _shares(self.weights, distances)


class KernelNeighborsClassifier(ClassifierMixin, KernelNeighbors):  # type: ignore[misc]
    r"""The class that most of the nearest neighbours have, nearest in feature space.

    For a point x it takes the n training points with the smallest distance
    $\sqrt{k(x, x) - 2 k(x, x_i) + k(x_i, x_i)}$ (Igel's Algorithm 2), and the class with the
    most of them, the first of equal ones. Training rows are counted as they came, repeated
    ones too; of rows at the same distance the first is the nearer. The linear kernel has the
    Euclidean distance, and so has every kernel that falls with it, such as the Gaussian, the
    same neighbours.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": one
            that suits the data; for vectors the neighbours are then those by features
            divided by their spread.
        n_neighbors: How many neighbours are asked.
        weights: "uniform"; "distance" for weights 1 / distance, where those at distance 0
            decide alone; or a function from distances (queries, neighbours) to weights.
        plan: How to compute: a `Plan`; "blocked" takes kernel values in any case.

    Attributes:
        classes_: The labels, in order.
        kernel_: The kernel.
        n_samples_fit_: The number of training points.
        plan_: How neighbours are found, and why; print it.

    Example:
        >>> import mercer as mc
        >>> baskets = [{"milk"}, {"milk", "bread"}, {"nails"}, {"nails", "glue"}]
        >>> model = mc.KernelNeighborsClassifier("jaccard", n_neighbors=1)
        >>> model.fit(baskets, ["food", "food", "tools", "tools"]).predict([{"glue"}])
        array(['tools'], dtype='<U5')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the points and their labels.

        Args:
            X: Points of the kernel's domain.
            y: A label a point.
        """
        points = self._fit_points(X)
        labels = read_labels(y, len(points), type(self).__name__)
        self.classes_, self._codes = labels.classes, labels.codes
        return self

    def predict_proba(self, X: Any) -> Reals:
        """The share of each class among the neighbours, a column each."""
        places, shares = self._votes(X)
        found = np.zeros((len(places), len(self.classes_)))
        rows = np.broadcast_to(np.arange(len(places))[:, None], places.shape)
        np.add.at(found, (rows, self._codes[places]), shares)
        return found

    def predict(self, X: Any) -> Any:
        """The class of most neighbours; of equally many the first."""
        shares = self.predict_proba(X)
        # Sums of equal shares in another order are equal too, but for rounding.
        best = shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-12)
        return self.classes_[best.argmax(axis=1)]


class KernelNeighborsRegressor(RegressorMixin, MultiOutputMixin, KernelNeighbors):  # type: ignore[misc]
    r"""The mean target of the nearest neighbours, nearest in feature space.

    The neighbours are those of `KernelNeighborsClassifier`; the prediction minimises the
    (weighted) squared error among them.

    Args:
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": one
            that suits the data; for vectors the neighbours are then those by features
            divided by their spread.
        n_neighbors: How many neighbours are asked.
        weights: "uniform"; "distance" for weights 1 / distance, where those at distance 0
            decide alone; or a function from distances (queries, neighbours) to weights.
        plan: How to compute: a `Plan`; "blocked" takes kernel values in any case.

    Attributes:
        kernel_: The kernel.
        n_samples_fit_: The number of training points.
        plan_: How neighbours are found, and why; print it.

    Example:
        >>> import mercer as mc
        >>> model = mc.KernelNeighborsRegressor(mc.Linear(), n_neighbors=2)
        >>> model.fit([[0.0], [1.0], [5.0]], [0.0, 1.0, 5.0]).predict([[0.6]])
        array([0.5])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the points and their targets.

        Args:
            X: Points of the kernel's domain.
            y: A number a point, or a row of them.
        """
        points = self._fit_points(X)
        self._targets = targets(y, len(points), type(self).__name__)
        return self

    def predict(self, X: Any) -> Reals:
        """The mean target of the neighbours of each point."""
        places, shares = self._votes(X)
        found: Reals = np.einsum("ij,ij...->i...", shares, self._targets[places])
        return found


def _wanted(count: Any) -> int:
    """A number of neighbours.

    Raises:
        InvalidParameter: It is none.
    """
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise InvalidParameter(f"n_neighbors is a whole number >= 1, got {count!r}.")
    return int(count)


def _double(points: Batch) -> Batch:
    """Vectors in double precision: near neighbours differ in digits that float32 has not."""
    if isinstance(points, DenseBatch) and points.values.dtype != np.float64:
        return DenseBatch(coordinates(points), points.columns)
    if isinstance(points, SparseBatch) and points.matrix.dtype != np.float64:
        return SparseBatch(points.matrix.astype(np.float64), points.columns)
    return points


def _without_self(distances: Reals, places: Indices) -> tuple[Reals, Indices]:
    """Each row without the one of its own number; without the last if equals came before it."""
    rows, count = places.shape
    kept = places != np.arange(rows)[:, None]
    kept[kept.all(axis=1), -1] = False
    return distances[kept].reshape(rows, count - 1), places[kept].reshape(rows, count - 1)


def _shares(weights: Any, distances: Reals) -> Reals:
    """What each neighbour counts for; each row sums to one."""
    if not callable(weights):
        zero = distances == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            # Relative to the nearest, 1 / distance is in the range of numbers.
            found = distances[:, :1] / distances
        found = np.where(zero.any(axis=1, keepdims=True), zero, found)
    else:
        found = np.asarray(weights(distances), dtype=np.float64)
        if found.shape != distances.shape:
            raise InvalidParameter(
                f"weights gave an array of shape {found.shape} for distances of shape "
                f"{distances.shape}: it returns a weight a distance."
            )
        if not (np.isfinite(found).all() and (found >= 0).all() and found.any(axis=1).all()):
            raise InvalidParameter(
                "weights gave a number that is negative or not finite, or only zeros for a "
                "point: weights are >= 0, and one of them positive."
            )
    shares: Reals = found / found.sum(axis=1, keepdims=True)
    return shares


def _overflow() -> InvalidInput:
    return InvalidInput(
        "distances overflow: points are so far apart that squared distances are beyond the "
        "range of numbers.\nRescale the data."
    )
