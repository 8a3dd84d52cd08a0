"""Kernels in words: when are two points alike?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.kernels import (
    Bias,
    Column,
    Delta,
    Exp,
    Filled,
    GeneralizedGaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Linear,
    Missing,
    Normalized,
    Polynomial,
    Power,
    Product,
    Scaled,
    Schoenberg,
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
        lines = [line for part in parts for line in _lines(part, columns)]
        how = "each" if isinstance(kernel, Product) else "any"
        return [
            f"alike in {how} of {_ways(lines)} ways:",
            *(INDENT + line for line in lines),
        ]
    if isinstance(kernel, Column):
        return _lines(kernel.kernel, tuple(map(str, kernel.columns)))
    if isinstance(kernel, Schoenberg) and all(map(_is_plain, _parts(kernel.kernel, Sum))):
        return [_factor(kernel.rate, term, columns) for term in _parts(kernel.kernel, Sum)]
    if isinstance(kernel, Scaled | Exp | Normalized | Power | Filled):
        before, after = _around(kernel)
        first, *others = _lines(kernel.kernel, columns)
        return [f"{before}{first}{after}", *others]
    return [_leaf(kernel, columns)]


def _around(kernel: Kernel) -> tuple[str, str]:
    """What a rule says before and after the kernel that it is used on."""
    match kernel:
        case Scaled(weight=weight):
            return f"{_number(weight)} times ", ""
        case Power(exponent=exponent):
            return f"the power {_number(exponent)} of ", ""
        case Filled():
            return "", "; gaps filled"
    return f"{kernel.word} of ", ""


def _ways(lines: list[str]) -> int:
    """How many of the lines stand for themselves."""
    return sum(not line.startswith(INDENT) for line in lines)


def _is_plain(term: Kernel) -> bool:
    """Is it a multiple of 0 or 1, or of a share: of what is equal, missing or shared?"""
    while isinstance(term, Scaled | Column):
        term = term.kernel
    return isinstance(term, Delta | White | Missing | Jaccard)


def _factor(rate: float, term: Kernel, columns: tuple[str, ...]) -> str:
    """A factor exp(-rate d^2), where d is 0 for what is alike and at most sqrt(2 weight)."""
    while isinstance(term, Scaled | Column):
        if isinstance(term, Scaled):
            rate *= term.weight
        else:
            columns = tuple(map(str, term.columns))
        term = term.kernel
    return f"{_verb(term)}{_where(columns)}, else a factor exp(-{2 * rate:.4g})"


def _parts(kernel: Kernel, kind: type[Any]) -> list[Kernel]:
    """The terms of a sum of sums, or the factors of a product of products."""
    if not isinstance(kernel, kind):
        return [kernel]
    return [part for child in kernel.children() for part in _parts(child, kind)]


def _leaf(kernel: Kernel, columns: tuple[str, ...]) -> str:
    """One kernel without parts."""
    if isinstance(kernel, Bias):
        return "a constant"
    said = [_said(name, value) for name, value in kernel.parameters().items()]
    how = ", ".join([kernel.word, *filter(None, said)])
    return f"{_verb(kernel)}{_where(columns)} ({how})"


def _where(columns: tuple[str, ...]) -> str:
    return f" in {_listed(columns)}" if columns else ""


def _verb(kernel: Kernel) -> str:
    """What makes points alike."""
    match kernel:
        case Delta() | White():
            return "equal"
        case Missing():
            return "both there or both missing"
        case Jaccard() | SetIntersection():
            return "sharing items"
        case Linear() | Polynomial():
            return "pointing the same way"
        case Radial() | Laplacian() | GeneralizedGaussian():
            return "close"
        case _:
            return "alike"


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
