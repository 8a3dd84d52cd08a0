"""Parameters of kernels: checked and turned into plain immutable numbers when built."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from mercer.errors import InvalidParameter, NotAKernel

Lengths: TypeAlias = float | tuple[float, ...]
"""One length, or one a feature."""

Matrix: TypeAlias = tuple[tuple[float, ...], ...]
"""A small matrix that compares and hashes by its content."""

SMALLEST, LARGEST = 1e-150, 1e150
"""Between these the square of a length, and its reciprocal, are ordinary numbers."""


def number(owner: str, name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise InvalidParameter(
            f"{owner} needs a number for {name}, got {value!r}. Pass a plain number."
        )
    try:
        result = float(value)
    except OverflowError:  # a whole number beyond every float
        result = math.inf
    if not math.isfinite(result):
        raise NotAKernel(f"{owner} needs a finite {name}, got {result}.")
    return result + 0.0  # -0.0 is 0.0: equal values have one text


def positive(owner: str, name: str, value: Any) -> float:
    """A finite number above zero."""
    result = number(owner, name, value)
    if not result > 0:
        raise NotAKernel(f"{owner} needs {name} > 0, got {result}. Pass a positive number.")
    return result


def nonnegative(owner: str, name: str, value: Any) -> float:
    """A finite number that is not below zero."""
    result = number(owner, name, value)
    if result < 0:
        raise NotAKernel(
            f"{owner} needs {name} >= 0, got {result}: below zero it is not positive definite."
        )
    return result


def whole(owner: str, name: str, value: Any, least: int = 1) -> int:
    """A whole number, at least `least`."""
    exact = isinstance(value, Integral) or (
        isinstance(value, Real) and float(value).is_integer()
    )
    if isinstance(value, (bool, np.bool_)) or not exact or int(value) < least:
        raise NotAKernel(
            f"{owner} needs a whole number {name} >= {least}, got {value!r}. Round it: between "
            "whole numbers it is not positive definite in general."
        )
    if value > 2**53:
        raise InvalidParameter(
            f"{owner} needs {name} up to 2 ** 53, where whole numbers are exact. Lower it."
        )
    return int(value)


def reals(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers as an array of float64; a TypeError or ValueError if they are none."""
    array = np.asarray(values)
    # NumPy would read texts, and cut complex numbers down to their real part.
    if array.dtype.kind not in "biufO":
        raise TypeError(f"{array.dtype} values are not real numbers")
    return array.astype(np.float64)


def stretched(lengths: Lengths, factor: float) -> Lengths:
    """All lengths times a factor."""
    if isinstance(lengths, tuple):
        return tuple(length * factor for length in lengths)
    return lengths * factor


def lengths(owner: str, name: str, value: Any) -> Lengths:
    """A positive length, or a sequence of them, one a feature."""
    if isinstance(value, (str, bytes)):
        raise InvalidParameter(
            f"{owner} needs a number or one number a feature for {name}, got {value!r}."
        )
    if isinstance(value, Iterable):
        several = tuple(lengths(owner, f"{name}[{i}]", v) for i, v in enumerate(value))
        if not several or any(isinstance(v, tuple) for v in several):
            raise InvalidParameter(f"{owner} needs {name} flat and not empty: one a feature.")
        return several  # type: ignore[return-value]
    result = positive(owner, name, value)
    if not SMALLEST <= result <= LARGEST:
        raise InvalidParameter(
            f"{owner} needs {name} between {SMALLEST:g} and {LARGEST:g}, got {result}: its "
            "square leaves the range of floating point. Rescale the data."
        )
    return result


def psd_matrix(owner: str, name: str, value: Any) -> Matrix:
    """A symmetric positive semidefinite matrix, as a tuple of rows."""
    try:
        array = reals(value)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"{owner} needs a matrix of numbers for {name} ({error})."
        ) from error
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise InvalidParameter(f"{owner} needs a square matrix for {name}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise InvalidParameter(f"{owner} needs a finite {name}.")
    if not np.array_equal(array, array.T):
        raise NotAKernel(
            f"{owner} needs a symmetric {name}. Pass (A + A.T) / 2: only that part acts."
        )
    lowest, largest = np.linalg.eigvalsh(array)[[0, -1]]
    # The computed eigenvalues are those of a matrix within n u |A| of this one.
    if lowest < -len(array) * np.finfo(float).eps * max(abs(largest), abs(lowest)):
        raise NotAKernel(
            f"{owner} needs a positive semidefinite {name}, but its lowest eigenvalue is "
            f"{lowest:.3g}. Clip the negative eigenvalues to zero."
        )
    return tuple(tuple(float(v) for v in row) for row in array)


def root(matrix: Matrix) -> np.ndarray[Any, np.dtype[np.float64]]:
    """L with L L' = A: then x'Ay = (L'x)'(L'y)."""
    values, vectors = np.linalg.eigh(np.asarray(matrix))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
