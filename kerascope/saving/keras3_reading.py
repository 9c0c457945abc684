"""Convert configurations of Keras 3 to kerascope's format, with pure functions over data.

Keras 3 writes every object as `{"module", "class_name", "config", "registered_name"}`, and the
calls of a graph with all their arguments. `keras3_table` contains the differences of names. Read
this module from the end: `from_keras_3` translates objects, and `graph_from_keras_3` the calls of a
graph. They use the functions above them, for entries and masks. An *entry* is the dict of an object
in a file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from kerascope.engine.arguments import INPUTS
from kerascope.engine.builders import current_builder
from kerascope.engine.layer_type import constructor_keywords, layer_registry
from kerascope.errors import ConfigError, KerascopeError, NotHereError
from kerascope.layers.core import lambda_functions
from kerascope.layers.ops import keras_ops
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.registry import get_custom_objects
from kerascope.saving import keras3_table as table

# --- entries: layers, operations, references to tensors -------------------------------------------


Config = dict[str, Any]
Reference = list[Any]


def references_in(value: Any) -> list[Reference]:
    """Return the references to tensors in nested lists and dicts; dicts are sorted by key."""
    if isinstance(value, dict):
        return [found for key in sorted(value) for found in references_in(value[key])]
    if not isinstance(value, list):
        raise ConfigError(f"graph: expected a reference [layer, node, tensor], got {value!r}.")
    if len(value) >= 3 and isinstance(value[0], str):
        return [value[:3]]
    return [found for item in value for found in references_in(item)]


def is_operation(entry: Config) -> bool:
    """Return whether an entry (the dict of an object in a file) is an operation, not a layer.

    Keras 3 writes the module of an entry, except in .h5 files. There an entry with "trainable" or
    "layers" in its configuration is a layer. Other entries are distinguished by the class name.
    """
    if "module" in entry:
        return str(entry["module"] or "").startswith(("keras.src.ops", "keras.ops"))
    if {"trainable", "layers"} & (entry.get("config") or {}).keys():
        return False
    class_name = entry.get("class_name")
    return class_name in every_operation() or known_layer(class_name) is None


def known_layer(class_name: Any) -> Any:
    """Return the layer class with this name, or None if the name is unknown."""
    try:
        return layer_registry.lookup(class_name)
    except ValueError:
        return None


def is_tensor(value: Any) -> bool:
    """Return whether a value of a configuration represents a tensor: a `__keras_tensor__`."""
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors of nested lists and dicts (see `is_tensor`); dicts are sorted by key."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        return [found for key in sorted(value) for found in tensors_in(value[key])]
    if isinstance(value, list):
        return [found for item in value for found in tensors_in(item)]
    return []


def as_list(value: Any) -> Any:
    """Return the values of a dict, sorted by key; return every other object unchanged."""
    is_dict = isinstance(value, dict) and "class_name" not in value
    return [value[key] for key in sorted(value)] if is_dict else value


def names_of_arguments(entry: Config) -> list[str]:
    """Return the names of the arguments of a layer's `call` in Keras 3, inputs first."""
    if "layers" in (entry.get("config") or {}):
        return ["inputs"]
    if entry["class_name"] in table.CALLS:
        return list(table.CALLS[entry["class_name"]])
    cls = known_layer(entry["class_name"])
    return _parameters_of(cls.call) if cls is not None else ["inputs"]


@lru_cache(maxsize=1024)
def _parameters_of(call: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(call).parameters)[1:]


# --- masks: propagated by Keras 3, or passed explicitly -------------------------------------------
# Keras 3 writes both in the same way: `mask=` of a call refers to a tensor. Our engine computes a
# propagated mask again, so the argument is removed from the call. An explicit mask must remain,
# otherwise predictions would be silently wrong. So the masks are traced through the graph here. An
# argument is removed only if our engine certainly computes the same mask, by the same operations
# from the same tensors. In doubt it remains, with its operations, which is always correct.


Place = tuple[Any, ...]

# Layers that pass a mask on unchanged, here and in Keras 3.
PASSING = frozenset(
    [
        *("Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization", "Dense"),
        *("Dropout", "ELU", "GaussianDropout", "GaussianNoise", "LayerNormalization", "LeakyReLU"),
        *("MultiHeadAttention", "PReLU", "ReLU", "Rescaling", "Softmax", "UnitNormalization"),
    ]
)

# Layers that pass a mask on if they return whole sequences.
RECURRENT = frozenset(["Bidirectional", "GRU", "LSTM", "RNN", "SimpleRNN"])

MERGING = frozenset(["Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"])


class OperationResult(NamedTuple):
    """The result of an operation on tensors.

    Two results are equal if their operations, arguments and options are equal.
    """

    operation: str
    arguments: list[Any]
    options: dict[str, Any]


UNKNOWN = object()  # a mask that cannot be determined here; it is equal to no other mask


class MasksOfGraph:
    """The masks of the tensors of a graph, as Keras 3 and kerascope propagate them.

    A mask is represented by a reference to a tensor, by an `OperationResult`, by None (no mask), or
    by a list of these.

    Parameters
    ----------
    entries : list of dict
        The layers of a graph network in Keras 3's form.
    """

    def __init__(self, entries: list[Config]) -> None:
        self._entries = {entry["name"]: entry for entry in entries}
        self._carried: dict[Place, Any] = {}

    def is_propagated(self, whose: Any, given: Any) -> bool:
        """Return whether a mask argument equals the propagated mask of another argument.

        Parameters
        ----------
        whose : object
            The argument to which the mask belongs: a tensor, or a list of tensors.
        given : object
            The mask argument, such as `mask` or `value_mask`.
        """
        return bool(self._mask_of(whose) == self._computed(given))

    def _mask_of(self, value: Any) -> Any:
        if is_tensor(value):
            return self._carried_by(_reference(value))
        value = as_list(value)
        return [self._mask_of(item) for item in value] if isinstance(value, list) else None

    def _carried_by(self, reference: Place) -> Any:
        if reference not in self._carried:
            self._carried[reference] = UNKNOWN  # a graph in a damaged file may have a cycle
            self._carried[reference] = self._found(*reference[:3])
        return self._carried[reference]

    def _found(self, name: str, node: int, place: int) -> Any:
        entry = self._entries[name]
        kind, config = entry["class_name"], entry.get("config") or {}
        calls = entry["inbound_nodes"]
        if is_operation(entry) or not calls:
            return None
        if not isinstance(calls[node], dict):
            return UNKNOWN
        kwargs = calls[node].get("kwargs") or {}
        inputs = (calls[node].get("args") or [None])[0]
        if kind == "Embedding":
            made = OperationResult("NotEqual", [self._computed(inputs), 0], {})
            return made if config.get("mask_zero") else None
        if kind == "Masking":
            differing = OperationResult(
                "NotEqual", [self._computed(inputs), config.get("mask_value", 0.0)], {}
            )
            return OperationResult("Any", [differing], {"axis": -1, "keepdims": False})
        given = kwargs.get("mask")
        mask = self._mask_of(inputs) if given is None else self._computed(given)
        if kind in MERGING and isinstance(mask, list):
            return _any_of(mask)
        if mask is None:
            return None
        if isinstance(mask, list) or place:
            return UNKNOWN
        return mask if _passes(kind, config) else UNKNOWN

    def _computed(self, value: Any) -> Any:
        """Replace each tensor in a value by what made it: an operation or a layer.

        For an operation, it is an `OperationResult`; for a layer, a reference to the layer's
        output.
        """
        if isinstance(value, list):
            return [self._computed(item) for item in value]
        if not is_tensor(value):
            return value
        name, node, *_ = reference = _reference(value)
        entry = self._entries[name]
        if not is_operation(entry):
            return reference
        call = entry["inbound_nodes"][node]
        config = {key: item for key, item in (entry.get("config") or {}).items() if key != "name"}
        options = {**config, **(call.get("kwargs") or {})}
        return OperationResult(entry["class_name"], self._computed(call.get("args") or []), options)


def is_mask(name: str) -> bool:
    """Return whether an argument is a mask, which Keras 3 can fill in automatically."""
    return name == "mask" or name.endswith("_mask")


def _reference(tensor: Config) -> Place:
    return tuple(tensor["config"]["keras_history"])


def _any_of(masks: list[Any]) -> Any:
    """Return the mask of a merging layer: the logical or of the masks of its inputs.

    None if one of the inputs has no mask.
    """
    if any(mask is None for mask in masks):
        return None
    first, *others = masks
    for mask in others:
        first = OperationResult("LogicalOr", [first, mask], {})
    return first


def _passes(kind: str, config: Config) -> bool:
    """Return whether a layer with one input passes the input's mask on to its output."""
    inner = config.get("layer")
    if kind == "TimeDistributed":
        return isinstance(inner, dict) and inner.get("class_name") in PASSING
    if kind == "Bidirectional":
        config = {**inner["config"], **config} if isinstance(inner, dict) else config
        if config.get("merge_mode") is None:
            return False
    if kind in RECURRENT:
        return bool(config.get("return_sequences")) and not config.get("return_state")
    return kind in PASSING


# --- calls ----------------------------------------------------------------------------------------
# In Keras 3, a call is `{"args": [...], "kwargs": {...}}`, and each tensor is a `__keras_tensor__`.
# In our format it is a list of references, with arguments that contain their positions
# (`engine.arguments`). Two things are converted:
#
# - Masks. Keras 3 writes the masks that it propagated, with the operations that computed them
#   (`NotEqual` of an Embedding's input). Our engine computes them again, so both are removed if
#   `MasksOfGraph` is certain of that. An explicit mask remains.
# - Operations. `x + y` is a separate entry, which becomes an `Operation` layer.


def graph_from_keras_3(config: Config) -> Config:
    """Convert the calls and references in a graph network's configuration to kerascope's format.

    The configurations of its layers are not converted.

    Raises
    ------
    ConfigError
        A call is not supported.
    """
    entries = _without_masks(config["layers"])
    inputs, structure_of_inputs = _ends(config, "input_layers")
    outputs, structure_of_outputs = _ends(config, "output_layers")
    outputs = _counted_from_zero(outputs, entries)
    entries = _used_entries(entries, {name for name, *_ in [*inputs, *outputs]})
    return {
        **structure_of_inputs,
        **structure_of_outputs,
        "name": config.get("name"),
        "trainable": config.get("trainable", True),
        "layers": [_with_our_calls(entry) for entry in entries],
        "input_layers": inputs,
        "output_layers": outputs,
    }


def _ends(config: Config, key: str) -> tuple[list[Reference], Config]:
    """Return the tensor references in `config[key]` as a list, and how they are nested in it."""
    found = references_in(config[key])

    def numbered(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: numbered(item) for name, item in value.items()}
        is_reference = bool(value) and isinstance(value[0], str)
        return found.index(value[:3]) if is_reference else list(map(numbered, value))

    return found, {f"structure_of_{key.removesuffix('_layers')}s": numbered(config[key])}


def _counted_from_zero(outputs: list[Reference], entries: list[Config]) -> list[Reference]:
    """Return references to outputs that count the calls of nested graphs from 0.

    Keras 3 counts these calls from 1 in the outputs of a graph, but from 0 in the inputs of a call.
    (tf.keras always counts from 1. Such a graph is corrected later.)
    """
    calls = [call for entry in entries for call in entry["inbound_nodes"]]
    if not all(isinstance(call, dict) for call in calls):
        return outputs
    graphs = {e["name"] for e in entries if "output_layers" in (e.get("config") or {})}
    plain = {name for name, index, _ in outputs if index == 0}  # an older kerascope wrote 0
    return [[name, i - (name in graphs - plain), place] for name, i, place in outputs]


# --- removing masks and their operations ----------------------------------------------------------


def _without_masks(entries: list[Config]) -> list[Config]:
    """Return configurations of layers without the mask arguments that kerascope itself passes."""
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
        """Return whether to omit the argument `name`, a mask that kerascope passes by itself."""
        if name in table.IGNORED_MASKS.get(entry["class_name"], ()):
            return True
        whose = first if name in ("mask", f"{first}_mask") else name.removesuffix("_mask")
        return bool(tensors_in(kwargs[name])) and masks.is_propagated(
            given.get(whose), kwargs[name]
        )

    kept = {name: v for name, v in kwargs.items() if not is_mask(name) or not is_ours(name)}
    return {**call, "kwargs": kept}


def _used_entries(entries: list[Config], kept: set[str]) -> list[Config]:
    """Remove the configurations of operations whose results no call and no output uses."""
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
    try:
        if is_operation(entry):
            return _operation(entry)
        calls = [
            _our_call(entry, call) if isinstance(call, dict) else call
            for call in entry["inbound_nodes"]
        ]
    except ConfigError as error:
        if not current_builder().is_lenient:
            raise
        return {**entry, "inbound_nodes": _bare_calls(entry), "refused": str(error)}
    return {**entry, "inbound_nodes": calls}


def _bare_calls(entry: Config) -> list[Any]:
    """Return the calls of a layer in a file as lists of tensors, without their other arguments."""
    return [
        [[*_history(x), {}] for x in tensors_in([call.get("args"), call.get("kwargs")])]
        for call in entry["inbound_nodes"]
        if isinstance(call, dict)
    ]


def _our_call(entry: Config, call: Config) -> list[Any]:
    args, kwargs = list(call.get("args") or []), dict(call.get("kwargs") or {})
    names = names_of_arguments(entry)
    if not args and names and names[0] in kwargs:
        args = [kwargs.pop(names[0])]
    if len(args) > max(len(names), 1):
        raise ConfigError(f"layer {entry['name']!r}: expected fewer than {len(args)} arguments.")
    kwargs = {**dict(zip(names[1:], args[1:], strict=False)), **kwargs}
    arguments: Config = {}
    is_graph = "input_layers" in (
        entry.get("config") or {}
    )  # a graph stores the structure of its dict
    if args and isinstance(args[0], dict) and not is_graph and not is_tensor(args[0]):
        tensors: list[Any] = []
        arguments[INPUTS] = _with_places(args[0], tensors, _input_place)
    else:
        tensors = tensors_in(args[:1])
    for name, value in kwargs.items():
        if value is None or name == "training":
            continue  # Keras 3 writes `training` of the first call, but ignores it
        arguments[name] = _with_places(value, tensors, _input_place)
    return [[*_history(tensor), arguments] for tensor in tensors]


def _input_place(number: int) -> Config:
    return {"class_name": "InputPlace", "config": {"index": number}}


def _with_places(value: Any, tensors: list[Any], place: Callable[[int], Config]) -> Any:
    """Append the tensors in a value to `tensors`, and replace each by `place(index in tensors)`."""
    if is_tensor(value):
        tensors.append(value)
        return place(len(tensors) - 1)
    if isinstance(value, dict) and value.get("class_name") == "__tuple__":
        value = value.get("items", value.get("config"))
    if isinstance(value, list):
        return [_with_places(item, tensors, place) for item in value]
    if isinstance(value, dict) and tensors_in(value):
        return {key: _with_places(value[key], tensors, place) for key in sorted(value)}
    return value


def _history(tensor: Config) -> Reference:
    return references_in(tensor["config"]["keras_history"])[0]


def _operation(entry: Config) -> Config:
    """Convert an operation on tensors to an `Operation` layer."""
    if len(entry["inbound_nodes"]) != 1:
        raise ConfigError(f"operation {entry['name']!r}: expected one call.")
    call = entry["inbound_nodes"][0]
    tensors: list[Any] = []

    def placed(value: Any) -> Any:
        return _with_places(value, tensors, lambda number: {"tensor": number})

    pattern = [placed(item) for item in call.get("args") or []]
    options = {name: placed(item) for name, item in (call.get("kwargs") or {}).items()}
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


# --- objects --------------------------------------------------------------------------------------


_OF_A_GRAPH = ("name", "inbound_nodes")
_OF_A_FILE = ("file", "calls", "is_operation", "refused")  # for opaque layers: `opaque_reading`
_PLAIN_OBJECTS = ("_initializer", "_regularizer", "_constraint")
_FULL_PRECISION = ("float32", "float64", "float16", "bfloat16")


def from_keras_3(entry: Config) -> Config:
    """Return the configuration of a layer or model of Keras 3 in kerascope's format.

    Parameters
    ----------
    entry : dict
        `{"module", "class_name", "config", ...}`, in a graph also "name" and "inbound_nodes".

    Returns
    -------
    dict
        `{"class_name", "config"}`, and the other keys of an entry of a graph.

    Raises
    ------
    ConfigError
        An option is not supported.
    UnknownNameError
        The layer class is unknown.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("class_name"), str):
        raise ConfigError(f"layers: expected a layer's configuration, got {str(entry)[:80]!r}.")
    if not current_builder().is_lenient:
        return _from_keras_3(entry)
    kept = {key: entry[key] for key in (*_OF_A_GRAPH, *_OF_A_FILE) if key in entry}
    try:
        return {"file": entry, **_from_keras_3(entry), **kept}
    except KerascopeError as error:
        words = str(error).rstrip(".")
        return {"class_name": entry["class_name"], "file": entry, "refused": words, **kept}


def _from_keras_3(entry: Config) -> Config:
    class_name = _our_class(entry)
    config = dict(entry.get("config") or {})
    if "layers" in config and "output_layers" in config:
        config = _graph(config)
    elif class_name == "Sequential":
        config = _line(config)
    else:
        config = _arguments(class_name, entry["class_name"], config)
    translated = {"class_name": class_name, "config": config}
    for key in _OF_A_GRAPH:
        if key in entry:
            translated[key] = entry[key]
    return translated


def _our_class(entry: Config) -> str:
    """Return the name of a configured class in kerascope, or among the user's custom objects."""
    theirs: str = entry["class_name"]
    registered = entry.get("registered_name")
    for name in (registered, theirs):
        if isinstance(name, str) and name in get_custom_objects():
            return name
    return table.CLASSES_BACK.get(theirs, theirs)


def _graph(config: Config) -> Config:
    read = graph_from_keras_3(config)
    entries = read["layers"]
    builder = current_builder()
    if builder.is_lenient:
        calls = builder.calls_in_graph(config)
        whole = {one["name"]: one for one in config["layers"]}
        entries = [
            {
                **one,
                "file": whole[one["name"]],
                "calls": calls[one["name"]],
                "is_operation": is_operation(whole[one["name"]]),
            }
            for one in entries
        ]
    return {**read, "layers": [from_keras_3(one) for one in entries]}


def _line(config: Config) -> Config:
    kept: Config = {
        key: config[key] for key in ("name", "trainable", "build_input_shape") if key in config
    }
    entries = config.get("layers", [])
    builder = current_builder()
    if builder.is_lenient:
        calls = zip(entries, builder.calls_in_line(entries), strict=True)
        entries = [{**one, "file": one, "calls": of_one} for one, of_one in calls]
    return {**kept, "layers": [from_keras_3(one) for one in entries]}


def _arguments(ours: str, theirs: str, config: Config) -> Config:
    """Return a layer's arguments by kerascope's names, without unsupported ones of no effect."""
    cls = layer_registry._lookup_saved(ours)
    always = {"name", "trainable", "dtype", "batch_input_shape"}
    known = {*constructor_keywords(cls), *always, *table.TAKEN_TOO.get(ours, ())}
    names = {new: old for old, new in table.ARGUMENTS.get(ours, {}).items()}
    neutral = {**table.ONLY_THEIRS[""], **table.ONLY_THEIRS.get(theirs, {})}
    takes_all = not cls.__module__.startswith("kerascope.")
    translated: Config = {}
    for key, value in config.items():
        name = names.get(key, key)
        if takes_all or name in known:
            translated[name] = _value(name, value)
        elif value is None or value is False or table.ANYTHING in neutral.get(key, ()):
            continue
        elif value not in neutral.get(key, ()):
            raise NotHereError(
                f"{theirs} {config.get('name', '')!r}: {key}={str(value)[:60]} is not supported. "
                f"Expected it to be off."
            )
    if isinstance(translated.get("axis"), list) and ours == "BatchNormalization":
        (translated["axis"],) = translated["axis"]  # tf.keras wrote a list of one item
    return translated


def _value(key: str, value: Any) -> Any:
    """Return the value of an argument, converted from Keras 3's format to kerascope's."""
    if isinstance(value, list):
        return [_value(key, item) for item in value]
    if key.endswith("activation"):
        return _activation(value)
    if not isinstance(value, dict):
        return _function(value) if key == "function" and isinstance(value, str) else value
    if "class_name" not in value:
        return {name: _value(name, item) for name, item in value.items()}
    kind: str = value["class_name"]
    inner: Any = value.get("config")
    if key == "dtype" or str(kind).endswith("DTypePolicy"):
        return _dtype(inner)
    if kind == "function":
        return _value(key, inner)
    if kind == "__tuple__":
        return [_value(key, item) for item in value.get("items", inner or [])]
    if kind in ("__tensor__", "__numpy__"):
        return value if key == "pattern" else inner["value"]  # an Operation also stores the dtype
    if kind in ("__lambda__", "__slice__", "__ellipsis__"):
        return value
    if key.endswith(_PLAIN_OBJECTS):
        return {"class_name": kind, "config": inner or {}}
    return from_keras_3(value)


def _function(name: str) -> Any:
    """Return the `keras.ops` function with this name; return custom and other names unchanged."""
    own = {*get_custom_objects(), *lambda_functions.names()}
    is_operation = name in keras_ops.__all__ and name not in own
    return getattr(keras_ops, name) if is_operation else name


def _dtype(config: Any) -> str:
    """Return the dtype in which a layer computes.

    Raises
    ------
    ConfigError
        The layer has mixed precision or is quantized. In kerascope, its results would differ.
    """
    name = config.get("name") if isinstance(config, dict) else config
    if isinstance(config, dict) and "mode" in config:  # a quantized layer, with its name in Keras 3
        name = f"{config['mode']}_from_{config.get('source_name')}"
    if name not in _FULL_PRECISION:
        raise NotHereError(
            f"The dtype policy {name!r} is not supported. Save the model with policy 'float32'. "
            f"Use one of: {', '.join(_FULL_PRECISION)}."
        )
    return name


def _activation(value: Any) -> Any:
    """Return kerascope's name of an activation, as Keras 3 writes it into a configuration.

    For a layer that is used as an activation, return the layer's configuration. A name that is the
    same in kerascope is returned unchanged.
    """
    if isinstance(value, dict) and value.get("class_name") == "function":
        value = value.get("config")
    for ours, theirs in table.ACTIVATIONS.items():
        if value == theirs or (isinstance(theirs, dict) and _is_same_object(value, theirs)):
            return ours
    is_layer = isinstance(value, dict) and known_layer(value.get("class_name"))
    return from_keras_3(value) if is_layer else value


def _is_same_object(value: Any, wanted: Any) -> bool:
    """Return whether a configured value equals `wanted`. Dicts in it may have additional keys."""
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
