"""A model as plain data: for `pickle`, `copy.deepcopy` and worker processes.

The graph itself is not written, only its configuration, as in a file; your own functions and the
classes of your own layers go along by reference, as `pickle` does, so they need no
`custom_objects`. A copy in this process shares the functions.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope import optimizers
from kerascope.backend.locks import LOCKS
from kerascope.engine.base_layer import Layer
from kerascope.engine.byte_code import ByteCode, byte_code_of, function_of
from kerascope.engine.layer_config import sharing_functions
from kerascope.registry import custom_object_scope
from kerascope.spellings import changed_habits


def pickle_model(model: Any) -> dict[str, Any]:
    """Return what it takes to make the model again, in another process too.

    Raises
    ------
    ConfigError
        A layer has no configuration.
    """
    with LOCKS.steps:  # weights and the optimizer's state are those of one step
        return _state_of(model)


def _state_of(model: Any) -> dict[str, Any]:
    with sharing_functions():
        config = model.get_config()
    state: dict[str, Any] = {
        "class": type(model),
        "config": _exchanged(config, types.FunctionType, Carried),
        "custom_objects": own_classes(model),
        "weights": model.get_weights() if model.outputs else None,
    }
    if model.is_compiled:
        names = ("loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics")
        waiting = model._waiting_to_compile or vars(model)
        state["compiled"] = {name: waiting[name] for name in names}
        state["optimizer"] = optimizers.serialize(model.optimizer)
        if model.train_function is not None:
            state["optimizer_weights"] = model.optimizer.get_weights()
    return state


def own_classes(whole: Layer) -> dict[str, type]:
    """Return by their names the classes in a layer or network that are not kerascope's."""
    found: dict[str, type] = {}
    waiting = [whole]
    seen: set[Layer] = set()
    while waiting:
        layer = waiting.pop()
        if layer in seen:
            continue
        seen.add(layer)
        if not type(layer).__module__.startswith("kerascope."):
            found[type(layer).__name__] = type(layer)
        waiting.extend(layer._sublayers)
    return found


class Carried:
    """A function on its way: copied as itself, pickled by reference, or else as byte code."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __deepcopy__(self, memo: Any) -> Carried:
        return self

    def __reduce__(self) -> Any:
        module, name = self.function.__module__, self.function.__qualname__
        if getattr(sys.modules.get(module), name, None) is self.function:
            return Carried, (self.function,)
        return _carried, (*byte_code_of(self.function, "pickle: a function of a layer"), module)


def _carried(code: Any, defaults: Any, closure: Any, module: str) -> Carried:
    """Return a function that a pickle holds as byte code, with the names of its module."""
    names = vars(importlib.import_module(module))
    return Carried(function_of(ByteCode(code, defaults, closure), names, f"pickle: {module}"))


def _exchanged(config: Any, kind: type, exchange: Callable[[Any], Any]) -> Any:
    """Return a configuration with all that is of one kind exchanged."""
    if isinstance(config, dict):
        return {name: _exchanged(value, kind, exchange) for name, value in config.items()}
    if isinstance(config, list):
        return [_exchanged(value, kind, exchange) for value in config]
    return exchange(config) if isinstance(config, kind) else config


def unpickle_model(state: dict[str, Any]) -> Any:
    """Make the model again from what `pickle_model` returned."""
    with custom_object_scope(state["custom_objects"]):
        config = _exchanged(state["config"], Carried, lambda carried: carried.function)
        model = state["class"].from_config(config)
        if "compiled" in state:
            # What the configuration leaves out is as in Keras 2, whatever the dialect is now.
            with changed_habits(defaults={}, optimizer_flavour="2"):
                optimizer = optimizers.deserialize(state["optimizer"])
            model.compile(optimizer, **state["compiled"])
    if state["weights"] is not None:
        model.set_weights([np.array(w) for w in state["weights"]])
    if state.get("optimizer_weights") is not None:
        model._make_train_function()
        model.optimizer.set_weights(state["optimizer_weights"])
    return model
