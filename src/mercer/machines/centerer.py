r"""Centring kernel values: points whose barycentre is the origin of the feature space."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from mercer.errors import InvalidInput
from mercer.types import Array


class KernelCenterer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    r"""Centres a matrix of kernel values, as scikit-learn's transformer of that name.

    With the barycentre $\mu = \sum_i s_i \Phi(x_i)$ of the training points (shares $s_i = 1/n$,
    or the weights over their sum) the value $k(x, x_i)$ becomes
    $\langle \Phi(x) - \mu, \Phi(x_i) - \mu \rangle$, for training points and for new ones.
    On the training points this is $K^c = (I - U) K (I - U^\top)$ with $U = \mathbf 1 s^\top$
    (the example on centring data in the feature space in the seeds); `mercer.center` is the
    same as a function.

    Attributes:
        K_fit_rows_: For each training point the mean of its kernel values.
        K_fit_all_: The mean of all kernel values, $\|\mu\|^2$.

    Example:
        >>> import mercer as mc
        >>> k, X = mc.Linear(), [[1.0], [3.0]]  # the mean is 2
        >>> centerer = mc.KernelCenterer().fit(k(X))
        >>> centerer.transform(k([[5.0]], X))
        array([[-3.,  3.]])
    """

    # What is passed to fit and transform is called K, and is not metadata.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"K": UNUSED}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"K": UNUSED}

    def fit(self, K: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the barycentre.

        Args:
            K: The kernel values of the training points among themselves.
            y: Nothing: it is there for pipelines.
            sample_weight: A number >= 0 a point: as if the point were there so many times.
        """
        K = validate_data(self, K, dtype=[np.float64, np.float32])
        if K.shape[0] != K.shape[1]:
            raise InvalidInput(
                "Kernel matrix must be a square matrix: the values of the training points "
                f"among themselves. Input is a {K.shape[0]}x{K.shape[1]} matrix."
            )
        weights = _check_sample_weight(sample_weight, K, ensure_non_negative=True)
        if not weights.any():  # newer versions of scikit-learn have said so already
            raise InvalidInput("all weights are zero: no point is left to centre by.")
        self._share = (weights / weights.sum()).astype(K.dtype)
        self.K_fit_rows_ = self._share @ K
        self.K_fit_all_ = self.K_fit_rows_ @ self._share
        return self

    def transform(self, K: Any, copy: bool = True) -> Array:
        """Centre the kernel values of points (rows) with the training points (columns).

        Args:
            K: The values.
            copy: Whether the values are kept, and others returned.
        """
        check_is_fitted(self)
        centred: Array = validate_data(
            self,
            K,
            dtype=[np.float64, np.float32],
            copy=copy,
            force_writeable=True,
            reset=False,
        )
        own = centred @ self._share
        centred -= self.K_fit_rows_
        centred -= (own - self.K_fit_all_)[:, None].astype(centred.dtype)
        return centred

    @property
    def _n_features_out(self) -> int:
        return int(self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
