r"""The dual problems of support vector machines, as frozen data.

All are one problem, over a box and one plane,

$$\min_a\; \tfrac12 a^\top Q a + p^\top a, \qquad 0 \le a_v \le C_v, \qquad y^\top a = \Delta,$$

with $Q_{uv} = y_u y_v k(x_u, x_v)$ and signs $y_v = \pm 1$. Where the share $\nu$ of support
vectors is given there is a second plane: the sum over each sign is fixed.

A solver sees signed variables $b_v = y_v a_v$, which make the problem simpler: the matrix is
the Gram matrix itself, the slope of the objective is $h = K b + y p$, the sum of all $b$ stays
what it is, and a pair is best moved from the largest slope to the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InvalidParameter

Reals = NDArray[np.float64]

ROUNDED = 1e-10
"""How far a point may be off the planes, relative to its sum."""

ROUNDED_SUM = 1e-12
"""How far a share may be above the largest: what sums of a few thousand weights lose."""


@dataclass(frozen=True, eq=False)
class Dual:
    """A quadratic problem over a box, with the sum of the signed variables fixed.

    Attributes:
        name: The machine that it belongs to.
        signs: The sign y of each variable, 1 or -1.
        linear: The linear term p, a number a variable.
        upper: The upper bounds C >= 0; zero takes a row out, infinity is the hard margin.
        start: A feasible point a: it says what the fixed sums are.
        copies: Variables a row of the Gram matrix: in regression each row has two, the second
            ones after all first ones.
        separate: Whether the sum over each sign is fixed, instead of the sum over all.
    """

    name: str
    signs: Reals
    linear: Reals
    upper: Reals
    start: Reals
    copies: int = 1
    separate: bool = False

    def __post_init__(self) -> None:
        below = np.flatnonzero(~(self.upper >= 0))  # NaN is among them
        if below.size:
            raise InvalidParameter(
                f"{self.name} needs upper bounds C >= 0, got {self.upper[below[0]]} for "
                f"variable {below[0]}.\nC times a weight is the bound of a row: mend the "
                "weights."
            )
        if not np.isfinite(self.linear).all():
            raise InvalidParameter(f"{self.name} needs a finite linear term.")

    @property
    def rows(self) -> int:
        """The size of the Gram matrix."""
        return len(self.signs) // self.copies

    @cached_property
    def low(self) -> Reals:
        """Lower bounds of the signed variables."""
        return np.where(self.signs > 0, 0.0, -self.upper)

    @cached_property
    def high(self) -> Reals:
        """Upper bounds of the signed variables."""
        return np.where(self.signs > 0, self.upper, 0.0)

    @cached_property
    def pull(self) -> Reals:
        """The linear term of the signed variables, y p."""
        return self.signs * self.linear

    @cached_property
    def groups(self) -> tuple[NDArray[np.int64], ...]:
        """The variables of each fixed sum."""
        if not self.separate:
            return (np.arange(len(self.signs)),)
        return np.flatnonzero(self.signs > 0), np.flatnonzero(self.signs < 0)

    def combined(self, signed: Reals) -> Reals:
        """What stands before each kernel section: the sum over the copies of a row."""
        return signed if self.copies == 1 else signed.reshape(self.copies, -1).sum(axis=0)

    def slopes(self, images: Reals) -> Reals:
        """The slope h of each variable, from K b for each row."""
        spread = images if self.copies == 1 else np.tile(images, self.copies)
        return spread + self.pull

    def objective(self, signed: Reals, slopes: Reals) -> float:
        """The value to be minimised."""
        return 0.5 * float((signed * (slopes + self.pull)).sum())

    def check(self, variables: Reals) -> None:
        """Raise unless a point is in the box and on the planes, up to rounding.

        Raises:
            InvalidParameter: It is not.
        """
        size = max(float(np.abs(self.start).sum()), float(np.abs(variables).sum()), 1.0)
        off = max(
            abs(float((self.signs * (variables - self.start))[group].sum()))
            for group in self.groups
        )
        inside = (variables >= 0).all() and (variables <= self.upper).all()
        if variables.shape != self.signs.shape or not inside or not off <= ROUNDED * size:
            raise InvalidParameter(
                f"the point to start from is not feasible for {self.name}: each a_v has to be "
                f"between 0 and C_v, and y'a to be that of the problem (it is off by "
                f"{off:.1e}).\nClip it and mend its sum, or start from nothing."
            )


def classification(labels: ArrayLike, upper: ArrayLike) -> Dual:
    r"""The dual of $\tfrac12\|f\|^2 + \sum_i C_i \max(0, 1 - y_i (f(x_i) + b))$.

    Args:
        labels: 1 or -1 a row.
        upper: The bounds C_i, or one for all.
    """
    signs = _signs(labels)
    nothing = np.zeros(len(signs))
    return Dual("SVC", signs, nothing - 1.0, _spread(upper, len(signs)), nothing)


def regression(targets: ArrayLike, upper: ArrayLike, epsilon: float) -> Dual:
    r"""The dual of $\tfrac12\|f\|^2 + \sum_i C_i \max(0, |y_i - f(x_i) - b| - \varepsilon)$.

    Args:
        targets: A number a row.
        upper: The bounds C_i, or one for all.
        epsilon: The width that costs nothing.
    """
    y = np.asarray(targets, np.float64)
    if not epsilon >= 0:
        raise InvalidParameter(f"SVR needs epsilon >= 0, got {epsilon}.")
    bound = _spread(upper, len(y))
    signs = np.repeat([1.0, -1.0], len(y))
    linear = np.concatenate([epsilon - y, epsilon + y])
    return Dual("SVR", signs, linear, np.tile(bound, 2), np.zeros(2 * len(y)), copies=2)


def one_class(upper: ArrayLike, nu: float, rows: int) -> Dual:
    r"""The dual of $\tfrac12\|f\|^2 - \rho + \sum_i C_i \max(0, \rho - f(x_i)) / \nu \sum C$,
    times $\nu \sum_i C_i$, which is the sum of all variables.

    Args:
        upper: The bounds C_i, or one for all: weights, usually.
        nu: The share of the mass that may be outside.
        rows: The number of rows.
    """
    bound = _spread(upper, rows)
    total = _share("OneClassSVM", nu) * float(bound.sum())
    return Dual("OneClassSVM", np.ones(rows), np.zeros(rows), bound, _filled(bound, total))


def classification_by_share(labels: ArrayLike, upper: ArrayLike, nu: float) -> Dual:
    r"""The dual in which $\nu$ bounds the share of margin errors, and of support vectors.

    Args:
        labels: 1 or -1 a row.
        upper: The bounds C_i, or one for all: weights, usually.
        nu: The share.
    """
    signs = _signs(labels)
    bound = _spread(upper, len(signs))
    half = _share("NuSVC", nu) * float(bound.sum()) / 2
    require_share(nu, largest_share(signs, bound))
    start = np.zeros(len(signs))
    for sign in (1.0, -1.0):
        mine = signs == sign
        start[mine] = _filled(bound[mine], half)
    return Dual("NuSVC", signs, np.zeros(len(signs)), bound, start, separate=True)


def largest_share(labels: ArrayLike, upper: ArrayLike) -> float:
    r"""The largest share $\nu$ that classification allows: the lighter class has half of it.

    Args:
        labels: 1 or -1 a row.
        upper: The bounds C_i, or one for all: weights, usually.

    Example:
        >>> largest_share([1, 1, 1, -1], 1.0)
        0.5
    """
    signs = _signs(labels)
    bound = _spread(upper, len(signs))
    masses = [float(bound[signs == sign].sum()) for sign in (1.0, -1.0)]
    total = sum(masses)
    return 2 * min(masses) / total if total > 0 else 0.0


def require_share(nu: float, largest: float, where: str = "the lighter class") -> None:
    """Raise if a share is above the largest one, up to rounding.

    Args:
        nu: The share.
        largest: The largest one.
        where: The class that has too little, for the message.

    Raises:
        InvalidParameter: It is.
    """
    if nu <= largest * (1 + ROUNDED_SUM):
        return
    raise InvalidParameter(
        f"specified nu is infeasible: NuSVC with nu={nu} needs each of two classes to have "
        f"nu / 2 of the weight, and {where} has {largest / 2:.6g} of it.\nThe largest possible "
        f"nu is {_below(largest)}; class_weight and sample_weight raise it where they give "
        "the lighter class more."
    )


def regression_by_share(targets: ArrayLike, upper: ArrayLike, nu: float) -> Dual:
    r"""The dual in which $\nu$ bounds the share of rows outside the tube, whose width is found.

    Args:
        targets: A number a row.
        upper: The bounds C_i, or one for all.
        nu: The share.
    """
    y = np.asarray(targets, np.float64)
    bound = _spread(upper, len(y))
    half = _filled(bound, _share("NuSVR", nu) * float(bound.sum()) / 2)
    signs = np.repeat([1.0, -1.0], len(y))
    return Dual(
        "NuSVR", signs, np.concatenate([-y, y]), np.tile(bound, 2), np.tile(half, 2),
        copies=2, separate=True,
    )  # fmt: skip


def nearest_points(labels: ArrayLike, allowed: ArrayLike) -> Dual:
    r"""The nearest points of the convex hulls of two classes in feature space.

    Its solution, scaled, is the hard margin; and where the hulls meet it says so: the
    barycentres with the weights a coincide.

    Args:
        labels: 1 or -1 a row.
        allowed: Which rows count.
    """
    signs, here = _signs(labels), np.asarray(allowed, bool)
    start = np.zeros(len(signs))
    for sign in (1.0, -1.0):
        mine = np.flatnonzero(here & (signs == sign))
        if not len(mine):
            raise InvalidParameter("The hard margin needs rows of two classes, got one.")
        start[mine[0]] = 1.0
    upper = np.where(here, np.inf, 0.0)
    return Dual("SVC", signs, np.zeros(len(signs)), upper, start, separate=True)


def _signs(labels: ArrayLike) -> Reals:
    signs = np.asarray(labels, np.float64)
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise InvalidParameter("Labels of two classes are 1 and -1 here.")
    return signs


def _share(name: str, nu: float) -> float:
    if not 0 < nu <= 1:
        raise InvalidParameter(f"{name} needs 0 < nu <= 1, got {nu}.")
    return float(nu)


def _below(share: float) -> str:
    """A share with six digits, rounded so that it is not above what it stands for."""
    if share <= 0:
        return "0"
    unit = 10.0 ** (np.floor(np.log10(share)) - 5)
    return f"{np.floor(share / unit * (1 + 1e-12)) * unit:.6g}"


def _spread(upper: ArrayLike, rows: int) -> Reals:
    return np.broadcast_to(np.asarray(upper, np.float64), (rows,)).copy()


def _filled(bound: Reals, total: float) -> Reals:
    """A point of this sum: the first variables at their bounds, as LIBSVM begins."""
    before = np.concatenate([[0.0], np.cumsum(bound)[:-1]])
    return np.clip(total - before, 0.0, bound)
