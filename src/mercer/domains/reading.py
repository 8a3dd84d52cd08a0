"""Reading raw data: DataFrames of any library, and whatever else holds numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from mercer.errors import InvalidInput, InvalidType
from mercer.types import Array

Frame: TypeAlias = nw.DataFrame[Any]
Series: TypeAlias = nw.Series[Any]
Columns: TypeAlias = tuple[str, ...] | None


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA all say that there is no value.

    Example:
        >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
        [True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)  # noqa: PLR0124 - only what is missing differs from itself
    return type(value).__name__ in ("NAType", "NaTType")


def as_table(raw: Any) -> Frame | Series | None:
    """A DataFrame or a Series of any library behind one interface; None for other data."""
    try:
        table = nw.from_native(raw, pass_through=True, allow_series=True)
        if isinstance(table, nw.DataFrame):
            _ = table.columns
    except DuplicateError as error:
        raise InvalidInput(
            f"the table has several columns of one name ({' '.join(str(error).split())}), so "
            "a name does not say which one is meant.\nRename or drop them."
        ) from error
    if isinstance(table, nw.LazyFrame):
        raise InvalidType(
            f"a lazy {type(raw).__name__} holds no values yet, and points must be read.\n"
            "Call .collect() (polars) or .compute() (dask) first."
        )
    return table if isinstance(table, nw.DataFrame | nw.Series) else None


def series_of(frame: Frame) -> tuple[Series, ...]:
    """The columns of a table, whatever they are called."""
    columns: Any = frame.iter_columns()
    return tuple(columns)


def floats_in(raw: Any) -> tuple[Array, Columns]:
    """Raw data as an array of floats of any shape, and the names of its columns.

    float32 stays float32, all else becomes float64; nothing is copied without need. NaN
    stands where a value is missing.
    """
    table = as_table(raw)
    if isinstance(table, nw.DataFrame):
        return _floats_of_frame(table)
    if isinstance(table, nw.Series):
        return floats_of_series(table, "the series"), None
    return floats_of_array(array_of(raw)), None


def _floats_of_frame(frame: Frame) -> tuple[Array, Columns]:
    parts = [
        floats_of_series(series, f"column {name!r}")
        for name, series in zip(frame.columns, series_of(frame), strict=True)
    ]
    out: Array = np.empty((len(frame), len(parts)), np.result_type(*parts, np.float32))
    for at, part in enumerate(parts):
        out[:, at] = part
    return out, names_of(frame)


def names_of(frame: Frame) -> Columns:
    """What the columns are called, if they have names; pandas counts those that have none."""
    names = tuple(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


def floats_of_series(series: Series, called: str) -> Array:
    """A column of numbers, NaN where a value is missing."""
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        single = series.dtype == nw.Float32
        values = series.cast(nw.Float32() if single else nw.Float64()).to_numpy()
        return np.asarray(values, dtype=np.float32 if single else np.float64)
    if series.dtype in (nw.Object, nw.Unknown):  # unknown to polars: nothing but None
        return floats_of_array(objects_of(series.to_list()))
    raise InvalidInput(
        f"{called} holds {series.dtype}, and only numbers can be coordinates.\n"
        "Give it a kernel of its own, as in k1.on('age') + k2.on('city'), or encode it as "
        "numbers first."
    )


def objects_of(values: list[Any]) -> NDArray[np.object_]:
    """A list as an array of Python objects, whatever they are."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def array_of(raw: Any) -> NDArray[Any]:
    """Anything that NumPy can read as an array with entries one by one."""
    if isinstance(raw, np.ma.MaskedArray):
        masked = int(np.ma.getmaskarray(raw).sum())
        if masked:
            raise InvalidInput(
                f"{masked} of the {raw.size} entries are masked, that is missing, and a "
                "kernel compares values.\nImpute them, drop those rows, or pass "
                ".filled(value)."
            )
        return np.asarray(raw.data)
    if isinstance(raw, list | tuple):  # NumPy forgets the masks of rows
        raw = [array_of(row) if isinstance(row, np.ma.MaskedArray) else row for row in raw]
    if isinstance(raw, Mapping | AbstractSet | Iterator):
        raise InvalidType(
            f"a {type(raw).__name__} has no rows to number.\n"
            "Pass a list, an array or a DataFrame: its order says which target belongs to it."
        )
    try:
        return np.asarray(raw)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise InvalidInput(f"these data cannot be read as numbers: {error}.") from error
        raise InvalidInput(
            "the rows have different lengths, and points are compared coordinate by "
            "coordinate.\nPad or cut them to one length, or use a domain whose points vary in "
            "size: sets, strings, series, graphs."
        ) from error
    except (TypeError, RuntimeError) as error:
        raise InvalidType(
            f"a {type(raw).__name__} cannot be read as an array: {error}\n"
            "Move the data to the CPU as an array first: tensor.detach().cpu().numpy(), after "
            ".to_dense() if they are sparse and .float() if they are bfloat16."
        ) from error


def floats_of_array(values: NDArray[Any]) -> Array:
    """An array of numbers as float32 or float64, the same memory where it can be."""
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize == 4:
        return values.astype(np.float32, copy=False)
    if kind in "biuf":
        with np.errstate(over="ignore"):  # a long double becomes inf, and is reported as that
            return values.astype(np.float64, copy=False)
    if kind == "O":
        return _floats_of_objects(values)
    if kind == "c":
        raise _complex()
    raise InvalidInput(
        _NOT_NUMBERS.get(kind, f"values of type {values.dtype} are not numbers.")
    )


_TEXT = (
    "these points hold text, and a kernel on numbers cannot compare words.\n"
    "Convert them with .astype(float) if they spell numbers, or use a kernel on strings or "
    "on categories."
)
_DATES = (
    "these points are dates or durations, which have no zero and no unit of their own.\n"
    "Convert them to numbers first, for example days since the first one."
)
_RECORDS = (
    "a structured array is a table of named columns, not one of numbers.\n"
    'Say which column each kernel reads: k1.on("age") + k2.on("city").'
)
_NOT_NUMBERS = {"U": _TEXT, "S": _TEXT, "T": _TEXT, "M": _DATES, "m": _DATES, "V": _RECORDS}


def _complex() -> InvalidInput:
    return InvalidInput(
        "Complex data not supported: kernels here compare real numbers.\n"
        "Pass real and imaginary parts as two sets of columns."
    )


def _floats_of_objects(values: NDArray[np.object_]) -> Array:
    flat = values.ravel()
    out = np.empty(flat.size)
    for at, value in enumerate(flat):
        try:
            out[at] = np.nan if is_missing(value) else _number(value)
        except TypeError as error:
            raise InvalidType(
                f"{_place(at, values.shape)} holds a {type(value).__name__}, which is not a "
                f"number ({error}).\nConvert it to numbers, or use a kernel made for such "
                "points."
            ) from error
        except OverflowError as error:
            raise InvalidInput(
                f"{_place(at, values.shape)} holds a number beyond 1e308, the largest that a "
                "float can hold.\nRescale the data, or take logarithms."
            ) from error
    return out.reshape(values.shape)


def _place(at: int, shape: tuple[int, ...]) -> str:
    axes = zip(("row", "column", "place"), np.unravel_index(at, shape), strict=False)
    return ", ".join(f"{axis} {int(i)}" for axis, i in axes) or "this"


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise InvalidInput(_TEXT)
    if isinstance(value, complex | np.complexfloating):
        raise _complex()
    if isinstance(value, np.ndarray):
        raise TypeError("float() argument must be a string or a real number, not an array")
    return float(value)
