"""The settings of Keras's layers and operations, from their configurations."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

NOT_SETTINGS = ("name", "dtype", "trainable", "batch_shape", "seed")


def settings_of(layer: Any) -> dict[str, Any]:
    """Return those arguments of a layer or an operation that differ from their defaults."""
    try:
        config = layer.get_config()
    except (NotImplementedError, TypeError, ValueError, AttributeError):
        return {}  # a custom layer without a configuration
    cls: Any = type(layer)
    usual = _defaults(cls)
    settings: dict[str, Any] = {}
    for name, value in config.items():
        is_usual = value == usual.get(name) or (value == "linear" and usual.get(name) is None)
        is_usual = is_usual or (value is False and name not in usual)  # False is not shown
        if name in NOT_SETTINGS or value is None or is_usual:
            continue
        if isinstance(value, (list, tuple)) and all(isinstance(x, int) for x in value):
            as_numbers = usual.get(name)
            if all(x == as_numbers for x in value):
                continue
            value = "x".join(map(str, value))
        if isinstance(value, dict) and value.get("class_name") == "function":
            value = value.get("config")  # the name of a user's function
        if isinstance(value, (str, int, float, bool)):
            settings[name] = value
    return settings


@lru_cache(maxsize=256)
def _defaults(cls: Any) -> dict[str, Any]:
    """Return the defaults of the constructor arguments of a class and its base classes."""
    return {
        name: one.default
        for base in reversed(cls.__mro__)
        if "__init__" in vars(base)
        for name, one in inspect.signature(vars(base)["__init__"]).parameters.items()
    }
