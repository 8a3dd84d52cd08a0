r"""The search for a proof: backwards from the claim, theorem by theorem.

What is found is a tree of steps; `Proof.check` verifies each of them anew and knows nothing of
the search.
"""

from __future__ import annotations

from fractions import Fraction

from mercer.kernels.proof import Proof
from mercer.proofs import symmetry
from mercer.proofs.attempts import Attempts, OutOfTime
from mercer.proofs.cases import CND, PD, claim
from mercer.proofs.reading import Formula
from mercer.proofs.spaces import Space, larger
from mercer.proofs.steps import FormulaProof
from mercer.proofs.sums import TooLarge
from mercer.proofs.trees import Tree


class Search(Attempts):
    """One search, for a formula as the user wrote it.

    Args:
        formula: The formula whose domain and assumptions hold throughout.
        deadline: When to stop, by `time.monotonic`.
    """

    def __init__(self, formula: Formula, deadline: float) -> None:
        super().__init__(formula, deadline)
        self._wider: Search | None = None
        self._trees: dict[tuple[str, str], Proof | None] = {}
        self.is_late = False

    def prove(self) -> Proof | None:
        """A proof that the formula is p.d., or None where none was found."""
        tree = self.formula.tree
        try:
            return self.of_tree(tree, str(tree)) or self._with_care().of_tree(tree, str(tree))
        except OutOfTime:
            self.is_late = True
            return None
        except RecursionError:  # functions within functions, deeper than can be followed
            return None

    def _with_care(self) -> Search:
        """A second search, which tries also what takes long, and knows what was proved."""
        again = Search(self.formula, self.deadline)
        again.thorough = True
        again.algebra = self.algebra
        again._found = {key: proof for key, proof in self._found.items() if proof}
        again._trees = {key: proof for key, proof in self._trees.items() if proof}
        return again

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
            search = Search(line, self.deadline)
            search.thorough = self.thorough
            below = search.of_tree(line.tree, str(line.tree))
            return below and self._step("line", text, below)
        wider = larger(self.formula.space)
        if wider is None:
            return None
        if self._wider is None:
            whole = Formula(tree, wider, self.formula.given)
            self._wider = Search(whole, self.deadline)
            self._wider.thorough = self.thorough
        below = self._wider.of_tree(tree, str(tree))
        return below and self._step("restriction", text, below)

    def _by_shape(self, tree: Tree, text: str, property_: str) -> Proof | None:
        """Factor by factor, term by term, power of a base."""
        match tree.head:
            case "multiply" if property_ == PD:
                found = self._positive_multiple(tree, text)
                return found or self._parts(tree, text, "schur product", PD)
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

    def _positive_multiple(self, tree: Tree, text: str) -> Proof | None:
        """A kernel times what depends on no point."""
        rest = [part for part in tree.args if any(p.head == "point" for p in part.walk())]
        if not 0 < len(rest) < len(tree.args):
            return None
        inner = rest[0] if len(rest) == 1 else Tree("multiply", tuple(rest))
        below = self.of_tree(inner)
        return below and self._step("positive multiple", text, below)

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
        proofs: list[Proof] = []
        hard: list[Tree] = []
        for group in groups:
            found = self.of_tree(group, property_=property_)
            if found is None:
                hard.append(group)
            else:
                proofs.append(found)
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
        groups: list[Tree] = []
        rest: list[Tree] = []
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
