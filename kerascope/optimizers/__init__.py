"""Optimizers: the rules by which a weight's new value is computed from its gradient.

`model.compile("rmsprop")` looks an optimizer up by its name with `get`. Files: `base` (the base
classes), `update_rules` (the optimizers), `schedules` (learning rates that depend on the number of
the step), `applying` (steps with gradients computed elsewhere). In Keras: `keras.optimizers`.
"""

# ruff: noqa: F403, F405 (each module has an __all__)

from __future__ import annotations

from typing import Any

from kerascope.missing_names import answer_missing_names
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
    """Return an optimizer's class name and configuration as a dict; for a class, its name."""
    return _registry.serialize(optimizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Optimizer:
    """Return an optimizer from a dict of class name and configuration, as `serialize` returns it.

    The class name is not case-sensitive.

    Raises
    ------
    UnknownNameError
        No optimizer has this name. The message suggests a similar one.
    """
    if isinstance(config, dict) and "class_name" in config:
        config = {**config, "class_name": _known_name(config["class_name"])}
    return _registry.deserialize(config, custom_objects)


def optimizer_from_config(config: Any, custom_objects: dict[str, Any] | None = None) -> Optimizer:
    """Return an optimizer from `{"class_name", "config"}` (Keras 1's name of `deserialize`)."""
    return deserialize(config, custom_objects)


def get(identifier: Any) -> Optimizer:
    """Return the optimizer for a name or a configuration; an optimizer is returned unchanged.

    Names are not case-sensitive.

    Raises
    ------
    UnknownNameError
        No optimizer has this name. The message suggests a similar one.
    ArgumentError
        `identifier` is neither a name, nor a configuration, nor an optimizer.

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
    """Return the class name of an optimizer in its correct case; an unknown name unchanged."""
    by_small_letters = {known.lower(): known for known in _registry.names()}
    return by_small_letters.get(name.lower(), name)


answer_missing_names(__name__)
