"""The canonical order of Python values: what equals what, and what comes first.

Values are ordered by type, then by value.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Hashable, Iterable, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.domains.order import float_keys
from mercer.domains.reading import array_of, is_missing
from mercer.errors import InvalidType
from mercer.types import Indices

EXACT = 2**53
"""Below it, whole numbers survive as float64."""


def content(value: Any) -> Hashable:
    """A hashable stand-in: two values are equal exactly when their contents are.

    Equality is that of Python (`1 == 1.0 == True`); containers and arrays are compared by
    what they hold, all missing values are one, and what cannot be hashed is compared by its
    pickle.
    """
    if isinstance(value, str | bytes | int):
        return value
    if is_missing(value):
        return None
    if isinstance(value, list | tuple | set | frozenset | dict):
        return _container_content(value)
    if isinstance(value, np.number):
        # Beside a Python float, NumPy calls float32(0.1) equal to 0.1, and hashes them apart.
        value = value.item()
    if isinstance(value, np.ndarray) or _is_tensor(value):
        return _array_content(array_of(value))
    return value if is_hashable(value) else ("pickle", _pickle(value))


def _is_tensor(value: Any) -> bool:
    """Does it hold numbers, but is hashed by where it is stored?"""
    scalar = isinstance(value, np.generic)
    return hasattr(value, "__array__") and is_hashable(value) and not scalar


def is_hashable(value: Any) -> bool:
    """Can the value be looked up? A tuple can only if all that it holds can."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _array_content(array: NDArray[Any]) -> Hashable:
    kind = array.dtype.kind
    if array.ndim == 0:
        return content(array[()])
    if kind == "O" and all(map(_is_plain, array.flat)):
        array, kind = array.astype(np.float64), "f"  # missing values become NaN
    if kind not in "biuf":
        return ("array", kind, array.shape, tuple(map(content, array.ravel().tolist())))
    if kind in "bf" or (np.abs(array.astype(float)) < EXACT).all():
        keys = float_keys(array).astype(np.uint64) + np.uint64(1 << 63)
        return ("array", array.shape, keys.astype(">u8").tobytes())
    return ("big array", array.shape, array.tobytes())


def _is_plain(value: Any) -> bool:
    """Is it a number that float64 holds exactly, or missing?"""
    if isinstance(value, int | np.integer):
        return abs(int(value)) < EXACT
    return value is None or isinstance(value, float | np.floating)


def _container_content(value: Collection[Any]) -> Hashable:
    if isinstance(value, dict):
        return ("dict", frozenset((content(key), content(item)) for key, item in value.items()))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(map(content, value)))
    return (type(value).__name__, tuple(map(content, value)))


def _pickle(value: Any) -> bytes:
    stream = BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    # Without its memo the pickle depends on the value alone, not on which parts of it
    # happen to be one object.
    pickler.fast = True
    try:
        pickler.dump(value)
    except Exception as error:
        raise InvalidType(
            f"a {type(value).__name__} can be neither hashed nor pickled ({error}), so equal "
            "points cannot be found.\nGive its class __eq__ and __hash__."
        ) from error
    return stream.getvalue()


def rank_key(value: Hashable) -> tuple[str, Any]:
    """A key that sorts contents of any types: by type, then by value."""
    kind, key = type(value).__name__, value
    if isinstance(value, bool | int | float | np.number | np.bool_):
        kind = "number"
    elif isinstance(value, str):
        kind, key = "str", str(value)
    elif isinstance(value, tuple):
        kind, key = "tuple", tuple(map(rank_key, value))
    elif isinstance(value, frozenset):
        kind, key = "set", tuple(sorted(map(rank_key, value)))
    elif not isinstance(value, bytes):
        try:
            key = _pickle(value)
        except InvalidType:
            # Nothing orders such objects; the sort is stable, so they stay as they came.
            key = b""
    return kind, key


def ordered(values: Iterable[Hashable]) -> list[Any]:
    """Distinct hashable values in canonical order."""
    return sorted(dict.fromkeys(values), key=lambda value: rank_key(content(value)))


def object_labels(values: Sequence[Any]) -> Indices:
    """The rank of each value among the distinct ones, in canonical order."""
    contents = [content(value) for value in values]
    rank = {value: at for at, value in enumerate(sorted(dict.fromkeys(contents), key=rank_key))}
    return np.fromiter((rank[value] for value in contents), np.int64, len(contents))
