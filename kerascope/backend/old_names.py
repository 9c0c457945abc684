"""What only old scripts say: which backend there is, and Keras 1's names and keywords."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.settings import config
from kerascope.spellings import KEYWORDS, translate

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


# --- Keras 1's names and keywords of other functions ----------------------------------------------

_NAMES = {
    "lesser": "less",
    "lesser_equal": "less_equal",
    "deconv2d": "conv2d_transpose",
    "deconv3d": "conv3d_transpose",
}


def enter_old_names(functions: dict[str, Any]) -> None:
    """Add Keras 1's names to the backend's, and let its functions understand Keras 1's keywords.

    Parameters
    ----------
    functions : dict
        The names of `kerascope.backend`; the table of keywords is that of `spellings`.
    """
    for where in KEYWORDS:
        module, _, name = where.rpartition(".")
        if module == "K":
            functions[name] = _with_old_keywords(functions[name], where)
    for old, new in _NAMES.items():
        functions[old] = functions[new]


def _with_old_keywords(function: Callable[..., Any], where: str) -> Callable[..., Any]:
    @wraps(function)
    def translated(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **translate(where, kwargs)) if kwargs else function(*args)

    return translated
