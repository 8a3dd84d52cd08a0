r"""Functions of one kernel, or of a difference, told by their series and Fourier transforms.

Everything here is exact: rational arithmetic on coefficients, and Sturm's theorem where a
polynomial has to keep its sign.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial, isqrt, lcm

from mercer.proofs.normal import E
from mercer.proofs.sums import Atom, Product, Sum, as_sum

Polynomial = list[Fraction]
"""Coefficients, the constant first."""


# ------------------------------------------------------------------- polynomials that keep sign


def trimmed(p: Polynomial) -> Polynomial:
    """Without zeros at the end."""
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return p


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum of two polynomials."""
    size = max(len(a), len(b))
    zero = Fraction(0)
    return trimmed(
        [(a[n] if n < len(a) else zero) + (b[n] if n < len(b) else zero) for n in range(size)]
    )


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    if not a or not b:
        return []
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            out[i + j] += p * q
    return trimmed(out)


def _remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    a = list(a)
    while len(a) >= len(b) and a:
        factor, shift = a[-1] / b[-1], len(a) - len(b)
        for n, q in enumerate(b):
            a[n + shift] -= factor * q
        a = trimmed(a[:-1])
    return a


def _value(p: Polynomial, at: Fraction) -> Fraction:
    total = Fraction(0)
    for coefficient in reversed(p):
        total = total * at + coefficient
    return total


def derivative(p: Polynomial) -> Polynomial:
    """The derivative."""
    return trimmed([n * c for n, c in enumerate(p)][1:])


def _common(a: Polynomial, b: Polynomial) -> Polynomial:
    while b:
        a, b = b, _remainder(a, b)
    return [c / a[-1] for c in a]


def _quotient(a: Polynomial, b: Polynomial) -> Polynomial:
    a, out = list(a), [Fraction(0)] * max(len(a) - len(b) + 1, 0)
    while len(a) >= len(b) and a:
        factor, shift = a[-1] / b[-1], len(a) - len(b)
        out[shift] = factor
        for n, q in enumerate(b):
            a[n + shift] -= factor * q
        a = trimmed(a[:-1])
    return trimmed(out)


def _sign_changes(chain: list[Polynomial], at: Fraction | None) -> int:
    if at is None:
        signs = [p[-1] for p in chain if p]
    else:
        signs = [_value(p, at) for p in chain]
    kept = [s > 0 for s in signs if s]
    return sum(a != b for a, b in zip(kept, kept[1:], strict=False))


def _roots(p: Polynomial, low: Fraction, high: Fraction | None) -> int:
    """How many different roots a polynomial without double roots has in (low, high]."""
    chain = [p, derivative(p)]
    while chain[-1]:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])
    return _sign_changes(chain[:-1], low) - _sign_changes(chain[:-1], high)


def stays_nonnegative(p: Polynomial, low: Fraction, high: Fraction | None) -> bool:
    """Whether a polynomial is nowhere negative between low and high (None: infinity).

    Roots where it only touches zero are allowed: Sturm's theorem counts those of odd order.
    """
    p = trimmed(p)
    if not p:
        return True
    if all(c >= 0 for c in p) and low >= 0:
        return True
    odd = _odd_part(p)
    if len(odd) > 1:
        inside = _roots(odd, low, high)
        if high is not None and _value(odd, high) == 0:
            inside -= 1
        if inside:
            return False
    probe = low + 1 if high is None else (low + high) / 2
    for shift in range(1, 40):
        value = _value(p, probe)
        if value:
            return value > 0
        probe = low + Fraction(1, shift + 1) * (1 if high is None else (high - low))
    return False


def _odd_part(p: Polynomial) -> Polynomial:
    """The product of the factors of odd order, each once."""
    out, rest, order = [Fraction(1)], p, 1
    levels: list[Polynomial] = []
    while len(rest) > 1:
        shared = _common(rest, derivative(rest))
        levels.append(_quotient(rest, shared))
        rest = shared
    for n, level in enumerate(levels):
        exact = level if n + 1 == len(levels) else _quotient(level, levels[n + 1])
        if order % 2 == 1 and len(exact) > 1:
            out = product(out, exact)
        order += 1
    return out


# -------------------------------------------------------------------- power series in one kernel


def in_terms_of(value: Sum, kernel: Sum) -> list[tuple[Fraction, int, Fraction]] | None:
    """A sum as $\\sum c\\, u^m e^{b u}$ in one product u: the triples (c, m, b)."""
    if len(kernel.terms) != 1:
        return _exponentials_of(value, kernel)
    if kernel.terms[0][1] <= 0:
        return None
    base, unit = kernel.terms[0]
    found = []
    for term, factor in value.terms:
        rate, rest = _rate(term, base)
        count = _exponent(rest, base)
        if rate is None or count is None:
            return None
        found.append((factor / unit**count, count, rate / unit))
    return found


def _exponentials_of(value: Sum, kernel: Sum) -> list[tuple[Fraction, int, Fraction]] | None:
    """A sum of e^(b u), for a kernel u of several terms."""
    found = []
    for term, factor in value.terms:
        rate = Fraction(0)
        if term:
            if len(term) != 1 or term[0][0] != E or not isinstance(term[0][1], Sum):
                return None
            exponent = term[0][1]
            rate = exponent.terms[0][1] / kernel.terms[0][1] if kernel.terms else rate
            if kernel.times(rate) != exponent:
                return None
        found.append((factor, 0, rate))
    return found


def _rate(term: Product, base: Product) -> tuple[Fraction | None, Product]:
    """The b of e^(b u) in a product, and what else there is."""
    for atom, exponent in term:
        if atom == E:
            inner = as_sum(exponent).terms
            if len(inner) != 1 or inner[0][0] != base:
                return None, term
            return inner[0][1], tuple(part for part in term if part[0] != E)
    return Fraction(0), term


def _exponent(term: Product, base: Product) -> int | None:
    """The m for which a product is u^m."""
    if not term:
        return 0
    powers, wanted = dict(term), dict(base)
    if powers.keys() != wanted.keys():
        return None
    ratios = set()
    for atom, exponent in powers.items():
        own = wanted[atom]
        if not isinstance(exponent, Fraction) or not isinstance(own, Fraction):
            return None
        ratios.add(exponent / own)
    ratio = ratios.pop()
    return int(ratio) if not ratios and ratio.denominator == 1 and ratio > 0 else None


def series_is_nonnegative(triples: list[tuple[Fraction, int, Fraction]]) -> bool:
    r"""Whether $\sum c\, u^m e^{b u}$ has no negative coefficient as a power series in u.

    The coefficient of $u^n$ times n! is $\sum c\, n^{\underline m}\, b^{n - m}$. It is computed
    for small n; from a bound on, the term of the largest |b| is larger than all others
    together.
    """
    top = max((abs(b) for _, _, b in triples), default=Fraction(0))
    checked = max((m for _, m, _ in triples), default=0) + 1
    if top:
        found = _dominated_from(triples, top)
        if found is None:
            return False
        checked = max(checked, found)
    return all(_coefficient(triples, n) >= 0 for n in range(checked + 1))


def _coefficient(triples: list[tuple[Fraction, int, Fraction]], n: int) -> Fraction:
    total = Fraction(0)
    for c, m, b in triples:
        if n >= m:
            falling = factorial(n) // factorial(n - m)
            total += c * falling * (b ** (n - m) if n > m or b else Fraction(int(n == m)))
    return total


def _dominated_from(triples: list[tuple[Fraction, int, Fraction]], top: Fraction) -> int | None:
    """An n from which on the leading terms decide, and are not negative."""
    degree = max(m for _, m, b in triples if abs(b) == top)
    lead = {
        sign: sum(
            c / (sign * top) ** m for c, m, b in triples if b == sign * top and m == degree
        )
        for sign in (1, -1)
    }
    even, odd = lead[1] + lead[-1], lead[1] - lead[-1]
    if even < 0 or odd < 0 or even == odd == 0:
        return None
    if 0 in (even, odd):  # then all even powers, or all odd ones, must cancel
        sign = 1 if odd == 0 else -1
        mirrored = sorted((sign * c * (-1) ** m, m, -b) for c, m, b in triples)
        if mirrored != sorted(triples):
            return None
    others = [(c, m, b) for c, m, b in triples if not (abs(b) == top and m == degree)]
    least = min(value for value in (even, odd) if value)
    for n in range(max(4, degree), 400):
        # Beyond m / (1 - b/top) each n^m (b/top)^n falls faster than the leading term.
        falls = all(n * (1 - abs(b) / top) >= m - degree for _, m, b in others)
        rest = sum((_size(c, m, b, n, top) for c, m, b in others if b), Fraction(0))
        if falls and least * (factorial(n) // factorial(n - degree)) > rest:
            return n
    return None


def _size(c: Fraction, m: int, b: Fraction, n: int, top: Fraction) -> Fraction:
    """A bound of what one term adds to the coefficient of u^n, in units of top^n."""
    return abs(c) * Fraction(n) ** m * abs(b / top) ** max(n - m, 0) / top**m


# ---------------------------------------------------------------------------- Fourier transforms


def exponentials(value: Sum, distance: Sum) -> list[tuple[Fraction, int, Fraction]] | None:
    r"""A sum as $\sum c\, r^m e^{-a r}$ with a > 0, in the distance r: the triples."""
    found = in_terms_of(value, distance)
    if found is None or any(b >= 0 for _, _, b in found):
        return None
    return [(c, m, -b) for c, m, b in found]


def has_nonnegative_transform(triples: list[tuple[Fraction, int, Fraction]]) -> bool:
    r"""Whether $\sum c\, |t|^m e^{-a |t|}$ has a Fourier transform that is nowhere negative.

    The transform of $|t|^m e^{-a|t|}$ is $2\, m!\, \Re (a - i w)^{m+1} / (a^2 + w^2)^{m+1}$,
    so the sum is a polynomial in $w^2$ over one that is positive.
    """
    rates = sorted({a for _, _, a in triples})
    orders = {a: max(m for _, m, b in triples if b == a) + 1 for a in rates}
    total: Polynomial = []
    for c, m, a in triples:
        part = [c * factorial(m) * p for p in _real_part(a, m + 1)]
        for rate in rates:
            missing = orders[rate] - (m + 1 if rate == a else 0)
            for _ in range(missing):
                part = product(part, [rate * rate, Fraction(1)])
        total = plus(total, part)
    return stays_nonnegative(total, Fraction(0), None)


def _real_part(a: Fraction, n: int) -> Polynomial:
    """The real part of (a + i w)^n as a polynomial in w^2."""
    return [comb(n, 2 * k) * (-1) ** k * a ** (n - 2 * k) for k in range(n // 2 + 1)]


def gaussian_terms(value: Sum, squared: Sum) -> list[tuple[Fraction, Fraction]] | None:
    r"""A sum as $\sum c\, e^{-a r^2}$ with a >= 0, in the squared distance: the pairs (c, a)."""
    found = []
    for term, factor in value.terms:
        rate = Fraction(0)
        for atom, exponent in term:
            if atom != E or not isinstance(exponent, Sum) or not squared.terms:
                return None
            rate = -exponent.terms[0][1] / dict(_keyed(squared)).get(
                _name(exponent.terms[0][0]), Fraction(1)
            )
            if rate <= 0 or squared.times(-rate) != exponent:
                return None
        if rate == 0 and factor < 0:
            return None
        if rate:
            found.append((factor, rate))
    return found


def _keyed(value: Sum) -> list[tuple[str, Fraction]]:
    return [(_name(term), factor) for term, factor in value.terms]


def _name(term: Product) -> str:
    return Sum(((term, Fraction(1)),)).key


def gaussians_are_nonnegative(
    pairs: list[tuple[Fraction, Fraction]], dimension: int | None
) -> bool:
    r"""Whether $\sum c\, e^{-a r^2}$ with a > 0 is p.d. on vectors of a dimension.

    Its transform is $\sum c\, (\pi / a)^{d/2} e^{-w^2 / 4a}$: with $q = e^{-w^2 / 4 L}$ a
    polynomial in q on [0, 1]. In every dimension it has to be a mixture: no c is negative.
    """
    if all(c >= 0 for c, _ in pairs):
        return True
    if dimension is None:
        return False
    numerators = [1 / a for _, a in pairs]
    scale = 1
    for value in numerators:
        scale = lcm(scale, value.denominator)
    powers = [int(value * scale) for value in numerators]
    if max(powers) > 400:
        return False
    least = min(powers)
    weights = _half_powers([1 / a for _, a in pairs], dimension)
    if weights is None:
        return _two_gaussians(pairs, dimension)
    polynomial: Polynomial = [Fraction(0)] * (max(powers) - least + 1)
    for (c, _), power, weight in zip(pairs, powers, weights, strict=True):
        polynomial[power - least] += c * weight
    return stays_nonnegative(polynomial, Fraction(0), Fraction(1))


def _half_powers(values: list[Fraction], dimension: int) -> list[Fraction] | None:
    """The powers d/2 relative to the first, where they are rational."""
    if dimension % 2 == 0:
        return [value ** (dimension // 2) for value in values]
    roots = [_root(value / values[0]) for value in values]
    if any(root is None for root in roots):
        return None
    return [root**dimension for root in roots if root is not None]


def _root(value: Fraction) -> Fraction | None:
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    exact = top * top == value.numerator and bottom * bottom == value.denominator
    return Fraction(top, bottom) if exact else None


def _two_gaussians(pairs: list[tuple[Fraction, Fraction]], dimension: int) -> bool:
    r"""Of two, $e^{-a r^2} - c e^{-b r^2}$: the transform is positive when the wide one of
    the frequencies has the positive weight, and does so already at frequency 0.
    """
    if len(pairs) != 2:
        return False
    (c, a), (d, b) = sorted(pairs, key=lambda pair: pair[0], reverse=True)
    # c > 0 > d: needs a >= b in frequency decay and c a^(-d/2) >= |d| b^(-d/2).
    return c > 0 and a >= b and c**2 * b**dimension >= d**2 * a**dimension


# --------------------------------------------------------------------------------- spheres


def gegenbauer(p: Polynomial, dimension: int) -> Polynomial:
    r"""The coefficients of a polynomial in $t = x^\top y$ by Gegenbauer polynomials of the
    unit sphere with so many coordinates, up to positive factors (Schoenberg).
    """
    basis: list[Polynomial] = [[Fraction(1)], [Fraction(0), Fraction(1)]]
    half = Fraction(dimension - 2, 2)
    for n in range(1, len(p)):
        front = [2 * (n + half) * c for c in product([Fraction(0), Fraction(1)], basis[n])]
        back = [-(n + 2 * half - 1) * c for c in basis[n - 1]]
        if n == 1 and half == 0:
            back = [Fraction(-1)]
            front = [2 * c for c in product([Fraction(0), Fraction(1)], basis[n])]
            basis.append(plus(front, back))
            continue
        if half == 0:
            basis.append(
                plus(
                    [2 * c for c in product([Fraction(0), Fraction(1)], basis[n])],
                    [-c for c in basis[n - 1]],
                )
            )
            continue
        scale = n + 1
        both = (
            plus(front, back)
            if n > 1
            else plus(
                [
                    2 * (1 + half) * c
                    for c in product([Fraction(0), Fraction(1)], [Fraction(0), 2 * half])
                ],
                [-2 * half],
            )
        )
        basis.append([c / scale for c in both])
        if n == 1:
            basis[1] = [Fraction(0), 2 * half]
    found, rest = [Fraction(0)] * len(p), list(p)
    for n in range(len(p) - 1, -1, -1):
        lead = basis[n][-1]
        factor = rest[n] / lead
        found[n] = factor
        for k, c in enumerate(basis[n]):
            rest[k] -= factor * c
    return found


def polynomial_in(value: Sum, atom: Atom) -> Polynomial | None:
    """The coefficients of a sum that is a polynomial in one atom."""
    found: dict[int, Fraction] = {}
    for term, factor in value.terms:
        if not term:
            found[0] = factor
            continue
        ((only, exponent), *more) = term
        if more or only != atom or not isinstance(exponent, Fraction):
            return None
        if exponent.denominator != 1 or not 0 < exponent <= 60:
            return None
        found[int(exponent)] = factor
    return [found.get(n, Fraction(0)) for n in range(max(found, default=0) + 1)]


def are_matern(triples: list[tuple[Fraction, int, Fraction]]) -> bool:
    r"""Whether $\sum c\, r^m e^{-a r}$ is, for each a, a sum of $e^{-a r}$,
    $(1 + a r) e^{-a r}$ and $(1 + a r + a^2 r^2 / 3) e^{-a r}$ with factors that are >= 0.
    """
    for rate in {a for _, _, a in triples}:
        own = {m: c for c, m, a in triples if a == rate}
        if max(own) > 2:
            return False
        second = own.get(2, Fraction(0)) * 3 / rate**2
        first = own.get(1, Fraction(0)) / rate - second
        if min(second, first, own.get(0, Fraction(0)) - first - second) < 0:
            return False
    return True


def two_factors(value: Sum) -> tuple[Polynomial, Polynomial] | None:
    """The polynomials f and g with value = f(x) g(y), if it is such a product."""
    entries: dict[tuple[int, int], Fraction] = {}
    for term, factor in value.terms:
        powers = {"x": 0, "y": 0}
        for atom, exponent in term:
            if atom.head not in powers or not isinstance(exponent, Fraction):
                return None
            if exponent.denominator != 1 or not 0 < exponent <= 12:
                return None
            powers[atom.head] = int(exponent)
        entries[powers["x"], powers["y"]] = factor
    if not entries:
        return None
    i, j = max(entries)
    top = entries[i, j]
    f = [entries.get((n, j), Fraction(0)) for n in range(i + 1)]
    g = [entries.get((i, n), Fraction(0)) / top for n in range(max(k for _, k in entries) + 1)]
    whole = {(n, m): p * q for n, p in enumerate(f) for m, q in enumerate(g) if p * q}
    return (trimmed(f), trimmed(g)) if whole == entries else None
