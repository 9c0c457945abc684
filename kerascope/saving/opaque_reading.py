"""Opens files with unsupported layers, which are replaced by opaque layers.

`load_model(path, opaque=True)` reads with a `LenientBuilder`. If a layer cannot be created, called
or filled with weights, an opaque layer (`layers.opaque`) takes its place. It contains the
information in the file: its entry in the configuration, the shapes, and later the weights.
`opaque_files` stores the rest of the file, so that the model can be saved again.

The protection against hostile files remains: no code of a file runs, and models that exceed the
limits are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kerascope.backend.shapes import UNKNOWN, Shape, as_shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.binding import Call
from kerascope.engine.builders import Builder
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.layer_type import layer_registry
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.errors import ConfigError, KerascopeError
from kerascope.layers.opaque import (
    FileEntry,
    Opaque,
    RecordedCall,
    opaque_layer,
    opaque_layers,
    shape_given,
    turn_opaque,
)
from kerascope.limits import current_budget
from kerascope.saving.keras3_reading import from_keras_3, tensors_in
from kerascope.saving.opaque_shapes import input_shape, output_shape

Config = dict[str, Any]

# The exceptions of a layer that cannot be created or called as in the file.
FAILURES = (
    KerascopeError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
LONGEST_REASON = 300
MOST_OUTPUTS = 1000  # the greatest number of outputs of one call
UNSTATED = (UNKNOWN, None)
_NETWORKS = ("Functional", "Model", "Network", "Sequential")


class LenientBuilder(Builder):
    """Creates opaque layers in place of layers that cannot be created or called.

    Parameters
    ----------
    forced : dict of str to str, optional
        Names of layers whose weights do not fit -> the reasons. They become opaque.
    weights : dict of str to list of Shape, optional
        Names of layers -> the shapes of their saved weights, if they are known already.
    """

    is_lenient = True

    def __init__(
        self, forced: dict[str, str] | None = None, weights: dict[str, list[Shape]] | None = None
    ) -> None:
        self._forced = forced or {}
        self._weights = weights or {}
        self._entries: dict[Any, Config] = {}
        self._built_on: list[Shape] | None = None  # the input shapes of the current Sequential

    def calls_in_graph(self, config: Config) -> dict[str, list[Any]]:
        """Return the calls of the layers in a graph of Keras 3, by the names of the layers."""
        return calls_in_graph(config)

    def calls_in_line(self, entries: list[Any]) -> list[list[Any]]:
        """Return the calls of the layers in a Sequential of Keras 3."""
        return calls_in_line(entries)

    # --- making -----------------------------------------------------------------------------------

    def make_model(self, entry: Config) -> Any:
        """Return the model of a whole configuration. If its class is unknown, the model is opaque.

        Raises
        ------
        ConfigError
            The configuration of a graph or a Sequential is damaged.
        """
        if entry.get("class_name") in _NETWORKS:
            if "refused" in entry:
                raise ConfigError(str(entry["refused"]))
            self._built_on = shapes_built_on(entry)
            return layer_registry.deserialize(entry)
        model = self.make_layer(entry)
        if isinstance(model, Opaque) and not isinstance(model, Network):
            call = RecordedCall(shapes_built_on(model._file.entry), [UNSTATED])
            return opaque_layer(replace(model._file, calls=[call]), Model)
        return model

    def make_layer(self, entry: Config) -> Any:
        """Return the layer of a configuration. If it cannot be created, return an opaque layer."""
        why = entry.get("refused") or self._forced.get(_name_of(entry))
        if why is not None:
            why = _reason(why)
        else:
            if entry.get("class_name") == "Sequential":
                self._built_on = shapes_built_on(entry)
            try:
                layer = layer_registry.deserialize(entry)
                if not isinstance(layer, Layer):
                    raise ConfigError(f"layers: expected a layer, got {type(layer).__name__}.")
                self._entries[layer] = entry
                return layer
            except FAILURES as error:
                _raise_if_over_limits()
                why = _reason(error)
        if entry.get("class_name") == "InputLayer":
            layer = self._input_layer(entry)
        else:
            layer = opaque_layer(self._file_entry(entry, why))
        self._entries[layer] = entry
        return layer

    def _input_layer(self, entry: Config) -> Any:
        """Return an InputLayer for a config with a dtype that kerascope lacks, such as "string".

        The layer and its tensor carry the dtype's name of the config.
        """
        config = dict(entry["config"])
        dtype = str(config.pop("dtype", "float32"))
        layer = layer_registry.deserialize({**entry, "config": {**config, "dtype": "float32"}})
        layer.dtype = dtype
        for tensor in layer.inbound_nodes[0].output_tensors:
            tensor.dtype = dtype
        return layer

    def _file_entry(self, entry: Config, why: str) -> FileEntry:
        raw = entry.get("file", entry)
        held = {}
        for key, inside in entries_inside(raw):
            layers = [self.make_layer(_in_our_form(one)) for one in inside]
            held[key] = layers if isinstance(raw["config"][key], list) else layers[0]
        return FileEntry(
            raw, why, entry.get("calls", []), bool(entry.get("is_operation", False)), held
        )

    # --- calling ----------------------------------------------------------------------------------

    def call_layer(self, layer: Any, call: Call) -> Any:
        """Call a layer of a graph. If the call fails, make the layer opaque."""
        layer = self._ready(layer, call.own_tensors)
        number = len(layer.inbound_nodes)
        try:
            if isinstance(layer, Opaque):
                layer(_all_inputs(call))
            else:
                layer(call.inputs, **call.arguments)
        except FAILURES as error:
            _raise_if_over_limits()
            if isinstance(layer, Opaque) or _was_called(layer):
                raise
            layer = self._turned(layer, _reason(error))
            layer(_all_inputs(call))
        self._set_unknown_shapes(layer, number)
        return layer

    def _ready(self, layer: Any, tensors: list[Any]) -> Any:
        """Return the layer if it can be called on the tensors; otherwise return an opaque layer.

        A layer cannot be called if a tensor has an unknown shape, or if an inner layer is opaque.
        (An exception is a nested model with opaque layers: it can be called on tensors of the
        shapes of its inputs.)
        """
        if isinstance(layer, Opaque) or _was_called(layer):
            return layer
        for x in tensors:
            if x.shape is UNKNOWN:
                x.shape = input_shape(layer, self._weights.get(layer.name, ()))
        if any(x.shape is UNKNOWN for x in tensors):
            return self._turned(layer, "the file does not contain the shape of its input")
        hidden = opaque_layers(layer)
        if not hidden:
            return layer
        if isinstance(layer, Network):
            own = [x.shape for x in layer.inputs]
            return (
                layer
                if own == [x.shape for x in tensors]
                else self._turned(layer, f"{hidden[0].label} inside it is opaque")
            )
        return self._turned(layer, f"{hidden[0].label} inside it is opaque")

    def _turned(self, layer: Any, why: str) -> Any:
        entry = self._entries.get(layer, {})
        known = FileEntry(entry.get("file", entry), why, entry.get("calls", []))
        return turn_opaque(layer, known)

    def _set_unknown_shapes(self, layer: Any, number: int) -> None:
        """Set unknown output shapes of a layer's nodes from number `number` on.

        A shape is taken from the file if the file contains it. Otherwise it is inferred.
        """
        calls: list[RecordedCall] = self._entries.get(layer, {}).get("calls", [])
        for node in layer.inbound_nodes[number:]:
            index = node.node_index - sum(one.begins for one in layer.inbound_nodes)
            known = calls[index].outputs if 0 <= index < len(calls) else []
            for tensor, (shape, _) in zip(node.output_tensors, known, strict=False):
                if tensor.shape is UNKNOWN:
                    tensor.shape = shape
            if isinstance(layer, Opaque) and len(node.output_tensors) == 1:
                (tensor,) = node.output_tensors
                if tensor.shape is UNKNOWN or shape_given(layer):
                    tensor.shape = output_shape(
                        layer,
                        [x.shape for x in node.input_tensors],
                        self._weights.get(layer.name, ()),
                    )

    def add_layer(self, model: Any, layer: Any) -> None:
        """Add a layer to a Sequential. If this fails, add an opaque layer instead."""
        layer = self._ready(layer, list(model.outputs)) if model.outputs else layer
        number = len(layer.inbound_nodes)
        begins = not model._line and not isinstance(layer, (InputLayer, Network))
        if begins and not layer.inbound_nodes and layer.batch_input_shape is None:
            said = shapes_built_on(self._entries.get(layer, {})) or self._built_on
            layer.batch_input_shape = said[0] if said else None
        try:
            model.add(layer)
        except FAILURES as error:
            _raise_if_over_limits()
            if isinstance(layer, Opaque) or _was_called(layer):
                raise
            model.add(self._turned(layer, _reason(error)))
        self._set_unknown_shapes(layer, number)


def _in_our_form(entry: Config) -> Config:
    """Return a layer's configuration in kerascope's format. Only that of Keras 3 is converted.

    The layer is an argument of an opaque layer. If the conversion fails, the result contains the
    reason.
    """
    if not {"module", "registered_name"} <= entry.keys():
        return entry
    try:
        return from_keras_3(entry)
    except FAILURES as error:
        _raise_if_over_limits()
        return {"class_name": entry["class_name"], "file": entry, "refused": _reason(error)}


def _was_called(layer: Any) -> bool:
    return any(not node.begins for node in layer.inbound_nodes)


def _all_inputs(call: Call) -> Any:
    return call.tensors[0] if len(call.tensors) == 1 else call.tensors


def _name_of(entry: Config) -> str:
    config = entry.get("config")
    return str(config.get("name")) if isinstance(config, dict) else ""


def _reason(error: BaseException | str) -> str:
    """Return why a layer is opaque: the first sentence of the error, without a remedy."""
    first_sentence = str(error).split("\n")[0].partition(". ")[0]
    return first_sentence.rstrip(". ")[:LONGEST_REASON] or type(error).__name__


def _raise_if_over_limits() -> None:
    """Raise the handled exception again if the model exceeds the limits for models from files."""
    budget = current_budget()
    if budget is not None and budget.is_spent:
        raise


# --- shapes and calls in a configuration ----------------------------------------------------------


def entries_inside(entry: Config) -> Iterator[tuple[str, list[Config]]]:
    """Yield (name, configurations) for each argument in `entry` that is a layer or layers."""
    config = entry.get("config")
    for key, value in config.items() if isinstance(config, dict) else ():
        inside = value if isinstance(value, list) else [value]
        if inside and all(isinstance(one, dict) and _is_layer(one) for one in inside):
            yield key, inside


def _is_layer(entry: Config) -> bool:
    config, name = entry.get("config"), entry.get("class_name")
    if not isinstance(config, dict) or not isinstance(name, str):
        return False
    module = str(entry.get("module") or "")
    if module.startswith(("keras.layers", "keras.src.layers", "keras.models", "keras.src.models")):
        return True
    return bool({"trainable", "layers"} & config.keys())


def parsed_shape(value: Any) -> Shape:
    """Parse a shape in a file. Return `UNKNOWN` if it is not valid."""
    try:
        return as_shape(value) if isinstance(value, list) else UNKNOWN
    except KerascopeError:
        return UNKNOWN


def shapes_built_on(entry: Config) -> list[Shape] | None:
    """Return the input shapes that a layer's configuration states; None if it states none."""
    config = entry.get("config")
    config = config if isinstance(config, dict) else {}
    said = entry.get("build_config")
    given = said.get("input_shape") if isinstance(said, dict) else None
    names = ("batch_shape", "batch_input_shape", "build_input_shape")
    given = given or next((config[name] for name in names if config.get(name)), None)
    layers = config.get("layers")
    if given is None and isinstance(layers, list) and layers and isinstance(layers[0], dict):
        return shapes_built_on(layers[0])
    shape = parsed_shape(given)
    return None if shape is UNKNOWN else [shape]


def calls_in_line(entries: list[Any]) -> list[list[RecordedCall]]:
    """Return the calls of each layer of a Sequential, from the layers' configured input shapes."""
    shapes = [shapes_built_on(one) if isinstance(one, dict) else None for one in entries]
    found = []
    for own, behind in zip(shapes, [*shapes[1:], None], strict=True):
        found.append([RecordedCall(own, [((behind or [UNKNOWN])[0], None)])])
    return found


def calls_in_graph(config: Config) -> dict[str, Any]:
    """Return the calls of the layers in a graph of Keras 3, by the names of the layers.

    The shapes and dtypes of outputs are those that other calls state for their arguments.
    """
    said: dict[tuple[str, int, int], tuple[Shape, str | None]] = {}
    inputs: dict[str, list[list[Shape]]] = {}
    for entry in config["layers"]:
        calls = inputs.setdefault(entry["name"], [])
        for call in entry["inbound_nodes"]:
            if not isinstance(call, dict):
                continue  # calls of tf.keras contain no shapes
            shapes = []
            for tensor in tensors_in([call.get("args"), call.get("kwargs")]):
                facts = tensor["config"]
                name, node, place = facts["keras_history"][:3]
                shapes.append(parsed_shape(facts.get("shape")))
                said[name, node, place] = (shapes[-1], _parsed_dtype(facts.get("dtype")))
            calls.append(shapes)
    for name, node, place in _ends_of(config.get("output_layers")):
        said.setdefault((name, node, place), (UNKNOWN, None))
    counts: dict[tuple[str, int], int] = {}
    for name, node, place in said:
        if 0 <= place < MOST_OUTPUTS:
            counts[name, node] = max(place + 1, counts.get((name, node), 1))
    return {
        name: [
            RecordedCall(shapes, [said.get((name, n, i), UNSTATED) for i in range(counts[name, n])])
            if (name, n) in counts
            else RecordedCall(shapes, [UNSTATED])
            for n, shapes in enumerate(calls)
        ]
        for name, calls in inputs.items()
    }


def _ends_of(given: Any) -> Iterator[tuple[str, int, int]]:
    waiting = [given]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list) and len(value) >= 3 and isinstance(value[0], str):
            yield value[0], value[1], value[2]
        elif isinstance(value, (list, dict)):
            waiting.extend(value.values() if isinstance(value, dict) else value)


def _parsed_dtype(dtype: Any) -> str | None:
    return dtype if isinstance(dtype, str) else None
