r"""Kernels on finite sets, which count common elements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mercer.domains import Batch, Domain, SetBatch, Sets, align
from mercer.errors import NoFeatureMap
from mercer.kernels.base import Kernel
from mercer.kernels.numbers import base_from_one
from mercer.kernels.points import meeting
from mercer.loops import Applied, Profile, SparsePairwise, Tiles, profiles
from mercer.types import Array

LARGEST_UNIVERSE = 20
"""Items of which all subsets fit in a feature map: 2^20 features take 8 MB a row."""


class OnSets(Kernel):
    """A kernel of the number of common elements. Counts are exact in float64."""

    @property
    def domain(self) -> Domain:
        return Sets()


def sizes(batch: Batch) -> Array:
    """The number of elements of each set."""
    counts: Array = np.diff(_sets(batch).members.indptr).astype(np.float64)
    return counts


def _sets(batch: Batch) -> SetBatch:
    assert isinstance(batch, SetBatch)  # noqa: S101 - the domain encodes nothing else
    return batch


def _counted(
    A: Batch, B: Batch, profile: Profile, *, symmetric_difference: bool = False
) -> Tiles:
    """Tiles of a profile of |A & B|, or of |A ^ B| = |A| + |B| - 2 |A & B|."""
    X, Y = meeting(*align(_sets(A), _sets(B)))
    a, b = sizes(A), sizes(B)
    own = (np.zeros(len(a)) if symmetric_difference else a) if A is B else None
    return SparsePairwise(X, Y, profile, norms=(a, b), product=symmetric_difference, own=own)


@dataclass(frozen=True)
class SetIntersection(OnSets):
    r"""Number of common elements, $k(A, B) = |A \cap B|$.

    Why it is a kernel (feature map): it is the inner product of the indicators of the two
    sets, which have a 1 for each item that is in the set.

    Example:
        >>> import mercer as mc
        >>> mc.SetIntersection().pair({"milk", "bread"}, {"bread", "beer"})
        1.0
    """

    word = "set_intersection"

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return _counted(A, B, Profile())

    def diag(self, A: Batch) -> Array:
        return sizes(A)

    def feature_map(self, A: Batch) -> Array:
        indicators: Array = _sets(A).members.toarray()
        return indicators


@dataclass(frozen=True)
class SetPower(OnSets):
    r"""Power of the number of common elements, $k(A, B) = b^{|A \cap B|}$ with $b \ge 1$.

    For $b = 2$ it counts the common subsets.

    Why it is a kernel (feature map): give a set $A$ the feature $(b - 1)^{|S| / 2}$ for each
    subset $S$ of $A$. Two sets share the subsets of $A \cap B$, and by the binomial theorem
    $\sum_{S \subseteq A \cap B} (b - 1)^{|S|} = b^{|A \cap B|}$.

    Args:
        base: The number $b \ge 1$.

    Example:
        >>> import mercer as mc
        >>> mc.SetPower().pair({1, 2, 3}, {2, 3, 4})
        4.0
    """

    word = "set_power"

    base: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", base_from_one("SetPower", self.base))

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        # A count has few values: they are looked up.
        most = min(sizes(A).max(initial=0), sizes(B).max(initial=0))
        powers = self._powers(np.arange(most + 1))

        def look_up(tile: Array, rows: slice, columns: slice) -> None:  # noqa: ARG001
            tile[...] = powers[tile.astype(np.intp)]

        return Applied(_counted(A, B, Profile()), look_up)

    def normalized_tiles(self, A: Batch, B: Batch) -> Tiles:
        r"""Tiles of $k(A, B) / \sqrt{k(A, A) k(B, B)}$: $b$ to the power minus half the number
        of elements that only one of the sets has. Sets of any size do not overflow.
        """
        rate = math.log(self.base) / 2
        profile = Profile(profiles.GAUSSIAN, rate)
        return _counted(A, B, profile, symmetric_difference=True)

    def diag(self, A: Batch) -> Array:
        return self._powers(sizes(A))

    def _powers(self, counts: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.power(self.base, counts)

    def feature_map(self, A: Batch) -> Array:
        members = _sets(A).members.toarray()
        items = members.shape[1]
        if items > LARGEST_UNIVERSE:
            raise NoFeatureMap(
                f"{self} has a feature for each subset of the {items} items, 2^{items} in all: "
                f"the map is built up to {LARGEST_UNIVERSE} items.\nUse the kernel itself, "
                "which never builds it, or mercer.embed(k, X) for a map that is exact on given "
                "points."
            )
        # Each item doubles the subsets: those without it, and those with it.
        features = np.ones((len(members), 1))
        for item in math.sqrt(self.base - 1) * members.T:
            features = np.hstack([features, features * item[:, None]])
        return features

    def parameter_block(self, A: Batch, B: Batch) -> dict[str, Array]:
        X, Y = align(_sets(A), _sets(B))
        counts = np.asarray((X @ Y.T).todense())
        return {"base": counts * self._powers(counts)}


@dataclass(frozen=True)
class Jaccard(OnSets):
    r"""Jaccard index, $k(A, B) = |A \cap B| / |A \cup B|$, and 1 for two empty sets.

    Why it is a kernel (Laplace transform): $|A \cup B| = |A| + |B| - |A \cap B|$ is positive,
    so $1 / |A \cup B| = \int_0^\infty e^{-t|A|} e^{t|A \cap B|} e^{-t|B|} dt$. Each integrand
    is an exponential of a kernel times $f(A) f(B)$, hence a kernel; so is their mixture, and
    its product with $|A \cap B|$ (Schur).

    Example:
        >>> import mercer as mc
        >>> mc.Jaccard().pair({1, 2, 3}, {2, 3, 4})
        0.5
    """

    word = "jaccard"

    def tiles(self, A: Batch, B: Batch) -> Tiles:
        return _counted(A, B, Profile(profiles.TANIMOTO))

    def diag(self, A: Batch) -> Array:
        return np.ones(len(A))
