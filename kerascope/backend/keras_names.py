"""Backend functions of Keras 1 and Keras 3 that the Keras 2 backend does not have.

They are imported on first use. Functions that were only renamed, such as `lesser` and `deconv2d`,
are in `state`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.dtypes import checked_dtype, common_dtype, is_float
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution import conv2d
from kerascope.backend.ops.image import spatial_2d_padding, temporal_padding
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.errors import ArgumentError, DtypeError
from kerascope.settings import config

# --- Keras 1: functions that Keras 2 replaced by others -------------------------------------------


def asymmetric_temporal_padding(x: Tensor, left_pad: int = 1, right_pad: int = 1) -> Tensor:
    """Return sequences (batch, steps, features) padded with zeros before and after.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(asymmetric_temporal_padding(K.ones((1, 1, 1)), 2, 0)).ravel().tolist()
    [0.0, 0.0, 1.0]
    """
    return temporal_padding(x, (left_pad, right_pad))


def asymmetric_spatial_2d_padding(
    x: Tensor,
    top_pad: int = 1,
    bottom_pad: int = 1,
    left_pad: int = 1,
    right_pad: int = 1,
    dim_ordering: str = "default",
) -> Tensor:
    """Return images with rows and columns of zeros added on each side."""
    pairs = ((top_pad, bottom_pad), (left_pad, right_pad))
    return spatial_2d_padding(x, pairs, normalize_data_format(dim_ordering))


def atrous_conv2d(
    x: Tensor,
    kernel: Tensor,
    rate: int = 1,
    border_mode: str = "valid",
    dim_ordering: str = "default",
    image_shape: Any = None,
    filter_shape: Any = None,
) -> Tensor:
    """Return the convolution of images with a dilated kernel, which reads every `rate`-th pixel.

    `image_shape` and `filter_shape` are ignored; they are hints for Theano.
    """
    layout = normalize_data_format(dim_ordering)
    return conv2d(x, kernel, padding=border_mode, data_format=layout, dilation_rate=(rate, rate))


_legacy = {"weight_ordering": False}


def set_legacy_weight_ordering(value: bool) -> None:
    """Store Keras 1's flag for the order of the weights of recurrent layers. It has no effect.

    Files of Keras 1 are read according to their own content.

    Raises
    ------
    ArgumentError
        The value is neither True nor False.
    """
    if value not in (True, False):
        raise ArgumentError(f"set_legacy_weight_ordering: expected True or False, got {value!r}.")
    _legacy["weight_ordering"] = bool(value)


def legacy_weight_ordering() -> bool:
    """Return the flag that `set_legacy_weight_ordering` has set."""
    return _legacy["weight_ordering"]


# --- Keras 3: dtypes ------------------------------------------------------------------------------


_OF_PYTHON = {int: "int32", "int": "int32", bool: "bool"}


def standardize_dtype(dtype: Any) -> str:
    """Return the name of a dtype. None and `float` mean `K.floatx()`, `int` means int32.

    Raises
    ------
    DtypeError
        `dtype` is not the name of a numeric or boolean type.

    Examples
    --------
    >>> import numpy as np
    >>> standardize_dtype(np.int8), standardize_dtype(None)
    ('int8', 'float32')
    """
    if dtype is None or dtype is float:
        return config.floatx
    # NumPy accepts more names than Keras, such as "double", and reads "int" as int64.
    if isinstance(dtype, (str, type)) and dtype in _OF_PYTHON:
        return _OF_PYTHON[dtype]
    name = checked_dtype(dtype)
    if isinstance(dtype, str) and dtype != name:
        raise DtypeError(f"dtype: expected {name!r}, got {dtype!r}.")
    return name


def is_float_dtype(dtype: Any) -> bool:
    """Return whether a dtype is a floating-point type.

    Examples
    --------
    >>> is_float_dtype("float16"), is_float_dtype("int8"), is_float_dtype("bool")
    (True, False, False)
    """
    return is_float(standardize_dtype(dtype))


def is_int_dtype(dtype: Any) -> bool:
    """Return whether a dtype is an integer type.

    Examples
    --------
    >>> is_int_dtype("uint8"), is_int_dtype("float32"), is_int_dtype("bool")
    (True, False, False)
    """
    return np.dtype(standardize_dtype(dtype)).kind in "iu"


def result_type(*dtypes: Any) -> str:
    """Return the dtype of an operation on tensors of these dtypes.

    float64 and int64 keep their width in kerascope; Keras on JAX halves it.

    Examples
    --------
    >>> result_type("int32", "float16"), result_type("uint8", "int8"), result_type()
    ('float16', 'int16', 'float32')
    """
    return common_dtype(*map(standardize_dtype, dtypes or (None,)))
