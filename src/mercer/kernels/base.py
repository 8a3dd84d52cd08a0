"""The contract of a kernel: what a leaf writes, and what every kernel can then do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from mercer.domains import Batch, Domain
from mercer.errors import (
    InvalidInput,
    InvalidParameter,
    NoFeatureMap,
    NotAKernel,
    NoTextForm,
    NotSmooth,
)
from mercer.kernels.parameters import number
from mercer.kernels.proof import Proof
from mercer.kernels.terms import Term
from mercer.loops import Tiles, dense, symmetric
from mercer.types import Array

WIDEST_MAP = 1 << 20
"""Features beyond which an explicit map is refused: a row of them takes 8 MB."""


class Rules(Protocol):
    """The rules that make kernels from kernels, as the operators of `Kernel` need them."""

    def bias(self) -> Kernel: ...
    def sum(self, left: Kernel, right: Kernel) -> Kernel: ...
    def product(self, left: Kernel, right: Kernel) -> Kernel: ...
    def scaled(self, weight: Any, kernel: Kernel) -> Kernel: ...
    def schoenberg(self, rate: float, kernel: Kernel) -> Kernel: ...
    def power(self, kernel: Kernel, exponent: float) -> Kernel: ...
    def exp(self, kernel: Kernel) -> Kernel: ...
    def normalized(self, kernel: Kernel) -> Kernel: ...
    def weighted(self, kernel: Kernel, function: Callable[[Any], Any]) -> Kernel: ...
    def map(self, kernel: Kernel, function: Callable[[Any], Any]) -> Kernel: ...
    def on(self, kernel: Kernel, columns: tuple[str | int, ...]) -> Kernel: ...


@dataclass(frozen=True)
class Kernel(ABC):
    r"""A positive definite function $k(x, y) = \langle \Phi(x), \Phi(y) \rangle$.

    A kernel is an immutable value: compared and hashed by its parameters, with a text form
    that `mercer.kernel` reads back.

    A leaf is a frozen dataclass that names itself (`word`), under which the table of rules
    knows the theorem that makes it a kernel, and writes three methods: `domain`, `tiles` and
    `diag`. All else follows.
    """

    word: ClassVar[str]

    # The operators need the rules, and the rules are kernels: `mercer.kernels` ties this one
    # knot as soon as both exist.
    rules: ClassVar[Rules]

    # Without this NumPy would take `2.0 * k`, for a NumPy number 2.0, into its own hands.
    __array_ufunc__ = None

    # Whether a value of 0 may be one that is too small for a floating-point number, in a kernel
    # whose roots are kernels that `rooted` cannot name.
    fades: ClassVar[bool] = False

    # What a leaf writes

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The points that this kernel compares."""

    @abstractmethod
    def tiles(self, A: Batch, B: Batch) -> Tiles:
        """The matrix of k(a, b), to be filled tile by tile. `B is A` says it is symmetric."""

    @abstractmethod
    def diag(self, A: Batch) -> Array:
        """The values k(a, a)."""

    def feature_map(self, A: Batch) -> Array:
        """A finite matrix Phi with K = Phi Phi'."""
        raise NoFeatureMap(
            f"{self} has no finite feature map.\nUse mercer.embed(k, X) for a map that is "
            "exact on given points."
        )

    def rooted(self, exponent: float) -> Kernel | None:
        """The power of this kernel, exponent < 1, as a kernel with other parameters.

        Where k(x, y) is too small for a floating-point number, the power of it may not be.
        """
        return None

    def bell(self, rate: float) -> Kernel | None:
        """The kernel exp(-rate d^2) of the distance d of features, where there is one that
        does not take it from k(x, x) + k(y, y) - 2 k(x, y), which loses digits.
        """
        return None

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles | None:
        """The tiles of k(a, b) / sqrt(k(a, a) k(b, b)), if it is safer not to divide."""
        return None

    def gradient_block(self, A: Batch, B: Batch) -> Array:
        """The derivatives of k(a, b) in a, of shape (rows, columns, features)."""
        raise NotSmooth(f"{self} has no gradient in its points.")

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        """The derivatives of k(a, b) in the logarithm of each parameter."""
        if not self.parameters():
            return {}
        raise NotSmooth(f"{self} has no gradient in its parameters.")

    # What every kernel can do

    def __call__(self, X: Any, Y: Any = None, out: Array | None = None) -> Array:
        """The Gram matrix of X, exactly symmetric, or the block between X and Y.

        Args:
            X: Points of the kernel's domain.
            Y: Other points; by default X itself.
            out: Where to write the result: a C-contiguous array of the right shape and type,
                which holds none of the points.
        """
        A = self.domain.encode(X)
        alone = Y is None or Y is X
        B = A if alone else self.domain.encode(Y)
        for batch in (A,) if alone else (A, B):
            self.check_finite(batch)
            _check_apart(batch, out)
        return self.square(A, out) if alone else self.block(A, B, out)

    def block(self, A: Batch, B: Batch, out: Array | None = None) -> Array:
        """The matrix of k(a, b) for two encoded batches."""
        return dense(self.tiles(A, B), out)

    def square(self, A: Batch, out: Array | None = None) -> Array:
        """The Gram matrix of an encoded batch, exactly symmetric."""
        return symmetric(self.tiles(A, A), out)

    def pair(self, x: Any, y: Any) -> float:
        """The value k(x, y) for two points."""
        return float(self([x], [y])[0, 0])

    def diagonal(self, X: Any) -> Array:
        """The values k(x, x)."""
        A = self.domain.encode(X)
        self.check_finite(A)
        return self.diag(A)

    def features(self, X: Any) -> Array:
        """An explicit feature map: a matrix Phi, a row a point, with K = Phi Phi'.

        Raises:
            NoFeatureMap: The kernel has none of finite width.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            features = self.feature_map(self.domain.encode(X))
        if not np.isfinite(features).all():
            raise InvalidInput(
                f"a feature of {self} overflows.\nRescale the data or the parameters."
            )
        return features

    def distance(self, X: Any, Y: Any = None) -> Array:
        r"""Distances in feature space, $\sqrt{k(x,x) + k(y,y) - 2k(x,y)}$, never NaN."""
        A = self.domain.encode(X)
        B = A if Y is None or Y is X else self.domain.encode(Y)
        for batch in (A, B):
            self.check_finite(batch)
        K = self.square(A) if B is A else self.block(A, B)
        own = self.diag(A)
        other = own if B is A else self.diag(B)
        # Quarters, because the sum of two finite numbers may overflow. Adding one by one would
        # break the symmetry of the result; and rounding may go below zero.
        K *= -0.5
        K += own[:, None] / 4 + other[None, :] / 4
        distances: Array = np.sqrt(np.maximum(K, 0, out=K), out=K)
        distances *= 2
        return distances

    def gradient(self, X: Any, Y: Any = None) -> Array:
        """The derivatives of k(x, y) in x: an array of shape (len(X), len(Y), features).

        Raises:
            NotSmooth: The kernel is not differentiable.
        """
        A = self.domain.encode(X)
        B = A if Y is None else self.domain.encode(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            slope = self.gradient_block(A, B)
        self._check_slope(slope, "x")
        return slope

    def parameter_gradient(self, X: Any, Y: Any = None) -> dict[str, Array]:
        """The derivatives of k(x, y) in the logarithm of each parameter, by its name in
        `replace`. One array of shape (len(X), len(Y)) each, with a third axis for a parameter
        that is one number a feature.
        """
        A = self.domain.encode(X)
        B = A if Y is None else self.domain.encode(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = self.parameter_block(A, B)
        for name, slope in slopes.items():
            self._check_slope(slope, name)
        return slopes

    def _check_slope(self, slope: Array, name: str) -> None:
        if not np.isfinite(slope).all():
            raise InvalidInput(
                f"The derivative of {self} in {name} overflows.\nRescale the data or the "
                "parameters."
            )

    def check_finite(self, A: Batch) -> None:
        """Raise where a value overflows. The diagonal tells: none is larger in size."""
        with np.errstate(over="ignore", invalid="ignore"):
            bad = np.flatnonzero(~np.isfinite(self.diag(A)))
        if bad.size:
            raise InvalidInput(
                f"{self} overflows: k(x, x) is not a finite number for {bad.size} of {len(A)} "
                f"points, the first at row {bad[0]}.\nRescale the data or the parameters, or "
                "use k.normalized()."
            )
        for child in self.children():  # one may overflow where the whole does not
            child.check_finite(A)

    # Proof and properties

    def term(self) -> Term:
        """The kernel as data: what proofs speak of and what the text form prints."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        children = tuple(v.term() for v in values.values() if isinstance(v, Kernel))
        rest = tuple((name, v) for name, v in values.items() if not isinstance(v, Kernel))
        return Term(self.word, rest, children)

    def proof(self) -> Proof:
        """Why this is a kernel: the rule, its side conditions, its premises."""
        return Proof.of(self.term(), *(child.proof() for child in self.children()))

    def children(self) -> tuple[Kernel, ...]:
        """The kernels that this one is made of."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Kernel))

    @property
    def is_stationary(self) -> bool:
        """Whether k(x, y) depends on x - y alone."""
        return "stationary" in self.proof().facts

    @property
    def is_isotropic(self) -> bool:
        """Whether k(x, y) depends on |x - y| alone."""
        return "isotropic" in self.proof().facts

    @property
    def is_strict(self) -> bool:
        """Whether Gram matrices of distinct points are known to be invertible."""
        return "strict" in self.proof().facts

    @property
    def is_assumed(self) -> bool:
        """Whether some part is user code that nobody proved."""
        return self.proof().is_assumed

    # The kernel as a value

    def parameters(self) -> dict[str, Any]:
        """All parameters by name, those of parts as `left__scale`."""
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Kernel):
                found |= {f"{field.name}__{name}": v for name, v in value.parameters().items()}
            else:
                found[field.name] = value
        return found

    def replace(self, **changes: Any) -> Self:
        """The same kernel with other parameters, those of parts too: `left__scale=2`.

        Raises:
            InvalidParameter: There is no such parameter.
        """
        names = [field.name for field in fields(self)]
        own: dict[str, Any] = {}
        for name, value in changes.items():
            head, _, rest = name.partition("__")
            part = own.get(head, getattr(self, head, None))
            if head not in names or (rest and not isinstance(part, Kernel)):
                known = ", ".join(self.parameters()) or "none"
                raise InvalidParameter(f"{self} has no parameter {name!r}. It has: {known}.")
            own[head] = (
                part.replace(**{rest: value}) if isinstance(part, Kernel) and rest else value
            )
        return replace(self, **own)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __str__(self) -> str:
        return str(self.term())

    def text(self) -> str:
        """The text form, which `mercer.kernel` reads back.

        Raises:
            NoTextForm: The kernel holds user code.
        """
        if self.term().has_code:
            raise NoTextForm(
                f"{self} holds user code, which has no text form. Pickle it instead: that "
                "works if the function can be imported."
            )
        return str(self)

    # Operators

    def __add__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return self.rules.sum(self, other)
        if not isinstance(other, Real):
            return NotImplemented
        if other == 0:
            return self
        return self.rules.sum(self, self.rules.scaled(other, self.rules.bias()))

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, Real) and other != 0:
            return self.rules.sum(self.rules.scaled(other, self.rules.bias()), self)
        return self.__add__(other)

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return self.rules.product(self, other)
        return self.rules.scaled(other, self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            if other == 0:
                raise InvalidParameter(
                    f"{self} / 0 is not defined. Divide by a positive number."
                )
            return self.rules.scaled(1 / number(f"({self}) / c", "c", other), self)
        raise NotAKernel(
            f"{self} / {other} is not a kernel in general.\nQuotients of kernels can have "
            "negative eigenvalues. k.normalized() divides by the diagonal, which is safe."
        )

    def __rtruediv__(self, other: Any) -> Kernel:
        raise NotAKernel(
            f"{other} / ({self}) is not a kernel in general.\nA power series with non-negative "
            "coefficients is: mercer.series(k, coefficients)."
        )

    def __pow__(self, exponent: Any) -> Kernel:
        return self.rules.power(self, exponent)

    def __sub__(self, other: Any) -> Kernel:
        raise NotAKernel(
            f"({self}) - ({other}) is not a kernel in general.\nKernels form a cone: sums and "
            "products stay in it, differences leave it.\nAdd kernels instead, or ask "
            "mercer.from_function for a function you know to be positive definite."
        )

    def __rsub__(self, other: Any) -> Kernel:
        raise NotAKernel(
            f"{other} - ({self}) is not a kernel in general: its diagonal can be negative."
        )

    def __neg__(self) -> Kernel:
        raise NotAKernel(
            f"-({self}) is not a kernel: its diagonal is negative.\nMultiply by a number >= 0."
        )

    def exp(self) -> Kernel:
        """Take the exponential, a limit of polynomials in k with positive coefficients."""
        return self.rules.exp(self)

    def normalized(self) -> Kernel:
        r"""The cosine in feature space, $k(x,y) / \sqrt{k(x,x)\,k(y,y)}$."""
        return self.rules.normalized(self)

    def weighted(self, function: Callable[[Any], Any]) -> Kernel:
        """Weight by f: the kernel f(x) k(x, y) f(y). The function maps a point to a number."""
        return self.rules.weighted(self, function)

    def map(self, function: Callable[[Any], Any]) -> Kernel:
        """Pull back along phi, a function from point to point: k(phi(x), phi(y))."""
        return self.rules.map(self, function)

    def on(self, *columns: str | int) -> Kernel:
        """The kernel read from these columns of a record (or positions of a vector)."""
        return self.rules.on(self, columns)


def _check_apart(batch: Batch, out: Any) -> None:
    """Raise if the values would be written over the points that are still to be read."""
    if isinstance(out, np.ndarray) and batch.shares_memory(out):
        raise InvalidParameter(
            "out shares its memory with the points, which would be overwritten while they are "
            "read.\nPass another array: np.empty makes one."
        )


def check_parts(owner: str, *parts: Any) -> None:
    """Raise unless the parts of a combination are kernels."""
    for part in parts:
        if not isinstance(part, Kernel):
            raise InvalidParameter(
                f"{owner} combines kernels, got {part!r}. Pass a Kernel; mercer.kernel reads "
                "one from a text."
            )


def check_map(kernel: Kernel, width: int) -> None:
    """Raise if an explicit feature map is too wide to be built."""
    if width > WIDEST_MAP:
        raise NoFeatureMap(
            f"{kernel} has {_size(width)} features on these points, more than {WIDEST_MAP}: "
            "the map exists and would not fit.\nUse the kernel itself, which never builds "
            "them, or mercer.embed(k, X) for a map that is exact on given points."
        )


def _size(width: int) -> str:
    return str(width) if width < 10**30 else "very many"
