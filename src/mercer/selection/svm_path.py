r"""Support vector machines over a grid of kernels and costs, each asked for rows held out.

All kernels, costs and folds together take about as long as a few fits: one Gram matrix a
kernel serves all, each search begins where the one before ended, and what a function says of
the rows held out is known when it is found. The scores are those that scikit-learn's
GridSearchCV gives for the same folds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from mercer.domains import Batch, Vectors
from mercer.domains.natural import looks_like_vectors, natural
from mercer.domains.samples import as_sample, checked_weights
from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.plan import Plan, as_plan
from mercer.selection.dual_path import Grid
from mercer.selection.dual_tasks import Classes, Kept, Region, Targets, Task
from mercer.selection.folds import Fold, count_of, folds_of, interleaved
from mercer.selection.labels import read_labels, require_two
from mercer.selection.scales import multiples
from mercer.types import Indices

Reals = NDArray[np.float64]

COSTS = np.geomspace(0.1, 1000, 9)
"""The costs that are tried when none are given; for numbers, in units of their spread."""

SHARES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
"""The shares of a one-class machine that are tried when none are given."""


@dataclass(frozen=True, eq=False, repr=False)
class SVMPath:
    """What a grid of machines scored on rows held out.

    Attributes:
        kernels: The kernels.
        Cs: The costs, or the shares of one-class machines, ascending.
        scores: A score each: the shape is (kernels, costs, folds).
        name: What the score is, in a word.
    """

    kernels: tuple[Kernel, ...]
    Cs: Reals
    scores: Reals
    name: str

    @property
    def means(self) -> Reals:
        """The mean over the folds: a row a kernel, a column a cost."""
        found: Reals = self.scores.mean(axis=2)
        return found

    @property
    def best(self) -> tuple[Kernel, float]:
        """The kernel and the cost with the best mean; of equals the least cost, and of those
        the first kernel.
        """
        means = self.means
        near = means >= means.max() - 1e-12 * max(1.0, float(np.abs(means.max())))
        cost = int(np.flatnonzero(near.any(axis=0))[0])
        return self.kernels[int(np.flatnonzero(near[:, cost])[0])], float(self.Cs[cost])

    def __repr__(self) -> str:
        kernel, cost = self.best
        head = f"{self.name} of {self.scores.shape[2]} folds, the best with {kernel}, {cost:g}"
        width = max(len(str(kernel)) for kernel in self.kernels)
        lines = [head, " ".join([" " * width, *(f"{cost:>8.3g}" for cost in self.Cs)])]
        for kernel, row in zip(self.kernels, self.means, strict=True):
            lines.append(" ".join([f"{kernel!s:<{width}}", *(f"{mean:>8.4f}" for mean in row)]))
        return "\n".join(lines)


def svm_path(
    X: Any,
    y: Any,
    Cs: ArrayLike | None = None,
    kernels: Any = None,
    folds: Any = 5,
    *,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    plan: Plan | str = "auto",
) -> SVMPath:
    r"""The accuracy of support vector classification for kernels and costs.

    Args:
        X: Points of the kernels' domain.
        y: A label a point.
        Cs: The costs C; by default nine from 0.1 to 1000.
        kernels: Kernels, their texts, or one of them; by default one that suits the data, at
            five lengths.
        folds: How many, or pairs (train, test) of row indices, or a splitter of scikit-learn's.
            A number means: equal rows are one, and of each class every so-manyth is held out.
        sample_weight: A number >= 0 a point: as if the row were there so many times.
        tol: The largest violation of a pair that is left, as in `SVC`.
        plan: The memory, the threads and the precision.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> kernels = [mc.Gaussian(scale) for scale in (0.1, 1.0, 10.0)]
        >>> path = svm_path(X, (X**2).sum(axis=1) > 1, Cs=[0.1, 1, 10], kernels=kernels)
        >>> path.scores.shape, path.best[0].scale, path.best[1]
        ((3, 3, 5), 1.0, 1.0)
    """
    points, kernels = _points(X, kernels)
    labels = read_labels(y, len(points), "svm_path")
    data = _told(points, labels.codes, sample_weight, folds)
    kept = labels.kept(data.targets.astype(np.int64))
    require_two(kept.classes, "svm_path")
    task = Classes.of(kept, data.weights)
    costs = ascending("Cs", COSTS if Cs is None else Cs)
    return search(task, data, _several(kernels, data), costs, tol, as_plan(plan))


def svr_path(
    X: Any,
    y: Any,
    Cs: ArrayLike | None = None,
    kernels: Any = None,
    folds: Any = 5,
    *,
    epsilon: float = 0.1,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    plan: Plan | str = "auto",
) -> SVMPath:
    r"""The coefficient of determination of support vector regression for kernels and costs.

    Args:
        X: Points of the kernels' domain.
        y: A number a point.
        Cs: The costs C; by default nine from 0.1 to 1000 times the spread of y.
        kernels: Kernels, their texts, or one of them; by default one that suits the data, at
            five lengths.
        folds: How many, or pairs (train, test) of row indices, or a splitter of scikit-learn's.
        epsilon: The width that costs nothing.
        sample_weight: A number >= 0 a point: as if the row were there so many times.
        tol: The largest violation of a pair that is left, as in `SVR`.
        plan: The memory, the threads and the precision.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(0, 6, 60)[:, None]
        >>> svr_path(x, np.sin(x[:, 0]), Cs=[1, 100], kernels="gaussian(1)").best[1]
        100.0
    """
    points, kernels = _points(X, kernels)
    given = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    if given.shape != (len(points),):
        raise InvalidInput(f"{len(points)} points need as many numbers, got {given.shape}.")
    data = _told(points, given, sample_weight, folds)
    task = Targets(data.targets, data.weights, float(epsilon))
    costs = ascending("Cs", COSTS * task.spread if Cs is None else Cs)
    return search(task, data, _several(kernels, data), costs, tol, as_plan(plan))


def one_class_path(
    X: Any,
    nus: ArrayLike | None = None,
    kernels: Any = None,
    folds: Any = 5,
    *,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    plan: Plan | str = "auto",
) -> SVMPath:
    r"""How well regions for the shares nu keep that promise for points held out.

    The score is minus the difference between nu and the share of the points held out that are
    outside. Without labels nothing says more; a length so small that each point is a region of
    its own scores badly.

    Args:
        X: Points of the kernels' domain.
        nus: The shares, in (0, 1].
        kernels: Kernels, their texts, or one of them; by default one that suits the data, at
            five lengths.
        folds: How many, or pairs (train, test) of row indices, or a splitter of scikit-learn's.
        sample_weight: A number >= 0 a point: as if the row were there so many times.
        tol: The largest violation of a pair that is left, as in `OneClassSVM`.
        plan: The memory, the threads and the precision.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> kernels = [mc.Gaussian(scale) for scale in (0.01, 2.0)]
        >>> one_class_path(X, nus=[0.1], kernels=kernels).best[0].scale
        2.0
    """
    points, kernels = _points(X, kernels)
    data = _told(points, None, sample_weight, folds)
    shares = ascending("nus", SHARES if nus is None else nus)
    if shares[-1] > 1:
        raise InvalidParameter(f"nus are shares in (0, 1], got {shares[-1]:g}.")
    task = Region(data.weights)
    return search(task, data, _several(kernels, data), shares, tol, as_plan(plan))


@dataclass(frozen=True, eq=False)
class Data:
    """What a grid is searched on.

    Attributes:
        points: The points.
        targets: A number or a class each.
        weights: Their weights.
        folds: The folds.
    """

    points: Batch
    targets: Reals
    weights: Reals
    folds: list[Fold]


def search(
    task: Task, data: Data, kernels: Sequence[Kernel], costs: Reals, tol: float, plan: Plan
) -> SVMPath:
    """The scores of a task for all kernels, costs and folds."""
    problems, folds = task.problems, data.folds
    grid = Grid(data.points, data.weights, problems, list(kernels), costs, folds, tol, plan)
    scores = np.empty((len(kernels), len(costs), len(folds)))
    kept: dict[tuple[int, int], dict[int, Kept]] = {}
    lock = threading.Lock()

    def take(kernel: int, problem: int, fold: int, values: Reals) -> None:
        with lock:
            mine = kept.setdefault((kernel, fold), {})
            mine[problem] = task.kept(values)
            if len(mine) < len(problems):
                return
            del kept[kernel, fold]
        for at, cost in enumerate(costs.tolist()):
            said = [mine[each][at] for each in range(len(problems))]
            scores[kernel, at, fold] = task.score(cost, folds[fold].test, said)

    grid.decisions(take)
    return SVMPath(tuple(kernels), costs, scores, task.name)


def ascending(name: str, given: ArrayLike) -> Reals:
    """Costs or shares in order.

    Raises:
        InvalidParameter: One is not a positive number.
    """
    try:
        found = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.empty(0)
    if not len(found) or not (np.isfinite(found) & (found > 0)).all():
        raise InvalidParameter(f"{name} are finite numbers > 0, got {given!r}.")
    return found


def _points(X: Any, kernels: Any) -> tuple[Batch, list[Kernel]]:
    """The points, and the kernels that were given."""
    if kernels is None:
        return Vectors().encode(X) if looks_like_vectors(X) else natural(X), []
    if isinstance(kernels, Kernel | str):
        kernels = [kernels]
    found = [as_kernel(each) for each in kernels]
    if not found:
        raise InvalidParameter("kernels are empty: there is nothing to choose from.")
    points = found[0].domain.encode(X)
    for each in found:
        each.check_finite(points)
    return points, found


def _several(given: list[Kernel], data: Data) -> list[Kernel]:
    return given or multiples(data.points, data.weights)


def _told(points: Batch, targets: Reals | Indices | None, weights: Any, folds: Any) -> Data:
    """The data as a measure where folds are a number; row by row where rows are named."""
    count = count_of(folds, len(points))
    if count is None:
        rows = len(points)
        own = np.ones(rows) if weights is None else checked_weights(weights, rows)
        told = np.zeros(rows) if targets is None else targets.astype(np.float64)
        found = folds_of(folds, rows, targets)
        if any(not (own[fold.train] > 0).any() for fold in found):
            raise InvalidInput("a fold leaves no row of positive weight to learn from.")
        return Data(points, told, own, found)
    sample = as_sample(points, targets, weights)
    count = count_of(folds, len(sample)) or count
    told = sample.targets[:, 0] if targets is not None else np.zeros(len(sample))
    codes = told.astype(np.int64) if targets is not None and targets.dtype.kind == "i" else None
    return Data(sample.points, told, sample.weights, interleaved(len(sample), count, codes))
