r"""The table of rules: why a function is a kernel, on which conditions, and what follows.

A rule is a theorem. It covers some heads of terms, each with a sentence on why the theorem
applies, verifies the numbers, and derives facts such as "strict" from the claim and from the
facts of its premises. A fact that is missing may still be true; a fact that is there is true.

>>> print(RULES["sum"].theorem)
Features side by side: $k_1 + k_2$ has the feature $(\Phi_1(x), \Phi_2(x))$.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from mercer.kernels.terms import Term, text

FACTS: Mapping[str, str] = MappingProxyType(
    {
        "stationary": "a function of x - y",
        "isotropic": "a function of |x - y|",
        "strict": "the Gram matrix of distinct points is invertible",
        "separating": "distinct points have distinct features",
        "unit": "k(x, x) = 1",
        "positive diagonal": "k(x, x) > 0",
        "bounded": "|k(x, y)| stays below a constant",
        "nonnegative": "k(x, y) >= 0",
        "infinitely divisible": "k ** r is a kernel for every r > 0",
        "smooth": "derivatives of every order exist",
        "assumed": "some part of it is not proved",
    }
)
"""The vocabulary of facts."""

_IMPLIED = {
    "isotropic": ["stationary"],
    "strict": ["separating", "positive diagonal"],
    "unit": ["positive diagonal", "bounded"],  # |k(x, y)|^2 <= k(x, x) k(y, y)
    "infinitely divisible": ["nonnegative"],  # k is the square of the kernel k ** 0.5
}


@dataclass(frozen=True)
class Condition:
    """A side condition with the actual numbers, and whether it holds."""

    text: str
    holds: bool


class Step(Protocol):
    """What a rule sees of a proof."""

    @property
    def claim(self) -> Term: ...
    @property
    def premises(self) -> tuple[Step, ...]: ...
    @property
    def facts(self) -> frozenset[str]: ...
    @property
    def property(self) -> str: ...


# ----------------------------------------------------------------------------- conditions


def _finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def _above(name: str, value: object, bound: float, *, strictly: bool = True) -> Condition:
    if not (isinstance(value, int | float) and _finite(value)):
        return Condition(f"{name} = {text(value)} is a finite number", holds=False)
    sign, low = (">", float(value) > bound) if strictly else (">=", float(value) >= bound)
    return Condition(f"{name} = {text(value)} {sign} {bound:g}", low)


def _positive(name: str, value: object) -> list[Condition]:
    return [_above(name, value, 0)]


def _not_negative(name: str, value: object) -> list[Condition]:
    return [_above(name, value, 0, strictly=False)]


def _at_least_one(name: str, value: object) -> list[Condition]:
    return [_above(name, value, 1, strictly=False)]


def is_whole(value: object) -> bool:
    """Whether a value is one of 1, 2, 3, ..."""
    return isinstance(value, int | float) and _finite(value) and value >= 1 and value % 1 == 0


def _whole(name: str, value: object) -> list[Condition]:
    return [Condition(f"{name} = {text(value)} is one of 1, 2, 3, ...", is_whole(value))]


def _scale(name: str, value: object) -> list[Condition]:
    if not isinstance(value, tuple):
        return _positive(name, value)
    holds = bool(value) and all(_above(name, part, 0).holds for part in value)
    return [Condition(f"{name} = {text(value)}, each > 0", holds)]


def _coefficients(name: str, value: object) -> list[Condition]:
    values = value if isinstance(value, tuple) else ()
    holds = bool(values) and all(_not_negative(name, part)[0].holds for part in values)
    return [Condition(f"{name} = {text(value)}, each >= 0", holds)]


def _columns(name: str, value: object) -> list[Condition]:
    values = value if isinstance(value, tuple) else ()
    named = all(isinstance(c, int | str) and not isinstance(c, bool) for c in values)
    words = f"{name} = {text(value)} are names or positions, one or more"
    return [Condition(words, bool(values) and named)]


def _spectrum(metric: object) -> tuple[float, float, int] | None:
    """The smallest eigenvalue of a symmetric matrix and the error it may carry, both in units
    of two to the power that comes with them; None if it is no such matrix.

    The entries may come from rounding a product M'M of n terms, which moves an eigenvalue by
    at most n eps trace(M'M), and finding the eigenvalues errs by no more than that again.
    """
    rows = metric if isinstance(metric, tuple) else ()
    width = len(rows)
    if not rows or not all(isinstance(row, tuple) and len(row) == width for row in rows):
        return None
    if not all(_finite(entry) for row in rows for entry in row):
        return None
    matrix = np.array(rows, dtype=float)
    if not np.array_equal(matrix, matrix.T):
        return None
    # A power of two takes the entries to about 1 without rounding: nothing can overflow.
    power = int(np.frexp(np.abs(matrix).max())[1])
    matrix = np.ldexp(matrix, -power)
    slack = 2 * width * np.finfo(float).eps * np.abs(np.diag(matrix)).sum()
    return float(np.linalg.eigvalsh(matrix)[0]), float(slack), power


def _metric(name: str, value: object) -> list[Condition]:
    if value is None:
        return []
    spectrum = _spectrum(value)
    if spectrum is None:
        return [Condition(f"{name} = {text(value)} is a symmetric matrix", holds=False)]
    low, slack, power = spectrum
    shown = f"{low:.6g} * 2 ** {power}"
    if abs(power) < 1000:
        shown = f"{math.ldexp(low, power):.6g}"
    words = f"the smallest eigenvalue of {name}, {shown}, is >= 0 up to rounding"
    return [Condition(words, low >= -slack)]


def _numbers(name: str, value: object) -> list[Condition]:
    values = value if isinstance(value, tuple) else (value,)
    holds = bool(values) and all(map(_finite, values))
    return [Condition(f"{name} = {text(value)} is finite", holds)]


def _function(name: str, value: object) -> list[Condition]:
    return [Condition(f"{name} = {text(value)} can be called", callable(value))]


def _smoothness(name: str, value: object) -> list[Condition]:
    holds = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 3
    return [Condition(f"{name} = {text(value)} is one of 0, 1, 2, 3", holds)]


def _frequency(name: str, value: object) -> list[Condition]:
    return [Condition(f"{name} = {text(value)} is a finite number", _finite(value))]


_CHECKS: dict[str, Callable[[str, object], list[Condition]]] = {
    **dict.fromkeys(("nu", "alpha", "rate", "p", "power", "exponent"), _positive),
    **dict.fromkeys(("weight", "offset"), _not_negative),
    **dict.fromkeys(("degree", "dimension"), _whole),
    **dict.fromkeys(("scale", "period"), _scale),
    "metric": _metric,
    "base": _at_least_one,
    "frequency": _frequency,
    "smoothness": _smoothness,
    "coefficients": _coefficients,
    "columns": _columns,
    "fill": _numbers,
    "function": _function,
}


def _verify(step: Step) -> list[Condition]:
    """The conditions on each parameter alone, then those that tie two of them."""
    claim = step.claim
    given: dict[str, Any] = dict(claim.parameters)
    checks = _CHECKS | ({"base": _positive} if claim.head == "sum_power" else {})
    found = [c for name, value in given.items() for c in checks[name](name, value)]
    if not all(condition.holds for condition in found):
        return found
    if claim.head == "generalized_gaussian":
        words = f"power = {text(given['power'])} <= p = {text(given['p'])} <= 2"
        found.append(Condition(words, given["power"] <= given["p"] <= 2))
    scale, metric = given.get("scale"), given.get("metric")
    if isinstance(scale, tuple) and isinstance(metric, tuple):
        words = f"{len(scale)} scales fit a metric with {len(metric)} rows"
        found.append(Condition(words, len(scale) == len(metric)))
    return found


def _verify_product(step: Step) -> list[Condition]:
    given = dict(step.claim.parameters)
    return _whole("exponent", given["exponent"]) if given else []


def _verify_divisible(step: Step) -> list[Condition]:
    divisible = "infinitely divisible" in step.premises[0].facts
    words = f"{step.claim.children[0]} is infinitely divisible"
    return [*_positive("exponent", step.claim["exponent"]), Condition(words, divisible)]


# ---------------------------------------------------------------------------------- facts

_SHAPE = {"stationary", "isotropic", "bounded", "smooth"}  # kept by any function of a kernel
_SIGN = {"nonnegative", "infinitely divisible"}
_POINTS = {"strict", "separating", "positive diagonal"}  # one part of a sum is enough
_LEAVES: Mapping[str, str] = MappingProxyType(
    {
        "linear": "smooth",
        "polynomial": "smooth",
        "gaussian": "stationary, unit, infinitely divisible, smooth",
        "laplacian": "stationary, unit, infinitely divisible, strict",
        "exponential": "stationary, unit, infinitely divisible",
        "matern": "stationary, unit, infinitely divisible",
        "rational_quadratic": "stationary, unit, infinitely divisible, smooth",
        "periodic": "stationary, unit, infinitely divisible, smooth",
        "cosine": "bounded",
        "generalized_gaussian": "stationary, unit, infinitely divisible, strict",
        "wendland": "stationary, unit, nonnegative",
        "chi2": "unit, infinitely divisible, strict",
        "additive_chi2": "nonnegative, separating",
        "intersection": "nonnegative, separating",
        "tanimoto": "unit, strict",
        "white": "isotropic, unit, infinitely divisible, strict",
        "delta": "unit, infinitely divisible, strict",
        "bias": "isotropic, unit, infinitely divisible, smooth",
        "missing": "unit, infinitely divisible",
        "min": "infinitely divisible, separating",
        "min_over_max": "unit, infinitely divisible, strict",
        "gcd": "infinitely divisible, strict",
        "gcd_over_lcm": "unit, infinitely divisible, strict",
        "geometric": "infinitely divisible, strict, smooth",
        "product_power": "infinitely divisible, positive diagonal, smooth",
        "sum_power": "infinitely divisible, positive diagonal, smooth",
        "cosine_difference": "stationary, unit, smooth",
        "set_intersection": "nonnegative, separating",
        "set_power": "infinitely divisible, positive diagonal",
        "jaccard": "unit, nonnegative, strict",
        "from_function": "assumed",
    }
)


def _words(line: str) -> set[str]:
    return set(line.split(", "))


def _definite(metric: object) -> bool:
    """Whether a metric is certainly positive definite, rounding or not."""
    spectrum = None if metric is None else _spectrum(metric)
    return metric is None or (spectrum is not None and spectrum[0] > spectrum[1])


def _leaf(claim: Term) -> set[str]:
    """The facts of a function without parts."""
    found = _words(_LEAVES[claim.head]) if claim.head in _LEAVES else set()
    given: dict[str, Any] = dict(claim.parameters)
    definite, one = _definite(given.get("metric")), not isinstance(given.get("scale"), tuple)
    match claim.head:
        case "gaussian" | "exponential" | "matern" | "rational_quadratic" | "wendland":
            found |= {"strict"} if definite else set()
            found |= {"isotropic"} if one and given.get("metric") is None else set()
        case "generalized_gaussian":
            found |= {"isotropic"} if one and given["p"] == 2 else set()
            found |= {"smooth"} if given["power"] == 2 else set()
        case "linear":
            found |= {"separating"} if definite else set()
        case "polynomial":
            odd, offset = given["degree"] % 2 == 1, given["offset"] > 0
            found |= {"nonnegative"} if not odd else set()
            found |= {"positive diagonal"} if offset else set()
            found |= {"separating"} if odd or offset else set()
        case "product_power" | "set_power":
            found |= {"strict"} if given["base"] > 1 else set()
    return found


def _combined(claim: Term, parts: list[frozenset[str]]) -> set[str]:
    """The facts of a combination, from those of its parts."""
    first, given = parts[0], dict[str, Any](claim.parameters)
    shape, diagonal = first & _SHAPE, first & {"unit", "positive diagonal"}
    match claim.head:
        case "sum" | "product":
            found = _of_two(claim.head, *parts)
        case "scaled":
            found = first - _lost_by_weight(given["weight"])
        case "power":
            found = diagonal | (first & _SIGN) | _of_power(given["exponent"], first)
        case "exp":
            found = shape | {"infinitely divisible", "positive diagonal"} | _gaussian(first)
        case "series":
            found = shape | _of_series(given["coefficients"], first)
        case "normalized":
            found = (first & {"stationary", "isotropic", "strict", *_SIGN}) | {"bounded"}
            found |= {"unit", *(first & {"smooth"})} if diagonal else set()
        case "map" | "on" | "filled":
            kept = {"stationary", "smooth"} if claim.head == "on" else set()
            found = diagonal | (first & {"bounded", *_SIGN, *kept})
        case "schoenberg":
            found = shape | {"unit", "infinitely divisible"} | _gaussian(first)
        case "squared_distance":
            found = shape | {"nonnegative"} | (first & {"separating"})
        case _:  # "weighted": of a user's function nothing is known
            found = frozenset()
    return set(found).union(*(part & {"assumed"} for part in parts))


def _lost_by_weight(weight: float) -> set[str]:
    return (set() if weight == 1 else {"unit"}) | (set() if weight else _POINTS)


def _of_two(head: str, left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    both, either = left & right, left | right
    if head == "sum":
        return (both & (_SHAPE | {"nonnegative"})) | (either & _POINTS)
    found = both & (_SHAPE | _SIGN | {"unit", "positive diagonal"})
    # Schur: a definite matrix times a semidefinite one without zeros on its diagonal.
    definite = "strict" in either and "positive diagonal" in both
    return found | ({"strict"} if definite else set())


def _of_power(exponent: float, first: frozenset[str]) -> set[str]:
    """What a power has or keeps, beside sign and diagonal. A strict kernel stays so even at
    small powers: an infinitely divisible kernel is exp(-|u - v|^2) of its features, up to
    weights, on each block of points where it does not vanish.
    """
    if not is_whole(exponent):
        return set(first & (_SHAPE - {"smooth"} | {"strict"}))
    square = {"nonnegative"} if exponent % 2 == 0 else set()
    return square | (first & (_SHAPE | {"strict"}))


def _of_series(coefficients: tuple[float, ...], first: frozenset[str]) -> set[str]:
    """What a power series keeps, beside the shape."""
    later, found = any(coefficients[1:]), set[str]()
    found |= first & {"strict"} if later else set()
    found |= first & {"separating"} if any(coefficients[1:2]) else set()
    found |= first & {"nonnegative"} if any(coefficients[1::2]) else {"nonnegative"}
    if coefficients[0] > 0 or (later and "positive diagonal" in first):
        found |= {"positive diagonal"}
    return found


def _gaussian(first: frozenset[str]) -> set[str]:
    """A Gaussian of the distance of features is strict if distinct points have distinct ones.
    So is exp(k(x, y)), which is the same up to the weights exp(k(x, x) / 2).
    """
    return {"strict"} if "separating" in first else set()


def _facts(step: Step) -> frozenset[str]:
    parts = [premise.facts for premise in step.premises]
    found = _combined(step.claim, parts) if parts else _leaf(step.claim)
    for _ in _IMPLIED:  # implications may follow one another
        found |= {more for fact in found & _IMPLIED.keys() for more in _IMPLIED[fact]}
    return frozenset(found)


# ------------------------------------------------------------------------------ the table


@dataclass(frozen=True)
class Rule:
    """A theorem that proves functions to be kernels.

    Args:
        name: Its key in `RULES`.
        theorem: Why, in a sentence or two, with mathematics between dollar signs.
        cases: The heads that it covers, each with the sentence that applies the theorem.
        verify: The side conditions of a step that has the right form.
        facts: What is known of the claim, given the facts of the premises.
        property: What it proves: "pd", or "cnd" (conditionally negative definite).
    """

    name: str
    theorem: str
    cases: Mapping[str, str]
    verify: Callable[[Step], list[Condition]] = _verify
    facts: Callable[[Step], frozenset[str]] = _facts
    property: str = "pd"

    def needs(self, claim: Term) -> tuple[tuple[tuple[Term, str], ...], ...]:
        """What the premises of a claim may say: alternatives, each a term and a property for
        every premise. A step by Schoenberg may name the kernel, whose squared distance is
        meant, or prove the distance itself.
        """
        children = tuple((child, "pd") for child in claim.children)
        if claim.head != "schoenberg":
            return (children,)
        return children, ((Term("squared_distance", (), claim.children), "cnd"),)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "feature map",
                r"An inner product of features $\Phi(x)$ is a kernel: "
                r"$\sum_i \sum_j c_i c_j \langle \Phi(x_i), \Phi(x_j) \rangle "
                r"= |\sum_i c_i \Phi(x_i)|^2 \ge 0$.",
                {
                    "linear": "The feature is the point, after the root of the metric.",
                    "cosine": r"The feature is the direction $x / |x|$.",
                    "bias": r"The feature is the number 1.",
                    "white": "Each point has a direction of its own.",
                    "delta": "Each point has a direction of its own.",
                    "missing": "What is there has one direction, what is missing another.",
                    "min": r"The feature of $x \ge 0$ is the indicator of $[0, x]$.",
                    "intersection": r"The features of $x \ge 0$ are the indicators of "
                    r"$[0, x_i]$.",
                    "gcd": r"The features of $x = 1, 2, ...$ are $\sqrt{\phi(d)}$ for each "
                    r"divisor $d$ of $x$, with Euler's $\phi$: $\gcd(x, y)$ is the sum of "
                    r"$\phi(d)$ over the common divisors.",
                    "gcd_over_lcm": r"It is $\gcd(x, y)^2 / x y$: the features of "
                    r"$x = 1, 2, ...$ are $\sqrt{J(d)} / x$ for each divisor $d$ of $x$, with "
                    r"Jordan's $J$, whose sum over the divisors of $n$ is $n^2$.",
                    "sum_power": r"The feature is the one number $b^x$.",
                    "set_intersection": "The feature of a set is its indicator.",
                    "set_power": r"The feature of a set $A$ has an entry "
                    r"$(b - 1)^{|S| / 2}$ for each $S$ inside $A$: a common part of $n$ "
                    r"elements gives $(1 + (b - 1))^n$.",
                    "feature_kernel": "The features are the user's.",
                },
            ),
            Rule(
                "power series",
                r"Products of kernels (Schur), their sums with weights $c_n \ge 0$ and limits "
                r"of kernels are kernels, hence so is $\sum_n c_n k(x, y)^n$ with "
                r"$c_n \ge 0$ wherever it converges.",
                {
                    "polynomial": r"The binomial coefficients, times powers of the offset "
                    r"$\ge 0$, are the weights.",
                    "geometric": r"On $(-1, 1)$ it is the limit of $\sum_n (x y)^n$.",
                    "product_power": r"It is $\exp(x y \log b)$, with $\log b \ge 0$.",
                    "exp": r"The weights are $1 / n!$, and the series converges everywhere.",
                    "series": "The weights are the coefficients.",
                },
            ),
            Rule(
                "bochner",
                r"The Fourier transform of a finite positive measure is a kernel in $x - y$: "
                r"$\sum_i \sum_j c_i c_j e^{i w (x_i - x_j)} = |\sum_i c_i e^{i w x_i}|^2$ "
                r"for each frequency $w$ (Bochner).",
                {
                    "gaussian": "Here the measure is a normal law.",
                    "laplacian": "Here the measure is a product of Cauchy laws.",
                    "cosine_difference": "Here the measure is two equal masses, at the "
                    "frequency and at its opposite.",
                },
            ),
            Rule(
                "completely monotone",
                r"A mixture of Gaussians $e^{-t |x - y|^2}$ over widths $t$ is a kernel on "
                r"vectors of every dimension; such mixtures are the completely monotone "
                r"functions of $|x - y|^2$ (Schoenberg, Bernstein).",
                {
                    "exponential": r"$e^{-\sqrt{u}}$ is completely monotone: it is the Laplace "
                    "transform of the stable law of index 1/2.",
                    "matern": "The mixture is an inverse gamma law, which is infinitely "
                    "divisible (Grosswald).",
                    "rational_quadratic": "The mixture is a gamma law, which is infinitely "
                    "divisible.",
                },
            ),
            Rule(
                "schoenberg",
                r"$\exp(-t \psi(x, y))$ is a kernel for every $t > 0$ exactly when $\psi$ is "
                "conditionally negative definite, as a squared distance of features is "
                "(Schoenberg).",
                {
                    "schoenberg": "Here it is the squared distance of features.",
                    "generalized_gaussian": r"Here it is $|x - y|_p^q$ with $0 < q \le p "
                    r"\le 2$: $|t|^p$ is conditionally negative definite, so is its sum over "
                    r"the features, and so is the power $q / p \le 1$ of that.",
                    "periodic": r"Here it is $2 \sin^2(\pi (x_i - y_i) / p)$, half the squared "
                    "distance of two points of the unit circle, for each feature.",
                    "chi2": r"Here, on vectors $\ge 0$, it is $(x_i - y_i)^2 / (x_i + y_i) = "
                    r"x_i + y_i - 2 k$ with the additive chi2 kernel $k = 2 x_i y_i / "
                    r"(x_i + y_i)$, for each feature.",
                    "min_over_max": r"On numbers $> 0$ it is $|\log x - \log y|$.",
                },
            ),
            Rule(
                "squared distance",
                r"$k(x, x) + k(y, y) - 2 k(x, y) = |\Phi(x) - \Phi(y)|^2$, and for weights "
                r"with $\sum_i c_i = 0$ its form is $-2 |\sum_i c_i \Phi(x_i)|^2 \le 0$.",
                {"squared_distance": ""},
                property="cnd",
            ),
            Rule(
                "wendland",
                r"$\max(0, 1 - r)^n$ is a kernel on vectors of dimension $d$ when $n \ge "
                r"(d + 1) / 2$ (Askey). Each walk $r \to \int_r^\infty t f(t) dt$ adds two "
                "derivatives and costs two dimensions (Wendland).",
                {"wendland": "The power is chosen so that the stated dimension remains."},
            ),
            Rule(
                "laplace transform",
                r"$1 / (a(x) + a(y) - k(x, y))$ is $\int_0^\infty e^{-t a(x)} e^{t k(x, y)} "
                r"e^{-t a(y)} dt$ where the denominator is positive: a mixture of "
                "kernels, whatever the kernel $k$. Times a kernel, it is one (Schur).",
                {
                    "tanimoto": r"Here $a(x) = |x|^2$ and $k$ is linear; the zero vector is "
                    "apart from the others, a direct sum.",
                    "jaccard": r"Here $a(x) = |x|$ and $k$ counts common elements; the empty "
                    "set is apart from the others, a direct sum.",
                    "additive_chi2": r"Here, on vectors $\ge 0$ and for each feature, "
                    r"$a(x) = x_i$ and $k = 0$, times $2 x_i y_i$.",
                },
            ),
            Rule(
                "sum",
                r"Features side by side: $k_1 + k_2$ has the feature "
                r"$(\Phi_1(x), \Phi_2(x))$.",
                {"sum": ""},
            ),
            Rule(
                "non-negative multiple",
                r"$c k$ with $c \ge 0$ has the feature $\sqrt{c} \Phi(x)$.",
                {"scaled": ""},
            ),
            Rule(
                "schur product",
                "The entrywise product of positive semidefinite matrices is positive "
                r"semidefinite (Schur): its feature is $\Phi_1(x) \otimes \Phi_2(x)$.",
                {"product": "", "power": "A whole power is a repeated product."},
                _verify_product,
            ),
            Rule(
                "infinite divisibility",
                r"When $k^{1 / n}$ is a kernel for every $n$, all its powers are: the rational "
                "ones are products (Schur), the others are limits.",
                {"power": ""},
                _verify_divisible,
            ),
            Rule(
                "weighting",
                r"$f(x) k(x, y) f(y)$ has the feature $f(x) \Phi(x)$.",
                {
                    "weighted": "",
                    "normalized": r"Here $f(x) = 1 / \sqrt{k(x, x)}$; points with "
                    "$k(x, x) = 0$ are apart from the others.",
                },
            ),
            Rule(
                "pullback",
                r"$k(f(x), f(y))$ has the feature $\Phi(f(x))$, whatever the function $f$.",
                {
                    "map": "",
                    "on": "Here $f$ keeps the named parts of a point.",
                    "filled": "Here $f$ puts a number in each place where one is missing.",
                },
            ),
            Rule(
                "assumed",
                "Nothing proves this function to be a kernel: it is taken on the user's word.",
                {"from_function": ""},
            ),
        )
    }
)
"""Every rule, by name."""
