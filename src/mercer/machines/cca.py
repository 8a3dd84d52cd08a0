r"""Kernel canonical correlation: functions of two views of the same things that go together."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length

from mercer.domains import Batch, RecordBatch
from mercer.domains.natural import looks_like_vectors
from mercer.domains.samples import as_sample
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions import Function
from mercer.kernels import Kernel
from mercer.machines.base import KernelMachine
from mercer.machines.components import all_pairs, as_given
from mercer.solvers.eigen import Eigenpairs
from mercer.solvers.solution import Solution
from mercer.types import Array

Reals = NDArray[np.float64]


class View(KernelMachine):
    """One view: what reads its points and finds its kernel."""

    looks_itself = True

    def __init__(self, kernel: Any = "auto", plan: Any = "auto") -> None:
        self.kernel = kernel
        self.plan = plan

    def read(self, X: Any, *, fitting: bool) -> Batch:
        """The points; a flat list of numbers is a column."""
        if looks_like_vectors(X) and not issparse(X):
            shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
            X = np.asarray(X).reshape(-1, 1) if len(shape) == 1 else X
        return self._read(X, fitting=fitting)

    def found(self, points: Batch, weights: Reals) -> Kernel:
        """The kernel, which is kept for points to come."""
        self.kernel_ = self._found_kernel(points, weights, None)
        return self.kernel_


class KernelCCA(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    KernelMachine,
):
    r"""Pairs of functions, one of each view, whose values are most correlated.

    For points with two views, $x_i$ and $y_i$, it maximises over functions f and g of the
    spaces of two kernels

    $$\frac{\operatorname{cov}(f(x), g(y))}
      {\sqrt{(\operatorname{var} f(x) + \lambda \|f\|^2)\,
             (\operatorname{var} g(y) + \lambda \|g\|^2)}},$$

    with weighted means in place of expectations, and again among the pairs that are
    uncorrelated with those before, in the sense of the denominator. Without the penalty two
    rich kernels find a correlation of one in anything. By the representer theorem (in the
    seeds) f and g are sums over the points; in the principal components of each view the
    maximum is a singular value. For linear kernels and a tiny penalty it is canonical
    correlation analysis.

    Args:
        n_components: How many pairs.
        kernel: The kernel of the first view: a Kernel, its text, a function of two points,
            "precomputed", or "auto".
        kernel_y: The kernel of the second view, likewise.
        penalty: The number $\lambda > 0$.
        plan: How to compute: a `Plan`, or the name of a method.
        verbose: Whether what is chosen is printed.

    Attributes:
        functions_: The functions f: a Function of a column each.
        functions_y_: The functions g.
        means_: The means of the functions f over the training points.
        means_y_: Those of the functions g.
        canonical_correlations_: The maxima, the largest first.
        correlations_: The correlations of f(x) and g(y) on the training points.
        n_components_: How many pairs there are: at most as many as directions in a view.
        kernel_: The kernel of the first view.
        kernel_y_: The kernel of the second view.
        solution_: The evidence: how far the functions f are from stationary.
        plan_: What was chosen for the first view, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> x = np.linspace(-2, 2, 50)
        >>> cca = mc.KernelCCA(1).fit(x[:, None], x**2)  # linearly they do not correlate
        >>> bool(cca.correlations_[0] > 0.99)
        True
    """

    looks_itself = True

    def __init__(
        self,
        n_components: int = 2,
        kernel: Any = "auto",
        kernel_y: Any = "auto",
        *,
        penalty: float = 1e-3,
        plan: Any = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.penalty = penalty
        self.plan = plan
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the pairs of functions.

        Args:
            X: The first view: points of its kernel's domain.
            y: The second view, row by row the partner of the first.
            sample_weight: A number >= 0 a pair: as if it were there so many times.
        """
        count, penalty = _checked(self.n_components, self.penalty)
        left = self._read(X, fitting=True)
        right = self._read_partner(y, len(left))
        pairs = RecordBatch({"x": left, "y": right}, len(left))
        sample = as_sample(pairs, None, sample_weight)
        if len(sample) < 2:
            raise InvalidInput(
                f"pairs that are all equal do not vary: n_samples={len(sample)} distinct, and "
                "2 are needed."
            )
        weights = sample.weights
        columns = sample.points.columns  # type: ignore[attr-defined]
        self.kernel_ = self._found_kernel(columns["x"], weights, None)
        self.kernel_y_ = self._partner.found(columns["y"], weights)
        plan = self._wanted_plan()
        first, self.plan_ = all_pairs(self.kernel_, columns["x"], weights, plan)
        second, _ = all_pairs(self.kernel_y_, columns["y"], weights, plan)
        for view, name in ((first, "first"), (second, "second")):
            if not view.values.size:
                raise InvalidInput(
                    f"the {name} view does not vary: its kernel maps all rows to one point."
                )
        self._solve(columns, weights, (first, second), count, penalty)
        if self.verbose:
            told = ", ".join(f"{c:.3g}" for c in self.correlations_)
            print(f"{self.kernel_} and {self.kernel_y_}: correlations {told}")  # noqa: T201
        return self

    def _read_partner(self, y: Any, rows: int) -> Batch:
        if y is None:
            raise InvalidInput(
                f"This {type(self).__name__} estimator requires y to be passed, but the target "
                "y is None: it is the second view."
            )
        self._partner = View(self.kernel_y, self.plan)
        points = self._partner.read(y, fitting=True)
        check_consistent_length(np.empty(rows), np.empty(len(points)))
        return points

    def _solve(
        self,
        columns: dict[str, Batch],
        weights: Reals,
        views: tuple[Eigenpairs, Eigenpairs],
        count: int,
        penalty: float,
    ) -> None:
        """The maxima, as singular values in the principal components of the two views."""
        total = float(weights.sum())
        first, second = views
        # Variance and penalty of a principal component, and the root of the former.
        scales = [np.sqrt(view.values / total + penalty) for view in views]
        roots = [np.sqrt(view.values / total) for view in views]
        inner = first.vectors.T @ second.vectors
        matrix = (roots[0] / scales[0])[:, None] * inner * (roots[1] / scales[1])
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        kept = min(count, int((values > len(weights) * np.finfo(float).eps).sum()) or 1)
        turns = left[:, :kept], right[:kept].T
        functions, means, told = [], [], []
        kernels = self.kernel_, self.kernel_y_
        for at, (view, points) in enumerate(zip(views, columns.values(), strict=True)):
            turned = turns[at] / scales[at][:, None]
            basis = np.sqrt(weights)[:, None] * view.vectors / np.sqrt(view.values)
            coefficients = basis @ turned
            functions.append(Function(kernels[at], points, coefficients))
            means.append(coefficients.T @ view.mean)
            told.append(roots[at][:, None] * turned)
        self.functions_, self.functions_y_ = functions
        self.means_, self.means_y_ = means
        self.canonical_correlations_ = values[:kept]
        # The covariances over the deviations, in the principal components.
        across = np.einsum("ik,ij,jk->k", told[0], inner, told[1])
        sizes = [np.linalg.norm(part, axis=0) for part in told]
        self.correlations_ = across / (sizes[0] * sizes[1])
        self.n_components_ = self._n_features_out = kept
        rest = matrix @ turns[1] - turns[0] * values[:kept]
        self.solution_ = Solution(
            "svd", self.functions_.coefficients, -self.means_,
            max(first.residual, second.residual, float(np.linalg.norm(rest))),
            seconds=first.seconds + second.seconds,
        )  # fmt: skip

    # Projecting

    def transform(self, X: Any, y: Any = None) -> Any:
        """The values of the functions, less their means on the training points.

        Args:
            X: Points of the first view.
            y: Points of the second view, if both are wanted.

        Returns:
            The values for the first view, shape (points, components); with `y` a pair.
        """
        self._require_fitted()
        values = self.functions_(self._read(X, fitting=False)) - self.means_
        first = as_given(values, X)
        return first if y is None else (first, self.transform_y(y))

    def transform_y(self, y: Any) -> Array:
        """The same for points of the second view alone.

        Args:
            y: Points of the second view.
        """
        self._require_fitted()
        points = self._partner.read(y, fitting=False)
        return as_given(self.functions_y_(points) - self.means_y_, y)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the functions, and give the values for the first view, as a pipeline needs them.

        Args:
            X: The first view.
            y: The second view.
            sample_weight: A number >= 0 a pair.
        """
        found: Array = self.fit(X, y, sample_weight=sample_weight).transform(X)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The correlation of the first pair of functions on other points: to choose kernels by.

        Args:
            X: Points of the first view.
            y: Their partners.
            sample_weight: A number >= 0 a pair.
        """
        first = np.asarray(self.transform(X), dtype=np.float64)[:, 0]
        second = np.asarray(self.transform_y(y), dtype=np.float64)[:, 0]
        covariance = np.cov(first, second, aweights=sample_weight)
        spread = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
        return float(covariance[0, 1]) / spread if spread > 0 else 0.0

    # Parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, those of the two kernels and of the plan."""
        found = super().get_params(deep=deep)
        if deep:
            other = View(self.kernel_y).get_params()
            found |= {
                name.replace("kernel__", "kernel_y__", 1): value
                for name, value in other.items()
                if name.startswith("kernel__")
            }
        return found

    def set_params(self, **changes: Any) -> KernelCCA:
        """Set parameters; kernel_y__scale makes a new kernel for the second view."""
        start = "kernel_y__"
        inner = {name: value for name, value in changes.items() if name.startswith(start)}
        super().set_params(**{n: v for n, v in changes.items() if n not in inner})
        if inner:
            if not isinstance(self.kernel_y, Kernel):
                raise InvalidParameter(
                    f"{min(inner)} is set on a Kernel, and kernel_y is {self.kernel_y!r}.\n"
                    "Pass one: kernel_y=mercer.Gaussian()."
                )
            view = View(self.kernel_y)
            view.set_params(**{n.replace(start, "kernel__", 1): v for n, v in inner.items()})
            self.kernel_y = view.kernel
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _checked(count: Any, penalty: Any) -> tuple[int, float]:
    """The number of pairs and the penalty.

    Raises:
        InvalidParameter: They mean nothing.
    """
    if not isinstance(count, Integral) or isinstance(count, bool) or int(count) < 1:
        raise InvalidParameter(f"n_components is a whole number >= 1, got {count!r}.")
    if not (isinstance(penalty, Real) and 0 < float(penalty) < np.inf):
        raise InvalidParameter(
            f"the penalty is a number > 0, got {penalty!r}: without one rich kernels correlate "
            "perfectly with anything."
        )
    return int(count), float(penalty)
