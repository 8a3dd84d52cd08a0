"""The Matern profile of every smoothness, where Bessel functions overflow and cancel too."""

from __future__ import annotations

import numpy as np
from scipy.special import gamma, kve

from mercer.types import Array

LARGE_ORDER, LIMIT_ORDER = 200.0, 2.0**44
"""The orders from which on four terms of Debye's expansion, and the limit of infinite order,
are right to 2^-40."""


def matern(t: Array, nu: float) -> Array:
    """2^(1-nu)/Gamma(nu) t^nu K_nu(t), which is 1 at t = 0."""
    # Where a squared distance overflowed, the point is far away all the same.
    far = np.minimum(t.astype(np.float64), 1e150)
    if nu >= LIMIT_ORDER:
        values: Array = np.exp(-((far / np.sqrt(4 * nu)) ** 2))
    elif nu >= LARGE_ORDER:
        values = _debye(far, nu)
    else:
        with np.errstate(divide="ignore"):  # of an order near 0 nothing is left
            values = _by_recurrence(far, nu)
    result: Array = np.minimum(values, 1.0).astype(t.dtype)
    return result


def _by_recurrence(t: Array, nu: float) -> Array:
    """The Matern profile from Bessel functions of order at most 3.

    Those of a large order overflow near 0. With M_nu = 2^(1-nu)/Gamma(nu) t^nu K_nu(t) their
    recurrence is M_(nu+1) = M_nu + t^2 M_(nu-1) / (4 nu (nu-1)): all terms are positive.
    """
    order = nu if nu <= 3 else 2 + nu % 1
    # Below, the value is 1 to the last digit, or t is 0; above, it is 0.
    near = np.clip(t, 1e-300 if nu <= 1 else 1e-100, 3000.0)

    def scaled(order: float) -> Array:
        values: Array = 2 ** (1 - order) / gamma(order) * near**order * kve(order, near)
        return values

    before, value = (scaled(order - 1) if nu > 3 else near), scaled(order)
    while order < nu - 0.5:
        before, value = value, value + near * near / (4 * order * (order - 1)) * before
        order += 1
    return np.where(t > 0, np.exp(np.log(value) - near), np.where(t == 0, 1.0, t))


def _debye(t: Array, nu: float) -> Array:
    """The Matern profile of a large order (Abramowitz and Stegun 9.7.8, with Stirling's series
    for the Gamma function), arranged so that nothing cancels.
    """
    z = t / nu
    w = np.hypot(1, z)
    h = z * (z / (1 + w))
    p = 1 / w
    q = p * p
    terms = (
        p * (3 - 5 * q) / 24,
        q * (81 + q * (-462 + 385 * q)) / 1152,
        p * q * (30375 + q * (-369603 + q * (765765 - 425425 * q))) / 414720,
        q**2
        * (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + 185910725 * q))))
        / 39813120,
    )
    series = sum((-1 / nu) ** n * term for n, term in enumerate(terms, 1))
    stirling = 1 / (12 * nu) - 1 / (360 * nu**3)
    values: Array = np.exp(
        -nu * (h - np.log1p(h / 2)) - np.log(w) / 2 + np.log1p(series) - stirling
    )
    return values
