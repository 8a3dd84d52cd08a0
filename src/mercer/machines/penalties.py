"""Penalties as they may be given: one, several, or "auto"."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from mercer.errors import InvalidParameter


def penalties(given: Any) -> Any:
    """None for "auto", else one number or several, all >= 0.

    Raises:
        InvalidParameter: They are not.
    """
    if isinstance(given, str) and given == "auto":
        return None
    try:
        numbers = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    fine = numbers.ndim == 1 and numbers.size
    if not fine or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InvalidParameter(
            f'penalty is "auto", a number >= 0 or several of them, got {given!r}.'
        )
    if numbers.size > 1 and not (numbers > 0).all():
        raise InvalidParameter(
            "among several penalties none may be 0: it has no leave-one-out."
        )
    return float(numbers[0]) if numbers.size == 1 else numbers


def positive_penalties(given: Any) -> Any:
    """The same, where zero is no penalty.

    Raises:
        InvalidParameter: The penalty is zero.
    """
    found = penalties(given)
    if found is not None and np.size(found) == 1 and not found > 0:
        raise InvalidParameter(
            "penalty is a number > 0 for this loss, got 0: without one the least loss may be "
            "reached by no function, or by very large ones.\nGive a small one, or "
            'penalty="auto".'
        )
    return found


def check_radius(radius: Any, given: Any) -> None:
    """Raise unless there is no radius, or a positive one and no penalty beside it.

    Raises:
        InvalidParameter: The radius is no bound, or there is a penalty too.
    """
    if radius is None:
        return
    if not isinstance(radius, Real) or not 0 < float(radius) < np.inf:
        raise InvalidParameter(f"radius is a positive number or None, got {radius!r}.")
    if given is not None:
        raise InvalidParameter(
            "radius bounds the norm and penalty prices it: one follows from the other.\nGive "
            'one of them; with radius leave penalty="auto".'
        )
