r"""Sums taken apart: what depends on one point, what on both.

Every sum is $\sum_t k_t(x, y) \sum_{ij} M^t_{ij}\, \varphi_i(x)\, \varphi_j(y)$, where the
cores $k_t$ are products of what depends on both points. If every core is a kernel and every
matrix $M^t$ is positive semidefinite, the sum is a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from mercer.proofs.admissible import semidefinite
from mercer.proofs.normal import Algebra, E
from mercer.proofs.sums import (
    Atom,
    Exponent,
    Product,
    Sum,
    join,
    lean,
    product_key,
    product_points,
)

Entry = tuple[int, int]


@dataclass
class Part:
    r"""One core and its matrix.

    Attributes:
        core: The product of what depends on both points; empty for the constant 1.
        features: The functions $\varphi_i$, as products in x.
        matrix: The entries $M_{ij}$, sums that depend on no point.
    """

    core: Product
    features: list[Product] = field(default_factory=list)
    matrix: dict[Entry, Sum] = field(default_factory=dict)

    def entry(self, i: int, j: int) -> Sum:
        """One entry of the matrix."""
        return self.matrix.get((i, j), Sum())

    @property
    def core_sum(self) -> Sum:
        """The core as a sum."""
        return Sum(((self.core, Fraction(1)),))

    @property
    def is_plain(self) -> bool:
        """Whether the core stands alone, times a constant."""
        return len(self.features) == 1 and not self.features[0]


def parts_of(value: Sum, algebra: Algebra) -> list[Part]:
    """A sum taken apart, its cores in canonical order."""
    found: dict[str, Part] = {}
    names: dict[str, dict[str, int]] = {}
    for term, factor in value.terms:
        for product, sign in _waves_split(term, algebra):
            constant, left, right, core = _split(product)
            mirrored = _in_x(right, algebra)
            key = product_key(core)
            part = found.setdefault(key, Part(core))
            places = names.setdefault(key, {})
            i, j = (_place(p, part, places) for p in (left, mirrored))
            added = Sum(((constant, factor * sign),))
            part.matrix[i, j] = part.entry(i, j) + added
    return [found[key] for key in sorted(found)]


def _waves_split(product: Product, algebra: Algebra) -> list[tuple[Product, int]]:
    """cos(a + b) as cos a cos b - sin a sin b, where a depends on x alone and b on y alone."""
    for atom, exponent in product:
        if atom.head not in ("cos", "sin") or exponent != 1 or atom.points != {"x", "y"}:
            continue
        angles = _split_exponent(atom.args[0])
        if set(angles) != {"x", "y"}:
            break
        a, b = angles["x"], angles["y"]
        # The same sign for f(x) and for f(y), so that both become one feature.
        flip = -1 if algebra.renamed(b, {"y": "x"}).terms[0][1] < 0 else 1
        lead = -1 if a.terms[0][1] < 0 else 1
        a, b = a.times(lead), b.times(flip)
        plain = tuple(part for part in product if part[0] != atom)
        heads = (("cos", "cos", 1), ("sin", "sin", -lead * flip))
        if atom.head == "sin":
            heads = (("sin", "cos", lead), ("cos", "sin", flip))
        one = Fraction(1)
        return [
            (join(plain, join(((Atom(f, (a,)), one),), ((Atom(g, (b,)), one),))), sign)
            for f, g, sign in heads
        ]
    return [(product, 1)]


def _place(feature: Product, part: Part, places: dict[str, int]) -> int:
    key = product_key(feature)
    if key not in places:
        places[key] = len(part.features)
        part.features.append(feature)
    return places[key]


def _split(product: Product) -> tuple[Product, Product, Product, Product]:
    """What depends on no point, on x, on y, on both."""
    kinds: dict[str, list[tuple[Atom, Exponent]]] = {"": [], "x": [], "y": [], "xy": []}
    for atom, exponent in product:
        if atom == E and isinstance(exponent, Sum):
            for name, inner in _split_exponent(exponent).items():
                kinds[name].append((atom, lean(inner)))
            continue
        points = product_points(((atom, exponent),))
        kinds["".join(sorted(points))].append((atom, exponent))
    constant, left, right, both = (tuple(kinds[name]) for name in ("", "x", "y", "xy"))
    return constant, left, right, both


def _split_exponent(exponent: Sum) -> Mapping[str, Sum]:
    """The terms of an exponent by the points they depend on."""
    found: dict[str, list[tuple[Product, Fraction]]] = {}
    for product, factor in exponent.terms:
        name = "".join(sorted(product_points(product)))
        found.setdefault(name, []).append((product, factor))
    return {name: Sum(tuple(terms)) for name, terms in found.items()}


def _in_x(product: Product, algebra: Algebra) -> Product:
    """A function of y as the same function of x."""
    if not product:
        return product
    renamed = algebra.renamed(Sum(((product, Fraction(1)),)), {"y": "x"})
    if len(renamed.terms) == 1 and renamed.terms[0][1] == 1:
        return renamed.terms[0][0]
    return ((Atom("opaque", (renamed,)), Fraction(1)),)


# ----------------------------------------------------------------- semidefinite matrices


def is_semidefinite(part: Part, algebra: Algebra, *, without_constant: bool = False) -> bool:
    r"""Whether the matrix of a part is certainly positive semidefinite.

    Args:
        part: The part.
        algebra: What is known of the parameters.
        without_constant: Leave out the function 1, and with it its row and column.
    """
    kept = [n for n, feature in enumerate(part.features) if feature or not without_constant]
    for i in kept:
        for j in kept:
            if part.entry(i, j) != part.entry(j, i):
                return False
    return all(_block_is_semidefinite(part, block, algebra) for block in _blocks(part, kept))


def _blocks(part: Part, kept: list[int]) -> Iterator[list[int]]:
    """The places in groups, without entries between groups."""
    rest = set(kept)
    while rest:
        group, queue = set(), [min(rest)]
        while queue:
            i = queue.pop()
            if i in group:
                continue
            group.add(i)
            queue += [j for j in rest if j not in group and part.entry(i, j)]
        rest -= group
        yield sorted(group)


def _block_is_semidefinite(part: Part, block: list[int], algebra: Algebra) -> bool:
    if len(block) == 1:
        return algebra.world.range(part.entry(block[0], block[0])).nonnegative
    numbers = {(i, j): part.entry(i, j).number for i in block for j in block}
    if all(value is not None for value in numbers.values()):
        rows = [[numbers[i, j] or Fraction(0) for j in block] for i in block]
        return semidefinite(tuple(map(tuple, rows)))
    return _is_rank_one(part, block, algebra) or _two_by_two(part, block, algebra)


def _is_rank_one(part: Part, block: list[int], algebra: Algebra) -> bool:
    """Whether M_ij M_00 = M_i0 M_0j, with nothing negative on the diagonal."""
    if not all(algebra.world.range(part.entry(i, i)).nonnegative for i in block):
        return False
    first = block[0]
    return all(
        algebra.times(part.entry(i, j), part.entry(first, first))
        == algebra.times(part.entry(i, first), part.entry(first, j))
        and algebra.world.range(part.entry(first, first)).positive
        for i in block
        for j in block
    )


def _two_by_two(part: Part, block: list[int], algebra: Algebra) -> bool:
    if len(block) != 2:
        return False
    i, j = block
    diagonal = all(algebra.world.range(part.entry(k, k)).nonnegative for k in block)
    both = algebra.times(part.entry(i, i), part.entry(j, j))
    across = algebra.times(part.entry(i, j), part.entry(i, j))
    return diagonal and algebra.world.range(both - across).nonnegative


def negated(part: Part) -> Part:
    """The part with the opposite matrix."""
    return Part(part.core, part.features, {at: -value for at, value in part.matrix.items()})


def factors(product: Product) -> list[Sum]:
    """The factors of a product, each with its power."""
    return [Sum(((((atom, exponent),), Fraction(1)),)) for atom, exponent in product]
