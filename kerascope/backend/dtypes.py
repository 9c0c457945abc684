"""Dtypes: their names, type promotion, and conversion of Python values to arrays.

A dtype is given by its NumPy name, as in Keras: `"float32"`, `"int64"`, `"bool"`. When two tensors
are combined, floats win over integers, and the wider float over the narrower (`common_dtype`). A
plain Python number takes the dtype of the tensor that it is combined with (`constant_dtype`), so
`x * 2` has the dtype of x.

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
    """Return whether a dtype is a floating-point type, which can carry a gradient."""
    return dtype.startswith(("float", "bfloat"))


@lru_cache  # called for every op of a graph, with few different types
def common_dtype(*dtypes: str) -> str:
    """Return the result dtype of an operation: floats win over integers of any width.

    Examples
    --------
    >>> common_dtype("float32", "int64")
    'float32'
    """
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return np.result_type(*(floats or dtypes)).name


_NAMES = frozenset({"float16", "float32", "float64", "int32", "int64", "uint8", "bool"})


def checked_dtype(dtype: Any) -> str:
    """Return the NumPy name of a dtype.

    Raises
    ------
    DtypeError
        `dtype` is not the name of a numeric or boolean type.
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
            f"dtype: expected a numeric type such as 'float32' or 'int32', got {dtype!r}."
            f"{remedy if dtype == 'string' else ''}"
        )
    return found.name


# Objects that NumPy would convert to a number, although they are not real numbers.
_NO_NUMBERS = (str, bytes, type(None), np.complexfloating, np.datetime64, np.timedelta64)


def as_numbers(value: Any, where: str, dtype: str = "float64") -> np.ndarray:
    """Return numbers or booleans as an array of the dtype that NumPy gives them.

    Numbers for which NumPy has no dtype, such as `Decimal`, `10**30` and bfloat16, get `dtype`.

    Raises
    ------
    DtypeError
        The value is not numeric, or it contains lists of different lengths.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DtypeError(
            f"{where}: {shortened(value)} is not a rectangular array ({error})."
        ) from None
    if array.dtype.kind in "fiub":
        return array
    try:
        return _converted(array, dtype)
    except (TypeError, ValueError, OverflowError):
        raise DtypeError(
            f"{where}: expected a tensor, an array or a number, got {shortened(value)}, of type "
            f"{type(value).__name__}, which cannot become {dtype}."
        ) from None


def _converted(array: np.ndarray, dtype: str) -> np.ndarray:
    """Convert objects that represent numbers, or numbers of an extension type, to `dtype`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        The objects do not represent numbers, or `dtype` is too small for one of them.
    """
    is_foreign = array.dtype.kind == "V" and array.dtype.isbuiltin == 2  # ml_dtypes' bfloat16
    is_objects = array.dtype.kind == "O" and not any(isinstance(x, _NO_NUMBERS) for x in array.flat)
    if not is_foreign and not is_objects:
        raise TypeError("Expected numbers.")
    array.astype("float64")  # raises for other objects; "bool" would accept them
    return array.astype(dtype)


def constant_dtype(value: Any, array: np.ndarray, like: str | None) -> str:
    """Return the dtype of a Python number when it is combined with a tensor of dtype `like`."""
    wanted = like if like is not None else config.floatx
    if array.dtype.kind == "f":
        return wanted if is_float(wanted) else config.floatx
    if isinstance(value, (int, float)) and not isinstance(value, bool) and like is not None:
        return like if like != "bool" else "int32"
    is_plain = isinstance(value, (int, list, tuple)) and array.dtype == np.int64
    return "int32" if is_plain and np.abs(array).max(initial=0) < 2**31 else array.dtype.name
