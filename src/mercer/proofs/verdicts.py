r"""`prove`: is a function positive definite? A proof, a refutation, or what is known.

Formulas are searched for a proof and for points that refute them; a kernel carries its proof;
a Python function can be refuted, never proved; a matrix is decided by its eigenvalues, exactly
where that matters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Batch
from mercer.errors import InvalidFormula, InvalidParameter, InvalidProof, NotAKernel
from mercer.kernels.base import Kernel
from mercer.kernels.proof import Proof
from mercer.proofs.certificates import Refutation
from mercer.proofs.formulas import FormulaKernel
from mercer.proofs.matrices import MatrixEvidence, judge
from mercer.proofs.normal import Algebra
from mercer.proofs.reading import Formula, read
from mercer.proofs.refute import attack_callable, refute
from mercer.proofs.refute_cases import cases, dimensions
from mercer.proofs.refute_points import simple_points
from mercer.proofs.search import Search
from mercer.proofs.spaces import Space
from mercer.proofs.sums import Sum, TooLarge

STATUS = {"pd": 0, "not_pd": 1, "unknown": 2}
"""Each status, and the exit code that says it on the command line."""

SHOWN = 200
"""Signs of a formula that an error shows."""

UNEVEN = 1e-6
"""How far k(x, y) and k(y, x) may be apart in floating point, relative to their size."""

FIRST = 0.3
"""The share of the time that the search for a proof may take before points are tried."""

LAST = 0.35
"""The share that is kept for a second search, where the first one did not come to its end."""


@dataclass(frozen=True)
class Verdict:
    """What is known of a function, and why.

    Attributes:
        status: "pd", "not_pd" or "unknown".
        subject: The function in words.
        domain: Where its points live.
        proof: Why it is positive definite; None where that is not known.
        refutation: Points and weights that show the contrary; None where none are known.
        evidence: What else is known: the matrix looked at, or how far a search got.
        formula: The formula, if it is one.
        note: What the verdict leaves out, such as points where the formula is not defined.
        seconds: How long it took.
    """

    status: str
    subject: str
    domain: str
    proof: Proof | None = None
    refutation: Refutation | None = None
    evidence: Any = None
    formula: Formula | None = None
    note: str = ""
    seconds: float = 0.0
    _kernel: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The proved function as a kernel.

        Raises:
            NotAKernel: It is not proved.
            InvalidParameter: It has parameters: `bind` gives them values.
        """
        return self.bind()

    def bind(self, **values: float) -> Kernel:
        """The kernel of a proved formula, with a value for each of its parameters.

        Args:
            **values: A number for each parameter.
        """
        if self._kernel is not None and not values:
            return self._kernel
        if self.status != "pd" or self.formula is None:
            raise NotAKernel(
                f"{self.subject} is not proved to be positive definite on {self.domain}, so it "
                "is no kernel.\nPrint the verdict: it says what is known."
            )
        formula = self.formula
        return FormulaKernel(
            str(formula.tree), str(formula.space), str(formula.given), tuple(values.items())
        )

    @property
    def exit_code(self) -> int:
        """0 for p.d., 1 for not p.d., 2 for unknown."""
        return STATUS[self.status]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data: the status with the proof, or the points and weights."""
        found: dict[str, Any] = {"status": self.status, "formula": self.subject}
        found["domain"] = self.domain
        if self.note:
            found["note"] = self.note
        if self.proof is not None:
            found["proof"] = self.proof.to_dict()
        if self.refutation is not None:
            found |= self.refutation.to_dict()
        if self.status == "unknown" and self.evidence is not None:
            found["evidence"] = str(self.evidence)
        return found

    def __str__(self) -> str:
        words = {"pd": "is positive definite", "not_pd": "is not positive definite"}
        head = f"{self.subject} {words.get(self.status, 'may or may not be positive definite')}"
        lines = [f"{head} on {self.domain}."]
        lines += [f"Note: {self.note}"] if self.note else []
        for part in (self.proof, self.refutation, self.evidence):
            lines += [str(part)] if part is not None else []
        return "\n".join(lines)


def prove(
    formula: Any,
    domain: str | Space = "reals",
    seconds: float = 10.0,
    *,
    assume: str = "",
    points: Any = None,
    seed: int = 0,
) -> Verdict:
    """Is a function positive definite? A verdict with a proof, a refutation, or evidence.

    Args:
        formula: The text of a formula in x and y; a kernel; a symmetric matrix; or a Python
            function of two points, which can be refuted and never proved.
        domain: Where the points live: "reals", "positive", "nonnegative", "naturals",
            "interval(a, b)", "vectors", "vectors(d)", "sphere(d)", "circle" or "sets".
        seconds: How long to search.
        assume: What is known of parameters, such as "s > 0"; it may also follow the formula.
        points: For a Python function, or a kernel that was assumed: points to try.
        seed: For the points that are drawn at random.

    Returns:
        The verdict. "unknown" is an answer: neither a proof nor a refutation was found.

    Raises:
        InvalidFormula: The text is no formula, is not symmetric, or is defined nowhere.

    Example:
        >>> import mercer as mc
        >>> verdict = mc.prove("min(x, y) / max(x, y)", domain="positive")
        >>> verdict.status
        'pd'
        >>> verdict.kernel.pair(2.0, 8.0)
        0.25
        >>> print(mc.prove("max(x, y)", domain="nonnegative").refutation)
        max(x, y) is not positive definite on the numbers >= 0:
        ...
    """
    start = time.monotonic()
    if not (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds > 0):
        raise InvalidParameter(f"seconds must be a positive number, got {seconds!r}.")
    deadline = start + float(seconds)
    if isinstance(formula, Kernel):
        found = _of_kernel(formula, points, deadline, seed)
    elif isinstance(formula, str | Formula):
        read_formula = (
            formula if isinstance(formula, Formula) else read(formula, domain, assume)
        )
        found = _of_formula(read_formula, deadline, seed)
    elif callable(formula) and not hasattr(formula, "__array__"):
        found = _of_function(formula, domain, points, deadline, seed)
    else:
        found = _of_matrix(formula)
    return _timed(found, time.monotonic() - start)


def _timed(verdict: Verdict, seconds: float) -> Verdict:
    object.__setattr__(verdict, "seconds", seconds)
    return verdict


# ------------------------------------------------------------------------------- formulas


def _of_formula(formula: Formula, deadline: float, seed: int) -> Verdict:
    note = _checked(formula, deadline)
    subject, domain = str(formula.tree), str(formula.space)
    shared = {"subject": subject, "domain": domain, "formula": formula}
    now = time.monotonic()
    search = Search(formula, now + FIRST * (deadline - now))
    proof = _standing(search.prove())
    if proof is None:
        last = LAST * (deadline - now) if search.is_late else 0.0
        refutation = refute(formula, deadline - last, seed)
        if refutation is not None:
            return Verdict("not_pd", refutation=refutation, **shared)  # type: ignore[arg-type]
        proof = _standing(Search(formula, deadline).prove()) if search.is_late else None
    if proof is None:
        evidence = "No theorem applies, and no points were found that refute it."
        return Verdict("unknown", evidence=evidence, **shared)  # type: ignore[arg-type]
    return Verdict("pd", proof=proof, note=note, **shared)  # type: ignore[arg-type]


def _standing(proof: Proof | None) -> Proof | None:
    """The proof, if the checker accepts every step: what it does not accept proves nothing."""
    if proof is None:
        return None
    try:
        proof.check()
    except InvalidProof:
        return None
    return proof


def _checked(formula: Formula, deadline: float) -> str:
    """Raise unless a formula is symmetric and defined somewhere; a note where it is not."""
    case = cases(formula)[0]
    points = simple_points(formula.space, dimensions(formula)[-1])
    x, y = (points[:, None, :], points[None]) if case.wide else (points[:, None], points[None])
    values = case.values(x, y)
    if np.isnan(np.diagonal(values)).all():
        raise InvalidFormula(
            f"{_short(formula)} is not defined where x = y: it divides by zero, or takes a "
            "root or logarithm of a negative number there.\nA kernel has a value for every "
            "point with itself."
        )
    algebra = Algebra.of(formula)
    algebra.deadline = time.monotonic() + FIRST * (deadline - time.monotonic())
    _require_symmetric(formula, values, algebra)
    return _undefined_note(formula, algebra)


def _require_symmetric(formula: Formula, values: Any, algebra: Algebra) -> None:
    with suppress(TooLarge, RecursionError):
        value = algebra.normal(formula.tree)
        if algebra.swapped(value) == value:
            return
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(values), np.abs(values.T))
        wrong = np.abs(values - values.T) > UNEVEN * size
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise InvalidFormula(
            f"{_short(formula)} is not symmetric: for two points of the domain k(x, y) = "
            f"{values[i, j]:.6g} and k(y, x) = {values[j, i]:.6g}.\nA kernel is symmetric; the "
            "symmetric part of a function k is (k(x, y) + k(y, x)) / 2."
        )


def _short(formula: Formula) -> str:
    """The formula for an error, which a long one would fill."""
    text = str(formula)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _undefined_note(formula: Formula, algebra: Algebra) -> str:
    """What a proof leaves out: points where the formula has no value."""
    try:
        if _is_defined(algebra.normal(formula.tree), algebra):
            return ""
    except (TooLarge, RecursionError):
        return ""
    return "points where the formula is not defined are left out."


def _is_defined(value: Sum, algebra: Algebra) -> bool:
    """Whether no term divides by zero or takes a root of what may be negative."""
    for product, _ in value.terms:
        for atom, exponent in product:
            own = algebra.world.range_of_atom(atom)
            if isinstance(exponent, Sum):
                size = algebra.world.range(exponent)
                good = atom.head == "e" or own.positive or algebra.world.is_whole(exponent)
                good = good or (own.nonnegative and size.positive)
            elif exponent < 0:
                good = own.positive or own.negative or _positive_diagonal(atom, algebra)
            else:
                good = exponent.denominator == 1 or own.nonnegative
            inner = [arg for arg in (*atom.args, exponent) if isinstance(arg, Sum)]
            if atom.head == "log":
                good = (good and own.low is not None) or _positive_diagonal(atom, algebra)
            if not good or not all(_is_defined(part, algebra) for part in inner):
                return False
    return True


def _positive_diagonal(atom: Any, algebra: Algebra) -> bool:
    """Whether a base is positive because it is c.n.d. and so on its diagonal."""
    if atom.head not in ("sum", "log"):
        return False
    inner = atom.args[0]
    return bool(
        algebra.world.range(inner).positive
        or algebra.world.range(algebra.diagonal(inner)).positive
    )


# ------------------------------------------------------------- kernels, functions, matrices


def _of_kernel(kernel: Kernel, points: Any, deadline: float, seed: int) -> Verdict:
    proof = kernel.proof()
    subject, domain = str(kernel), kernel.domain.name
    if not proof.is_assumed:
        proof.check()
        return Verdict("pd", subject, domain, proof=proof, _kernel=kernel)
    if points is None:
        evidence = "It is assumed, not proved.\nGive points, and they may refute it."
        return Verdict("unknown", subject, domain, evidence=evidence)
    batch = points if isinstance(points, Batch) else kernel.domain.encode(points)
    found = judge(kernel.square(batch))
    status = "not_pd" if found.status == "not_pd" else "unknown"
    _ = deadline, seed
    return Verdict(status, subject, domain, evidence=found)


def _of_function(
    function: Callable[[Any, Any], Any], domain: Any, points: Any, deadline: float, seed: int
) -> Verdict:
    name = getattr(function, "__name__", type(function).__name__)
    where = "the points given" if points is not None else str(domain)
    found = attack_callable(
        function, points=points, domain=domain, deadline=deadline, seed=seed
    )
    status = "not_pd" if found.negative else "unknown"
    return Verdict(status, name, where, evidence=found)


def _of_matrix(K: Any) -> Verdict:
    found: MatrixEvidence = judge(K)
    size = len(found.matrix)
    return Verdict(found.status, f"the {size} x {size} matrix", "its rows", evidence=found)
