r"""Even and odd parts of kernels, and vectors of one coordinate as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as choices

from mercer.proofs.normal import Algebra
from mercer.proofs.sums import Atom, Sum, TooLarge
from mercer.proofs.trees import Tree

WORDS = (
    "it is the premise with and without y reflected, and the premise does not change with both"
)

MOST = 3
"""How many pairs of reflected terms are told apart."""


def reflected(value: Sum, algebra: Algebra, names: str = "y") -> Sum | None:
    """The sum with points at their negatives; None where the domain does not hold these."""
    space = algebra.space
    mirrored = space.kind == "interval" and space.low == -(space.high or 0)
    if space.kind not in ("reals", "vectors", "sphere") and not mirrored:
        return None

    def change(atom: Atom) -> Sum | None:
        if atom.head in names:
            return -Sum.of(atom)
        if atom.head in ("dot", "form"):
            odd = sum(arg in names for arg in atom.args[-2:]) % 2
            return Sum.of(atom).times(-1 if odd else 1)
        if atom.head == "norm":
            p, a, b = atom.args
            a, b = -a if "x" in names else a, -b if "y" in names else b
            lead = (a or b).terms[0][1]
            return Sum.of(Atom("norm", (p, a, b) if lead > 0 else (p, -a, -b)))
        return None

    try:
        return algebra.mapped(value, change)
    except TooLarge:
        return None


def is_even_part(value: Sum, kernel: Sum, algebra: Algebra, sign: int) -> bool:
    """Whether a sum is k(x, y) + s k(x, -y), for a k with k(-x, -y) = k(x, y)."""
    other = reflected(kernel, algebra)
    both = reflected(kernel, algebra, "xy")
    return other is not None and both == kernel and kernel + other.times(sign) == value


def halves(value: Sum, algebra: Algebra) -> Iterator[tuple[Sum, int]]:
    """The sums k and signs s with value = k(x, y) + s k(x, -y), for terms in pairs."""
    other = reflected(value, algebra)
    if other is None or other not in (value, -value) or not value:
        return
    sign = 1 if other == value else -1
    pairs: list[tuple[Sum, Sum]] = []
    left = [Sum((term,)) for term in value.terms]
    while left:
        first = left.pop()
        second = reflected(first, algebra)
        second = None if second is None else second.times(sign)
        if second not in left:
            return
        left.remove(second)
        pairs.append((first, second))
    if len(pairs) <= MOST:
        for chosen in choices(*pairs):
            yield sum(chosen, Sum()), sign


def on_line(tree: Tree) -> Tree:
    """A formula of vectors of one coordinate as one of numbers."""
    parts = tuple(on_line(part) for part in tree.args)
    if tree.head == "dot" and len(parts) == 2:
        return parts[0] * parts[1]
    if tree.head == "norm":
        return Tree("abs", parts[:1])
    return Tree(tree.head, parts, tree.value)
