"""What the machines share: reading data, finding the kernel, and scikit-learn's manners."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.domains import Batch, DenseBatch, Numbers, Positions, Vectors
from mercer.domains.natural import looks_like_vectors, natural
from mercer.domains.vectors import reject_missing
from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels import Kernel, from_function
from mercer.kernels import kernel as as_kernel
from mercer.machines.assumed import check_assumed
from mercer.machines.precomputed import Precomputed
from mercer.plan import Plan, as_plan
from mercer.selection.scales import start, tune

Reals = NDArray[np.float64]

PRECOMPUTED = "precomputed"


class KernelMachine(BaseEstimator):  # type: ignore[misc]
    """A machine with a kernel and a plan. Its data may come from any domain.

    Attributes:
        keeps_single: Whether vectors in float32 stay so; else they become float64.
        order_matters: Why the order of the rows matters, where it does.
        looks_itself: Whether the fit itself finds out that a kernel is none, by eigenvalues;
            else some rows are looked at when nobody has proved that it is one.
    """

    kernel: Any
    plan: Any
    kernel_: Kernel
    keeps_single: ClassVar[bool] = False
    order_matters: ClassVar[str] = ""
    looks_itself: ClassVar[bool] = False

    # Reading

    def _read(self, X: Any, *, fitting: bool) -> Batch:
        """The points of raw data, for the kernel that was given or found."""
        if self._is_precomputed:
            return self._read_values(X, fitting=fitting)
        kernel = self._given_kernel() if fitting else self.kernel_
        if kernel is None:
            return self._read_automatic(X)
        if isinstance(kernel.domain, Vectors | Numbers | Positions) and looks_like_vectors(X):
            X = self._checked_vectors(X, fitting=fitting)
        elif hasattr(X, "shape") and len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=fitting, skip_check_array=True)
        batch = kernel.domain.encode(X)
        if not len(batch):
            raise InvalidInput("0 sample(s) were given, while a minimum of 1 is required.")
        kernel.check_finite(batch)
        return batch

    def _read_automatic(self, X: Any) -> Batch:
        """Points in the domain that suits them, when the kernel is to be found."""
        if looks_like_vectors(X):
            return Vectors().encode(self._checked_vectors(X, fitting=True))
        if hasattr(X, "shape") and len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=True, skip_check_array=True)
        return natural(X)

    def _checked_vectors(self, X: Any, *, fitting: bool) -> Any:
        """As scikit-learn checks arrays: names and widths. Domains say where NaN is."""
        kinds: Any = [np.float64, np.float32] if self.keeps_single else np.float64
        return validate_data(
            self, X, reset=fitting, accept_sparse="csr", dtype=kinds, ensure_all_finite=False
        )

    def _read_values(self, X: Any, *, fitting: bool) -> Batch:
        """The rows of a matrix of kernel values: of the training rows, or new ones."""
        matrix: Reals = validate_data(
            self, X, reset=fitting, dtype=np.float64, ensure_all_finite=not fitting
        )
        reject_missing(DenseBatch(matrix))
        if not fitting:
            return self.kernel_.domain.encode(matrix)
        if matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                "Precomputed kernel values are those of the training rows among themselves, "
                f"and should be a square kernel matrix, got shape {matrix.shape}."
            )
        self.kernel_ = Precomputed.of(matrix)
        return self.kernel_.every

    # The kernel

    def _given_kernel(self) -> Kernel | None:
        """The kernel that was given; None for "auto"."""
        if isinstance(self.kernel, str) and self.kernel == "auto":
            return None
        if isinstance(self.kernel, Kernel | str):
            return as_kernel(self.kernel)
        if callable(self.kernel):
            return from_function(self.kernel)
        raise InvalidParameter(
            'kernel is "auto", a mercer.Kernel, the text of one, a function of two points or '
            f'"precomputed", got {self.kernel!r}.'
        )

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    def _found_kernel(self, points: Batch, weights: Reals, targets: Reals | None) -> Kernel:
        """The kernel that was given; or one that suits the points, and the targets if any.

        Args:
            points: Distinct points.
            weights: Their weights.
            targets: Numbers to predict, a column each, by which lengths are tuned.

        Raises:
            NotPositiveDefinite: The kernel that was given is none on these points.
        """
        given = self.kernel_ if self._is_precomputed else self._given_kernel()
        if given is not None:
            # Scikit-learn's checks hand over matrices that are no kernels, and want them taken.
            if not (self.looks_itself or self._is_precomputed):
                check_assumed(given, points)
            return given
        chosen = start(points, weights).kernel
        if targets is None:
            return chosen
        return tune(chosen, points, targets, weights, self._chance())

    # Parameters

    def _wanted_plan(self) -> Plan:
        return as_plan(self.plan)

    def _chance(self) -> Any:
        return check_random_state(getattr(self, "random_state", None))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, those of the kernel as kernel__scale and of the plan as
        plan__memory.
        """
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            if isinstance(self.kernel, Kernel):
                found |= {f"kernel__{name}": v for name, v in self.kernel.parameters().items()}
            if isinstance(self.plan, Plan):
                found |= {f"plan__{name}": v for name, v in vars(self.plan).items()}
        return found

    def set_params(self, **changes: Any) -> KernelMachine:
        """Set parameters; kernel__scale makes a new kernel, and plan__memory a new plan."""
        own = {name: value for name, value in changes.items() if "__" not in name}
        super().set_params(**own)
        kernels = _of("kernel", changes)
        plans = _of("plan", changes)
        other = changes.keys() - own.keys() - {f"kernel__{n}" for n in kernels}
        other -= {f"plan__{n}" for n in plans}
        if other:
            raise InvalidParameter(
                f"Invalid parameter {min(other)!r} for estimator {self}. Valid "
                f"parameters are: {sorted(self.get_params())}."
            )
        if kernels:
            if not isinstance(self.kernel, Kernel):
                raise InvalidParameter(
                    f"kernel__{next(iter(kernels))} is set on a Kernel, and kernel is "
                    f"{self.kernel!r}.\nPass one: kernel=mercer.Gaussian()."
                )
            self.kernel = self.kernel.replace(**kernels)
        if plans:
            fields = vars(as_plan(self.plan))
            unknown = plans.keys() - fields.keys()
            if unknown:
                raise InvalidParameter(
                    f"Invalid parameter 'plan__{min(unknown)}': a plan has {', '.join(fields)}."
                )
            self.plan = Plan(**(fields | plans))
        return self

    # scikit-learn's tags

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.sparse = not self._is_precomputed
        if not self._is_precomputed:
            tags.input_tags.string = True
            tags.input_tags.dict = True
        return tags

    # Values

    def _require_fitted(self) -> None:
        check_is_fitted(self)


def _of(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """What is to change in a part: its name and two underscores go."""
    start = f"{name}__"
    return {key.removeprefix(start): v for key, v in changes.items() if key.startswith(start)}
