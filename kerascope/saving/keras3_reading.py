"""From a configuration of Keras 3 to one of ours: a pure function over data.

Keras 3 writes every object as `{"module", "class_name", "config", "registered_name"}`, and the
calls of a graph with all their arguments. What differs by name stands in `keras3_table`; the calls
are read in `keras3_calls`.
"""

from __future__ import annotations

from typing import Any

from kerascope.engine.layer_type import constructor_keywords, layer_registry
from kerascope.errors import ConfigError
from kerascope.registry import get_custom_objects
from kerascope.saving.keras3_calls import graph_from_keras_3
from kerascope.saving.keras3_table import (
    ACTIVATIONS,
    ANYTHING,
    ARGUMENTS,
    CLASSES,
    CLASSES_BACK,
    ONLY_THEIRS,
    TAKEN_TOO,
)

Config = dict[str, Any]

_PLAIN_OBJECTS = ("_initializer", "_regularizer", "_constraint")
_FULL_PRECISION = ("float32", "float64", "float16", "bfloat16")


def from_keras_3(entry: Config) -> Config:
    """Return the configuration of a layer or model of Keras 3 in our form.

    Parameters
    ----------
    entry : dict
        `{"module", "class_name", "config", ...}`; in a graph also "name" and "inbound_nodes".

    Returns
    -------
    dict
        `{"class_name", "config"}`, and what else the entry of a graph has.

    Raises
    ------
    ConfigError
        An option has no counterpart here.
    UnknownNameError
        There is no such layer class.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("class_name"), str):
        raise ConfigError(f"expected the configuration of a layer, got {str(entry)[:80]!r}.")
    class_name = _our_class(entry)
    config = dict(entry.get("config") or {})
    if "layers" in config and "output_layers" in config:
        config = _graph(config)
    elif class_name == "Sequential":
        config = _line(config)
    else:
        config = _arguments(class_name, entry["class_name"], config)
    translated = {"class_name": class_name, "config": config}
    for key in ("name", "inbound_nodes"):
        if key in entry:
            translated[key] = entry[key]
    return translated


def _our_class(entry: Config) -> str:
    """Return our name of the class, or the name under which the user's own one is registered."""
    theirs: str = entry["class_name"]
    registered = entry.get("registered_name")
    for name in (registered, theirs):
        if isinstance(name, str) and name in get_custom_objects():
            return name
    back = {new: old for old, new in CLASSES.items()}
    return CLASSES_BACK.get(theirs, back.get(theirs, theirs))


def _graph(config: Config) -> Config:
    read = graph_from_keras_3(config)
    layers = [from_keras_3(one) for one in read["layers"]]
    return {**read, "layers": layers}


def _line(config: Config) -> Config:
    kept: Config = {
        key: config[key] for key in ("name", "trainable", "build_input_shape") if key in config
    }
    return {**kept, "layers": [from_keras_3(one) for one in config.get("layers", [])]}


def _arguments(ours: str, theirs: str, config: Config) -> Config:
    """Return the arguments of a layer by our names, without those that are off."""
    cls = layer_registry._lookup_saved(ours)
    always = {"name", "trainable", "dtype", "batch_input_shape"}
    known = {*constructor_keywords(cls), *always, *TAKEN_TOO.get(ours, ())}
    names = {new: old for old, new in ARGUMENTS.get(ours, {}).items()}
    neutral = {**ONLY_THEIRS[""], **ONLY_THEIRS.get(theirs, {})}
    takes_all = not cls.__module__.startswith("kerascope.")
    translated: Config = {}
    for key, value in config.items():
        name = names.get(key, key)
        if takes_all or name in known:
            translated[name] = _value(name, value)
        elif value is None or value is False or ANYTHING in neutral.get(key, ()):
            continue
        elif value not in neutral.get(key, ()):
            raise ConfigError(
                f"{theirs} {config.get('name', '')!r}: {key}={str(value)[:60]} has no counterpart "
                f"here; expected it to be off."
            )
    if isinstance(translated.get("axis"), list) and ours == "BatchNormalization":
        (translated["axis"],) = translated["axis"]  # tf.keras wrote a list of one
    return translated


def _value(key: str, value: Any) -> Any:
    """Return the value of an argument in our form."""
    if isinstance(value, list):
        return [_value(key, item) for item in value]
    if key.endswith("activation"):
        return _activation(value)
    if not isinstance(value, dict):
        return value
    if "class_name" not in value:
        return {name: _value(name, item) for name, item in value.items()}
    kind: str = value["class_name"]
    inner: Any = value.get("config")
    if key == "dtype" or str(kind).endswith("DTypePolicy"):
        return _dtype(inner)
    if kind == "function":
        return inner
    if kind == "__tuple__":
        return [_value(key, item) for item in value.get("items", inner or [])]
    if kind in ("__tensor__", "__numpy__"):
        return value if key == "pattern" else inner["value"]  # an Operation keeps the type too
    if kind in ("__lambda__", "__slice__", "__ellipsis__"):
        return value
    if key.endswith(_PLAIN_OBJECTS):
        return {"class_name": kind, "config": inner or {}}
    return from_keras_3(value)


def _dtype(config: Any) -> str:
    """Return the type in which a layer computes.

    Raises
    ------
    ConfigError
        The layer mixes types, or is quantized: numbers here would not be the same.
    """
    name = config.get("name") if isinstance(config, dict) else config
    if name not in _FULL_PRECISION:
        raise ConfigError(
            f"dtype policy {name!r} has no counterpart here; expected one of "
            f"{', '.join(_FULL_PRECISION)}. Save the model with the policy 'float32'."
        )
    return name


def _activation(value: Any) -> Any:
    """Return the name of an activation that computes the same here."""
    if isinstance(value, dict) and value.get("class_name") == "function":
        value = value.get("config")
    for ours, theirs in ACTIVATIONS.items():
        if value == theirs or (isinstance(theirs, dict) and _is_same_object(value, theirs)):
            return ours
    return value


def _is_same_object(value: Any, wanted: Any) -> bool:
    """Tell whether two configurations are of one object; Keras 3 adds what is at its default."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            key in value and _is_same_object(value[key], item)
            for key, item in wanted.items()
            if key != "registered_name"
        )
    if isinstance(wanted, list):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(map(_is_same_object, value, wanted))
        )
    return value == wanted
