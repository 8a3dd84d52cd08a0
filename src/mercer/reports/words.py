"""Kernels in words: when are two points alike?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.kernels import (
    Bias,
    Column,
    Delta,
    Exp,
    Jaccard,
    Kernel,
    Linear,
    Normalized,
    Polynomial,
    Power,
    Product,
    Scaled,
    SetIntersection,
    Sum,
    White,
)
from mercer.kernels.radial import Radial

SHOWN = 8
"""Names and numbers that are told before the rest is counted."""

INDENT = "  "


def in_words(kernel: Kernel, columns: Sequence[str] = ()) -> str:
    """A kernel in words, a line a part.

    Args:
        kernel: The kernel.
        columns: What the coordinates of its points are called, if they have names.

    Example:
        >>> import mercer as mc
        >>> print(in_words(mc.Gaussian(2.0).on("age") * mc.Delta().on("city")))
        alike in each of 2 ways:
          close in age (gaussian, length 2)
          equal in city (delta)
    """
    return "\n".join(_lines(kernel, tuple(columns)))


def _lines(kernel: Kernel, columns: tuple[str, ...]) -> list[str]:
    if isinstance(kernel, Sum | Product):
        parts = _parts(kernel, type(kernel))
        how = "each" if isinstance(kernel, Product) else "any"
        return [
            f"alike in {how} of {len(parts)} ways:",
            *(INDENT + line for part in parts for line in _lines(part, columns)),
        ]
    if isinstance(kernel, Scaled):
        first, *rest = _lines(kernel.kernel, columns)
        return [f"{_number(kernel.weight)} times {first}", *rest]
    if isinstance(kernel, Column):
        return _lines(kernel.kernel, tuple(map(str, kernel.columns)))
    if isinstance(kernel, Exp | Normalized | Power):
        what = kernel.word
        if isinstance(kernel, Power):
            what = f"the power {_number(kernel.exponent)} of"
        first, *rest = _lines(kernel.kernel, columns)
        return [f"{what} {first}", *rest]
    return [_leaf(kernel, columns)]


def _parts(kernel: Kernel, kind: type[Any]) -> list[Kernel]:
    """The terms of a sum of sums, or the factors of a product of products."""
    if not isinstance(kernel, kind):
        return [kernel]
    return [part for child in kernel.children() for part in _parts(child, kind)]


def _leaf(kernel: Kernel, columns: tuple[str, ...]) -> str:
    """One kernel without parts."""
    where = f" in {_listed(columns)}" if columns else ""
    numbers = ", ".join(_said(name, value) for name, value in kernel.parameters().items())
    how = f"{kernel.word}{', ' * bool(numbers.strip(', '))}{numbers}".rstrip(", ")
    match kernel:
        case Bias():
            return "a constant"
        case Delta() | White():
            verb = "equal"
        case Jaccard() | SetIntersection():
            verb = "sharing items"
        case Linear() | Polynomial():
            verb = "pointing the same way"
        case Radial():
            verb = "close"
        case _:
            verb = "alike"
    return f"{verb}{where} ({how})"


def _said(name: str, value: Any) -> str:
    """A parameter in words; nothing for one that was not given."""
    if value is None:
        return ""
    called = {"scale": "length"}.get(name, name.replace("_", " "))
    if not isinstance(value, tuple):
        return f"{called} {_number(value)}"
    if any(isinstance(item, tuple) for item in value):
        return f"{called} a matrix of {len(value)} rows"
    return f"{called}s {_listed([_number(item) for item in value])}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(names[:SHOWN])
    return few + f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)
