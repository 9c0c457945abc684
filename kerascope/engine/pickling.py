"""A model as plain data: for `pickle`, `copy.deepcopy` and worker processes.

The graph itself is not written, only its configuration, as in a file; the classes of your own
layers go along by reference, as `pickle` does with every class, so they need no `custom_objects`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import optimizers
from kerascope.engine.base_layer import Layer
from kerascope.registry import custom_object_scope


def pickle_model(model: Any) -> dict[str, Any]:
    """Return what it takes to make the model again, in another process too.

    Raises
    ------
    ConfigError
        A layer has no configuration.
    """
    state: dict[str, Any] = {
        "class": type(model),
        "config": model.get_config(),
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


def unpickle_model(state: dict[str, Any]) -> Any:
    """Make the model again from what `pickle_model` returned."""
    with custom_object_scope(state["custom_objects"]):
        model = state["class"].from_config(state["config"])
        if "compiled" in state:
            model.compile(optimizers.deserialize(state["optimizer"]), **state["compiled"])
    if state["weights"] is not None:
        model.set_weights([np.array(w) for w in state["weights"]])
    if state.get("optimizer_weights") is not None:
        model._make_train_function()
        model.optimizer.set_weights(state["optimizer_weights"])
    return model
