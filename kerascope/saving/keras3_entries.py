"""What the entries of a graph of Keras 3 hold: layers, operations, references to tensors."""

from __future__ import annotations

import inspect
from typing import Any

from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ConfigError
from kerascope.layers.operation_table import OPERATIONS
from kerascope.saving.keras3_table import CALLS

Config = dict[str, Any]
Reference = list[Any]


def references_in(value: Any) -> list[Reference]:
    """Return the references in lists and dicts, in the order in which Keras 3 flattens them."""
    if isinstance(value, dict):
        return [found for key in sorted(value) for found in references_in(value[key])]
    if not isinstance(value, list):
        raise ConfigError(f"expected a reference [layer, node, tensor], got {value!r}.")
    if len(value) >= 3 and isinstance(value[0], str):
        return [value[:3]]
    return [found for item in value for found in references_in(item)]


def is_operation(entry: Config) -> bool:
    """Tell whether an entry is an operation on tensors and no layer.

    In .h5 files Keras 3 leaves the module out, but only layers can be trainable. Some do not write
    down that they are; no operation is called like them.
    """
    if "module" in entry:
        return str(entry["module"] or "").startswith(("keras.src.ops", "keras.ops"))
    if {"trainable", "layers"} & (entry.get("config") or {}).keys():
        return False
    class_name = entry.get("class_name")
    return class_name in OPERATIONS or known_layer(class_name) is None


def known_layer(class_name: Any) -> Any:
    """Return a layer's class; None if there is none of that name."""
    try:
        return layer_registry.lookup(class_name)
    except ValueError:
        return None


def is_tensor(value: Any) -> bool:
    """Tell whether a value stands for a tensor."""
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def tensors_in(value: Any) -> list[Any]:
    """Return what stands for tensors, in the order in which Keras 3 flattens lists and dicts."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        return [found for key in sorted(value) for found in tensors_in(value[key])]
    if isinstance(value, list):
        return [found for item in value for found in tensors_in(item)]
    return []


def as_list(value: Any) -> Any:
    """Return a dict of things by name as a list, in the order in which Keras 3 flattens it."""
    is_dict = isinstance(value, dict) and "class_name" not in value
    return [value[key] for key in sorted(value)] if is_dict else value


def names_of_arguments(entry: Config) -> list[str]:
    """Return the names of the arguments of a layer's `call` in Keras 3, the inputs first."""
    if "layers" in (entry.get("config") or {}):
        return ["inputs"]
    if entry["class_name"] in CALLS:
        return list(CALLS[entry["class_name"]])
    cls = known_layer(entry["class_name"])
    return list(inspect.signature(cls.call).parameters)[1:] if cls is not None else ["inputs"]
