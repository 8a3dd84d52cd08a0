"""Theorem by theorem: what may prove that a sum in normal form is a kernel, or c.n.d."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

from mercer.kernels.proof import Proof
from mercer.proofs import angles, counts, mixtures, series, symmetry
from mercer.proofs.cases import CND, PD, claim
from mercer.proofs.compact import is_wendland
from mercer.proofs.composed import (
    is_nonnegative_diagonal,
    is_positive,
    known_series,
    range_of,
)
from mercer.proofs.cores import requirements, together
from mercer.proofs.leaves import at_most, leaf_property
from mercer.proofs.minima import is_green, is_monotone
from mercer.proofs.normal import ONE, Algebra, E
from mercer.proofs.reading import Formula
from mercer.proofs.rewriting import proportion, rewritten
from mercer.proofs.separation import Part, factors, parts_of
from mercer.proofs.stationary import (
    askey,
    constant_and_rest,
    fourier,
    is_bounded_difference,
    is_invariant,
)
from mercer.proofs.steps import FormulaProof
from mercer.proofs.sums import Atom, Exponent, Sum, TooLarge, as_sum, lean

DEEPEST = 14
"""Theorems one below the other."""


_WHOLE = {
    "increasing function of a minimum": is_monotone,
    "green": is_green,
    "bounded difference": is_bounded_difference,
    "counting": counts.is_count,
    "poisson": angles.is_log_of_cosine,
    "askey": angles.is_askey,
    "wendland": is_wendland,
}
"""Theorems about a sum as a whole, and when they apply."""


class OutOfTime(Exception):
    """The search took longer than it may."""


class Attempts:
    """What was tried for the sums of one domain, with a memory of what was proved.

    Args:
        formula: The formula whose domain and assumptions hold throughout.
        deadline: When to stop, by `time.monotonic`.
    """

    def __init__(self, formula: Formula, deadline: float) -> None:
        self.formula, self.deadline = formula, deadline
        self.algebra = Algebra.of(formula)
        self.algebra.deadline = deadline
        self._found: dict[tuple[str, str], Proof | None] = {}
        self._open: set[tuple[str, str]] = set()
        self._depth = 0
        self._rewriting = 0
        self.thorough = False

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
        yield self._common_factor(value)
        if self.thorough:
            yield self._gap(value)
            yield self._peeled(value, PD)
            yield self._reflected(value)
            yield from self._rewritten(value, PD)

    def _negatives(self, value: Sum) -> Iterator[Proof | None]:
        if mixtures.is_convex_of_sum(value, self.algebra):
            yield self._of("sum of two points", value, CND)
        yield self._one_negative(value)
        yield self._separated(value, CND)
        if self.thorough:
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
        alike = [n for n, (part, _) in enumerate(easy) if proportion(part, last) is not None]
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
        units = [(part.core, proportion(part, group[0])) for part in group]
        if all(core and unit is not None for core, unit in units):
            alone = Sum.collect((core, unit) for core, unit in units if unit is not None)
            if alone not in (value, total):
                yield alone

    def _invariant(self, value: Sum) -> Proof | None:
        """A constant less a function of the angle."""
        constant, rest = constant_and_rest(value)
        if constant <= 0 or not is_invariant(-rest, self.algebra):
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
        for other in rewritten(value, self.algebra):
            self._rewriting += 1
            try:
                below = self.of_sum(other, property_)
            finally:
                self._rewriting -= 1
            if below is not None:
                yield self._checked(name, value, below, property_=property_)

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
        if atom.head == "sum" and size.negative:
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
        if exponent == 1 or not (size.positive and at_most(size, 1)):
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
