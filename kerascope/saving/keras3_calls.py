"""The calls in a graph of Keras 3, in our form: a pure function over data.

In Keras 3 a call is `{"args": [...], "kwargs": {...}}`, with a `__keras_tensor__` wherever a tensor
stood; in ours it is a list of references, whose arguments say which of them stood where
(`engine.tensor_arguments`). Two things are found out here:

- Masks. Keras 3 writes down the masks that it handed on by itself, with the operations that made
  them (`NotEqual` of an Embedding's input). Our engine makes them anew, so both are left out where
  `keras3_masks` is certain of that. A mask that was given by hand stays.
- Operations. `x + y` is an entry of its own, which becomes an `Operation` layer.
"""

from __future__ import annotations

from typing import Any

from kerascope.callers import warn
from kerascope.errors import ConfigError
from kerascope.saving.keras3_entries import (
    Config,
    Reference,
    as_list,
    is_operation,
    is_tensor,
    names_of_arguments,
    references_in,
    tensors_in,
)
from kerascope.saving.keras3_masks import MasksOfGraph, is_mask
from kerascope.saving.keras3_table import IGNORED_MASKS


def graph_from_keras_3(config: Config) -> Config:
    """Return a graph network's configuration with its calls and references in our form.

    The configurations of the layers themselves stay as they are.

    Raises
    ------
    ConfigError
        A call cannot be expressed here.
    """
    entries = _without_masks(config["layers"])
    inputs, names_of_inputs = _ends(config, "input_layers")
    outputs, names_of_outputs = _ends(config, "output_layers")
    outputs = _counted_from_zero(outputs, entries)
    entries = _that_are_used(entries, {name for name, *_ in [*inputs, *outputs]})
    return {
        **names_of_inputs,
        **names_of_outputs,
        "name": config.get("name"),
        "trainable": config.get("trainable", True),
        "layers": [_with_our_calls(entry) for entry in entries],
        "input_layers": inputs,
        "output_layers": outputs,
    }


def _ends(config: Config, key: str) -> tuple[list[Reference], Config]:
    """Return the references to inputs or outputs, and their names, if they are in a dict.

    Warns
    -----
    KerascopeWarning
        They are nested; here they come side by side.
    """
    given = config[key]
    found = references_in(given)
    what = key.removesuffix("_layers")
    if len(found) == 1 and not isinstance(given, dict):
        return found, {}
    several = list(given.values()) if isinstance(given, dict) else given
    if any(not (isinstance(x, list) and x and isinstance(x[0], str)) for x in several):
        names = [name for name, *_ in found]
        warn(
            f"model {config.get('name')!r}: its {what}s are nested in the file. Here they come "
            f"side by side, in one list, in the order of the layers {names}."
        )
        return found, {}
    return found, {f"names_of_{what}s": sorted(given)} if isinstance(given, dict) else {}


def _counted_from_zero(outputs: list[Reference], entries: list[Config]) -> list[Reference]:
    """Return references to outputs that count calls of nested graphs as all others do.

    Keras 3 counts them from 1 here, and from 0 where they are the inputs of a call. (tf.keras
    counts from 1 everywhere, which is left to the one who reads a graph in our form.)
    """
    calls = [call for entry in entries for call in entry["inbound_nodes"]]
    if not all(isinstance(call, dict) for call in calls):
        return outputs
    graphs = {e["name"] for e in entries if "output_layers" in (e.get("config") or {})}
    plain = {name for name, index, _ in outputs if index == 0}  # written by an older kerascope
    return [[name, i - (name in graphs - plain), place] for name, i, place in outputs]


# --- masks and what only they need ----------------------------------------------------------------


def _without_masks(entries: list[Config]) -> list[Config]:
    """Return the entries without the masks that our engine hands on by itself."""
    masks = MasksOfGraph(entries)
    return [
        {
            **entry,
            "inbound_nodes": [
                _without_masks_of(entry, call, masks) if isinstance(call, dict) else call
                for call in entry["inbound_nodes"]
            ],
        }
        for entry in entries
    ]


def _without_masks_of(entry: Config, call: Config, masks: MasksOfGraph) -> Config:
    kwargs, args = dict(call.get("kwargs") or {}), call.get("args") or []
    if "mask" in kwargs:
        kwargs["mask"] = as_list(kwargs["mask"])  # of a model whose inputs are a dict
    call = {**call, "kwargs": kwargs}
    if is_operation(entry) or not any(map(is_mask, kwargs)):
        return call
    first, *others = names_of_arguments(entry) or ["inputs"]
    given = {**dict(zip([first, *others], args, strict=False)), **kwargs}

    def is_ours(name: str) -> bool:
        """Tell whether our engine gives the layer this argument by itself."""
        if name in IGNORED_MASKS.get(entry["class_name"], ()):
            return True
        whose = first if name in ("mask", f"{first}_mask") else name.removesuffix("_mask")
        return bool(tensors_in(kwargs[name])) and masks.is_handed_on(given.get(whose), kwargs[name])

    kept = {name: v for name, v in kwargs.items() if not is_mask(name) or not is_ours(name)}
    return {**call, "kwargs": kept}


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
    names = names_of_arguments(entry)
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
