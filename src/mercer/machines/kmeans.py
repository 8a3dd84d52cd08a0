r"""Kernel k-means: clusters around barycentres in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from mercer.domains import Batch
from mercer.domains.samples import Sample, as_reals, as_sample
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions import Function
from mercer.gram import Operator, operator
from mercer.kernels import Kernel
from mercer.machines.base import KernelMachine
from mercer.types import Indices

Reals = NDArray[np.float64]


class KernelKMeans(ClusterMixin, KernelMachine):  # type: ignore[misc]
    r"""Clusters whose points are close to their barycentre in feature space.

    It looks for labels $c(i)$ that minimise the weighted within-cluster sum of squares

    $$\sum_i w_i\, \|k(x_i, \cdot) - \mu_{c(i)}\|^2,$$

    where $\mu_c$ is the barycentre of the points of cluster c: the distance from a point to a
    set in the seeds, to the nearest of several sets. By the kernel trick
    $\|k(x, \cdot) - \mu\|^2 = k(x, x) - 2 \mu(x) + \|\mu\|^2$. Lloyd's steps, each point to
    its nearest barycentre, never raise the sum and end in a local minimum; so they start
    several times, from points drawn far from each other (k-means++, in feature space). For
    the linear kernel it is k-means.

    Equal rows count as one with their summed weight, so rows may be repeated or weighted; if
    there are fewer distinct rows than clusters, each of them is a cluster.

    Args:
        n_clusters: How many clusters.
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": one
            that suits the data.
        n_init: How many times it starts; the best end is kept. All starts share each product
            with the Gram matrix.
        max_iter: Steps at most.
        plan: How to compute: a `Plan`, or "dense" (the Gram matrix is stored) or "blocked".
        random_state: Draws the starts.
        verbose: Whether what is chosen is printed.

    Attributes:
        labels_: The cluster of each row; for a row of weight zero the nearest one.
        centers_: The barycentres: a Function of a column each.
        inertia_: The sum that is minimised.
        n_iter_: The steps of the best start.
        kernel_: The kernel.
        plan_: Whether the Gram matrix was stored, and why; print it.

    Example:
        >>> import mercer as mc
        >>> X = [[0.0], [0.2], [5.0], [5.2]]
        >>> labels = mc.KernelKMeans(2, kernel=mc.Gaussian(), random_state=0).fit_predict(X)
        >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
        True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        kernel: Any = "auto",
        *,
        n_init: int = 10,
        max_iter: int = 300,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Args:
            X: Points of the kernel's domain.
            y: Nothing: it is there for pipelines.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        clusters = _whole("n_clusters", self.n_clusters)
        starts, most = _whole("n_init", self.n_init), _whole("max_iter", self.max_iter)
        plan = self._wanted_plan()
        if plan.method not in ("auto", "dense", "blocked"):
            raise InvalidParameter(
                'k-means stores the Gram matrix or not: plan is "auto", "dense" or "blocked", '
                f"got the method {plan.method!r}."
            )
        points = self._read(X, fitting=True)
        sample = as_sample(points, None, sample_weight)
        if len(points) < clusters:
            raise InvalidInput(
                f"{clusters} clusters need as many points: n_samples={len(points)} should be >="
                f" n_clusters={clusters}."
            )
        clusters = min(clusters, len(sample))
        self.kernel_ = self._found_kernel(sample.points, sample.weights, None)
        matrix = operator(self.kernel_, sample.points, plan=plan)
        self.plan_ = matrix.plan_
        chance, own = self._chance(), as_reals(matrix.diagonal())
        runs = [_seeds(self.kernel_, sample, own, clusters, chance) for _ in range(starts)]
        best = lloyd(matrix, sample.weights, np.stack(runs), clusters, most)
        self._keep(sample, points, best)
        if self.verbose:
            told = f"{self.kernel_}, inertia {self.inertia_:.6g} in {self.n_iter_} steps"
            print(f"{told}; {self.plan_}")  # noqa: T201
        return self

    def _keep(self, sample: Sample, points: Batch, best: Run) -> None:
        shares = _shares(best.labels, sample.weights, best.squares.size)
        self.centers_ = Function(self.kernel_, sample.points, shares)
        self._squares = best.squares
        self.inertia_, self.n_iter_ = best.inertia, best.steps
        labels = np.where(sample.labels >= 0, best.labels[sample.labels], 0)
        left_out = np.flatnonzero(sample.labels < 0)
        if left_out.size:
            labels[left_out] = self._nearest(points[left_out])
        self.labels_ = labels

    def predict(self, X: Any) -> Indices:
        """The cluster whose barycentre is nearest, for each point.

        Args:
            X: Points.
        """
        self._require_fitted()
        return self._nearest(self._read(X, fitting=False))

    def _nearest(self, points: Batch) -> Indices:
        # k(x, x) is the same for all barycentres.
        values = self._squares - 2 * self.centers_(points)
        nearest: Indices = values.argmin(axis=1)
        return nearest


@dataclass(frozen=True, eq=False)
class Run:
    """The end of one start.

    Attributes:
        labels: The cluster of each row.
        squares: The squared norm of each barycentre.
        inertia: The sum that is minimised.
        steps: Steps that were taken.
    """

    labels: Indices
    squares: Reals
    inertia: float
    steps: int


def lloyd(matrix: Operator, weights: Reals, starts: Indices, clusters: int, most: int) -> Run:
    """Lloyd's steps from several starts at once, and the best end.

    Args:
        matrix: The Gram matrix.
        weights: A weight a row.
        starts: First labels, a row a start.
        clusters: How many clusters.
        most: Steps at most.
    """
    own = matrix.diagonal().astype(np.float64, copy=False)
    labels = starts.copy()
    steps = np.zeros(len(starts), dtype=np.int64)
    ends: list[Run | None] = [None] * len(starts)
    moving = np.arange(len(starts))
    for step in range(1, most + 1):
        columns = [_shares(labels[run], weights, clusters) for run in moving]
        images = np.split(matrix @ np.column_stack(columns), len(moving), axis=1)
        going = []
        for run, shares, image in zip(moving, columns, images, strict=True):
            squares = np.einsum("ic,ic->c", shares, image)
            apart = np.maximum(own[:, None] - 2 * image + squares, 0.0)
            kept = np.take_along_axis(apart, labels[run][:, None], axis=1)[:, 0]
            nearest = np.asarray(apart.argmin(axis=1))
            # A point moves only if it comes closer, so that ties do not go round in circles.
            closer = np.take_along_axis(apart, nearest[:, None], axis=1)[:, 0] < kept
            moved = np.where(closer, nearest, labels[run])
            _fill_empty(moved, kept * weights, clusters)
            steps[run] = step
            ends[run] = Run(labels[run].copy(), squares, float(weights @ kept), step)
            if (moved != labels[run]).any():
                labels[run] = moved
                going.append(run)
        moving = np.array(going, dtype=np.int64)
        if not moving.size:
            break
    found = [end for end in ends if end is not None]
    return min(found, key=lambda end: end.inertia)


def _shares(labels: Indices, weights: Reals, clusters: int) -> Reals:
    """The weights of the barycentres: a column a cluster, which sums to one."""
    shares = np.zeros((len(labels), clusters))
    shares[np.arange(len(labels)), labels] = weights
    shares /= shares.sum(axis=0)
    return shares


def _fill_empty(labels: Indices, costs: Reals, clusters: int) -> None:
    """Give each empty cluster the point that costs most, from a cluster of several."""
    counts = np.bincount(labels, minlength=clusters)
    for cluster in np.flatnonzero(counts == 0):
        able = counts[labels] > 1
        at = int(np.where(able, costs, -1.0).argmax())
        counts[labels[at]] -= 1
        counts[cluster] += 1
        labels[at] = cluster
        costs[at] = 0.0


def _seeds(kernel: Kernel, sample: Sample, own: Reals, clusters: int, chance: Any) -> Indices:
    """First labels: the nearest of points that are drawn far from each other.

    Each next one is drawn with a probability that grows with its squared distance to those
    before, and the best of a few draws is taken (greedy k-means++, Arthur and Vassilvitskii).
    """
    rows, tries = len(sample), 2 + int(np.log(clusters))

    def apart(chosen: Indices) -> Reals:
        block = kernel.block(sample.points, sample.points[chosen]).astype(np.float64)
        found: Reals = np.maximum(own[:, None] + own[chosen] - 2 * block, 0.0)
        found[chosen, np.arange(len(chosen))] = 0.0
        return found

    first = _draw(sample.weights, 1, chance)
    nearest = apart(first)[:, 0]
    labels = np.zeros(rows, dtype=np.int64)
    taken = [int(first[0])]
    for cluster in range(1, clusters):
        costs = sample.weights * nearest
        costs[taken] = 0.0
        if not costs.sum() > 0:  # all that is left coincides in feature space
            costs = sample.weights.copy()
            costs[taken] = 0.0
        drawn = _draw(costs, tries, chance)
        distances = apart(drawn)
        totals = sample.weights @ np.minimum(nearest[:, None], distances)
        at = int(totals.argmin())
        mine = distances[:, at]
        labels[mine < nearest] = cluster
        nearest = np.minimum(nearest, mine)
        labels[drawn[at]] = cluster
        taken.append(int(drawn[at]))
    return labels


def _draw(masses: Reals, count: int, chance: Any) -> Indices:
    """Rows, drawn with probabilities in proportion to their masses."""
    ends = np.cumsum(masses)
    drawn = np.searchsorted(ends, chance.random_sample(count) * ends[-1], side="right")
    able = np.flatnonzero(masses > 0)
    found: Indices = np.minimum(drawn, able[-1])  # rounding of the last sum
    return found


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise InvalidParameter(f"{name} is a whole number >= 1, got {value!r}.")
    return int(value)
