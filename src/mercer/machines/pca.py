r"""Kernel principal component analysis: the directions of most variance in feature space."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array

from mercer.domains.samples import Sample, as_sample
from mercer.errors import InvalidInput, InvalidParameter
from mercer.functions import Function, closest
from mercer.machines.assumed import check_assumed
from mercer.machines.base import KernelMachine
from mercer.machines.components import all_pairs, as_given, centred, chosen_plan, direct
from mercer.plan import Plan
from mercer.solvers.eigen import Centred, Eigenpairs, enough
from mercer.solvers.krylov import PASSES, krylov, largest, require_converged, until_share
from mercer.solvers.solution import Solution
from mercer.types import Array

Reals = NDArray[np.float64]

FEW = 6
"""Products with a block in a randomised method."""


class KernelPCA(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    KernelMachine,
):
    r"""Principal components in the space of a kernel.

    With the barycentre $\mu$ of the points it maximises the variance along a direction, and
    again among the directions orthogonal to those before (slides on kernel PCA in the seeds):

    $$f_j = \arg\max_{f \perp f_1, \dots, f_{j-1},\ \|f\| = 1}
      \sum_i w_i\, \langle f, k(x_i, \cdot) - \mu \rangle^2.$$

    By the representer theorem $f_j = \sum_i \alpha_{ij}\, k(x_i, \cdot)$. The centred Gram
    matrix has the eigenvectors $u_j$ with the eigenvalues $\Delta_j$, and
    $\alpha_j = u_j / \sqrt{\Delta_j}$. The projections of the points are the columns of
    $K^c \alpha$; new points are centred with the mean of the training points. For the linear
    kernel it is PCA: $X X^\top$ and $X^\top X$ have one spectrum. Signs are fixed: the largest
    entry of each eigenvector is positive.

    Args:
        n_components: How many components; a share of the variance in (0, 1), and as many are
            taken as explain it; or None, for all whose eigenvalue is above rounding. Where the
            points span fewer directions than are asked for, only those are kept.
        kernel: A Kernel, its text, a function of two points, "precomputed", or "auto": one
            that suits the data.
        plan: How to compute: a `Plan`, or the name of a method: "spectral" (LAPACK, all
            eigenvectors), "lanczos" (block Lanczos, until residuals are at the tolerance),
            "randomized" (a random block and a few products), "primal" (the singular values
            of features) or "blocked" (the Gram matrix is not stored).
        random_state: Draws the block that iterative methods start from.
        verbose: Whether what is chosen is printed.

    Attributes:
        functions_: The directions: a Function of a column each, orthonormal in the space.
        means_: The values of the directions at the barycentre of the training points.
        eigenvalues_: The eigenvalues of the centred Gram matrix, the largest first.
        eigenvectors_: Its eigenvectors, for the rows as they came.
        explained_variance_: The eigenvalues, divided by the sum of the weights.
        explained_variance_ratio_: Their shares of the variance in feature space.
        n_components_: How many components there are.
        kernel_: The kernel.
        solution_: The evidence: the residual of the eigenpairs, relative to the largest.
        plan_: What was chosen, and why; print it.

    Example:
        >>> import numpy as np
        >>> import mercer as mc
        >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])  # on a line
        >>> pca = mc.KernelPCA(kernel=mc.Linear()).fit(X)
        >>> pca.transform([[9.0, 12.0]]).round(6)
        array([[10.]])
        >>> pca.inverse_transform([[10.0]]).round(6)
        array([[ 9., 12.]])
    """

    looks_itself = True

    def __init__(
        self,
        n_components: Any = None,
        kernel: Any = "auto",
        *,
        plan: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.plan = plan
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Args:
            X: Points of the kernel's domain.
            y: Nothing: it is there for pipelines.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        plan, wanted = self._wanted_plan(), _wanted(self.n_components)
        sample = as_sample(self._read(X, fitting=True), None, sample_weight)
        if len(sample) < 2:
            raise InvalidInput(
                f"Points that are all equal have no variance: n_samples={len(sample)} distinct,"
                " and 2 are needed."
            )
        self.kernel_ = self._found_kernel(sample.points, sample.weights, None)
        pairs = self._pairs(sample, plan, wanted)
        if not pairs.values.size:
            raise InvalidInput(
                f"{self.kernel_} maps all points to one, up to rounding: there is no variance, "
                "and no component.\nPass another kernel."
            )
        self._keep(sample, pairs)
        if self.verbose:
            print(f"{self.kernel_}, {self.n_components_} components; {self.plan_}")  # noqa: T201
        return self

    def _pairs(self, sample: Sample, plan: Plan, wanted: Any) -> Eigenpairs:
        rows = len(sample)
        share = wanted if isinstance(wanted, float) else None
        count = None if wanted is None else 16 if share is not None else min(wanted, rows - 1)
        points, weights = sample.points, sample.weights
        self.plan_ = chosen_plan(self.kernel_, points, plan, count)
        found = direct(self.kernel_, points, weights, self.plan_, plan)
        if found is None:
            check_assumed(self.kernel_, points)  # few eigenvalues do not tell the sign of all
            matrix = centred(self.kernel_, points, weights, self.plan_, plan)
            pairs = self._iterated(matrix, count, share)
            if pairs is not None:
                return pairs
            # The share takes so many components that all of them are as quickly found.
            found, self.plan_ = all_pairs(self.kernel_, points, weights, plan)
        return enough(found, share) if share is not None else found.first(count or rows)

    def _iterated(
        self, matrix: Centred, count: int | None, share: float | None
    ) -> Eigenpairs | None:
        """The pairs by the block Lanczos method, or by a few products of it."""
        chance, plan, rows = self._chance(), self.plan_, len(matrix)
        rough = plan.method == "randomized"

        def find(number: int, start: Reals | None) -> Eigenpairs:
            pairs = krylov(
                matrix,
                number,
                tolerance=plan.tolerance,
                chance=chance,
                start=start,
                passes=FEW if rough else PASSES,
                threads=plan.threads,
            )
            if not rough:
                require_converged(pairs, plan.tolerance)
            return pairs

        if share is not None:
            return until_share(find, share, largest(rows))
        return find(rows - 1 if count is None else count, None)

    def _keep(self, sample: Sample, pairs: Eigenpairs) -> None:
        roots = np.sqrt(sample.weights)[:, None]
        coefficients = roots * pairs.vectors / np.sqrt(pairs.values)
        # Orthogonal to the roots of the weights, but for rounding, which a far mean enlarges.
        share = sample.weights / sample.weights.sum()
        coefficients -= np.multiply.outer(share, coefficients.sum(axis=0))
        self.functions_ = Function(self.kernel_, sample.points, coefficients)
        self.means_ = coefficients.T @ pairs.mean
        self.eigenvalues_ = pairs.values
        told = sample.as_they_came(pairs.vectors)
        self.eigenvectors_ = told * np.sqrt(sample.shares)[:, None]
        self.explained_variance_ = pairs.values / sample.weights.sum()
        self.explained_variance_ratio_ = pairs.values / pairs.total
        self.n_components_ = self._n_features_out = len(pairs.values)
        self._barycenter = share
        self.solution_ = Solution(
            pairs.method, coefficients, -self.means_, pairs.residual, steps=pairs.steps,
            converged=pairs.converged, seconds=pairs.seconds,
        )  # fmt: skip

    # Projecting

    def transform(self, X: Any) -> Array:
        """The projections of points on the components: shape (points, components).

        Args:
            X: Points.
        """
        self._require_fitted()
        values = self.functions_(self._read(X, fitting=False)) - self.means_
        return as_given(values, X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the components, and project the points on them.

        Args:
            X: Points.
            y: Nothing: it is there for pipelines.
            sample_weight: A number >= 0 a point: as if the row were there so many times.
        """
        self.fit(X, sample_weight=sample_weight)
        if sample_weight is not None:  # a row of weight zero has a projection as well
            return self.transform(X)
        # Rows as they came have the entries of an eigenvector: no kernel value is needed.
        return as_given(self.eigenvectors_ * np.sqrt(self.eigenvalues_), X)

    def inverse_transform(self, X: Any) -> Array:
        r"""The points whose sections are closest to given projections.

        A row z stands for $P = \mu + \sum_j z_j f_j$, and the point minimises
        $\|P - k(x, \cdot)\|$ (`mercer.preimage`): exact for the linear kernel and
        $(x^\top y)^2$, a search for the Gaussian.

        Args:
            X: Projections, a row a point.

        Raises:
            InvalidParameter: No search is known for the kernel.
        """
        self._require_fitted()
        given = check_array(X, dtype=np.float64)
        if given.shape[1] != self.n_components_:
            raise InvalidInput(
                f"projections have {self.n_components_} columns, one a component, and these "
                f"have {given.shape[1]}."
            )
        anchors, columns = self.functions_.anchors, self.functions_.coefficients
        wanted = self._barycenter[:, None] + columns @ given.T
        return as_given(closest(Function(self.kernel_, anchors, wanted)), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _wanted(given: Any) -> Any:
    """None, a whole number or a share, as a float.

    Raises:
        InvalidParameter: It is none of them.
    """
    if given is None:
        return None
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1:
        return int(given)
    if isinstance(given, Real) and not isinstance(given, Integral) and 0 < float(given) < 1:
        return float(given)
    raise InvalidParameter(
        "n_components is a whole number >= 1, a share of the variance between 0 and 1, or None "
        f"for all, got {given!r}."
    )
