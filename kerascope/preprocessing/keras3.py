"""What Keras 3 has in its `preprocessing` besides, made of its operations. It is loaded late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.layers.keras_ops_image import resize
from kerascope.settings import config


def smart_resize(
    x: Any,
    size: Sequence[int],
    interpolation: str = "bilinear",
    data_format: str = "channels_last",
    **kwargs: Any,
) -> np.ndarray:
    """Return pictures of another size, of which the edges are cut off rather than distorted.

    Parameters
    ----------
    x : array_like, shape (height, width, channels) or (samples, height, width, channels)
    size : (height, width)
    interpolation : {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"}
    data_format : {"channels_last", "channels_first"}
        Where the channels are.
    **kwargs
        `backend_module` of Keras, which says nothing here.

    Returns
    -------
    array, in `K.floatx()`; with "nearest" in the type of `x`

    Raises
    ------
    ArgumentError
        `size` is no pair, or there is something else that is not known.
    ShapeError
        These are no pictures.

    Examples
    --------
    >>> smart_resize(np.arange(6.0).reshape(1, 6, 1), (2, 2)).shape
    (2, 2, 1)
    """
    kwargs.pop("backend_module", None)
    if kwargs or len(size) != 2:
        raise ArgumentError(f"smart_resize: got {kwargs or f'{size=}'}; expected size (h, w).")
    pictures = np.asarray(x, None if interpolation == "nearest" else config.floatx)
    options: Any = {"crop_to_aspect_ratio": True, "data_format": data_format}
    resized: np.ndarray = resize(pictures, tuple(size), interpolation, **options)
    return resized
