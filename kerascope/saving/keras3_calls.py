"""The calls in a graph of Keras 3, in our form: a pure function over data.

In Keras 3 a call is `{"args": [...], "kwargs": {...}}`, with a `__keras_tensor__` wherever a tensor
stood; in ours it is a list of references, whose arguments say which of them stood where
(`engine.tensor_arguments`). Two things are found out here:

- Masks. Keras 3 writes down the masks that it handed on by itself, with the operations that made
  them (`NotEqual` of an Embedding's input). Our engine makes them anew, so both are left out. In a
  graph where no layer makes masks, a mask was given by hand, and stays.
- Operations. `x + y` is an entry of its own, which becomes an `Operation` layer.
"""

from __future__ import annotations

import inspect
from typing import Any

from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ConfigError
from kerascope.layers.operation_table import OPERATIONS

Config = dict[str, Any]
Reference = list[Any]


def graph_from_keras_3(config: Config) -> Config:
    """Return a graph network's configuration with its calls and references in our form.

    The configurations of the layers themselves stay as they are.

    Raises
    ------
    ConfigError
        A call cannot be expressed here.
    """
    entries = config["layers"]
    if makes_masks(config):
        entries = [_without_masks(entry) for entry in entries]
    inputs = references_in(config["input_layers"])
    outputs = references_in(config["output_layers"])
    entries = _that_are_used(entries, {name for name, *_ in [*inputs, *outputs]})
    return {
        "name": config.get("name"),
        "trainable": config.get("trainable", True),
        "layers": [_with_our_calls(entry) for entry in entries],
        "input_layers": inputs,
        "output_layers": outputs,
    }


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
    return class_name in OPERATIONS or _known_layer(class_name) is None


def _known_layer(class_name: Any) -> Any:
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


# --- masks and what only they need ----------------------------------------------------------------


def makes_masks(value: Any) -> bool:
    """Tell whether a layer somewhere in a configuration makes a mask by itself."""
    if isinstance(value, list):
        return any(makes_masks(item) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("mask_zero") or value.get("class_name") == "Masking":
        return True
    return any(makes_masks(item) for item in value.values())


def _without_masks(entry: Config) -> Config:
    calls = []
    for call in entry.get("inbound_nodes", []):
        if isinstance(call, dict):
            kwargs = {
                name: value
                for name, value in (call.get("kwargs") or {}).items()
                if not _is_mask(name)
            }
            call = {**call, "kwargs": kwargs}
        calls.append(call)
    return {**entry, "inbound_nodes": calls}


def _is_mask(name: str) -> bool:
    """Tell whether Keras 3 fills an argument by itself; an attention mask is given by hand."""
    return name == "mask" or (name.endswith("_mask") and name != "attention_mask")


def _that_are_used(entries: list[Config], kept: set[str]) -> list[Config]:
    """Leave out operations whose result nobody takes."""
    while True:
        used = {
            tensor["config"]["keras_history"][0]
            for entry in entries
            for call in entry["inbound_nodes"]
            for tensor in tensors_in(call if isinstance(call, dict) else [])
        }
        left = [
            entry
            for entry in entries
            if not is_operation(entry) or entry["name"] in used or entry["name"] in kept
        ]
        if len(left) == len(entries):
            return entries
        entries = left


# --- one call -------------------------------------------------------------------------------------


def _with_our_calls(entry: Config) -> Config:
    if is_operation(entry):
        return _operation(entry)
    calls = [
        _our_call(entry, call) if isinstance(call, dict) else call
        for call in entry["inbound_nodes"]
    ]
    return {**entry, "inbound_nodes": calls}


def _our_call(entry: Config, call: Config) -> list[Any]:
    args, kwargs = list(call.get("args") or []), dict(call.get("kwargs") or {})
    names = _names_of_arguments(entry)
    if not args and names and names[0] in kwargs:
        args = [kwargs.pop(names[0])]
    if len(args) > max(len(names), 1):
        raise ConfigError(f"layer {entry['name']!r}: is called with {len(args)} arguments.")
    kwargs = {**dict(zip(names[1:], args[1:], strict=False)), **kwargs}
    tensors = tensors_in(args[:1])
    arguments: Config = {}
    for name, value in kwargs.items():
        if value is None or name == "training":
            continue  # Keras 3 writes `training` of the first call down, and never heeds it
        arguments[name] = _with_places(value, tensors)
    return [[*_history(tensor), arguments] for tensor in tensors]


def _names_of_arguments(entry: Config) -> list[str]:
    """Return the names of the arguments of a layer's `call`, the inputs first."""
    if "layers" in (entry.get("config") or {}):
        return ["inputs"]
    cls = _known_layer(entry["class_name"])
    return ["inputs"] if cls is None else list(inspect.signature(cls.call).parameters)[1:]


def _with_places(value: Any, tensors: list[Any]) -> Any:
    """Enter the tensors in a value among those of the call, and put places where they stood."""
    if is_tensor(value):
        tensors.append(value)
        return {"class_name": "InputPlace", "config": {"index": len(tensors) - 1}}
    if isinstance(value, dict) and value.get("class_name") == "__tuple__":
        value = value.get("items", value.get("config"))
    if isinstance(value, list):
        return [_with_places(item, tensors) for item in value]
    if isinstance(value, dict) and tensors_in(value):
        raise ConfigError("a call has a dict of tensors as an argument; expected a list.")
    return value


def _history(tensor: Config) -> Reference:
    history = tensor["config"]["keras_history"]
    return references_in(history)[0]


def _operation(entry: Config) -> Config:
    """Return an operation on tensors as a layer."""
    if len(entry["inbound_nodes"]) != 1:
        raise ConfigError(f"operation {entry['name']!r}: expected one call.")
    call = entry["inbound_nodes"][0]
    tensors: list[Any] = []
    pattern = [_with_numbers(item, tensors) for item in call.get("args") or []]
    options = {
        name: _with_numbers(item, tensors) for name, item in (call.get("kwargs") or {}).items()
    }
    config = {key: v for key, v in (entry.get("config") or {}).items() if key != "name"}
    return {
        "class_name": "Operation",
        "name": entry["name"],
        "config": {
            "name": entry["name"],
            "operation": entry["class_name"],
            "options": {**config, **options},
            "pattern": pattern,
        },
        "inbound_nodes": [[[*_history(tensor), {}] for tensor in tensors]],
    }


def _with_numbers(value: Any, tensors: list[Any]) -> Any:
    """Replace each tensor by `{"tensor": number}`."""
    if is_tensor(value):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, dict) and value.get("class_name") == "__tuple__":
        value = value.get("items", value.get("config"))
    if isinstance(value, list):
        return [_with_numbers(item, tensors) for item in value]
    return value
