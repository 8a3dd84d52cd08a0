r"""Is this symmetric matrix positive semidefinite? The three equivalents, certified.

For a symmetric $K$ these are one: no eigenvalue is negative; $K = P^\top P$ for a real $P$;
$x^\top K x \ge 0$ for all $x$. Computed eigenvalues settle none of them, as rounding moves
them, so a verdict rests on more:

- "pd": the matrix as given, to the last bit of its entries, is positive semidefinite. Either
  elimination in whole numbers says so, or Cholesky's method ran through although more than
  its own rounding had been taken off the diagonal (Rump 2006).
- "not_pd": whole numbers $x$ have $x^\top K x < 0$ in exact arithmetic, and keep it for every
  matrix whose entries differ from these by rounding. It is structural: whatever the exact
  similarities are, no kernel gives them.
- "unknown": neither. It is `numerical` if there is a $P$ for which $P^\top P$ and $K$ differ
  by no more than the rounding of the entries: then nothing is shown to be wrong but rounding.
  The matrix as given may still have an $x$ with $x^\top K x < 0$, which is then told. To call
  it "pd" would be false; "not_pd" would send its owner to mend a kernel that is whole.

An entry $K_{ij}$ is taken to be off by at most $r \max(|K_{ij}|, \sqrt{|K_{ii} K_{jj}|})$.
If $K$ is to be positive semidefinite, the norm of such errors is at most
$r \operatorname{tr} K \le r n \max|K|$: eigenvalues down to $-r \operatorname{tr} K$ may be
rounding. By default $r$ is what kernels promise of their values, $2^{-38}$ in float64 and
$2^{-13}$ in float32, and what is below $2^{-1022}$ may have underflowed. Whole numbers up to
$2^{53}$ are exact, and so are fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidParameter, InvalidProof, InvalidType
from mercer.kernels.parameters import number
from mercer.types import Array, Indices

Reals: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.object_]
"""Whole numbers of any size."""
Weights: TypeAlias = tuple[Fraction, ...]
Status: TypeAlias = Literal["pd", "not_pd", "unknown"]

UNIT = 2.0**-53
"""Half the distance from 1 to the next number."""

SMALLEST = 2.0**-1022
"""An entry that is rounded may be off by as much, as smaller numbers underflow."""

TINY = 2.0**-1020
"""More than an underflow loses, also where small numbers are flushed to zero."""

MOST_EXACT_ROWS = 512
"""Above so many rows no elimination in whole numbers is begun."""

MOST_EXACT_WORK = 2.5e8
"""About half a second: an entry costs 100 and the square of its words of 30 bits."""

MOST_NARROWED = 96
"""Above so many weights none is tried to be spared: each trial is a decomposition."""

STEPS = (*range(1, 65), *(2**k for k in (*range(7, 17), 20, 28, 36, 44, 52)))
"""The largest weight of a refutation. Short ones are tried first."""


class Symmetric(NamedTuple):
    """A matrix that was found symmetric, up to the rounding of its entries."""

    given: NDArray[Any]
    """As it came: floats, whole numbers or fractions."""

    part: Reals
    """Its symmetric part, rounded to float64."""

    rounding: float
    """How far an entry may be off, relative to max(|K_ij|, sqrt|K_ii K_jj|)."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class MatrixEvidence:
    """What is known of a symmetric matrix: is it positive semidefinite?

    Attributes:
        matrix: The matrix as it was given.
        status: "pd", "not_pd" or "unknown", for the matrix as given.
        numerical: Is an "unknown" matrix positive semidefinite up to the rounding of its
            entries? A "not_pd" is structural: it is beyond that.
        reason: How the status was settled, in words.
        eigenvalues: The computed eigenvalues, in ascending order.
        rounding: How far an entry may be off, relative to max(|K_ij|, sqrt|K_ii K_jj|).
        explained: How far below zero that may push an eigenvalue.
        strict: Is the matrix known to be strictly positive definite?
        factor: P with K = P'P up to `residual`, unless the status is "not_pd".
        residual: The largest entry of |K - P'P|, relative to sqrt(K_ii K_jj), beyond what may
            have underflowed.
        bound: What the theory of the factorization allows for `residual`.
        weights: Whole numbers x, one a row, with x'Kx < 0, if any were found.
        value: The number x'Kx, exactly.
        jitter: With so much more on the diagonal, an "unknown" matrix is "pd".
    """

    matrix: NDArray[Any]
    status: Status
    numerical: bool
    reason: str
    eigenvalues: Reals
    rounding: float
    explained: float
    strict: bool = False
    factor: Reals | None = None
    residual: float = 0.0
    bound: float = 0.0
    weights: Weights | None = None
    value: Fraction | None = None
    jitter: float = 0.0

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that have a weight: these points alone show that x'Kx < 0."""
        return tuple(i for i, x in enumerate(self.weights or ()) if x)

    def check(self) -> None:
        """Verify the certificate from scratch, in exact or in rigorous arithmetic.

        Raises:
            InvalidProof: It does not hold.
        """
        if self.weights is not None:
            unsure = self.rounding if self.status == "not_pd" else 0.0
            values = quadratic_form(self.matrix, self.weights, unsure)
            fine = values[0] == self.value and values[1] < 0
        else:
            again = judge(self.matrix, rounding=self.rounding)
            fine = (self.status, self.numerical) == (again.status, again.numerical)
        if not fine:
            raise InvalidProof(
                f"the certificate that the matrix is {self.status!r} does not hold: it belongs "
                "to another matrix, or it was changed.\nAsk mercer.prove(K) again."
            )

    def __repr__(self) -> str:
        n = len(self.matrix)
        return f"MatrixEvidence({n} x {n}, {self.status!r}, numerical={self.numerical})"

    def __str__(self) -> str:
        n, low, high = len(self.matrix), self.eigenvalues[0], self.eigenvalues[-1]
        size = f"{n} x {n}, computed eigenvalues from {low:.3g} to {high:.3g}"
        lines = [f"{_HEADLINES[self.status, self.strict or self.numerical]}: {size}"]
        lines.append(f"  {self.reason}")
        if self.weights is not None:
            shown = [f"x[{i}] = {_short(self.weights[i])}" for i in self.rows[:8]]
            more = f" and {len(self.rows) - 8} more" if len(self.rows) > 8 else ""
            lines.append(f"  x'Kx = {_short(self.value)} for {', '.join(shown)}{more}")
        if self.factor is not None:
            lines.append(
                f"  K = P'P for a P of {len(self.factor)} rows, up to {self.residual:.1g} "
                "sqrt(K[i, i] K[j, j])"
            )
        return "\n".join(lines + [f"  {line}" for line in self._advice()])

    def _advice(self) -> list[str]:
        if self.status == "pd":
            return []
        reach = f"rounding explains eigenvalues down to {0 - self.explained:.1g}"
        if self.status == "not_pd":
            why = reach + ", no more" if self.rounding else "the entries are exact"
            mend = "Correct the similarity, or mend the matrix with mercer.repair(K)."
            return [f"This is structural: {why}.", f"No kernel gives this matrix. {mend}"]
        why = f"This is numerical: {reach}." if self.numerical else "It is too close to call."
        return [
            why,
            f"Where it hurts, add {self.jitter:.2g} to the diagonal: then it is certified.",
        ]


_HEADLINES = {
    ("pd", True): "positive definite",
    ("pd", False): "positive semidefinite",
    ("not_pd", False): "not positive semidefinite",
    ("unknown", True): "positive semidefinite up to rounding",
    ("unknown", False): "unknown whether positive semidefinite",
}


def _short(value: Fraction | None) -> str:
    """A number of any size in a few characters, exact where that is short."""
    value = value or Fraction(0)
    if value.numerator.bit_length() + value.denominator.bit_length() <= 60:
        return str(value)
    digits = f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"
    return f"about {Decimal(digits).normalize():g}"


def judge(K: Any, *, rounding: float | None = None) -> MatrixEvidence:
    r"""Is K positive semidefinite? The answer, with its certificate.

    Args:
        K: A symmetric matrix of floats, whole numbers or fractions.
        rounding: How far an entry may be off, relative to
            $\max(|K_{ij}|, \sqrt{|K_{ii} K_{jj}|})$; None for what the entries suggest.

    Raises:
        InvalidInput: K is not square, not symmetric up to rounding, empty or not finite.
        InvalidType: K is no table of real numbers.

    Example:
        >>> from mercer.proofs.matrices import judge
        >>> print(judge([[1, 2], [2, 1]]))
        not positive semidefinite: 2 x 2, computed eigenvalues from -1 to 3
          Evaluated in exact arithmetic.
          x'Kx = -2 for x[0] = 1, x[1] = -1
          This is structural: the entries are exact.
          No kernel gives this matrix. Correct the similarity, or mend the matrix with
          mercer.repair(K).
        >>> judge([[1, 1], [1, 1]]).status
        'pd'
    """
    K = symmetric(K, rounding)
    known = {
        "matrix": K.given,
        "eigenvalues": _eigenvalues(K.part),
        "rounding": K.rounding,
        "explained": float((K.rounding * np.abs(K.part.diagonal())).sum()),
    }
    if is_definite(K.part):
        reason = "Cholesky's method runs, with its own rounding taken off the diagonal (Rump)."
        known |= {"strict": True, **_factor_strict(K.part)}
        return MatrixEvidence(status="pd", numerical=False, reason=reason, **known)
    x = _find_weights(K, K.rounding)
    if x is not None:
        return _refuted(K, x, known)
    return _nearly_singular(K, known)


def _refuted(K: Symmetric, x: Weights, known: dict[str, Any]) -> MatrixEvidence:
    value = quadratic_form(K.given, x)[0]
    reason = "Evaluated in exact arithmetic."
    known |= {"weights": x, "value": value}
    return MatrixEvidence(status="not_pd", numerical=False, reason=reason, **known)


def _nearly_singular(K: Symmetric, known: dict[str, Any]) -> MatrixEvidence:
    """What is known of a matrix with an eigenvalue that floats cannot tell from zero."""
    n = len(K.part)
    exact = eliminate(whole(K.given)[0]) if n <= MOST_EXACT_ROWS else None
    found = _factor(K.part, exact if isinstance(exact, int) else None)
    if isinstance(exact, int):
        reason = f"Elimination in whole numbers: {exact} positive pivots, and then zeros."
        found["strict"] = exact == n
        return MatrixEvidence(status="pd", numerical=False, reason=reason, **known, **found)
    x = _shorter(K, exact) if exact else None
    if x is None and K.rounding:  # without rounding it was sought already
        x = _find_weights(K, 0.0)
    if x is not None and quadratic_form(K.given, x, K.rounding)[1] < 0:
        return _refuted(K, x, known)
    # Rump's shift for a scaled matrix is below 2 (2n + 16) n u: see `is_definite`. Twice that,
    # and the eigenvalue with the error n u |K| of its computation, |K| being n max|K| at most.
    lowest, size = float(known["eigenvalues"][0]), float(np.abs(K.part).max())
    found["jitter"] = 2 * max(-lowest, 0.0) + 16 * n * (n + 8) * UNIT * size
    numerical = found["residual"] <= max(K.rounding, _gamma(2 * n + 16))
    reason = "Its smallest eigenvalue is too close to zero for a certificate."
    if x is not None:
        reason = (
            "As given it is not, in exact arithmetic; within its rounding lies one that is."
        )
        found |= {"weights": x, "value": quadratic_form(K.given, x)[0]}
    return MatrixEvidence(
        status="unknown", numerical=numerical, reason=reason, **known, **found
    )


# ------------------------------------------------------------------------------- reading


def symmetric(K: Any, rounding: float | None = None) -> Symmetric:
    """Read a matrix that should be symmetric.

    Raises:
        InvalidInput: It is not square, not symmetric up to rounding, empty or not finite.
        InvalidType: It is no table of real numbers.
    """
    given, floats = _square(K)
    unsure = (
        _default_rounding(given) if rounding is None else number("judge", "rounding", rounding)
    )
    if not 0 <= unsure < 1:
        raise InvalidParameter(
            f"judge needs a rounding from 0 up to 1, got {unsure}: it is relative to the size "
            "of the entries. Pass 2.0**-52 for entries that are right to the last digit."
        )
    with np.errstate(under="ignore"):
        apart = np.abs(floats / 2 - floats.T / 2) > unsure * _sizes(floats)
        part = np.where(floats == floats.T, floats, floats / 2 + floats.T / 2)
    # Entries that are exact may differ by less than floats can tell.
    wrong = apart if unsure else np.asarray(given != given.T, dtype=bool)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise InvalidInput(
            f"K is not symmetric: K[{i}, {j}] = {given[i, j]} and K[{j}, {i}] = {given[j, i]}, "
            "which rounding does not explain. A kernel has k(x, y) = k(y, x).\nPass (K + K.T) "
            "/ 2, the only part that acts in x'Kx, if the similarity means no direction."
        )
    return Symmetric(given, part, unsure)


def _square(K: Any) -> tuple[NDArray[Any], Reals]:
    """A table as it came and rounded to float64: square, not empty, and finite."""
    given = _table(K)
    floats: Reals = given.astype(np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise InvalidInput(
            f"a Gram matrix is square and not empty, this one has the shape {given.shape}.\n"
            "Pass all similarities between the points of one list: K[i, j] = k(x_i, x_j)."
        )
    if not np.isfinite(floats).all():
        i, j = np.argwhere(~np.isfinite(floats))[0]
        raise InvalidInput(
            f"K[{i}, {j}] is {floats[i, j]}: a matrix with such entries has no quadratic form."
            "\nLeave out the points that have no similarity, or compute it anew."
        )
    return given, floats


def _table(K: Any) -> NDArray[Any]:
    """An array of floats, whole numbers or fractions."""
    try:
        given = np.array(K)
        if given.dtype == object and given.ndim:
            given = _fractions(given)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"no matrix of finite numbers: {error}.\nPass rows of one length, and leave out "
            "the points that have no similarity."
        ) from error
    if given.dtype.kind not in "biuf" and not (given.dtype == object and given.ndim):
        raise InvalidType(
            f"a matrix of real numbers is needed, got {type(K).__name__} of {given.dtype}.\n"
            "Pass a NumPy array; of a sparse matrix its toarray()."
        )
    given = given.astype(np.float64) if given.dtype.itemsize > 8 else given
    given.setflags(write=False)
    return given


def _fractions(given: NDArray[Any]) -> NDArray[Any]:
    """Numbers of any type, as fractions of the same value."""
    result = np.empty(given.shape, dtype=object)
    for at, value in np.ndenumerate(given):
        if not isinstance(value, Real):
            raise InvalidType(
                f"a matrix of real numbers is needed, and K[{', '.join(map(str, at))}] is "
                f"{value!r}.\nPass a NumPy array of numbers."
            )
        exact = value if isinstance(value, Rational) else Fraction(float(value))
        # Whole numbers of NumPy would overflow inside a fraction.
        result[at] = Fraction(int(exact.numerator), int(exact.denominator))
        float(result[at])  # within the range of floats, or an error
    return result


def _default_rounding(given: NDArray[Any]) -> float:
    """How far entries may be off: not at all if they are whole, or of exact types."""
    if given.dtype.kind != "f" or (
        np.all(given == np.rint(given)) and np.abs(given).max() <= 2**53
    ):
        return 0.0
    return {8: 2.0**-38, 4: 2.0**-13}.get(given.dtype.itemsize, 2.0**-9)


def _sizes(S: Reals) -> Reals:
    """What the rounding of each entry is relative to."""
    lengths = np.sqrt(np.abs(S.diagonal()))
    sizes: Reals = np.maximum(np.abs(S), lengths[:, None] * lengths)
    return sizes


def _eigenvalues(S: Reals) -> Reals:
    """The eigenvalues in ascending order, also of entries near the ends of the range."""
    _, power = np.frexp(np.abs(S).max())
    return powered(np.linalg.eigvalsh(powered(S, -power)), power)


# --------------------------------------------------------------------------- certificates


def powered(S: Array, powers: Any) -> Reals:
    """S times powers of two: without rounding, but at the ends of the range."""
    with np.errstate(over="ignore", under="ignore"):
        result: Reals = np.ldexp(S, powers)
    return result


def scaled(S: Reals) -> tuple[Reals, Indices]:
    """B and h with S = D B D for D = diag(2^h), without rounding; B_ii in [1/2, 2) or zero."""
    _, powers = np.frexp(np.abs(S.diagonal()))
    half = powers.astype(np.int64) // 2
    return powered(S, -half[:, None] - half), half


def _gamma(steps: float) -> float:
    """The relative error of so many roundings in a row (Higham's gamma)."""
    return steps * UNIT / (1 - steps * UNIT)


def is_definite(S: Reals) -> bool:
    r"""Is S, and each matrix that rounds to S, certainly positive definite?

    If Cholesky's method runs to its end on $A$ in floating point, $A$ and some $R^\top R$
    differ in the norm by $\gamma_{n+1} \operatorname{tr} A$ at most, so no eigenvalue of $A$
    is below minus that (Rump 2006). With $A = S - cI$ and a larger $c$, S is definite.

    Example:
        >>> from mercer.proofs.matrices import is_definite
        >>> is_definite(np.array([[2.0, 1.0], [1.0, 2.0]])), is_definite(np.ones((2, 2)))
        (True, False)
    """
    n = len(S)
    B, _ = scaled(S)
    own = B.diagonal()
    if not ((own > 0).all() and np.isfinite(B).all()):
        return False
    # n + 1 roundings of the method, 2 where it multiplies by reciprocals, 4 of the subtraction
    # of c (a diagonal below 2 and a trace above n / 2), n + 1 of the trace, 2 of the entries
    # of S: 2n + 10, and some more. Underflows cost n a product, in n sums.
    shift = _gamma(2 * n + 16) * float(own.sum()) + n * (n + 4) * TINY
    try:
        R = np.linalg.cholesky(B - shift * np.eye(n))
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(R).all())


def _factor_strict(S: Reals) -> dict[str, Any]:
    """P with S = P'P by Cholesky's method, for a matrix that is certified."""
    B, half = scaled(S)
    # |B - P'P| <= gamma_(n+3) sqrt(b_ii b_jj), also with reciprocals (Higham, chapter 10).
    return _told(B, np.linalg.cholesky(B).T, _gamma(len(S) + 4), half)


def _factor(S: Reals, rank: int | None) -> dict[str, Any]:
    """P with S = P'P of the eigenvectors, for a matrix that may be singular."""
    n = len(S)
    # Unless it is exact: the diagonal entries are squares, and underflow first.
    lift = np.where(S.any(axis=0), SMALLEST, 0.0) if rank is None else np.zeros(n)
    B, half = scaled(S + np.diag(lift))
    if not np.isfinite(B).all():
        return {"residual": math.inf, "bound": math.inf}
    values, vectors = np.linalg.eigh(B)
    # The decomposition is that of a matrix within n u |B|. Without a rank, what is cut is below
    # that or below the most negative one. An entry of the error is at most its norm, and the
    # lengths are at least 1/2, as b_ii + lift is at most twice the larger one of them.
    error = n * UNIT * max(values[-1], -values[0])
    floor = max(-values[0], UNIT * values[-1])
    kept = np.arange(n) >= n - rank if rank is not None else values > floor
    P = np.sqrt(np.maximum(values[kept], 0.0))[:, None] * vectors[:, kept].T
    bound = 4 * (2 * error + max(-values[0], 0.0))
    return _told(powered(S, -half[:, None] - half), P, bound, half)


def _told(B: Reals, P: Array, bound: float, half: Indices) -> dict[str, Any]:
    """The factor of the matrix before scaling, how far it is off, and what theory allows."""
    P[:, ~B.any(axis=0)] = 0.0
    # What is smaller than a normal number has lost digits, also in the diagonal.
    lost = powered(np.array(SMALLEST), -half[:, None] - half)
    own = np.sqrt(np.maximum(np.abs(B.diagonal()), lost.diagonal()))
    sizes = np.where(own > 0, own, 1.0)
    gaps = np.maximum(np.abs(B - P.T @ P) - lost, 0.0)
    residual = float((gaps / (sizes[:, None] * sizes)).max())
    # The product P'P, taken here, has its own error.
    bound += _gamma(len(P) + 2) * (1 + bound)
    return {"factor": powered(P, half), "residual": residual, "bound": float(bound)}


def whole(given: NDArray[Any]) -> tuple[Whole, Fraction]:
    """N of whole numbers and a fraction f with K + K' = f N, exactly.

    Example:
        >>> from mercer.proofs.matrices import whole
        >>> N, f = whole(np.array([[1.0, 0.75], [0.75, 2.0]]))
        >>> N.tolist(), f
        ([[4, 3], [3, 8]], Fraction(1, 2))
    """
    if given.dtype.kind == "f":
        mantissas, powers = np.frexp(given.astype(np.float64))
        least = int(powers[mantissas != 0].min(initial=0))
        shifts = np.where(mantissas != 0, powers - least, 0).astype(object)
        N = np.left_shift((mantissas * 2.0**53).astype(np.int64).astype(object), shifts)
        unit = Fraction(2) ** (least - 53)
    else:
        numbers = given.ravel().tolist()
        below = math.lcm(*(v.denominator for v in numbers))
        N = np.array([int(v * below) for v in numbers], dtype=object).reshape(given.shape)
        unit = Fraction(1, below)
    N = N + N.T
    common = math.gcd(*N.flat) or 1
    return N // common, unit * common


def quadratic_form(
    given: NDArray[Any], x: Sequence[Fraction | int], rounding: float = 0.0
) -> tuple[Fraction, Fraction]:
    """The number x'Kx exactly, and the most it may be if the entries are off by their rounding.

    Example:
        >>> from mercer.proofs.matrices import quadratic_form
        >>> quadratic_form(np.array([[1.0, 2.0], [2.0, 1.0]]), (1, -1))[0]
        Fraction(-2, 1)
    """
    rows = [i for i, weight in enumerate(x) if weight]
    part = given[np.ix_(rows, rows)]
    below = math.lcm(*(Fraction(x[i]).denominator for i in rows))
    X = np.array([int(x[i] * below) for i in rows], dtype=object)
    value = worst = _form(part, X) / below**2
    if rounding:
        # The sizes are right to three roundings; this is no smaller.
        sizes = _sizes(part.astype(np.float64))
        errors = rounding * (1 + 2.0**-48) * sizes + SMALLEST
        worst += _form(errors, np.abs(X)) / below**2
    return value, worst


def _form(M: NDArray[Any], X: Whole) -> Fraction:
    if not len(X):
        return Fraction(0)
    N, unit = whole(M)
    return int(X @ N @ X) * unit / 2


def eliminate(N: Whole) -> int | Weights | None:
    """Decide whether a symmetric matrix of whole numbers is positive semidefinite.

    Bareiss' elimination without fractions: what is left after r positive pivots is the Schur
    complement times a positive number. It must have no negative diagonal entry, and where
    that is zero a row of zeros.

    Returns:
        The rank if it is; weights x with x'Nx < 0 if it is not; None if it takes too long.

    Example:
        >>> from mercer.proofs.matrices import eliminate
        >>> eliminate(np.array([[1, 2], [2, 4]], dtype=object))
        1
        >>> eliminate(np.array([[0, 1], [1, 5]], dtype=object))
        (Fraction(-3, 1), Fraction(1, 1))
    """
    n, previous, work = len(N), 1, 0.0
    left: Indices = np.arange(n, dtype=np.int64)
    passed: list[tuple[int, Indices, Whole]] = []
    while len(left):
        own = N.diagonal()
        bad = _bad_vector(N, own)
        if bad is not None:
            return _back(dict(zip(left.tolist(), bad, strict=True)), passed, n)
        keep = np.flatnonzero(own > 0)
        if not len(keep):
            break
        N, left = N[np.ix_(keep, keep)], left[keep]
        pivot = int(np.argmin(N.diagonal()))
        top, row = N[pivot, pivot], N[pivot]
        work += len(left) ** 2 * (100 + (top.bit_length() / 30) ** 2)
        if work > MOST_EXACT_WORK:
            return None
        passed.append((int(left[pivot]), left, row))
        others = np.arange(len(left)) != pivot
        N = (top * N - np.multiply.outer(row, row))[np.ix_(others, others)] // previous
        left, previous = left[others], top
    return len(passed)


def _bad_vector(N: Whole, own: Whole) -> list[int] | None:
    """Whole x with x'Nx < 0 that a look at the diagonal shows: of one entry, or of two."""
    x = [0] * len(N)
    if own.min() < 0:
        x[int(np.argmin(own))] = 1
        return x
    for i in np.flatnonzero(own == 0):
        others = np.flatnonzero(N[i] != 0)
        if len(others):
            j = int(others[0])
            b, c = int(N[i, j]), int(own[j])
            # (t, 1) gives 2 t b + c.
            t = c // (2 * abs(b)) + 1
            x[int(i)], x[j] = (-t if b > 0 else t), 1
            return x
    return None


def _back(x: dict[int, int], passed: list[tuple[int, Indices, Whole]], n: int) -> Weights:
    """Continue a vector on what is left to the rows passed, where their pivots are zeroed."""
    full = dict.fromkeys(range(n), Fraction(0)) | {i: Fraction(v) for i, v in x.items()}
    for pivot, left, row in reversed(passed):
        known = zip(left.tolist(), row.tolist(), strict=True)
        rest = sum((v * full[i] for i, v in known if i != pivot), Fraction(0))
        full[pivot] = -rest / int(row[int(np.flatnonzero(left == pivot)[0])])
    return _coprime(full.values())


def _coprime(x: Iterable[Fraction]) -> Weights:
    """The shortest whole numbers in the same proportions."""
    x = tuple(x)
    below = math.lcm(*(v.denominator for v in x))
    common = math.gcd(*(int(v * below) for v in x)) or 1
    return tuple(v * below / common for v in x)


# ------------------------------------------------------------------- short counter-examples


def _find_weights(K: Symmetric, rounding: float) -> Weights | None:
    """Few and short weights x with x'Kx < 0, even if the entries are off by the rounding."""
    own = K.part.diagonal()
    found = None
    if own.min() < 0:
        zero = np.zeros(1, dtype=np.int64)
        found = _shorten(K, [int(np.argmin(own))], np.ones(1), zero, rounding)
    pair = _pair(K.part, rounding)
    if found is None and pair:
        found = _shorten(K, *pair, rounding)
    rows = np.flatnonzero(own > 0)
    B, half = scaled(K.part[np.ix_(rows, rows)])
    if found is not None or not len(rows) or not np.isfinite(B).all():
        return found
    narrow = _narrow(B, rounding)
    tries = [narrow] if len(narrow) else []
    # Rounding may hide from the decomposition what exact arithmetic sees.
    tries += [np.arange(len(rows))] if len(narrow) < len(rows) <= MOST_NARROWED else []
    for chosen in tries:
        y = _lowest(B[np.ix_(chosen, chosen)])[1]
        found = _shorten(K, rows[chosen].tolist(), y, half[chosen], rounding)
        if found is not None:
            return found
    return None


def _pair(S: Reals, rounding: float) -> tuple[list[int], Reals, Indices] | None:
    """The two rows that break K_ij^2 <= K_ii K_jj most: weights y and h, for x = 2^-h y."""
    own = np.sqrt(np.maximum(S.diagonal(), 0.0))
    sizes = own[:, None] * own
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(np.abs(S) / sizes, nan=0.0)
    np.fill_diagonal(ratios, 0.0)
    i, j = sorted(np.unravel_index(int(np.argmax(ratios)), S.shape), key=lambda v: own[v])
    if not ratios[i, j] > 1:
        return None
    pair, sign = [int(i), int(j)], -float(np.sign(S[i, j]))
    if own[i] > 0:
        B, half = scaled(S[np.ix_(pair, pair)])
        lengths = np.sqrt(B.diagonal())
        return pair, np.array([lengths[1], sign * lengths[0]]), half
    # (t, -+1) gives c - 2 t |b|, and rounding adds less than c + 2 t |b| rounding.
    powers = np.frexp([S[j, j], abs(S[i, j]), 1 - rounding])[1].astype(np.int64)
    lift = powers[0] - powers[1] - powers[2] + 4 if own[j] > 0 else 0
    return pair, np.array([1.0, sign]), np.array([-max(lift, 0), 0])


def _lowest(B: Reals) -> tuple[float, Reals]:
    """The smallest eigenvalue and its vector."""
    # All of them: the methods for a few stumble over clusters, such as many zeros.
    values, vectors = np.linalg.eigh(B)
    return float(values[0]), vectors[:, 0]


def _narrow(B: Reals, rounding: float) -> Indices:
    """Few rows of B that are clearly indefinite by themselves; none if B is not."""
    E = rounding * _sizes(B)

    def bends(rows: Indices) -> Reals | None:
        part = np.ix_(rows, rows)
        low, y = _lowest(B[part])
        # The computed eigenvalue is right to n u |B|.
        noise = len(rows) * UNIT * float(B.diagonal()[rows].sum())
        return y if low + np.abs(y) @ E[part] @ np.abs(y) < -noise else None

    y = bends(np.arange(len(B)))
    if y is None:
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(-np.abs(y), kind="stable")
    # Eigenvalues interlace: with more rows the smallest one only falls.
    few, enough = 0, len(order)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if bends(order[:middle]) is not None else (middle, enough)
    rows = order[:enough]
    if enough <= MOST_NARROWED:
        for row in rows[::-1]:
            fewer = rows[rows != row]
            rows = fewer if len(fewer) and bends(fewer) is not None else rows
    return np.sort(rows)


def _shorter(K: Symmetric, x: Weights) -> Weights:
    """Shorter weights near these, if they do as well."""
    rows = [i for i, weight in enumerate(x) if weight]
    largest = max(abs(weight) for weight in x)
    y = np.array([float(x[i] / largest) for i in rows])
    return _shorten(K, rows, y, np.zeros(len(rows), dtype=np.int64), 0.0) or x


def _shorten(
    K: Symmetric, rows: list[int], y: Reals, half: Indices, rounding: float
) -> Weights | None:
    """Whole weights in about the proportions of 2^-h y that are certified, the shortest."""
    part = K.given[np.ix_(rows, rows)]
    mantissas, powers = np.frexp(K.part[np.ix_(rows, rows)])
    powers = powers - half[:, None] - half
    B = powered(mantissas, powers - powers[mantissas != 0].max())
    E = rounding * _sizes(B)
    shifts = half.max() - half
    y = y / np.abs(y).max()
    plain = powered(y, shifts - shifts.max())
    plain = plain / np.abs(plain).max()
    for most in STEPS:
        for base, powers in ((plain, 0 * shifts), (y, shifts)):
            X = np.rint(base * most)
            z = np.abs(powered(X, powers - shifts))
            signs = np.sign(X)
            # Floats say where to look; near the end of the list they are not asked.
            if most < 2**20 and not (z * signs) @ B @ (z * signs) + z @ E @ z < 0:
                continue
            x = _coprime(Fraction(int(v) << int(p)) for v, p in zip(X, powers, strict=True))
            if quadratic_form(part, x, rounding)[1] < 0:
                full = [Fraction(0)] * len(K.given)
                for row, weight in zip(rows, x, strict=True):
                    full[row] = weight
                return tuple(full)
    return None
