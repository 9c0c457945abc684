"""The types of a tensor's elements: their names, which of them win, and what becomes a number.

A dtype is NumPy's name of it, as in Keras: `"float32"`, `"int64"`, `"bool"`. Where two tensors
meet, floats win over integers, and the wider float over the narrower (`common_dtype`); a plain
Python number takes the type of the tensor beside it (`constant_dtype`), so `x * 2` stays what x is.

Lesson: chapter 3.
"""

from __future__ import annotations

from functools import lru_cache
from reprlib import repr as shortened
from typing import Any

import numpy as np

from kerascope.errors import DtypeError
from kerascope.settings import config


def is_float(dtype: str) -> bool:
    """Tell whether a dtype can carry a gradient."""
    return dtype.startswith(("float", "bfloat"))


@lru_cache  # asked for every op of a graph, with few different types
def common_dtype(*dtypes: str) -> str:
    """Return the type of an operation on these types: floats win over integers of any width.

    Examples
    --------
    >>> common_dtype("float32", "int64")
    'float32'
    """
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return np.result_type(*(floats or dtypes)).name


_NAMES = frozenset({"float16", "float32", "float64", "int32", "int64", "uint8", "bool"})


def checked_dtype(dtype: Any) -> str:
    """Return NumPy's name of a type.

    Raises
    ------
    DtypeError
        It is no type of numbers or booleans.
    """
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    try:
        found = np.dtype(object if dtype is None else dtype)  # NumPy's None is float64
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "fiub":
        remedy = " StringLookup and TextVectorization turn text into numbers before a model."
        raise DtypeError(
            f"dtype: {dtype!r} is no numeric type; expected 'float32', 'int32', ..."
            f"{remedy if dtype == 'string' else ''}"
        )
    return found.name


# What NumPy would read as a number if it stands in an array of objects, and is none.
_NO_NUMBERS = (str, bytes, type(None), np.complexfloating, np.datetime64, np.timedelta64)


def as_numbers(value: Any, where: str, dtype: str = "float64") -> np.ndarray:
    """Return numbers or booleans as an array, of their own type.

    Numbers that NumPy has no type for, as `Decimal`, `10**30` and bfloat16, become `dtype`.

    Raises
    ------
    DtypeError
        They are something else, or lists of different lengths.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DtypeError(
            f"{where}: {shortened(value)} is no rectangular array ({error})."
        ) from None
    if array.dtype.kind in "fiub":
        return array
    try:
        return _converted(array, dtype)
    except (TypeError, ValueError, OverflowError):
        raise DtypeError(
            f"{where}: {shortened(value)}, of type {type(value).__name__}, cannot become {dtype}; "
            f"expected a tensor, an array or a number."
        ) from None


def _converted(array: np.ndarray, dtype: str) -> np.ndarray:
    """Return objects that stand for numbers, or numbers of a type from outside NumPy, as `dtype`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        They stand for none, or for one that `dtype` has no room for.
    """
    is_foreign = array.dtype.kind == "V" and array.dtype.isbuiltin == 2  # ml_dtypes' bfloat16
    is_objects = array.dtype.kind == "O" and not any(isinstance(x, _NO_NUMBERS) for x in array.flat)
    if not is_foreign and not is_objects:
        raise TypeError("no numbers")
    array.astype("float64")  # "bool" would take everything
    return array.astype(dtype)


def constant_dtype(value: Any, array: np.ndarray, like: str | None) -> str:
    """Return the dtype that a plain value takes beside a tensor of dtype `like`."""
    wanted = like if like is not None else config.floatx
    if array.dtype.kind == "f":
        return wanted if is_float(wanted) else config.floatx
    if isinstance(value, (int, float)) and not isinstance(value, bool) and like is not None:
        return like if like != "bool" else "int32"
    is_plain = isinstance(value, (int, list, tuple)) and array.dtype == np.int64
    return "int32" if is_plain and np.abs(array).max(initial=0) < 2**31 else array.dtype.name
