"""Functions of Keras 3's backend about types of elements. They are loaded late."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.graph import checked_dtype, common_dtype, is_float
from kerascope.errors import DtypeError
from kerascope.settings import config

_OF_PYTHON = {int: "int32", "int": "int32", bool: "bool"}


def standardize_dtype(dtype: Any) -> str:
    """Return the name of a type; None and `float` are `K.floatx()`, `int` is int32.

    Raises
    ------
    DtypeError
        It is no type of numbers or booleans; no tensor holds others here.

    Examples
    --------
    >>> import numpy as np
    >>> standardize_dtype(np.int8), standardize_dtype(None)
    ('int8', 'float32')
    """
    if dtype is None or dtype is float:
        return config.floatx
    # NumPy reads more words than Keras, as "double", and some otherwise, as "int".
    if isinstance(dtype, (str, type)) and dtype in _OF_PYTHON:
        return _OF_PYTHON[dtype]
    name = checked_dtype(dtype)
    if isinstance(dtype, str) and dtype != name:
        raise DtypeError(f"dtype: got {dtype!r}; expected {name!r}.")
    return name


def is_float_dtype(dtype: Any) -> bool:
    """Tell whether a type has fractions.

    Examples
    --------
    >>> is_float_dtype("float16"), is_float_dtype("int8"), is_float_dtype("bool")
    (True, False, False)
    """
    return is_float(standardize_dtype(dtype))


def is_int_dtype(dtype: Any) -> bool:
    """Tell whether a type is one of integers.

    Examples
    --------
    >>> is_int_dtype("uint8"), is_int_dtype("float32"), is_int_dtype("bool")
    (True, False, False)
    """
    return np.dtype(standardize_dtype(dtype)).kind in "iu"


def result_type(*dtypes: Any) -> str:
    """Return the type that an operation on tensors of these types has.

    That of float64 or int64 is as wide here; on JAX, Keras halves them.

    Examples
    --------
    >>> result_type("int32", "float16"), result_type("uint8", "int8"), result_type()
    ('float16', 'int16', 'float32')
    """
    return common_dtype(*map(standardize_dtype, dtypes or (None,)))
