"""The settings of Keras's layers and operations, from their configurations."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

NOT_SETTINGS = ("name", "dtype", "trainable", "batch_shape", "seed")


def settings_of(layer: Any) -> dict[str, Any]:
    """Return the arguments of a layer or operation that differ from the defaults."""
    try:
        config = layer.get_config()
    except (NotImplementedError, TypeError, ValueError, AttributeError):
        return {}  # a custom layer whose arguments are not known
    cls: Any = type(layer)
    usual = _usual(cls)
    told: dict[str, Any] = {}
    for name, value in config.items():
        is_usual = value == usual.get(name) or (value == "linear" and usual.get(name) is None)
        is_usual = is_usual or (value is False and name not in usual)  # none that is written down
        if name in NOT_SETTINGS or value is None or is_usual:
            continue
        if isinstance(value, (list, tuple)) and all(isinstance(x, int) for x in value):
            as_numbers = usual.get(name)
            if all(x == as_numbers for x in value):
                continue
            value = "x".join(map(str, value))
        if isinstance(value, dict) and value.get("class_name") == "function":
            value = value.get("config")  # the name of a function of the user's
        if isinstance(value, (str, int, float, bool)):
            told[name] = value
    return told


@lru_cache(maxsize=256)
def _usual(cls: Any) -> dict[str, Any]:
    """Return the defaults of a class's arguments."""
    return {
        name: one.default
        for base in reversed(cls.__mro__)
        if "__init__" in vars(base)
        for name, one in inspect.signature(vars(base)["__init__"]).parameters.items()
    }
