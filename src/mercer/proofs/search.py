r"""The search for a proof: backwards from the claim, theorem by theorem.

What is found is a tree of steps; `Proof.check` verifies each of them anew and knows nothing of
the search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

from mercer.kernels.proof import Proof
from mercer.proofs import angles, counts, mixtures, series, symmetry
from mercer.proofs.normal import ONE, Algebra, E
from mercer.proofs.reading import Formula
from mercer.proofs.separation import Part, factors, parts_of
from mercer.proofs.spaces import Space, larger
from mercer.proofs.steps import FormulaProof
from mercer.proofs.sums import Atom, Exponent, Sum, TooLarge, as_sum, join, lean, product_key
from mercer.proofs.theorems import (
    CND,
    PD,
    askey,
    claim,
    constant_and_rest,
    fourier,
    is_bounded_difference,
    is_green,
    is_monotone,
    is_nonnegative_diagonal,
    is_positive,
    known_series,
    leaf_property,
    mean_bound,
    range_of,
    requirements,
    together,
)
from mercer.proofs.trees import Tree

DEEPEST = 14
"""Theorems one below the other."""


_WHOLE = {
    "increasing function of a minimum": is_monotone,
    "green": is_green,
    "bounded difference": is_bounded_difference,
    "counting": counts.is_count,
    "poisson": angles.is_log_of_cosine,
    "askey": angles.is_askey,
}
"""Theorems about a sum as a whole, and when they apply."""


def _proportion(part: Part, unit: Part) -> Fraction | None:
    """The number c with which the matrix of a part is c times that of another."""
    own = {
        (product_key(part.features[i]), product_key(part.features[j])): entry
        for (i, j), entry in part.matrix.items()
        if entry
    }
    other = {
        (product_key(unit.features[i]), product_key(unit.features[j])): entry
        for (i, j), entry in unit.matrix.items()
        if entry
    }
    if own.keys() != other.keys():
        return None
    ratios = set()
    for at, entry in own.items():
        if len(entry.terms) != 1 or len(other[at].terms) != 1:
            return None
        (product, factor), (base, divisor) = entry.terms[0], other[at].terms[0]
        if product != base:
            return None
        ratios.add(factor / divisor)
    return ratios.pop() if len(ratios) == 1 else None


def _quotients(top: Sum, base: Sum, algebra: Algebra) -> list[Sum]:
    """What may be taken out of a fraction: so that a term of its own point, a common one, or
    the constant goes away above the line.
    """
    found: dict[str, Sum] = {}
    for product, factor in base.terms:
        inverse = tuple((atom, lean(-as_sum(exponent))) for atom, exponent in product)
        for term, own in top.terms:
            step = Sum(((join(term, inverse), own / factor),))
            if any(isinstance(e, Fraction) and e < 0 for _, e in step.terms[0][0]):
                continue
            if len(step.points) == 2:
                continue
            mirrored = algebra.swapped(step)
            whole = step if mirrored == step else step + mirrored
            found.setdefault(whole.key, whole)
    return list(found.values())[:6]


class OutOfTime(Exception):
    """The search took longer than it may."""


class Search:
    """One search, with a memory of what was proved and of what was given up.

    Args:
        formula: The formula whose domain and assumptions hold throughout.
        deadline: When to stop, by `time.monotonic`.
    """

    def __init__(self, formula: Formula, deadline: float) -> None:
        self.formula, self.deadline = formula, deadline
        self.algebra = Algebra.of(formula)
        self._found: dict[tuple[str, str], Proof | None] = {}
        self._open: set[tuple[str, str]] = set()
        self._depth = 0
        self._wider: Search | None = None
        self._rewriting = 0
        self._trees: dict[tuple[str, str], Proof | None] = {}

    def prove(self) -> Proof | None:
        """A proof that the formula is p.d., or None where none was found."""
        tree = self.formula.tree
        try:
            return self.of_tree(tree, str(tree))
        except OutOfTime:
            return None

    # Trees: products, sums and powers as the user wrote them

    def of_tree(self, tree: Tree, text: str | None = None, property_: str = PD) -> Proof | None:
        """A proof for a tree: in normal form, or part by part."""
        self._tick()
        key = str(tree), property_
        if key in self._trees:
            return self._trees[key]
        self._trees[key] = None
        found = self._of_tree(tree, str(tree), property_)
        self._trees[key] = found
        return found if found is None or text is None else self._retold(found, text)

    def _of_tree(self, tree: Tree, text: str, property_: str) -> Proof | None:
        try:
            found = self.of_sum(self.algebra.normal(tree), property_)
        except TooLarge:
            found = None
        if found is not None:
            return self._retold(found, text)
        found = self._by_shape(tree, text, property_)
        if found is None and property_ == PD:
            found = self._restricted(tree, text)
        return found

    def _retold(self, proof: Proof, text: str) -> Proof:
        """The same step about the text that the user wrote."""
        return FormulaProof(
            proof.rule, claim(text, self.formula), proof.premises, proof.property
        )

    def _restricted(self, tree: Tree, text: str) -> Proof | None:
        """A kernel on a larger domain is one on this one; vectors(1) are the real line."""
        if self.formula.space == Space("vectors", dimension=1):
            line = Formula(symmetry.on_line(tree), Space("reals"), self.formula.given)
            below = Search(line, self.deadline).of_tree(line.tree, str(line.tree))
            return below and self._step("line", text, below)
        wider = larger(self.formula.space)
        if wider is None:
            return None
        if self._wider is None:
            whole = Formula(tree, wider, self.formula.given)
            self._wider = Search(whole, self.deadline)
        below = self._wider.of_tree(tree, str(tree))
        return below and self._step("restriction", text, below)

    def _by_shape(self, tree: Tree, text: str, property_: str) -> Proof | None:
        """Factor by factor, term by term, power of a base."""
        match tree.head:
            case "multiply" if property_ == PD:
                return self._parts(tree, text, "schur product", PD)
            case "multiply":
                return self._multiple(tree, text)
            case "add":
                name = "sum" if property_ == PD else "sum of c.n.d. functions"
                return self._parts(tree, text, name, property_)
            case "power" if tree.args[1].head == "number":
                return self._power_shape(tree, text, property_)
            case "exp" if property_ == PD:
                below = self.of_tree(tree.args[0])
                if below is not None:
                    return self._step("exponential", text, below)
                below = self.of_tree(-tree.args[0], property_=CND)
                return below and self._step("schoenberg", text, below)
            case "log" if property_ == CND:
                below = self.of_tree(tree.args[0], property_=CND)
                return below and self._step("logarithm", text, below, property_=CND)
        return None

    def _power_shape(self, tree: Tree, text: str, property_: str) -> Proof | None:
        base, exponent = tree.args[0], tree.args[1].value
        if property_ == CND:
            if not 0 < exponent < 1:
                return None
            below = self.of_tree(base, property_=CND)
            return below and self._step("bernstein function", text, below, property_=CND)
        if exponent.denominator == 1 and 1 < exponent <= 64:
            below = self.of_tree(base)
            return below and self._step("whole power", text, below)
        if exponent < 0:
            below = self.of_tree(base, property_=CND)
            if below is not None:
                return self._step("laplace transform", text, below)
        return None

    def _multiple(self, tree: Tree, text: str) -> Proof | None:
        """A negative multiple of a kernel, or a positive one of a c.n.d. function."""
        numbers = [part for part in tree.args if part.head == "number"]
        rest = [part for part in tree.args if part.head != "number"]
        value = Fraction(1)
        for part in numbers:
            value *= part.value
        if not numbers or not rest or value == 0:
            return None
        inner = rest[0]
        for part in rest[1:]:
            inner = inner * part
        property_ = PD if value < 0 else CND
        below = self.of_tree(inner, property_=property_)
        return below and self._step("multiple of one sign", text, below, property_=CND)

    def _parts(self, tree: Tree, text: str, rule: str, property_: str) -> Proof | None:
        """All terms of a sum, or all factors; those not symmetric alone are put together."""
        groups = self._symmetric_groups(tree)
        if len(groups) < 2:
            return None
        proofs, hard = [], []
        for group in groups:
            found = self.of_tree(group, property_=property_)
            (hard if found is None else proofs).append(group if found is None else found)
        if hard:
            return self._merged(tree, text, rule, property_, groups, hard)
        return self._step(rule, text, *proofs, property_=property_)

    def _merged(
        self,
        tree: Tree,
        text: str,
        rule: str,
        property_: str,
        groups: list[Tree],
        hard: list[Tree],
    ) -> Proof | None:
        """What is not proved alone may be, together or with one of the others."""
        easy = [group for group in groups if group not in hard]
        for extra in ([], *([group] for group in easy)):
            if len(hard) + len(extra) in (1, len(groups)):
                continue
            together_ = self.of_tree(Tree(tree.head, (*hard, *extra)), property_=property_)
            if together_ is None:
                continue
            rest = [self.of_tree(g, property_=property_) for g in easy if g not in extra]
            proofs = [proof for proof in rest if proof is not None]
            return self._step(rule, text, together_, *proofs, property_=property_)
        return None

    def _symmetric_groups(self, tree: Tree) -> list[Tree]:
        """The parts that are symmetric by themselves, and the rest as one."""
        groups, rest = [], []
        for part in tree.args:
            try:
                value = self.algebra.normal(part)
                own = bool(value.points) and self.algebra.swapped(value) == value
            except TooLarge:
                own = False
            (groups if own else rest).append(part)
        if rest:
            groups.append(rest[0] if len(rest) == 1 else Tree(tree.head, tuple(rest)))
        return groups

    # Sums in normal form

    def of_sum(self, value: Sum, property_: str) -> Proof | None:
        """A proof for a sum in normal form, remembered."""
        key = value.key, property_
        if key in self._found:
            return self._found[key]
        if key in self._open or self._depth >= DEEPEST:
            return None
        self._tick()
        self._open.add(key)
        self._depth += 1
        try:
            found = None
            for found in self._attempts(value, property_):
                if found is not None:
                    break
        except TooLarge:
            found = None
        finally:
            self._depth -= 1
            self._open.discard(key)
        if found is not None or self._depth == 0:
            self._found[key] = found
        return found

    def _attempts(self, value: Sum, property_: str) -> Iterator[Proof | None]:
        leaf = leaf_property(value, self.algebra)
        if leaf is not None and leaf[1] == property_:
            yield self._of(leaf[0], value, property_)
        if property_ == PD:
            yield from self._kernels(value)
        else:
            yield from self._negatives(value)

    def _kernels(self, value: Sum) -> Iterator[Proof | None]:
        yield self._one_product(value)
        yield self._separated(value, PD)
        yield self._series(value)
        if fourier(value, self.algebra):
            yield self._of("bochner", value)
        if angles.on_sphere(value, self.algebra):
            yield self._of("sphere", value)
        yield self._anchored(value)
        for name, holds in _WHOLE.items():
            if holds(value, self.algebra):
                yield self._of(name, value)
        yield self._invariant(value)
        yield self._mean_taken(value)
        yield self._gap(value)
        yield self._peeled(value, PD)
        yield self._common_factor(value)
        yield self._reflected(value)
        yield from self._rewritten(value, PD)

    def _negatives(self, value: Sum) -> Iterator[Proof | None]:
        if mixtures.is_convex_of_sum(value, self.algebra):
            yield self._of("sum of two points", value, CND)
        yield self._one_negative(value)
        yield self._separated(value, CND)
        yield self._peeled(value, CND)
        yield from self._rewritten(value, CND)

    def _peeled(self, value: Sum, property_: str) -> Proof | None:
        """What is not proved core by core, as a premise of its own."""
        hard: list[Part] = []
        easy: list[tuple[Part, list[Proof]]] = []
        for part in parts_of(value, self.algebra):
            below = self._single(part, value, property_)
            if below is None:
                hard.append(part)
            else:
                easy.append((part, below))
        if not hard:
            return None
        last = hard[-1]
        alike = [n for n, (part, _) in enumerate(easy) if _proportion(part, last) is not None]
        for taken in ([], alike) if alike else ([],):
            group = hard + [easy[n][0] for n in taken]
            kept = [p for n, (_, proofs) in enumerate(easy) if n not in taken for p in proofs]
            for rest in self._heads(group, value):
                proof = self.of_sum(rest, property_)
                name = (
                    "features and kernels" if property_ == PD else "terms without interaction"
                )
                whole = proof and self._checked(name, value, *kept, proof, property_=property_)
                if whole is not None:
                    return whole
        return None

    def _single(self, part: Part, value: Sum, property_: str) -> list[Proof] | None:
        """The proofs of what one part needs, if it is a kernel by itself."""
        single = self._restored(part)
        needs = requirements(single, self.algebra, property_)
        if needs is None or single == value:
            return None
        found = [self.of_sum(core, need) for core, need in needs]
        proofs = [proof for proof in found if proof is not None]
        return proofs if len(proofs) == len(found) else None

    def _restored(self, part: Part) -> Sum:
        return self.algebra.times(together(part, self.algebra), part.core_sum)

    def _heads(self, group: list[Part], value: Sum) -> Iterator[Sum]:
        """What may be proved as a whole: the parts as they are, or their cores alone."""
        total = sum((self._restored(part) for part in group), Sum())
        if total != value:
            yield total
        units = [(part.core, _proportion(part, group[0])) for part in group]
        if all(core and unit is not None for core, unit in units):
            alone = Sum.collect((core, unit) for core, unit in units if unit is not None)
            if alone not in (value, total):
                yield alone

    def _invariant(self, value: Sum) -> Proof | None:
        """A constant less a function of the angle."""
        constant, rest = constant_and_rest(value)
        top = mean_bound(-rest, self.algebra) if constant > 0 else None
        if top is None or constant < top:
            return None
        below = self.of_sum(-rest, CND)
        return below and self._checked("invariant", value, below)

    def _mean_taken(self, value: Sum) -> Proof | None:
        """A kernel of the angle less a constant."""
        constant, rest = constant_and_rest(value)
        if constant >= 0 or not angles.depends_on_angle(rest, self.algebra):
            return None
        below = self.of_sum(rest, PD)
        return below and self._checked("mean taken off", value, below)

    def _gap(self, value: Sum) -> Proof | None:
        """A difference of powers or logarithms."""
        for base in mixtures.bases(value):
            if mixtures.is_gap(value, base, self.algebra):
                below = self.of_sum(base, CND)
                found = below and self._checked("difference of mixtures", value, below)
                if found is not None:
                    return found
        return None

    def _reflected(self, value: Sum) -> Proof | None:
        """The even or odd part of a kernel."""
        if len(value.terms) > 2 * symmetry.MOST:
            return None
        for half, sign in symmetry.halves(value, self.algebra):
            below = self.of_sum(half, PD)
            found = below and self._checked("reflection", value, below)
            if found is None and sign < 0:
                below = self.of_sum(-half, CND)
                found = below and self._checked("odd part", value, below)
            if found is not None:
                return found
        return None

    def _rewritten(self, value: Sum, property_: str) -> Iterator[Proof | None]:
        """The same function, less a multiple of a denominator; not again and again."""
        if self._rewriting > 1:
            return
        name = "identity" if property_ == PD else "identity of c.n.d. functions"
        for other in self._others(value):
            self._rewriting += 1
            try:
                below = self.of_sum(other, property_)
            finally:
                self._rewriting -= 1
            if below is not None:
                yield self._checked(name, value, below, property_=property_)

    def _others(self, value: Sum) -> Iterator[Sum]:
        below = {
            atom.key: atom
            for product, _ in value.terms
            for atom, exponent in product
            if atom.head == "sum" and exponent == -1
        }
        for atom in list(below.values())[:3]:
            base = atom.args[0]
            top = Sum.collect(
                (tuple(p for p in product if p[0] != atom), factor)
                for product, factor in value.terms
                if dict(product).get(atom) == -1
            )
            rest = Sum.collect(t for t in value.terms if dict(t[0]).get(atom) != -1)
            for quotient in _quotients(top, base, self.algebra):
                left = top - self.algebra.times(quotient, base)
                again = self.algebra.times(left, Sum.of(atom, Fraction(-1)))
                other = self.algebra.cancelled(rest + quotient + again)
                if other != value and len(other.terms) <= len(value.terms) + 4:
                    yield other
            yield from self._divided_through(top, rest, base)
        yield from self._over_one_line(value)

    def _divided_through(self, top: Sum, rest: Sum, base: Sum) -> Iterator[Sum]:
        """1 / (x + y + x y) as 1 / (x y (1 / x + 1 / y + 1))."""
        for product, factor in base.terms:
            part = Sum(((product, Fraction(1)),))
            if factor <= 0 or len(part.points) != 2 or self.algebra.swapped(part) != part:
                continue
            if not self.algebra.world.range(part).positive or len(
                parts_of(part, self.algebra)[0].core
            ):
                continue
            inverse = self.algebra.power(part, Fraction(-1))
            inner = self.algebra.times(base, inverse)
            below = self.algebra.times(inverse, self.algebra.power(inner, Fraction(-1)))
            yield rest + self.algebra.times(top, below)

    def _over_one_line(self, value: Sum) -> Iterator[Sum]:
        """All terms over one denominator, where that makes them fewer."""
        lowest: dict[Atom, Fraction] = {}
        for product, _ in value.terms:
            for atom, exponent in product:
                if atom.head == "sum" and isinstance(exponent, Fraction) and exponent < 0:
                    lowest[atom] = min(lowest.get(atom, Fraction(0)), exponent)
        if not lowest or any(exponent.denominator != 1 for exponent in lowest.values()):
            return
        top, below = Sum(), ONE
        for product, factor in value.terms:
            part = Sum(((tuple(p for p in product if p[0] not in lowest), factor),))
            own = dict(product)
            for atom, exponent in lowest.items():
                missing = own.get(atom, Fraction(0)) - exponent
                if not isinstance(missing, Fraction) or missing > 4:
                    return
                part = self.algebra.times(part, self.algebra.power(atom.args[0], missing))
            top = top + part
        for atom, exponent in lowest.items():
            below = self.algebra.times(below, self.algebra.power(atom.args[0], exponent))
        other = self.algebra.times(top, below)
        if len(other.terms) < len(value.terms):
            yield other

    def _separated(self, value: Sum, property_: str) -> Proof | None:
        needs = requirements(value, self.algebra, property_)
        if needs is None or any(need == (value, property_) for need in needs):
            return None
        below = []
        for core, need in needs:
            found = self.of_sum(core, need)
            if found is None:
                return None
            below.append(found)
        name = "features and kernels" if property_ == PD else "terms without interaction"
        return self._of(name, value, property_, *below)

    def _one_product(self, value: Sum) -> Proof | None:
        """One product of powers, with the factor 1: a single core."""
        parts = parts_of(value, self.algebra)
        plain = len(parts) == 1 and parts[0].is_plain and parts[0].entry(0, 0) == ONE
        if not plain or len(value.terms) != 1:
            return None
        product = value.terms[0][0]
        if len(product) == 1:
            return self._one_power(value, *product[0])
        below = []
        for factor in factors(product):
            found = self.of_sum(factor, PD)
            if found is None:
                return None
            below.append(found)
        return self._of("schur product", value, PD, *below)

    def _one_power(self, value: Sum, atom: Atom, exponent: Exponent) -> Proof | None:
        if atom == E:
            return self._exponential(value, as_sum(exponent))
        size = range_of(self.algebra, exponent)
        if atom.head == "sum" and getattr(size, "negative", False):
            found = self._reciprocal(value, atom.args[0])
            if found is not None:
                return found
            if mixtures.is_sech(value, self.algebra):
                return self._of("sech", value)
        if atom.head == "pos" and askey((atom, exponent), self.algebra)[0]:
            return self._of("askey", value)
        if (atom.head in ("asin", "tan") and exponent == 1) or (
            atom.head == "cos" and exponent == -1
        ):
            below = self.of_sum(atom.args[0], PD)
            return below and self._checked("power series", value, below)
        return self._whole(value, atom, exponent)

    def _whole(self, value: Sum, atom: Atom, exponent: Exponent) -> Proof | None:
        world = self.algebra.world
        total = as_sum(exponent)
        if exponent == 1 or not (world.is_whole(total) and world.range(total).nonnegative):
            return None
        base = atom.args[0] if atom.head == "sum" else Sum.of(atom)
        below = self.of_sum(base, PD)
        return below and self._checked("whole power", value, below)

    def _exponential(self, value: Sum, exponent: Sum) -> Proof | None:
        below = self.of_sum(exponent, PD)
        if below is not None:
            return self._of("exponential", value, PD, below)
        found = self.of_sum(-exponent, CND)
        return found and self._of("schoenberg", value, PD, found)

    def _reciprocal(self, value: Sum, base: Sum) -> Proof | None:
        if not is_positive(self.algebra, base):
            return None
        below = self.of_sum(base, CND)
        return below and self._checked("laplace transform", value, below)

    def _series(self, value: Sum) -> Proof | None:
        """A power series in one kernel."""
        for kernel in series.candidates(value):
            if kernel == value:
                continue
            pieces = series.pieces_of(value, kernel)
            known = pieces is None and known_series(value, kernel, self.algebra)
            if known or (pieces is not None and series.is_nonnegative(pieces)):
                below = self.of_sum(kernel, PD)
                found = below and self._checked("power series", value, below)
                if found is not None:
                    return found
        return None

    def _anchored(self, value: Sum) -> Proof | None:
        try:
            zero = self.algebra.at_zero(value)
        except TooLarge:
            return None
        if zero is None or zero:
            return None
        below = self.of_sum(-value, CND)
        return below and self._of("anchored", value, PD, below)

    def _common_factor(self, value: Sum) -> Proof | None:
        """A core that all terms share, times a sum that is a kernel as a whole."""
        parts = parts_of(value, self.algebra)
        if len(parts) < 2:
            return None
        shared = dict(parts[0].core)
        for part in parts[1:]:
            own = dict(part.core)
            shared = {a: e for a, e in shared.items() if own.get(a) == e}
        if not shared:
            return None
        common = Sum(((tuple(sorted(shared.items(), key=lambda i: i[0].key)), Fraction(1)),))
        inverse = Sum.collect(
            [(tuple((a, lean(-as_sum(e))) for a, e in common.terms[0][0]), Fraction(1))]
        )
        rest = self.algebra.times(value, inverse)
        first = self.of_sum(common, PD)
        second = first and self.of_sum(rest, PD)
        if first is None or second is None:
            return None
        return self._checked("schur product", value, first, second)

    def _one_negative(self, value: Sum) -> Proof | None:
        if len(value.terms) != 1 or abs(value.terms[0][1]) != 1 or len(value.terms[0][0]) != 1:
            return None
        (atom, exponent), factor = value.terms[0][0][0], value.terms[0][1]
        if factor == -1:
            return self._divisor_logarithm(value)
        if atom.head == "log" and exponent == 1 and is_positive(self.algebra, atom.args[0]):
            below = self.of_sum(atom.args[0], CND)
            return below and self._checked("logarithm", value, below, property_=CND)
        size = range_of(self.algebra, exponent)
        small = getattr(size, "high", None) is not None and size.high <= 1  # type: ignore[attr-defined]
        if exponent == 1 or not (getattr(size, "positive", False) and small):
            return None
        base = atom.args[0] if atom.head == "sum" else Sum.of(atom)
        if not is_nonnegative_diagonal(self.algebra, base):
            return None
        below = self.of_sum(base, CND)
        return below and self._checked("bernstein function", value, below, property_=CND)

    def _divisor_logarithm(self, value: Sum) -> Proof | None:
        return self._checked("logarithm of a divisible kernel", value, property_=CND)

    # Steps

    def _of(self, rule: str, value: Sum, property_: str = PD, *below: Proof) -> Proof:
        return FormulaProof(rule, claim(str(value), self.formula), tuple(below), property_)

    def _step(self, rule: str, text: str, *below: Proof, property_: str = PD) -> Proof | None:
        found = FormulaProof(rule, claim(text, self.formula), tuple(below), property_)
        return found if all(condition.holds for condition in found.conditions) else None

    def _checked(
        self, rule: str, value: Sum, *below: Proof, property_: str = PD
    ) -> Proof | None:
        found = self._of(rule, value, property_, *below)
        return found if all(condition.holds for condition in found.conditions) else None

    def _tick(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime
