"""An attack on formulas that shares nothing with the prover, the refuter and their arithmetic.

Python itself evaluates the text of a formula: on arrays of points in floating point, where the
smallest eigenvalue is looked at, and in many digits, where what looks negative must stay so.
Only the functions that `generate` uses are read, and parameters that are given as numbers.
"""

import ast
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import product
from types import CodeType

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Rng = np.random.Generator
Points = NDArray
ENTRIES = 20_000  # of the matrices of a batch, which then takes a few milliseconds
SUSPECT = -1e-10  # an eigenvalue below may be more than rounding: it is looked at in digits
DIGITS = 70
JITTER = mp.mpf(10) ** -50  # what is added to a diagonal, far above the rounding of 70 digits
SIZES = (3, 4, 6, 8, 12, 16, 25, 36)  # points of an arrangement


FAINT = mp.mpf(10) ** -30


class Undefined(ValueError):
    """A formula has no value at two points."""


@dataclass(frozen=True)
class Found:
    """Points and weights of a negative form, or two points of which one pair has no value."""

    kind: str
    points: tuple
    weights: tuple[float, ...]
    value: float


# ------------------------------------------------------------------------------- evaluation


class Marked(ast.NodeTransformer):
    """Numbers and powers become calls, so that each arithmetic has its own."""

    def visit_Constant(self, node: ast.Constant) -> ast.Call:
        return ast.Call(ast.Name("number", ast.Load()), [ast.Constant(repr(node.value))], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            return ast.Call(ast.Name("power", ast.Load()), [left, right], [])
        return ast.BinOp(left, node.op, right)


def compiled(text: str) -> CodeType:
    """The formula as code."""
    tree = Marked().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<formula>", "eval")


def quiet_power(base, exponent):
    """Powers of floats: NaN where there is none."""
    return np.power(np.asarray(base, float), exponent)


def whole_floats(function: Callable) -> Callable:
    """gcd or lcm of floats that are whole; NaN of others."""

    def of(*parts):
        good = reduce(np.logical_and, (p == np.floor(p) for p in parts))
        good &= reduce(np.logical_and, (np.abs(p) < 2**53 for p in parts))
        numbers = (np.where(good, p, 1).astype(np.int64) for p in parts)
        return np.where(good, reduce(function, numbers), np.nan)

    return of


def float_norm(v, p=2.0):
    """The p-norm along the last axis."""
    if p == np.inf:
        return np.max(np.abs(v), axis=-1)
    return np.sum(np.abs(v) ** p, axis=-1) ** (1 / p)


FLOATS = {
    **{name: getattr(np, name) for name in ("exp", "log", "sqrt", "abs", "cos", "sin")},
    **{name: getattr(np, name) for name in ("tanh", "sinh", "cosh", "pi", "e", "inf")},
    # A cosine of 1 + 2e-16 is one.
    "acos": lambda z: np.arccos(np.where(np.abs(z) < 1 + 1e-12, np.clip(z, -1, 1), np.nan)),
    "asin": lambda z: np.arcsin(np.where(np.abs(z) < 1 + 1e-12, np.clip(z, -1, 1), np.nan)),
    "min": lambda *parts: reduce(np.minimum, parts),
    "max": lambda *parts: reduce(np.maximum, parts),
    "gcd": whole_floats(np.gcd),
    "lcm": whole_floats(np.lcm),
    "len": lambda s: np.bitwise_count(s).astype(float),
    "number": np.float64,
    "power": quiet_power,
}
SHAPED = {  # dot and norm, by what a point is
    "vector": {"dot": lambda a, b: np.sum(a * b, axis=-1), "norm": float_norm},
    "angle": {"dot": lambda a, b: np.cos(a - b), "norm": lambda v: 2 * np.abs(np.sin(v / 2))},
    "number": {"dot": np.multiply, "norm": lambda v, *_: np.abs(v)},
}


def exact_power(base, exponent):
    """Powers in digits; a base of -1e-60 under a root is the rounding of zero."""
    whole = exponent == mp.floor(exponent)
    if -(mp.mpf(10) ** -40) < base < 0 and not whole:
        base = mp.mpf(0)
    if (base == 0 and exponent < 0) or (base < 0 and not whole):
        raise Undefined
    return base ** (int(exponent) if whole and abs(exponent) < 1000 else exponent)


def exact_exponential(value):
    """Exponentials of numbers whose exponential has an exponent that fits in memory."""
    if abs(value) > mp.mpf(10) ** 12:
        raise Undefined
    return mp.exp(value)


def exact_logarithm(value):
    """Logarithms of positive numbers."""
    if not value > 0:
        raise Undefined
    return mp.log(value)


def exact_arc(function: Callable) -> Callable:
    """acos or asin, of what is no more than rounding beyond 1."""

    def of(value):
        if abs(value) > 1 + mp.mpf(10) ** -40:
            raise Undefined
        return function(max(mp.mpf(-1), min(mp.mpf(1), value)))

    return of


def whole_exact(function: Callable) -> Callable:
    """gcd or lcm of whole numbers."""

    def of(*parts):
        if any(p != mp.floor(p) for p in parts):
            raise Undefined
        return mp.mpf(function(*map(int, parts)))

    return of


def exact_norm(v, p=2):
    """The p-norm of one vector."""
    if mp.isinf(p):
        return max(abs(c) for c in v)
    return exact_power(sum(exact_power(abs(c), mp.mpf(p)) for c in v), 1 / mp.mpf(p))


EXACT = {
    **{name: getattr(mp, name) for name in ("cos", "sin", "tanh")},
    "exp": exact_exponential,
    "sinh": lambda z: (exact_exponential(z) - exact_exponential(-z)) / 2,
    "cosh": lambda z: (exact_exponential(z) + exact_exponential(-z)) / 2,
    "pi": mp.pi,
    "e": mp.e,
    "inf": mp.inf,
    "log": exact_logarithm,
    "sqrt": lambda z: exact_power(z, mp.mpf("0.5")),
    "abs": abs,
    "acos": exact_arc(mp.acos),
    "asin": exact_arc(mp.asin),
    "min": min,
    "max": max,
    "gcd": whole_exact(math.gcd),
    "lcm": whole_exact(math.lcm),
    "len": lambda s: mp.mpf(len(s)),
    "number": mp.mpf,
    "power": exact_power,
}
SHAPED_EXACT = {
    "vector": {"dot": lambda a, b: sum(s * t for s, t in zip(a, b, strict=True))},
    "angle": {"dot": lambda a, b: mp.cos(a - b), "norm": lambda v: 2 * abs(mp.sin(v / 2))},
    "number": {"dot": lambda a, b: a * b, "norm": lambda v, *_: abs(v)},
}
SHAPED_EXACT["vector"]["norm"] = exact_norm


@dataclass(frozen=True)
class Target:
    """A formula, and the domain that is attacked."""

    text: str
    domain: str
    parameters: Mapping[str, mp.mpf] = field(default_factory=dict)

    @cached_property
    def kind(self) -> str:
        return self.domain.partition("(")[0]

    @cached_property
    def points_are(self) -> str:
        kinds = {"vectors": "vector", "sphere": "vector", "circle": "angle"}
        return kinds.get(self.kind, "number")

    @cached_property
    def code(self) -> CodeType:
        return compiled(self.text)

    def grams(self, P: Points) -> NDArray:
        """The matrices of a batch of arrangements."""
        wide = self.points_are == "vector"
        x, y = (P[:, :, None], P[:, None]) if wide else (P[:, :, None], P[:, None, :])
        given = {name: float(value) for name, value in self.parameters.items()}
        names = FLOATS | SHAPED[self.points_are] | given | {"x": x, "y": y}
        with np.errstate(all="ignore"):
            K = eval(self.code, {"__builtins__": {}}, names)
        shape = (len(P), P.shape[1], P.shape[1])
        return np.array(np.broadcast_to(np.asarray(K, float), shape))

    def pair(self, x, y):
        """The value at two points, in digits."""
        shaped = SHAPED_EXACT[self.points_are]
        names = EXACT | shaped | {**self.parameters, "x": x, "y": y}
        try:
            value = eval(self.code, {"__builtins__": {}}, names)
        except (ZeroDivisionError, OverflowError):
            raise Undefined from None
        if not isinstance(value, mp.mpf) or not mp.isfinite(value):
            raise Undefined
        return value

    def exact(self, P: Points) -> list:
        """The points in digits: floats as they are, unit vectors made so."""
        if self.kind == "sets":
            return [frozenset(n for n in range(8) if int(mask) >> n & 1) for mask in P]
        if self.points_are != "vector":
            return [mp.mpf(float(v)) for v in P]
        rows = [np.array([mp.mpf(float(c)) for c in row], dtype=object) for row in P]
        if self.kind == "sphere":
            rows = [row / mp.sqrt(sum(c * c for c in row)) for row in rows]
        return rows


# --------------------------------------------------------------------------------- the attack


def attack(text: str, domain: str, seconds: float, seed: int = 0) -> Found | None:
    """Search for points and weights with a negative form, for so many seconds."""
    target, end = Target(text, domain), time.monotonic() + seconds
    rng, gap = np.random.default_rng(seed), None
    with threadpool_limits(1, "blas"), mp.workdps(DIGITS):
        for turn, P in enumerate(arrangements(domain, rng)):
            K = target.grams(P)
            found = in_floats(target, P, K)
            if found is None and turn % 4 == 0:
                found = in_digits(target, P[0][:7])
            gap = gap or hole(target, P, K)
            if found is not None or time.monotonic() > end:
                return found or gap
    return None


def in_floats(target: Target, batch: Points, K: NDArray) -> Found | None:
    """The lowest matrices of a batch."""
    diagonal = np.diagonal(K, axis1=1, axis2=2)
    for n in np.flatnonzero((diagonal < 0).any(axis=1))[:1]:
        i = int(np.argmin(np.nan_to_num(diagonal[n])))
        found = confirmed(target, batch[n, [i]], np.ones(1))
        if found is not None:
            return found
    bottoms, vectors = lowest(K, diagonal)
    for n in np.argsort(bottoms)[:2]:
        if bottoms[n] < SUSPECT:
            found = confirmed(target, batch[n], vectors[n])
            if found is not None:
                return found
    return None


def lowest(K: NDArray, diagonal: NDArray) -> tuple[NDArray, NDArray]:
    """Smallest eigenvalues, and weights for them; of matrices with gaps they are zero.

    Rows are scaled to a unit diagonal. Points without a value are left out: weight zero.
    """
    out = ~np.isfinite(diagonal)
    K = np.where(out[:, :, None] | out[:, None, :], 0.0, K)
    good = np.isfinite(K).all(axis=(1, 2))
    K = np.where(np.isfinite(K), K, 0.0)
    size = np.sqrt(np.where(out | ~(diagonal > 0), 1.0, diagonal))
    with np.errstate(over="ignore"):
        N = K / size[:, :, None] / size[:, None, :]
    good &= np.isfinite(N).all(axis=(1, 2))
    N[~good] = 0
    values, vectors = np.linalg.eigh((N + np.swapaxes(N, 1, 2)) / 2)
    weights = np.where(out, 0.0, vectors[:, :, 0] / size)
    return np.where(good, values[:, 0], 0.0), weights


def confirmed(target: Target, P: Points, weights: NDArray) -> Found | None:
    """The form in digits, if it is negative beyond doubt."""
    keep = np.flatnonzero(weights)
    points, w = target.exact(P[keep]), [mp.mpf(float(v)) for v in weights[keep]]
    try:
        K = [[target.pair(x, y) for y in points] for x in points]
    except Undefined:
        return None
    parts = [u * v * K[i][j] for i, u in enumerate(w) for j, v in enumerate(w)]
    value = mp.fsum(parts)
    if not value < -JITTER * mp.fsum(map(abs, parts)):
        return None
    return Found("negative", told(points), tuple(map(float, weights[keep])), float(value))


def told(points: list) -> tuple:
    """Points to read."""
    if points and isinstance(points[0], frozenset):
        return tuple(tuple(sorted(p)) for p in points)
    wide = points and isinstance(points[0], np.ndarray)
    return tuple(tuple(map(float, p)) if wide else float(p) for p in points)


def in_digits(target: Target, P: Points) -> Found | None:
    """A Cholesky factorisation in digits: it sees what rounding hides in floats."""
    points = target.exact(np.unique(P, axis=0))
    points = [p for p in points if has_value(target, p)]
    # A tiny value may be what is left of terms that cancel, and then has no digits.
    points = [p for p in points if not 0 < abs(target.pair(p, p)) < FAINT]
    try:
        K = [[target.pair(x, y) for y in points] for x in points]
    except Undefined:
        return None
    n = len(points)
    if n == 0 or max(abs(K[i][i]) for i in range(n)) == 0:
        return None
    size = [mp.sqrt(K[i][i]) if K[i][i] > 0 else mp.mpf(1) for i in range(n)]
    N = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            N[i, j] = K[i][j] / size[i] / size[j]
    if is_positive(N + JITTER * mp.eye(n)):
        return None
    values, vectors = mp.eigsy(N)
    if not values[0] < -JITTER / 2:
        return None
    weights = tuple(float(vectors[i, 0] / size[i]) for i in range(n))
    return Found("negative", told(points), weights, float(values[0]))


def has_value(target: Target, point) -> bool:
    """Whether the formula is defined at a point with itself."""
    try:
        target.pair(point, point)
    except Undefined:
        return False
    return True


def is_positive(N: mp.matrix) -> bool:
    """Whether Gauss meets positive pivots only."""
    rows = [[N[i, j] for j in range(N.rows)] for i in range(N.rows)]
    for k, pivot in enumerate(rows):
        if not pivot[k] > 0:
            return False
        for row in rows[k + 1 :]:
            factor = row[k] / pivot[k]
            for j in range(k + 1, len(row)):
                row[j] -= factor * pivot[j]
    return True


def hole(target: Target, batch: Points, K: NDArray) -> Found | None:
    """Two points at which the formula is defined, without a value between them."""
    defined = np.isfinite(np.diagonal(K, axis1=1, axis2=2))
    gaps = ~np.isfinite(K) & defined[:, :, None] & defined[:, None, :]
    for n, i, j in np.argwhere(gaps)[:1]:
        x, y = target.exact(batch[n, [i, j]])
        if has_value(target, x) and has_value(target, y):
            try:
                target.pair(x, y)
            except Undefined:
                return Found("hole", told([x, y]), (), math.nan)
    return None


def form(text: str, domain: str, refutation: Mapping) -> mp.mpf:
    """The quadratic form of the points and weights that a refutation names in its JSON."""
    with mp.workdps(DIGITS):
        points = [point(p, domain) for p in refutation["points"]]
        weights = [fraction(w) for w in refutation["weights"]]
        given = refutation.get("parameters", {})
        target = Target(text, domain, {name: fraction(v) for name, v in given.items()})
        pairs = product(zip(points, weights, strict=True), repeat=2)
        return mp.fsum(v * w * target.pair(x, y) for (x, v), (y, w) in pairs)


def point(told_as, domain: str):
    """A point from its JSON."""
    if domain == "sets":
        return frozenset(told_as)
    if isinstance(told_as, list):
        return np.array([fraction(c) for c in told_as], dtype=object)
    return fraction(told_as)


def inside(told_as, domain: str) -> bool:
    """Whether a point, as its JSON tells it, belongs to a domain; in exact arithmetic."""
    kind, _, rest = domain.partition("(")
    ends = [Fraction(n) for n in re.findall(r"[-+.\d]+", rest)]
    if kind == "sets":
        return all(isinstance(n, int) and n > 0 for n in told_as)
    if kind in ("vectors", "sphere"):
        square = sum(Fraction(c) ** 2 for c in told_as)
        return (not ends or len(told_as) == ends[0]) and (kind == "vectors" or square == 1)
    number = Fraction(told_as)
    return {
        "reals": True,
        "circle": True,
        "positive": number > 0,
        "nonnegative": number >= 0,
        "naturals": number >= 1 and number.denominator == 1,
        "interval": not ends or ends[0] < number < ends[-1],
    }[kind]


def fraction(text: str) -> mp.mpf:
    """A number from an exact text, such as "-3/2"."""
    above, _, below = text.partition("/")
    return mp.mpf(above) / mp.mpf(below or 1)


# ------------------------------------------------------------------------------- arrangements


def arrangements(domain: str, rng: Rng) -> Iterator[Points]:
    """Batches of points of a domain without end: with a structure and at random, all scales."""
    kind, _, rest = domain.partition("(")
    numbers = [float(n) for n in re.findall(r"[-+.\d]+", rest)]
    while True:
        n = int(rng.choice(SIZES))
        count = max(1, ENTRIES // n**2)
        if kind == "sets":
            yield np.stack([sets(rng, n) for _ in range(count)])
        elif kind == "naturals":
            yield np.stack([naturals(rng, n) for _ in range(count)])
        elif kind in ("vectors", "sphere"):
            d = int(numbers[0]) if numbers else int(rng.choice((1, 2, 3, 4, 6)))
            batch = np.stack([vectors(rng, n, d) for _ in range(count)])
            yield directed(rng, batch) if kind == "sphere" else batch
        else:
            batch = np.stack([line(rng, n) for _ in range(count)])
            yield folded(rng, batch, kind, numbers)


def line(rng: Rng, n: int) -> Points:
    """Numbers of the line: a cloud, a progression, halves; their scale is drawn too."""
    scale = 10.0 ** rng.uniform(-3, 1.5)
    form = rng.integers(5)
    if form == 0:
        return scale * rng.normal(size=n)
    if form == 1:
        return scale * (np.arange(n) - rng.choice((0, 0.5, 1)) * (n - 1))
    if form == 2:
        return rng.choice((-1, 1), n) * scale * rng.choice((1.2, 1.5, 2, 3)) ** np.arange(n)
    if form == 3:
        return rng.integers(-8, 9, n) / rng.choice((1, 2, 4))
    return rng.normal() * 10.0 ** rng.uniform(-1, 1.5) + scale * rng.normal(size=n)


def folded(rng: Rng, P: Points, kind: str, ends: list[float]) -> Points:
    """Numbers of the line brought into a domain."""
    if kind == "nonnegative":
        return np.abs(P)
    if kind == "positive":
        return np.where(P == 0, 0.5, np.abs(P))
    if kind == "circle":
        if rng.random() < 0.4:
            n = P.shape[1]
            return rng.random((len(P), 1)) + 2 * np.pi * np.arange(n) / n
        return np.mod(P, 2 * np.pi)
    if kind == "interval":
        low, width = ends[0], ends[1] - ends[0]
        inner = np.mod(P, 1) if rng.random() < 0.7 else 2.0 ** -(1 + np.abs(P) % 30)
        inner = np.where(rng.random((len(P), 1)) < 0.5, inner, 1 - inner)
        return low + width * np.clip(inner, 2.0**-40, 1 - 2.0**-40)
    return P


def naturals(rng: Rng, n: int) -> Points:
    """Whole numbers from 1: an interval, some of many, multiples, powers."""
    form = rng.integers(4)
    if form == 0:
        return float(rng.integers(1, 20)) + np.arange(n)
    if form == 1:
        return rng.choice(np.arange(1.0, 2 * n + rng.integers(1, 60)), n, replace=False)
    if form == 2:
        return float(rng.integers(1, 13)) * np.arange(1.0, n + 1)
    return rng.choice((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 12.0, 30.0, 49.0, 128.0), n)


def vectors(rng: Rng, n: int, d: int) -> Points:
    """Points of a space: a cloud, some of a lattice or all its inner ones, a cross, a line."""
    scale = 10.0 ** rng.uniform(-2, 1)
    form = rng.integers(6)
    if form == 0:
        return scale * rng.normal(size=(n, d))
    if form == 1:
        return scale * rng.integers(-1, 2, (n, d))
    if form == 2:
        cross = np.concatenate([np.eye(d), -np.eye(d), np.zeros((1, d))])
        return scale * cross[rng.integers(len(cross), size=n)]
    if form == 3:
        return line(rng, n)[:, None] * (
            rng.normal(size=d) if rng.random() < 0.5 else np.eye(d)[0]
        )
    if form == 4:
        return scale * lattice(n, d)
    return rng.normal(size=d) + scale * rng.normal(size=(n, d))


@cache
def lattice(n: int, d: int) -> Points:
    """The points with whole coordinates that are nearest to zero."""
    reach = math.ceil(n ** (1 / d) / 2) + 1
    cube = np.array(list(product(range(-reach, reach + 1), repeat=d)), dtype=float)
    return cube[np.argsort((cube**2).sum(axis=1), kind="stable")[:n]]


def directed(rng: Rng, P: Points) -> Points:
    """Unit vectors: directions of points, or a great circle, equispaced."""
    if rng.random() < 0.3:
        angle = rng.random((len(P), 1)) + 2 * np.pi * np.arange(P.shape[1]) / P.shape[1]
        great = np.zeros_like(P)
        great[..., 0], great[..., 1] = np.cos(angle), np.sin(angle)
        return great
    size = np.linalg.norm(P, axis=-1, keepdims=True)
    first = np.eye(P.shape[-1])[0]
    return np.where(size > 0, P / np.where(size > 0, size, 1), first)


def sets(rng: Rng, n: int) -> Points:
    """Sets as masks of eight elements: at random, all the small ones, singletons and unions."""
    form = rng.integers(3)
    if form == 0:
        return rng.integers(0, 2 ** rng.integers(2, 9), n)
    if form == 1:
        return rng.permutation(np.arange(max(n, 2 ** int(rng.integers(2, 5)))) % 256)[:n]
    singles = 2 ** np.arange(8)
    pairs = singles[:, None] | singles
    return rng.permutation(np.concatenate([[0, 255], singles, pairs.ravel()]))[:n]
