"""Functions of Keras 1's backend that later ones say in other words. They are loaded late.

Those that only changed their name (`lesser`, `deconv2d`) stand in `state`.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution import conv2d
from kerascope.backend.ops.image import spatial_2d_padding, temporal_padding
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.errors import ArgumentError


def asymmetric_temporal_padding(x: Tensor, left_pad: int = 1, right_pad: int = 1) -> Tensor:
    """Return sequences (batch, steps, features) with zeros before and after.

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
    """Return images with so many rows and columns of zeros at each edge."""
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
    """Return a convolution whose kernel sees every `rate`-th place.

    `image_shape` and `filter_shape`, of use to Theano, say nothing here.
    """
    layout = normalize_data_format(dim_ordering)
    return conv2d(x, kernel, padding=border_mode, data_format=layout, dilation_rate=(rate, rate))


_legacy = {"weight_ordering": False}


def set_legacy_weight_ordering(value: bool) -> None:
    """Say in which order the weights of a recurrent layer are meant; it is kept, and nothing more.

    Files of any Keras 1 are read by what stands in them.

    Raises
    ------
    ArgumentError
        It is neither True nor False.
    """
    if value not in (True, False):
        raise ArgumentError(f"set_legacy_weight_ordering: expected True or False, got {value!r}.")
    _legacy["weight_ordering"] = bool(value)


def legacy_weight_ordering() -> bool:
    """Return what `set_legacy_weight_ordering` was told."""
    return _legacy["weight_ordering"]
