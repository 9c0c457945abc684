"""`keras.config`: Keras 3's module for the settings that Keras 2 has in the backend."""

from __future__ import annotations

from kerascope import backend as K
from kerascope.compat.keras_dtype_policies import dtype_policy, set_dtype_policy
from kerascope.errors import RefusedError
from kerascope.settings import ENGINES
from kerascope.utils.io_utils import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)

__all__ = [
    "backend",
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "set_backend",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]

backend = K.backend
epsilon, set_epsilon = K.epsilon, K.set_epsilon
floatx, set_floatx = K.floatx, K.set_floatx
image_data_format, set_image_data_format = K.image_data_format, K.set_image_data_format


def set_backend(backend: str) -> None:
    """Let "numpy" or "jax" compute all functions, as `K.set_engine` does.

    Raises
    ------
    RefusedError
        Another backend is given.
    MissingToolError
        JAX is not installed.
    """
    if backend not in ENGINES:
        raise RefusedError(
            f"keras.config.set_backend({backend!r}): kerascope computes with 'numpy' or 'jax'. "
            "Use one of them."
        )
    K.set_engine(backend)


def enable_traceback_filtering() -> None:
    """Do nothing, because tracebacks always contain all frames."""


disable_traceback_filtering = enable_traceback_filtering


def is_traceback_filtering_enabled() -> bool:
    """Return False, because tracebacks always contain all frames."""
    return False


def disable_flash_attention() -> None:
    """Do nothing, because flash attention is never used."""


def is_flash_attention_enabled() -> bool:
    """Return False, because flash attention is never used."""
    return False


def is_nnx_enabled() -> bool:
    """Return False, because Keras uses Flax NNX only with its JAX backend."""
    return False
