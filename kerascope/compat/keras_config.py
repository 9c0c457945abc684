"""`keras.config`: Keras 3's place for the settings that Keras 2 keeps in the backend."""

from __future__ import annotations

from kerascope import backend as K
from kerascope.errors import RefusedError

__all__ = [
    "backend",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_backend",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]

backend = K.backend
epsilon, set_epsilon = K.epsilon, K.set_epsilon
floatx, set_floatx = K.floatx, K.set_floatx
image_data_format, set_image_data_format = K.image_data_format, K.set_image_data_format


def set_backend(backend: str) -> None:
    """Accept "numpy", which is the backend already.

    Raises
    ------
    RefusedError
        Another one was asked for.
    """
    if backend != "numpy":
        raise RefusedError(f"keras.config.set_backend({backend!r}): kerascope computes with NumPy.")


def enable_interactive_logging() -> None:
    """Do nothing: how progress is shown depends on the terminal and on `verbose`."""


disable_interactive_logging = enable_interactive_logging


def enable_traceback_filtering() -> None:
    """Do nothing: tracebacks are shown as they are."""


disable_traceback_filtering = enable_traceback_filtering
