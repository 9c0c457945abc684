"""Names of element types: which of them are floats, and what two of them make together."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.errors import DtypeError


def is_float(dtype: str) -> bool:
    """Tell whether a dtype can carry a gradient."""
    return dtype.startswith(("float", "bfloat"))


def common_dtype(*dtypes: str) -> str:
    """Return the type of an operation on these types: floats win over integers of any width.

    Examples
    --------
    >>> common_dtype("float32", "int64")
    'float32'
    """
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    return np.result_type(*(floats or dtypes)).name


def checked_dtype(dtype: Any) -> str:
    """Return NumPy's name of a type.

    Raises
    ------
    DtypeError
        It is no type of numbers or booleans.
    """
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "fiub":
        raise DtypeError(f"dtype: {dtype!r} is no numeric type; expected 'float32', 'int32', ...")
    return found.name
