"""The laws of Gram matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from mercer.domains import Batch, SparseBatch
from mercer.errors import InvalidProof, NoFeatureMap
from mercer.kernels import (
    Column,
    Kernel,
    Normalized,
    Polynomial,
    Power,
    Product,
    Proof,
    Pullback,
    Scaled,
    Series,
    Sum,
    Weighted,
)
from mercer.testing.case import FEW, MANY, SOME, WIDEST, Case, agree
from mercer.testing.report import BrokenLaw, NotApplicable


def _finite(case: Case) -> None:
    matrix = case.matrix
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise BrokenLaw(
            f"k is {matrix[i, j]} for the points in rows {i} and {j}: a kernel is a real "
            "function.\nLook for a division by zero, or for an overflow."
        )


def _symmetric(case: Case) -> None:
    matrix = case.matrix
    wrong = matrix != matrix.T
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise BrokenLaw(
            f"k(X) is not exactly symmetric: k(x{i}, x{j}) = {matrix[i, j]!r}, and "
            f"k(x{j}, x{i}) = {matrix[j, i]!r}. Compute each pair once."
        )
    # k(X) may have been mirrored: only two blocks show what the function does.
    half = np.arange(len(case.points) // 2)
    rest = np.arange(len(half), len(case.points))
    if len(half):
        A, B = case.points[half], case.points[rest]
        meaning = "k(x, y) and k(y, x) differ, and an inner product is symmetric."
        case.compare(case.kernel(A, B), half, rest, case.kernel(B, A).T, meaning)


def _positive_semidefinite(case: Case) -> None:
    own = np.diag(case.matrix).astype(float)
    if own.min() < 0:
        raise BrokenLaw(
            f"k(x, x) = {own.min():.17g} for the point in row {own.argmin()}, and a squared "
            "norm is not negative."
        )
    # Divided by the norms, a positive semidefinite matrix stays one, and its entries are off
    # by at most `error` each, which moves an eigenvalue by at most n * error. Finding the
    # eigenvalues moves them by n eps |K| <= n^2 eps at most, in practice by n eps.
    tiny = np.finfo(case.matrix.dtype).tiny ** 0.5
    at = case.some(MANY)
    at = at[case.size[at] > tiny]
    if not len(at):
        return
    size = case.size[at]
    cosines = case.matrix[np.ix_(at, at)] / size[:, None] / size[None, :]
    values, vectors = np.linalg.eigh(cosines.astype(np.float64))
    allowed = len(at) * (case.error + 4 * np.finfo(float).eps)
    if not values[0] >= -allowed:
        weights = vectors[:, 0] / size
        largest = np.argsort(-np.abs(vectors[:, 0]))[:5]
        shown = ", ".join(f"{weights[i]:.3g} on row {at[i]}" for i in largest)
        raise BrokenLaw(
            f"the matrix of k(x, y) / sqrt(k(x, x) k(y, y)) has an eigenvalue {values[0]:.6g}, "
            f"and rounding explains {-allowed:.2g}: k is not positive definite.\nThe weights "
            f"{shown}{', ...' if len(at) > 5 else ''} give sum c_i c_j k(x_i, x_j) < 0."
        )


def _cauchy_schwarz(case: Case) -> None:
    everyone = np.arange(len(case.points))
    bound = np.outer(case.size, case.size)
    meaning = "|k(x, y)| is larger than sqrt(k(x, x) k(y, y)) allows (Cauchy-Schwarz)."
    over = np.maximum(np.abs(case.matrix.astype(float)), bound)
    case.compare(over, everyone, everyone, bound, meaning, factor=3)


def _diagonal(case: Case) -> None:
    everyone = np.arange(len(case.points))
    own = case.kernel.diagonal(case.points)
    meaning = "k.diagonal(X) is not the diagonal of k(X)."
    if own.shape != everyone.shape:
        raise BrokenLaw(f"{meaning}\nThe shape is {own.shape}, not {everyone.shape}.")
    allowed = 2 * (case.error * case.size**2 + np.finfo(case.matrix.dtype).tiny)
    agree(
        own[:, None],
        np.diag(case.matrix)[:, None],
        allowed[:, None],
        meaning,
        everyone,
        everyone,
    )


def _facts(case: Case) -> frozenset[str]:
    """What is proved of the kernel. That it has a proof at all is a law of its own."""
    try:
        proof = case.kernel.proof()
        facts: frozenset[str] = proof.facts if isinstance(proof, Proof) else frozenset()
    except InvalidProof as reason:
        raise NotApplicable(str(reason)) from None
    return facts


def _unit(case: Case) -> None:
    if "unit" not in _facts(case):
        raise NotApplicable("k(x, x) need not be 1")
    for name, own in (
        ("k(X)", np.diag(case.matrix)),
        ("k.diagonal(X)", case.kernel.diagonal(case.points)),
    ):
        if not (own == 1).all():
            at = int(np.argmax(own != 1))
            raise BrokenLaw(
                f"k(x, x) = 1 is proved, and {name} has {own[at]!r} on its diagonal (row {at})."
            )


def _nonnegative(case: Case) -> None:
    if "nonnegative" not in _facts(case):
        raise NotApplicable("k(x, y) may be negative")
    everyone = np.arange(len(case.points))
    meaning = "k(x, y) >= 0 is proved, and a value is negative."
    case.compare(case.matrix, everyone, everyone, np.abs(case.matrix), meaning)


def _copies(case: Case) -> None:
    everyone = np.arange(len(case.points))
    again = case.points[everyone]
    meaning = "k(X) and k(X, Y) differ, where Y is a copy of X."
    case.compare(case.kernel(case.points, again), everyone, everyone, case.matrix, meaning)


def _rows(case: Case) -> None:
    everyone = np.arange(len(case.points))
    turned = np.random.default_rng(0).permutation(everyone)
    meaning = "The rows of X were permuted, and k(X) is not permuted in the same way."
    wanted = case.matrix[np.ix_(turned, turned)]
    case.compare(case.kernel(case.points[turned]), turned, turned, wanted, meaning)
    half = len(everyone) // 2
    if half:
        front, back = everyone[:half], everyone[half:]
        meaning = "k(X[:m], X[m:]) is not the corner of k(X)."
        corner = case.kernel(case.points[:half], case.points[half:])
        case.compare(corner, front, back, case.matrix[:half, half:], meaning)


def _equal_points(case: Case) -> None:
    (labels,) = case.points.identify()
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    if len(first) == len(labels):
        raise NotApplicable("no two of the points are equal")
    everyone = np.arange(len(labels))
    meaning = "Two points are equal, and k tells them apart: it is no function of its points."
    twin = first[place]
    case.compare(case.matrix[twin], everyone, everyone, case.matrix, meaning)


def _pairs(case: Case) -> None:
    at = case.some(FEW)
    meaning = "k.pair(x, y) is not the entry of k(X, Y)."
    found = np.empty((len(at), len(at)))
    raw = None if isinstance(case.points, SparseBatch) else case.points.raw()
    for i, row in enumerate(at):
        for j, column in enumerate(at):
            if raw is None:
                one, other = case.points[row : row + 1], case.points[column : column + 1]
                found[i, j] = case.kernel(one, other).item()
            else:
                found[i, j] = case.kernel.pair(raw[row], raw[column])
    case.compare(found, at, at, case.matrix[np.ix_(at, at)], meaning)


def _written_in_place(case: Case) -> None:
    half = case.points[: max(1, len(case.points) // 2)]
    for other, wanted in ((None, case.matrix), (half, case.kernel(case.points, half))):
        out = np.full(wanted.shape, np.nan, wanted.dtype)
        given = case.kernel(case.points, other, out=out)
        if given is not out or not np.array_equal(out, wanted):
            raise BrokenLaw(
                "k(X, out=out) must write the same values to `out` and return it; it "
                + ("returned another array." if given is not out else "wrote other values.")
            )


def _features(case: Case) -> None:
    at = case.some(SOME)
    few = case.points[at]
    try:
        width = _width(case.kernel, few)
        if width > WIDEST:
            raise NotApplicable(f"the feature map has {width:.3g} features")
        phi = np.asarray(case.kernel.features(few), dtype=float)
    except NoFeatureMap as reason:
        raise NotApplicable(str(reason)) from None
    meaning = "the features give Phi Phi', which is not k(X)."
    wanted = case.matrix[np.ix_(at, at)]
    # Both sides are sums, of at most `width` products the one.
    factor = 4 + width * np.finfo(phi.dtype).eps / case.error
    case.compare(phi @ phi.T, at, at, wanted, meaning, factor)


def _width(kernel: Kernel, A: Batch) -> float:
    """The number of features, before they take any memory."""
    found: float
    match kernel:
        case Sum(left=left, right=right):
            found = _width(left, A) + _width(right, A)
        case Product(left=left, right=right):
            found = _width(left, A) * _width(right, A)
        case Scaled(kernel=inner) | Weighted(kernel=inner) | Normalized(kernel=inner):
            found = _width(inner, A)
        case Power(exponent=int() as exponent, kernel=inner):
            found = float(_width(inner, A)) ** exponent
        case Series(coefficients=coefficients, kernel=inner):
            found = sum(float(_width(inner, A)) ** n for n in range(len(coefficients)))
        case Column(kernel=inner):
            found = _width(inner, kernel._part(A))
        case Pullback(kernel=inner):
            found = _width(inner, kernel._image(A))
        case Polynomial(degree=degree):
            found = float(getattr(A, "width", 1) + 1) ** degree
        case _:
            found = float(kernel.feature_map(A[:1]).shape[1])
    return found


def _distances(case: Case) -> None:
    everyone, half = np.arange(len(case.points)), case.points[: max(1, len(case.points) // 2)]
    # d^2 = k(x, x) + k(y, y) - 2 k(x, y), and each of the three is a little off.
    squares = case.size**2
    allowed = 8 * (case.error * (squares[:, None] + squares[None, :]) + np.finfo(float).tiny)
    matrix = case.matrix.astype(float)
    wanted = np.maximum(squares[:, None] + squares[None, :] - 2 * matrix, 0)
    for found, columns in (
        (case.kernel.distance(case.points), everyone),
        (case.kernel.distance(case.points, half), everyone[: len(half)]),
    ):
        if np.isnan(found).any() or (found < 0).any():
            raise BrokenLaw("k.distance(X) has NaN, or is negative: clip the square at zero.")
        meaning = "k.distance(X)^2 is not k(x, x) + k(y, y) - 2 k(x, y)."
        square = found.astype(float) ** 2
        agree(square, wanted[:, columns], allowed[:, columns], meaning, everyone, columns)


LAWS: Mapping[str, Callable[[Case], None]] = MappingProxyType(
    {
        "values are finite": _finite,
        "k(x, y) = k(y, x), exactly in k(X)": _symmetric,
        "k.diagonal(X) is the diagonal of k(X)": _diagonal,
        "k is positive semidefinite": _positive_semidefinite,
        "|k(x, y)|^2 <= k(x, x) k(y, y)": _cauchy_schwarz,
        "k(x, x) = 1 exactly, where proved": _unit,
        "k(x, y) >= 0, where proved": _nonnegative,
        "k(X) = k(X, Y) where Y is a copy of X": _copies,
        "rows and parts of X are rows and parts of k(X)": _rows,
        "equal points have equal values": _equal_points,
        "k.pair(x, y) is an entry of k(X, Y)": _pairs,
        "out= is written in place": _written_in_place,
        "the features Phi give k(X) = Phi Phi'": _features,
        "k.distance(X) is the distance of the features": _distances,
    }
)
"""Each law in words, and its check."""
