r"""The theorems about formulas: what each says, and how a step by it is verified.

A step is verified from its text alone: the claim and the premises are read again, brought to
normal form and compared. Nothing is believed because the search said so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mercer.errors import MercerError
from mercer.kernels.rules import Condition, Rule, Step
from mercer.proofs import (
    angles,
    compact,
    composed,
    cores,
    counts,
    leaves,
    minima,
    mixtures,
    stationary,
    symmetry,
)
from mercer.proofs.cases import (
    CND,
    PD,
    Case,
    Verify,
    algebra_of,
    formula_of,
    holds_if,
    lacks,
    verified,
)
from mercer.proofs.composed import is_positive
from mercer.proofs.normal import ONE, Algebra
from mercer.proofs.spaces import larger, space
from mercer.proofs.sums import Sum, TooLarge


def _line(step: Step) -> list[Condition]:
    """A formula of vectors of one coordinate, as one of numbers."""
    if len(step.premises) != 1 or step.premises[0].claim.head != "formula":
        return holds_if("there is one premise, a formula", holds=False)
    lacking = lacks(step, PD)
    if lacking:
        return holds_if(lacking, holds=False)
    above, below = step.claim, step.premises[0].claim
    try:
        numbers = symmetry.on_line(formula_of(above).tree) == formula_of(below).tree
    except MercerError as error:
        return holds_if(f"the step can be read ({error})", holds=False)
    places = (above["domain"], below["domain"]) == ("vectors(1)", "reals")
    return [
        Condition("dot(x, y) is x y, and every norm the absolute value", numbers),
        Condition("the domains are vectors(1) and reals", places),
        Condition("the assumptions are the same", above["given"] == below["given"]),
    ]


def _restriction(step: Step) -> list[Condition]:
    """The same text on a larger domain."""
    if len(step.premises) != 1 or step.premises[0].claim.head != "formula":
        return holds_if("there is one premise, a formula", holds=False)
    lacking = lacks(step, PD)
    if lacking:
        return holds_if(lacking, holds=False)
    above, below = step.claim, step.premises[0].claim
    try:
        wider = larger(space(above["domain"]))
        same = formula_of(above).tree == formula_of(below).tree
    except MercerError as error:
        return holds_if(f"the step can be read ({error})", holds=False)
    inside = wider is not None and below["domain"] == str(wider)
    return [
        Condition(
            "the formula is that of the premise", same and above["given"] == below["given"]
        ),
        Condition(f"{above['domain']} is a part of {below['domain']}", inside),
    ]


def _gap(case: Case) -> list[Condition]:
    gap = mixtures.is_gap(case.value, case.first, case.algebra)
    return [
        Condition(
            "it is |h(psi) - h(psi + d)| for the premise psi, d > 0, up to a factor", gap
        ),
        Condition("the premise is > 0 on the domain", is_positive(case.algebra, case.first)),
    ]


def _whole_leaf(words: str, holds: Callable[[Sum, Algebra], bool]) -> Verify:
    return lambda case: holds_if(words, holds=holds(case.value, case.algebra))


def _reflected(case: Case) -> list[Condition]:
    good = any(symmetry.is_even_part(case.value, case.first, case.algebra, s) for s in (1, -1))
    return holds_if(symmetry.WORDS, holds=good)


def _odd_part(case: Case) -> list[Condition]:
    good = symmetry.is_even_part(-case.value, case.first, case.algebra, -1)
    return holds_if(symmetry.WORDS, holds=good)


# ---------------------------------------------------------------------------------- the table


def _no_facts(step: Step) -> frozenset[str]:
    """The facts that a formula shows by itself, and those of its step."""
    try:
        algebra = algebra_of(step.claim["domain"], step.claim["given"])
        value = algebra.normal(formula_of(step.claim).tree)
        diagonal = algebra.diagonal(value)
    except (MercerError, TooLarge):
        return frozenset()
    found = set()
    if diagonal == ONE:
        found |= {"unit", "positive diagonal", "bounded"}
    elif algebra.world.range(diagonal).positive:
        found.add("positive diagonal")
    if algebra.world.range(value).nonnegative:
        found.add("nonnegative")
    return frozenset(found)


def _rule(
    name: str,
    theorem: str,
    verify: Verify,
    *,
    premises: int | None = 0,
    proves: str = PD,
    needs: str = PD,
    facts: str = "",
) -> Rule:
    def known(step: Step) -> frozenset[str]:
        return _no_facts(step) | frozenset(filter(None, [facts]))

    check = verified(verify, premises, needs)
    return Rule(name, theorem, {"formula": ""}, check, known, proves)


DIVISIBLE = "infinitely divisible"

THEOREMS: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "features and kernels",
                r"With a p.s.d. matrix $M$, $\sum_{ij} M_{ij} \phi_i(x) \phi_j(y) k(x, y)$ is "
                "a sum of kernels $f(x) k(x, y) f(y)$, and sums of kernels are kernels.",
                {"formula": ""},
                cores.separation(PD),
                _no_facts,
            ),
            Rule(
                "terms without interaction",
                r"For weights with $\sum_i c_i = 0$ the form of $f(x) + f(y) - k(x, y)$ is "
                "that of $-k$; sums and positive multiples of c.n.d. functions are c.n.d.",
                {"formula": ""},
                cores.separation(CND),
                _no_facts,
                CND,
            ),
            _rule(
                "sum",
                "Features side by side: a sum of kernels is a kernel.",
                composed.total,
                premises=None,
            ),
            _rule(
                "sum of c.n.d. functions",
                "Sums of c.n.d. functions are c.n.d.",
                composed.total,
                premises=None,
                needs=CND,
                proves=CND,
            ),
            Rule(
                "multiple of one sign",
                "A positive multiple of a c.n.d. function is c.n.d., and so is a negative one "
                "of a kernel.",
                {"formula": ""},
                composed.multiple_of_one_sign,
                _no_facts,
                CND,
            ),
            Rule(
                "restriction",
                "A kernel on a set is a kernel on every part of it.",
                {"formula": ""},
                _restriction,
                _no_facts,
            ),
            _rule(
                "positive multiple",
                r"$c k$ with $c > 0$ has the feature $\sqrt{c} \Phi(x)$.",
                composed.multiple,
                premises=1,
            ),
            _rule(
                "inner product",
                r"$\sum_{ij} c_i c_j x_i^\top A x_j = |L^\top \sum_i c_i x_i|^2 \ge 0$ for "
                r"$A = L L^\top$.",
                leaves.leaf("inner product"),
            ),
            _rule(
                "common elements",
                "The number of common elements is the inner product of the indicators of "
                "two sets.",
                leaves.leaf("common elements"),
            ),
            _rule(
                "minimum",
                r"$\min(a, b)$ is the inner product of the indicators of $[0, a]$ and $[0, "
                r"b]$; so are its powers, by the increasing map $a \to a^r$.",
                leaves.leaf("minimum"),
                facts=DIVISIBLE,
            ),
            _rule(
                "common divisors",
                r"$\gcd(x, y)^r = \sum_{d | x, d | y} J_r(d)$ with Jordan's $J_r(d) = d^r "
                r"\prod_{p | d} (1 - p^{-r}) > 0$: features $\sqrt{J_r(d)}$ for each divisor; "
                r"its logarithm is such a sum with von Mangoldt's $\Lambda(d) \ge 0$.",
                leaves.leaf("common divisors"),
            ),
            _rule(
                "increasing function of a minimum",
                r"For an increasing $h \ge 0$, $h(\min(a, b)) = \min(h(a), h(b))$, the inner "
                "product of the indicators of $[0, h(a)]$ and $[0, h(b)]$; so is a decreasing "
                "one of a maximum.",
                minima.monotone,
            ),
            _rule(
                "green",
                r"For $x \le y$ it is $f(x) g(y)$ with $f g \ge 0$ and $f / g$ increasing, so "
                r"it is $g(x) g(y) \min(f(x) / g(x), f(y) / g(y))$.",
                minima.green,
            ),
            _rule(
                "invariant",
                r"Let $\psi$ depend on the angle of two points alone, or on $x - y$. Its mean "
                r"$m$ over the second point is a constant, so for a c.n.d. $\psi$ and $c \ge "
                r"m$, $c - \psi$ is a kernel: put the weight $-\sum_i c_i$ evenly on all "
                "points.",
                stationary.invariant,
                premises=1,
                needs=CND,
            ),
            _rule(
                "mean taken off",
                "A kernel of the angle alone has the constant functions as eigenfunctions, "
                "with its mean as the eigenvalue: less a constant up to its mean it is a "
                "kernel.",
                stationary.mean_taken,
                premises=1,
            ),
            _rule(
                "difference of mixtures",
                r"$h(\psi) - h(\psi + d) = \int_0^d -h'(\psi + t) dt$, a mixture of the "
                r"kernels $-h'(\psi + t)$ for a c.n.d. $\psi > 0$: h is a power below 1, or a "
                "logarithm.",
                _gap,
                premises=1,
                needs=CND,
            ),
            _rule(
                "counting",
                r"$n (n - 1) \cdots (n - k + 1)$ counts the ordered choices of k of n common "
                r"elements; $\gcd(x, y)^j$ is the sum of Jordan's $J_j(d)$ over the common "
                "divisors.",
                _whole_leaf(
                    "as a sum over such choices, or over common divisors, no term is negative",
                    counts.is_count,
                ),
            ),
            _rule(
                "reflection",
                r"$k(x, y) \pm k(x, -y)$ is twice the even or odd part of a kernel that is the "
                "same for -x and -y: put the weights also on the points -x.",
                _reflected,
                premises=1,
            ),
            _rule(
                "odd part",
                r"$\psi(x, -y) - \psi(x, y)$ for a c.n.d. $\psi$ that is the same for -x and "
                "-y: the weights c at x and -c at -x have the sum 0.",
                _odd_part,
                premises=1,
                needs=CND,
            ),
            _rule(
                "sum of two points",
                r"With $\sum_i c_i = 0$ and $u = f(x) + f(y)$, $u^a$ for $1 < a < 2$ and "
                r"$u \log u$ are mixtures of $e^{-t u}$, up to terms without interaction.",
                _whole_leaf(
                    "it is -u^a with 1 < a < 2, or -u log u, for u = f(x) + f(y) >= 0",
                    mixtures.is_convex_of_sum,
                ),
                proves=CND,
            ),
            Rule(
                "line",
                "Vectors of one coordinate are numbers.",
                {"formula": ""},
                _line,
                _no_facts,
            ),
            _rule(
                "poisson",
                r"$-\log(1 - 2 q \cos u + q^2) = 2 \sum_n q^n \cos(n u) / n$ for $|q| < 1$.",
                _whole_leaf(
                    "it is -log(a - b cos(g(x) - g(y))), a constant >= 0 above that",
                    angles.is_log_of_cosine,
                ),
            ),
            _rule(
                "bounded difference",
                r"On an interval of length $L$ it holds that $\frac{L}{2} - |x - y| = "
                r"\frac{1}{2} \int sgn(x - t)\, sgn(y - t) dt$, and $L^a - |x - y|^a$ for $a "
                r"\le 1$ is a convex decreasing function of the distance that stays above 0 "
                "(Polya).",
                stationary.bounded_difference,
            ),
            _rule(
                "identity",
                "Multiplied by the denominators both are equal, so they are where these are "
                "not 0.",
                composed.identity,
                premises=1,
            ),
            _rule(
                "identity of c.n.d. functions",
                "Multiplied by the denominators both are equal, so they are where these are "
                "not 0.",
                composed.identity,
                premises=1,
                needs=CND,
                proves=CND,
            ),
            _rule(
                "cosine",
                r"$\cos(a - b) = \cos a \cos b + \sin a \sin b$: two features.",
                leaves.leaf("cosine"),
            ),
            _rule(
                "sine",
                r"$|\sin u|^a$ is the power $a / 2$ of $\sin^2 u = (1 - \cos 2 u) / 2$, a "
                r"constant less a kernel, for $0 < a \le 2$.",
                leaves.leaf("sine"),
                proves=CND,
            ),
            _rule(
                "arc",
                r"The distance on the circle is $\frac{\pi}{2} - \frac{4}{\pi} \sum_{n odd} "
                r"\cos(n (a - b)) / n^2$: a constant less a kernel.",
                leaves.leaf("arc"),
                proves=CND,
            ),
            _rule(
                "distance",
                r"$|a - b|^q$ is c.n.d. for $0 < q \le 2$, and so is $|x - y|_p^q$ for "
                r"$0 < q \le p \le 2$ (Schoenberg).",
                leaves.leaf("distance"),
                proves=CND,
            ),
            _rule(
                "logarithm of a divisible kernel",
                r"When every power $k^r$, $r > 0$, is a kernel, $-\log k$ is c.n.d. "
                "(Schoenberg).",
                leaves.divisor_logarithm,
                proves=CND,
            ),
            _rule(
                "schoenberg",
                r"$\exp(-\psi)$ is a kernel for every c.n.d. $\psi$ (Schoenberg).",
                composed.schoenberg,
                premises=1,
                needs=CND,
                facts=DIVISIBLE,
            ),
            _rule(
                "exponential",
                r"$\exp(k) = \sum_n k^n / n!$, a limit of sums of products of kernels.",
                composed.exponential,
                premises=1,
                facts=DIVISIBLE,
            ),
            _rule(
                "laplace transform",
                r"$\psi^{-a} = \frac{1}{\Gamma(a)} \int_0^\infty t^{a - 1} e^{-t \psi} dt$ is "
                r"a mixture of kernels, for $a > 0$ and a c.n.d. $\psi > 0$.",
                composed.reciprocal,
                premises=1,
                needs=CND,
                facts=DIVISIBLE,
            ),
            _rule(
                "bernstein function",
                r"$\psi^a = c_a \int_0^\infty (1 - e^{-t \psi}) t^{-a - 1} dt$ is c.n.d. for "
                r"$0 < a \le 1$ and a c.n.d. $\psi$ that is $\ge 0$ on the diagonal.",
                composed.bernstein_power,
                premises=1,
                needs=CND,
                proves=CND,
            ),
            _rule(
                "logarithm",
                r"$\log \psi$ is c.n.d. for a c.n.d. $\psi > 0$, because $e^{-t \log \psi} = "
                r"\psi^{-t}$ is a kernel for every $t > 0$.",
                composed.logarithm,
                premises=1,
                needs=CND,
                proves=CND,
            ),
            _rule(
                "whole power",
                "A whole power is a product of kernels (Schur).",
                composed.whole_power,
                premises=1,
            ),
            _rule(
                "schur product",
                "The entrywise product of p.s.d. matrices is p.s.d. (Schur).",
                composed.product,
                premises=None,
            ),
            _rule(
                "power series",
                r"$\sum_n c_n k^n$ with $c_n \ge 0$ is a kernel where it converges: a limit of "
                "sums of products of kernels.",
                composed.power_series,
                premises=1,
            ),
            _rule(
                "anchored",
                r"When $-k$ is c.n.d. and $k(x, 0) = 0$ for all $x$, $k$ is a kernel: add the "
                r"point 0 with the weight $-\sum_i c_i$.",
                composed.anchored,
                premises=1,
                needs=CND,
            ),
            _rule(
                "bochner",
                "A continuous function of $x - y$ is a kernel exactly when its Fourier "
                "transform is a positive measure (Bochner), as that of a mixture of Gaussians "
                "is.",
                stationary.bochner,
            ),
            _rule(
                "sech",
                r"$1 / (\cosh t + \cos a)$ has the Fourier transform $\sinh(a w) / \sin a "
                r"\sinh(\pi w)$, which is positive, and $\cosh(t)^{-a}$ has $|\Gamma((a + i w) "
                "/ 2)|^2$, up to scale.",
                stationary.sech,
            ),
            _rule(
                "askey",
                r"$\max(0, 1 - r)^l$ is p.d. on $\mathbb{R}^d$ exactly for $l \ge (d + 1) / 2$ "
                "(Askey); on the line every convex decreasing function of the distance is "
                "(Polya).",
                stationary.askey_step,
            ),
            _rule(
                "wendland",
                r"For a kernel $\phi(r)$ on $\mathbb{R}^{d + 2}$, $\int_r^\infty t \phi(t) dt$ "
                r"is one on $\mathbb{R}^d$ (Wendland); $\max(0, 1 - r)^l$ is one for "
                r"$l \ge (d + 1) / 2$ (Askey).",
                _whole_leaf(compact.WORDS, compact.is_wendland),
            ),
            _rule(
                "sphere",
                r"A function of $x^\top y$ is p.d. on a sphere exactly when its Gegenbauer "
                "coefficients are not negative (Schoenberg).",
                stationary.sphere,
            ),
        )
    }
)
"""Every theorem about formulas, by name."""
