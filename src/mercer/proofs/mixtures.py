r"""Mixtures of kernels that a sum shows by its shape: differences of powers, and 1 / cosh."""

from __future__ import annotations

from fractions import Fraction

from mercer.proofs.normal import Algebra
from mercer.proofs.series import ratio
from mercer.proofs.sums import Atom, Exponent, Product, Sum, product_points

# ------------------------------------------------------------------- h(psi) - h(psi + delta)


def bases(value: Sum) -> list[Sum]:
    """The sums that stand in a power or logarithm of two terms, each once."""
    found: dict[str, Sum] = {}
    if len(value.terms) == 2:
        for term, _ in value.terms:
            for atom, _ in term:
                if atom.head in ("sum", "log"):
                    found.setdefault(atom.args[0].key, atom.args[0])
    return list(found.values())


def is_gap(value: Sum, base: Sum, algebra: Algebra) -> bool:
    r"""Whether a sum is $c\, |h(\psi) - h(\psi + \delta)|$ with $\delta > 0$ for the base
    $\psi$: the integral of $|h'|$ from $\psi$ to $\psi + \delta$, where h is a logarithm, or a
    power below one.
    """
    for term, factor in value.terms:
        core = _core(term)
        if core is None or core[0].args[0] != base:
            continue
        own = Sum(((term, factor),))
        return any(
            _is_shifted(value - own, own, core, base + Sum.constant(step), algebra)
            for step in _steps(value, base)
        )
    return False


def _core(term: Product) -> tuple[Atom, Exponent] | None:
    """The one power of a sum, or logarithm, in a product with constants."""
    inner = [part for part in term if product_points((part,))]
    if len(inner) != 1 or inner[0][0].head not in ("sum", "log"):
        return None
    return inner[0]


def _steps(value: Sum, base: Sum) -> list[Fraction]:
    """The numbers delta > 0 for which base + delta is a multiple of another base."""
    found = []
    level = _level(base)
    for other in bases(value):
        factor = ratio(base - Sum.constant(level), other - Sum.constant(_level(other)))
        step = None if factor is None else factor * _level(other) - level
        if step is not None and step > 0:
            found.append(step)
    return found


def _level(value: Sum) -> Fraction:
    return next((factor for term, factor in value.terms if not term), Fraction(0))


def _is_shifted(
    rest: Sum, own: Sum, core: tuple[Atom, Exponent], shifted: Sum, algebra: Algebra
) -> bool:
    """Whether the rest is minus the first term, with the shifted base in place of its own."""
    atom, exponent = core
    if not isinstance(exponent, Fraction) or (exponent >= 1 and atom.head == "sum"):
        return False
    if atom.head == "log":
        front = algebra.multiple_of(own, algebra.log(atom.args[0]))
        after = algebra.log(shifted)
    else:
        front = algebra.multiple_of(own, algebra.power(atom.args[0], exponent))
        after = algebra.power(shifted, exponent)
    if front is None or algebra.times(front, after) != -rest:
        return False
    sign = algebra.world.range(front)
    falling = atom.head == "sum" and exponent < 0
    return sign.positive if falling else sign.negative


# --------------------------------------------------------------------------- 1 / (cosh + c)


def is_sech(value: Sum, algebra: Algebra) -> bool:
    r"""Whether a sum is $(f(x)^2 + f(y)^2 + c f(x) f(y))^{-a}$ with f > 0 and $-2 < c \le 2$,
    or $(e^u + e^{-u} + c)^{-a}$ with $u = g(x) - g(y)$; a whole, or any a > 0 for c = 0 and
    c = 2.
    """
    if len(value.terms) != 1 or len(value.terms[0][0]) != 1 or value.terms[0][1] != 1:
        return False
    ((atom, exponent),) = value.terms[0][0]
    if atom.head != "sum" or not isinstance(exponent, Fraction) or exponent >= 0:
        return False
    cross = _cross_term(atom.args[0], algebra)
    if cross is None:
        return False
    return cross in (0, 2) or (exponent.denominator == 1 and -2 < cross <= 2)


def _cross_term(base: Sum, algebra: Algebra) -> Fraction | None:
    """The c for which a base is a + b + c sqrt(a b), log a - log b being a difference."""
    if len(base.terms) not in (2, 3):
        return None
    for skipped in range(len(base.terms)):
        ends = [t for n, t in enumerate(base.terms) if n != skipped or len(base.terms) == 2]
        (first, p), (second, q) = ends
        if p != q or p <= 0 or not _is_pair(first, second, algebra):
            continue
        if len(base.terms) == 2:
            return Fraction(0)
        middle, c = base.terms[skipped]
        square = algebra.power(Sum(((middle, Fraction(1)),)), Fraction(2))
        both = algebra.times(Sum(((first, Fraction(1)),)), Sum(((second, Fraction(1)),)))
        if square == both:
            return c / p
    return None


def _is_pair(first: Product, second: Product, algebra: Algebra) -> bool:
    """Whether two products are positive: F(x) and F(y), or e^u and e^-u of a difference."""
    a, b = (Sum(((product, Fraction(1)),)) for product in (first, second))
    if not (algebra.world.range(a).positive and algebra.world.range(b).positive):
        return False
    if len(a.points) == 1:
        return algebra.swapped(a) == b
    logs = [algebra.log(part) for part in (a, b)]
    return not (logs[0] + logs[1]) and algebra.difference_parts(logs[0]) is not None


# ------------------------------------------------------------------ powers of f(x) + f(y)


def is_convex_of_sum(value: Sum, algebra: Algebra) -> bool:
    r"""Whether a sum is $-u^a$ with $1 < a < 2$, or $-u \log u$, for a $u = f(x) + f(y) \ge 0$,
    up to a positive factor.
    """
    for atom, exponent in _steep(value):
        inner = atom.args[0]
        if len(inner.points) == 2 and _is_sum_of_one(inner, algebra):
            found = ratio(value, algebra.times(inner, Sum.of(atom, exponent)))
            if found is not None and found < 0:
                return True
    return False


def _steep(value: Sum) -> list[tuple[Atom, Fraction]]:
    """The logarithms in a sum, and the powers between 0 and 1 of sums."""
    found: dict[str, tuple[Atom, Fraction]] = {}
    for term, _ in value.terms:
        for atom, exponent in term:
            root = atom.head == "sum" and isinstance(exponent, Fraction) and 0 < exponent < 1
            if root or (atom.head == "log" and exponent == 1):
                found.setdefault(atom.key, (atom, exponent))
    return list(found.values())


def _is_sum_of_one(value: Sum, algebra: Algebra) -> bool:
    """Whether a sum is f(x) + f(y) for some f, and nowhere negative."""
    apart = all(len(product_points(term)) < 2 for term, _ in value.terms)
    symmetric = algebra.swapped(value) == value
    return apart and symmetric and algebra.world.range(value).nonnegative
