r"""The normal form of formulas: equal formulas become equal sums.

Products are multiplied out, powers of one base are gathered, and a function that can be
written by another is: hyperbolic functions by exponentials, lcm by gcd, maxima by minima,
products of cosines by cosines of sums.

>>> from mercer.proofs.reading import read
>>> algebra = Algebra.of(read("x*y", "positive"))
>>> one, other = (read(text, "positive").tree for text in ("max(x, y)", "x*y/min(x, y)"))
>>> print(algebra.normal(read("exp(-(x - y)**2/2)").tree))
e**(x*y - x**2/2 - y**2/2)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from mercer.proofs.admissible import semidefinite
from mercer.proofs.arithmetic import (
    HALF,
    ONE,
    PI,
    Arithmetic,
    E,
    arc_of,
    content_of,
    is_natural,
    is_whole,
)
from mercer.proofs.assumptions import Given
from mercer.proofs.primes import gcd_of
from mercer.proofs.reading import Formula
from mercer.proofs.spaces import Space
from mercer.proofs.sums import DIGITS, Atom, Exponent, Sum, TooLarge, as_sum, join, lean
from mercer.proofs.trees import Tree, number

__all__ = ["ONE", "Algebra", "E"]


REMEMBERED = 4_096
"""Formulas of which the normal form is kept."""


class Algebra(Arithmetic):
    """Formulas of one domain, brought to normal form.

    Args:
        space: Where the points live.
        given: What is known of the parameters.
    """

    def __init__(self, space: Space, given: Given) -> None:
        super().__init__(space, given)
        self._seen: dict[Tree, Sum] = {}

    @classmethod
    def of(cls, formula: Formula) -> Algebra:
        """The algebra that a formula lives in."""
        return cls(formula.space, formula.given)

    # From trees

    def normal(self, tree: Tree) -> Sum:
        """The normal form of a formula whose value is a number.

        Raises:
            TooLarge: It has too many terms.
        """
        found = self._seen.get(tree)
        if found is None:
            if time.monotonic() > self.deadline:
                raise TooLarge
            found = self.cancelled(self._normal(tree))
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            self._seen[tree] = found
        return found

    def _normal(self, tree: Tree) -> Sum:
        match tree.head:
            case "number":
                if tree.value.numerator.bit_length() > DIGITS:
                    raise TooLarge
                return Sum.constant(tree.value)
            case "pi":
                return PI
            case "point":
                return Sum.of(Atom(tree.value))
            case "parameter":
                return Sum.of(Atom("parameter", (tree.value,)))
            case "add":
                return sum((self.normal(part) for part in tree.args), Sum())
            case "multiply":
                total = ONE
                for part in tree.args:
                    total = self.times(total, self.normal(part))
                return total
            case "power":
                return self._power_tree(*tree.args)
            case "log":
                return self._log_tree(tree.args[0])
            case "len":
                return self._size(tree.args[0])
            case "dot":
                return self._dot(tree)
            case "norm":
                return self._norm(tree)
        return self.function(tree.head, [self.normal(part) for part in tree.args])

    def _power_tree(self, base: Tree, exponent: Tree) -> Sum:
        power = lean(self.normal(exponent))
        if base.head == "power" and is_whole(power):
            inner = lean(self.normal(base.args[1]))
            if is_whole(inner):
                return self._power_tree(base.args[0], number(inner * power))
        if base.head == "multiply" and not is_natural(power):
            parts = base.args if is_whole(power) else self._without_signs(base.args)
            if parts is not None:
                total = ONE
                for part in parts:
                    total = self.times(total, self._power_tree(part, exponent))
                return total
        if base.head in ("min", "max") and len(base.args) == 2 and not is_natural(power):
            found = self._extreme_power(base, power)
            if found is not None:
                return found
        return self.power(self.normal(base), power)

    def _without_signs(self, parts: tuple[Tree, ...]) -> tuple[Tree, ...] | None:
        """Factors that are nowhere negative, with the same product; None if it has no sign."""
        found, negative = [], False
        if sum(part.head != "number" for part in parts) < 2:
            return None
        for part in parts:
            known = self.world.range(self.normal(part))
            if not (known.nonnegative or known.nonpositive):
                return None
            found.append(part if known.nonnegative else -part)
            negative ^= not known.nonnegative
        return None if negative else tuple(found)

    def _log_tree(self, inner: Tree) -> Sum:
        """The logarithm of a product as a sum, before the product is multiplied out."""
        if inner.head == "multiply":
            if all(self.world.range(self.normal(part)).positive for part in inner.args):
                return sum((self._log_tree(part) for part in inner.args), Sum())
        elif inner.head == "power" and self.world.range(self.normal(inner.args[0])).positive:
            return self.times(self.normal(inner.args[1]), self._log_tree(inner.args[0]))
        return self.log(self.normal(inner))

    def _extreme_power(self, base: Tree, exponent: Exponent) -> Sum | None:
        """Powers of a minimum stay so; those of max(a, b) are those of a b / min(a, b)."""
        a, b = (self.normal(part) for part in base.args)
        if not (self.world.range(a).positive and self.world.range(b).positive):
            if not (self.world.range(a).nonnegative and self.world.range(b).nonnegative):
                return None
            if base.head == "max":
                return None
        least = self.function("min", [a, b])
        if base.head == "min":
            return self.power(least, exponent)
        both = self.times(self.power(a, exponent), self.power(b, exponent))
        return self.times(both, self.power(least, lean(-as_sum(exponent))))

    # Sets and vectors

    def _size(self, tree: Tree) -> Sum:
        """The size of a set by those of x, y and what they have in common."""
        cells = self._cells(tree)
        x, y = Sum.of(Atom("len", ("x",))), Sum.of(Atom("len", ("y",)))
        both = Sum.of(Atom("len", ("x", "y")))
        sizes = {"x": x - both, "y": y - both, "xy": both}
        return sum((sizes[cell] for cell in sorted(cells)), Sum())

    def _cells(self, tree: Tree) -> frozenset[str]:
        if tree.head == "point":
            return frozenset((tree.value, "xy"))
        a, b = (self._cells(part) for part in tree.args)
        return {"and": a & b, "or": a | b, "xor": a ^ b}[tree.head]

    def vector(self, tree: Tree) -> tuple[Sum, Sum]:
        """The factors of x and of y in a vector."""
        match tree.head:
            case "point":
                return (ONE, Sum()) if tree.value == "x" else (Sum(), ONE)
            case "add":
                parts = [self.vector(part) for part in tree.args]
                return sum((a for a, _ in parts), Sum()), sum((b for _, b in parts), Sum())
            case "multiply":
                return self._scaled_vector(tree)
        raise TooLarge

    def _scaled_vector(self, tree: Tree) -> tuple[Sum, Sum]:
        front, inner = ONE, None
        for part in tree.args:
            if inner is None and _is_vector(part):
                inner = self.vector(part)
            else:
                front = self.times(front, self.normal(part))
        if inner is None:
            raise TooLarge
        return self.times(front, inner[0]), self.times(front, inner[1])

    def _dot(self, tree: Tree) -> Sum:
        left, right = self.vector(tree.args[0]), self.vector(tree.args[-1])
        middle = tree.args[1] if len(tree.args) == 3 else None
        total = Sum()
        for a, p in zip(left, "xy", strict=True):
            for b, q in zip(right, "xy", strict=True):
                if a and b:
                    total = total + self.times(self.times(a, b), self._inner(p, q, middle))
        return total

    def _inner(self, p: str, q: str, middle: Tree | None) -> Sum:
        ends = tuple(sorted((p, q)))
        if middle is not None:
            if middle.head == "matrix" and not _symmetric(middle):
                raise TooLarge
            return Sum.of(Atom("form", (str(middle), *ends)))
        if p == q and self.space.kind == "sphere":
            return ONE
        return Sum.of(Atom("dot", ends))

    def _norm(self, tree: Tree) -> Sum:
        inner, order = tree.args
        p = "inf" if order.head == "inf" else self.normal(order).number
        if p is None:
            raise TooLarge
        a, b = self.vector(inner)
        if p == 2:
            squared = self._dot(Tree("dot", (inner, inner)))
            return self.power(squared, HALF)
        parts = [part for part in (a, b) if part]
        if not parts:
            return Sum()
        content = content_of(parts[0])
        for part in parts[1:]:
            content = gcd_of(content, content_of(part))
        if parts[0].terms[0][1] < 0:
            content = -content
        a, b = a.times(1 / content), b.times(1 / content)
        return Sum.of(Atom("norm", (p, a, b))).times(abs(content))

    # Atoms replaced

    def mapped(self, value: Sum, change: Callable[[Atom], Sum | None]) -> Sum:
        """The sum with atoms replaced; a change of None looks inside the atom."""
        total = Sum()
        for product, factor in value.terms:
            part = Sum.constant(factor)
            for atom, exponent in product:
                power = self.mapped(exponent, change) if isinstance(exponent, Sum) else exponent
                part = self.times(part, self.power(self._mapped_atom(atom, change), power))
            total = total + part
        return self.cancelled(total)

    def _mapped_atom(self, atom: Atom, change: Callable[[Atom], Sum | None]) -> Sum:
        found = change(atom)
        if found is not None:
            return found
        if not any(isinstance(arg, Sum) for arg in atom.args):
            return Sum.of(atom)
        if atom.head in ("norm", "max"):
            return Sum.of(atom)
        parts = [self.mapped(arg, change) for arg in atom.args]
        if atom.head == "sum":
            return parts[0]
        if atom.head == "arc":
            return arc_of(self._wave("cos", parts[0])) or self._arc_of(parts[0])
        return self.function(atom.head, parts)

    def _arc_of(self, angle: Sum) -> Sum:
        return Sum() if not angle else Sum.of(Atom("arc", (angle,)))

    def renamed(self, value: Sum, names: dict[str, str]) -> Sum:
        """The sum with points renamed: both swapped, or one made the other."""

        def change(atom: Atom) -> Sum | None:
            head, args = atom.head, atom.args
            if not atom.points:
                return Sum.of(atom)
            if head in ("x", "y"):
                return Sum.of(Atom(names.get(head, head)))
            if head == "len":
                return Sum.of(Atom("len", tuple(sorted({names.get(a, a) for a in args}))))
            if head == "dot":
                p, q = (names.get(arg, arg) for arg in args)
                return self._inner(p, q, None)
            if head == "form":
                ends = sorted(names.get(arg, arg) for arg in args[1:])
                return Sum.of(Atom("form", (args[0], *ends)))
            return self._renamed_norm(atom, names) if head == "norm" else None

        return self.mapped(value, change)

    def _renamed_norm(self, atom: Atom, names: dict[str, str]) -> Sum:
        p, a, b = atom.args
        factors = {"x": Sum(), "y": Sum()}
        for name, factor in (("x", a), ("y", b)):
            if factor:
                factors[names.get(name, name)] += self.renamed(factor, names)
        a, b = factors["x"], factors["y"]
        if not a and not b:
            return Sum()
        lead = (a or b).terms[0][1]
        if lead < 0:
            a, b = -a, -b
        return Sum.of(Atom("norm", (p, a, b)))

    def swapped(self, value: Sum) -> Sum:
        """The sum with x and y exchanged."""
        return self.renamed(value, {"x": "y", "y": "x"})

    def diagonal(self, value: Sum) -> Sum:
        """The sum at y = x."""
        return self.renamed(value, {"y": "x"})

    def difference_parts(self, value: Sum) -> tuple[Sum, Sum] | None:
        """g(x) and g(y), if a sum is g(x) - g(y)."""
        return self._split(value)

    def at_zero(self, value: Sum) -> Sum | None:
        """The sum at y = 0, if zero is a point of the domain: for sets, the empty one."""
        if self.space.kind in ("reals", "nonnegative"):
            inside = True
        elif self.space.kind == "interval":
            inside = self.space.low < 0 < self.space.high  # type: ignore[operator]
        elif self.space.kind == "sets":
            inside = _is_defined_at_empty(value)
        else:
            inside = self.space.kind == "vectors"
        if not inside:
            return None
        return self._zeroed(value)

    def _zeroed(self, value: Sum) -> Sum:
        def change(atom: Atom) -> Sum | None:
            if "y" not in atom.points:
                return Sum.of(atom)
            if atom.head in ("y", "dot", "form", "len"):
                return Sum()
            if atom.head == "norm":
                p, a, _ = atom.args
                return Sum.of(Atom("norm", (p, a, Sum()))) if a else Sum()
            return None

        return self.mapped(value, change)

    # Distances, multiples, one side of the diagonal

    def distances(self, value: Sum | None = None) -> list[Sum]:
        """The distance of two points, and each |g(x) - g(y)| that a sum holds."""
        found = {} if value is None else {atom.key: atom for atom in value.atoms()}
        gaps = [
            atom for atom in found.values() if atom.head == "abs" and self._split(atom.args[0])
        ]
        least = [atom for atom in found.values() if atom.head == "min"]
        between = [a.args[0] + a.args[1] - Sum.of(a).times(2) for a in least]
        return [*self._plain_distances(), *(Sum.of(atom) for atom in gaps), *between]

    def is_line_distance(self, distance: Sum) -> bool:
        """Whether a distance is |g(x) - g(y)| for numbers g."""
        heads = {atom.head for product, _ in distance.terms for atom, _ in product}
        return self.space.points_are == "number" or bool(heads & {"abs", "min"})

    def lengths(self, value: Sum) -> list[tuple[Sum, Fraction]]:
        """Each |g(x) - g(y)| that a sum holds, and how far apart the values of g may be."""
        found = []
        for distance in self.distances(value):
            g = self._one_end(distance)
            if g is None:
                continue
            known = self.world.range(g)
            if known.low is not None and known.high is not None:
                found.append((distance, known.high - known.low))
        return found

    def _one_end(self, distance: Sum) -> Sum | None:
        """The g(x) of a distance |g(x) - g(y)|."""
        for product, _ in distance.terms:
            for atom, _ in product:
                if atom.head == "min":
                    return atom.args[0]  # type: ignore[no-any-return]
                if atom.head == "abs":
                    parts = self._split(atom.args[0])
                    return parts and parts[0]
        return None

    def _plain_distances(self) -> list[Sum]:
        x, y = Sum.of(Atom("x")), Sum.of(Atom("y"))
        if self.space.points_are == "number":
            return [self.function("abs", [x - y])]
        squared = self.squared_distance()
        return [] if squared is None else [self.power(squared, HALF)]

    def squared_distance(self) -> Sum | None:
        """The squared distance of two points, where they are numbers or vectors."""
        if self.space.points_are == "number":
            x, y = Sum.of(Atom("x")), Sum.of(Atom("y"))
            return self.power(x - y, Fraction(2))
        if self.space.kind == "vectors":
            own = self._inner("x", "x", None) + self._inner("y", "y", None)
            return own - self._inner("x", "y", None).times(2)
        return None

    def multiple_of(self, value: Sum, unit: Sum) -> Sum | None:
        """The factor c without points for which value = c * unit."""
        if len(value.terms) != len(unit.terms) or not unit:
            return None
        lead, own = unit.terms[0]
        for product, factor in value.terms:
            rest = join(product, tuple((atom, -power) for atom, power in lead))
            candidate = Sum(((rest, factor / own),))
            if not candidate.points and self.times(candidate, unit) == value:
                return candidate
        return None

    def on_one_side(self, value: Sum) -> Sum | None:
        """The sum for x <= y, where min(x, y) is x; None if there is another minimum."""
        if self.space.points_are != "number":
            return None
        total = Sum()
        for product, factor in value.terms:
            part = Sum.constant(factor)
            for atom, exponent in product:
                lower = self._lower(atom) if atom.head == "min" else Sum.of(atom)
                if lower is None or not isinstance(exponent, Fraction):
                    return None
                part = self.times(part, self.power(lower, exponent))
            total = total + part
        return total

    def _lower(self, least: Atom) -> Sum | None:
        """The lesser of f(x) and f(y) for x <= y and f(x) = a + b x, or a - b x."""
        first, second = sorted(least.args, key=lambda arg: "y" in arg.points)
        slope = self.multiple_of(first - second, Sum.of(Atom("x")) - Sum.of(Atom("y")))
        if slope is None or slope.number is None:
            return None
        lower: Sum = first if slope.number > 0 else second
        return lower

    def maximum(self, least: Atom) -> Atom:
        """The maximum beside a minimum, as an atom of its own."""
        return Atom("max", least.args)

    def by_maximum(self, value: Sum, least: Atom) -> Sum:
        """The sum with a + b - max(a, b) for a minimum."""
        other = least.args[0] + least.args[1] - Sum.of(self.maximum(least))
        return self.mapped(value, lambda atom: other if atom == least else None)

    def is_whole_valued(self, value: Sum) -> bool:
        """Whether a sum is a whole number at every point."""
        heads = {"naturals": ("x", "y"), "sets": ("len",)}.get(self.space.kind, ())
        return all(
            factor.denominator == 1
            and all(atom.head in heads and is_natural(exponent) for atom, exponent in product)
            for product, factor in value.terms
        )

    def is_semidefinite_form(self, atom: Atom) -> bool:
        """Whether the matrix of x'Ay is p.s.d.: by assumption, or by its entries."""
        name = atom.args[0]
        return name in self.given.matrices or _semidefinite_text(name)


def _is_defined_at_empty(value: Sum) -> bool:
    """Whether a sum is one of powers above zero of sizes: it has a value at the empty set."""
    return all(
        isinstance(exponent, Fraction)
        and (exponent > 0 or atom.head == "prime")
        and atom.head in ("len", "prime", "sum")
        and (atom.head != "sum" or _is_defined_at_empty(atom.args[0]))
        for product, _ in value.terms
        for atom, exponent in product
    )


def _is_vector(tree: Tree) -> bool:
    if tree.head == "point":
        return True
    return tree.head in ("add", "multiply") and any(map(_is_vector, tree.args))


@lru_cache(maxsize=256)
def _semidefinite_text(text: str) -> bool:
    """Whether a matrix of numbers, as text, is p.s.d., exactly."""
    rows = tuple(
        tuple(Fraction(entry) for entry in row.split(","))
        for row in text.replace(" ", "").removeprefix("[[").removesuffix("]]").split("],[")
    )
    return semidefinite(rows)


def _symmetric(matrix: Tree) -> bool:
    rows = [row.args for row in matrix.args]
    return all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))
