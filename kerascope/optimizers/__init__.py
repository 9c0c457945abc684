"""Optimizers: how a weight's new value follows from its gradient.

`model.compile("rmsprop")` finds them by name through `get`. Files: `base` (what all share),
`update_rules` (the optimizers), `schedules` (learning rates that change with the number of the
step). Keras keeps them in `keras.optimizers`.
"""

# ruff: noqa: F403, F405 (each module's __all__ says which names it has)

from __future__ import annotations

from typing import Any

from kerascope.not_yet import answer_missing_names
from kerascope.optimizers import schedules, update_rules
from kerascope.optimizers.base import Optimizer, ParameterUpdate, clip_norm
from kerascope.optimizers.update_rules import *
from kerascope.registry import Registry

__all__ = [
    *update_rules.__all__,
    "Optimizer",
    "ParameterUpdate",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "clip_norm",
    "deserialize",
    "get",
    "nadam",
    "optimizer_from_config",
    "rmsprop",
    "schedules",
    "serialize",
    "sgd",
]

_registry = Registry("optimizer")
for _name in update_rules.__all__:
    _registry.register(getattr(update_rules, _name), _name.lower())

sgd = SGD
rmsprop = RMSprop
adagrad = Adagrad
adadelta = Adadelta
adam = Adam
adamax = Adamax
nadam = Nadam


def serialize(optimizer: Any) -> Any:
    """Return the name of an optimizer, or its class name and configuration."""
    return _registry.serialize(optimizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Optimizer:
    """Return an optimizer from a configuration; capitals in a name do not matter.

    Raises
    ------
    UnknownNameError
        No optimizer has this name; the message suggests the nearest one.
    """
    if isinstance(config, dict) and "class_name" in config:
        config = {**config, "class_name": _known_name(config["class_name"])}
    return _registry.deserialize(config, custom_objects)


def optimizer_from_config(config: Any, custom_objects: dict[str, Any] | None = None) -> Optimizer:
    """Return an optimizer from `{"class_name", "config"}`: Keras 1's name of `deserialize`."""
    return deserialize(config, custom_objects)


def get(identifier: Any) -> Optimizer:
    """Return an optimizer by name, configuration or object; capitals in a name do not matter.

    Raises
    ------
    UnknownNameError
        No optimizer has this name; the message suggests the nearest one.
    ArgumentError
        `identifier` is no optimizer at all.

    Examples
    --------
    >>> get("sgd")
    SGD(lr=0.01, momentum=0.0, decay=0.0, nesterov=False)
    """
    if isinstance(identifier, str):
        identifier = _known_name(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    return _registry.get(identifier)


def _known_name(name: str) -> str:
    """Return the class's name that differs from this one by capitals only, else the name."""
    by_small_letters = {known.lower(): known for known in _registry.names()}
    return by_small_letters.get(name.lower(), name)


answer_missing_names(__name__)
