"""How loops are compiled: without the interpreter's lock, and kept for later processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba

from mercer.loops.kept import Kept

# Products and sums may be contracted to one rounding. Nothing may be reordered, and NaN and
# infinity keep their meaning: `fastmath=True` would let the compiler assume they never occur.
CONTRACT = frozenset({"contract"})

# A sum along a row may also be regrouped, or it could not be vector code. NaN still survives.
REGROUP = frozenset({"contract", "reassoc"})


def compiled(flags: frozenset[str] = CONTRACT) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop at its first call, and keep the machine code on disk.

    Where no folder can be written to, as in a sealed container, each process compiles anew.

    Args:
        flags: What the compiler may do to floating-point arithmetic.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        loop = numba.njit(nogil=True, fastmath=set(flags))(function)
        with suppress(RuntimeError):
            loop._cache = Kept(function)
        return loop

    return decorate
