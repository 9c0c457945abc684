"""Functions of Keras 1 and 2 that ask which backend there is; only kept for old scripts."""

from __future__ import annotations

from kerascope.errors import ArgumentError
from kerascope.settings import config

__all__ = ["backend", "image_dim_ordering", "set_image_dim_ordering"]

_LAYOUTS = {"tf": "channels_last", "th": "channels_first"}


def backend() -> str:
    """Return what computes: always "numpy"."""
    return "numpy"


def image_dim_ordering() -> str:
    """Return "tf" or "th": Keras 1's words for the layout that `image_data_format` says.

    Examples
    --------
    >>> image_dim_ordering()
    'tf'
    """
    return next(old for old, new in _LAYOUTS.items() if new == config.image_data_format)


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the layout of images by Keras 1's words: "tf" (channels last) or "th" (first).

    Raises
    ------
    ArgumentError
        It is neither.
    """
    if dim_ordering not in _LAYOUTS:
        raise ArgumentError(
            f"K.set_image_dim_ordering: no such layout; expected 'tf' or 'th', "
            f"got {dim_ordering!r}. K.set_image_data_format takes today's words."
        )
    config.image_data_format = _LAYOUTS[dim_ordering]
