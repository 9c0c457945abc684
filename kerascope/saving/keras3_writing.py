"""Convert kerascope's configurations to Keras 3's format, with pure functions over data.

Keras 3 writes the tensors of a graph's calls with their shapes and dtypes. The configurations of
kerascope do not contain these, so `facts_of` collects them from the model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kerascope import constraints, initializers, regularizers
from kerascope.backend.ops.comparison import LogicalAnd, LogicalOr
from kerascope.backend.shapes import UNKNOWN
from kerascope.engine.arguments import INPUTS, packed
from kerascope.engine.base_layer import layers_within
from kerascope.engine.layer_type import layer_registry
from kerascope.engine.network import Network
from kerascope.engine.network_config import counted_from_zero
from kerascope.engine.node import Node
from kerascope.engine.pickling import byte_code_in
from kerascope.errors import ConfigError
from kerascope.layers.opaque import FileConfig
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.saving import keras3_table as table
from kerascope.user_frames import warn

Config = dict[str, Any]

# The end of an argument's name -> Keras 3's module, and our module with objects of this kind.
_KINDS = {
    "_initializer": ("keras.initializers", initializers),
    "_regularizer": ("keras.regularizers", regularizers),
    "_constraint": ("keras.constraints", constraints),
}


class NoCounterpartError(ConfigError):
    """Raised if Keras 3 cannot express a layer or an argument."""


class NetworkFacts(NamedTuple):
    """The shapes and dtypes of a network's tensors, which Keras 3 writes into configurations.

    Attributes
    ----------
    tensors : dict of (str, int, int) to (tuple, str)
        (name of the layer, node index, tensor index) -> shape and dtype of each tensor.
    inputs : list of (str, tuple, str)
        The name, shape and dtype of each input.
    """

    tensors: dict[tuple[str, int, int], tuple[Any, str]]
    inputs: list[tuple[str, Any, str]]


def facts_of(model: Network) -> dict[str, NetworkFacts]:
    """Return the shapes and dtypes in a model and its nested networks, by name of the network."""
    found: dict[str, NetworkFacts] = {}
    for layer in layers_within(model):
        if isinstance(layer, Network) and layer.name not in found:
            found[layer.name] = _facts(layer)
    return found


def _facts(network: Network) -> NetworkFacts:
    tensors: dict[tuple[str, int, int], tuple[Any, str]] = {}
    inside = set(network.network_nodes) if network.outputs else set()
    input_layers = [x._keras_history.layer for x in network.inputs]
    for layer in dict.fromkeys([*network._sublayers, *input_layers]):
        kept = [n for n in layer.inbound_nodes if n.name in inside or n.is_input]
        for index, node in enumerate(kept):
            for place, tensor in enumerate(node.output_tensors):
                tensors[layer.name, index, place] = (tensor.shape, tensor.dtype)
    inputs = [(x._keras_history.layer.name, x.shape, x.dtype) for x in network.inputs]
    return NetworkFacts(tensors, inputs)


def check_masks(model: Network) -> None:
    """Warn about each layer whose results would differ with Keras 3's rules for masks.

    Raises
    ------
    NoCounterpartError
        The model could not be loaded or run again with Keras 3's rules.
    """
    for network in layers_within(model):
        if not isinstance(network, Network) or not network.outputs:
            continue
        inside = set(network.network_nodes)
        for layer in network._sublayers:
            for node in [] if layer._ends_masks else layer.inbound_nodes:
                if node.name in inside:
                    _check_masks_of(node)


def _check_masks_of(node: Node) -> None:
    layer, kind = node.layer, type(node.layer).__name__
    parts = {None if mask is None else frozenset(_parts_of(mask)) for mask in node.input_masks}
    if parts <= {None}:
        return
    if kind == "Softmax" and "mask" not in node.arguments:
        raise NoCounterpartError(
            f"{layer.label}: a mask reaches it. In Keras 3, the layer applies the mask to the last "
            f"axis of its inputs, but this is a mask of time steps, so a .keras file with this "
            f"model could not be loaded again. Save the model as .h5, or use "
            f"Activation('softmax')."
        )
    is_one_mask = all(one is not None and len(one) == 1 for one in parts) and len(parts) == 1
    if kind in table.UNDER_A_MASK and not (kind in table.JOINING and is_one_mask):
        warn(
            f"save: {layer.label}: a mask reaches it. In a .keras file, this layer "
            f"{table.UNDER_A_MASK[kind]}, as in Keras 3, so the loaded model may give different "
            f"results. Save the model as .h5 to keep them."
        )


def _parts_of(mask: Any) -> list[Any]:
    """Return the masks that logical operations (`and`, `or`) join to a mask, also nested ones.

    If the mask is computed in another way, return a list that contains only this mask.
    """
    is_joined = mask.owner is not None and isinstance(mask.owner.op, (LogicalAnd, LogicalOr))
    return [part for x in mask.owner.inputs for part in _parts_of(x)] if is_joined else [mask]


def to_keras_3(entry: Config, facts: dict[str, NetworkFacts]) -> Config:
    """Return the configuration of a layer or model in Keras 3's format.

    Parameters
    ----------
    entry : dict
        `{"class_name", "config"}`, in a graph also "name" and "inbound_nodes".
    facts : dict
        The result of `facts_of`.

    Raises
    ------
    NoCounterpartError
        Keras 3 cannot express the layer or an argument.
    """
    ours: str = entry["class_name"]
    config: Config = entry["config"]
    if isinstance(config, FileConfig):
        return _as_in_file(config.entry)
    if ours == "Operation":
        return _operation(entry)
    if ours in table.NOT_IN_KERAS_3:
        raise NoCounterpartError(
            f"{ours} {config.get('name', '')!r}: Keras 3 has no such layer, so a .keras file "
            f"cannot contain it. Save the model as .h5."
        )
    cls = layer_registry._objects.get(ours)
    is_own = cls is None or not cls.__module__.startswith("kerascope.")
    if "output_layers" in config:
        config = _graph(config, facts)
    elif "layers" in config and isinstance(config["layers"], list) and ours != "Pipeline":
        config = _line(config, facts)
    else:
        config = _arguments(ours, config, facts)
    class_name: str = ours if is_own else table.CLASSES.get(ours, ours)
    return {
        "module": None if is_own else _module_of(class_name),
        "class_name": class_name,
        "config": config,
        "registered_name": ours if is_own else None,
    }


def _as_in_file(entry: Config) -> Config:
    """Return an opaque layer's configuration in its file, without the layer's name and calls."""
    whole = {"module": None, "registered_name": entry["class_name"], **entry}
    return {key: value for key, value in whole.items() if key not in ("name", "inbound_nodes")}


def _module_of(class_name: str) -> str:
    if class_name == "Functional":
        return "keras.src.models.functional"
    return "keras" if class_name in ("Sequential", "Model") else "keras.layers"


# --- arguments ------------------------------------------------------------------------------------


def _arguments(ours: str, config: Config, facts: dict[str, NetworkFacts]) -> Config:
    names = table.ARGUMENTS.get(ours, {})
    only_ours = {**table.ONLY_OURS[""], **table.ONLY_OURS.get(ours, {})}
    unknown = table.UNKNOWN_THERE.get(ours, table.UNKNOWN_THERE[""])
    translated: Config = {}
    for key, value in config.items():
        if key in unknown and value in unknown[key]:
            raise NoCounterpartError(
                f"{ours} {config.get('name', '')!r}: Keras 3 does not have {key}={value!r}. Save "
                f"the model as .h5."
            )
        if key in names or key not in only_ours:
            translated[names.get(key, key)] = _value(key, value, facts)
        elif only_ours[key] is not table.ANYTHING and value != only_ours[key]:
            raise NoCounterpartError(
                f"{ours} {config.get('name', '')!r}: Keras 3 has no argument {key!r}. Expected "
                f"{only_ours[key]!r}, got {value!r}. Save the model as .h5."
            )
    return _with_byte_code(translated) if ours == "Lambda" else translated


def _with_byte_code(config: Config) -> Config:
    """Return the arguments of a Lambda in Keras 3's form. Unnamed functions become byte code."""
    kept = {key: value for key, value in config.items() if not key.endswith("_type")}
    for argument in kept:
        code = byte_code_in(config, argument)
        if code is not None:
            kept[argument] = {"class_name": "__lambda__", "config": code._asdict()}
    return kept


def _value(key: str, value: Any, facts: dict[str, NetworkFacts]) -> Any:
    if isinstance(value, list):
        return [_value(key, item, facts) for item in value]
    if key.endswith("activation") and isinstance(value, str):
        return table.ACTIVATIONS.get(value, value)
    if not isinstance(value, dict):
        return value
    if "class_name" not in value:
        return {name: _value(name, item, facts) for name, item in value.items()}
    for end, (module, home) in _KINDS.items():
        if key.endswith(end):
            return _plain_object(value, module, home)
    return to_keras_3(value, facts)


def _plain_object(value: Config, module: str, home: Any) -> Config:
    class_name = value["class_name"]
    is_ours = class_name in home._registry.names()
    return {
        "module": module if is_ours else None,
        "class_name": class_name,
        "config": value.get("config") or {},
        "registered_name": None if is_ours else class_name,
    }


# --- networks -------------------------------------------------------------------------------------


def _line(config: Config, facts: dict[str, NetworkFacts]) -> Config:
    """Return a Sequential's configuration, with a separate entry for the InputLayer."""
    if any("branches" in layer for layer in config["layers"]):
        raise NoCounterpartError(
            f"Sequential {config['name']!r}: begins with a Merge of other models, which Keras 3 "
            f"does not have, so a .keras file cannot contain it. Save the model as .h5."
        )
    layers = [to_keras_3(layer, facts) for layer in config["layers"]]
    inputs = facts[config["name"]].inputs if config["name"] in facts else []
    if inputs and layers and layers[0]["class_name"] != "InputLayer":
        name, shape, dtype = inputs[0]
        first = {"name": name, "batch_input_shape": list(shape), "dtype": dtype, "sparse": False}
        layers.insert(0, to_keras_3({"class_name": "InputLayer", "config": first}, facts))
    return {**config, "layers": layers}


def _graph(config: Config, facts: dict[str, NetworkFacts]) -> Config:
    known = facts[config["name"]].tensors
    config = counted_from_zero(config)
    layers = []
    for entry in config["layers"]:
        translated = to_keras_3(entry, facts)
        translated["name"] = entry["name"]
        translated["inbound_nodes"] = _calls_in_file(entry) or [
            _call(entry, call, known) for call in entry["inbound_nodes"]
        ]
        layers.append(translated)
    # In the outputs, but not elsewhere, Keras 3 counts the calls of a nested graph from 1.
    graphs = {entry["name"] for entry in config["layers"] if "output_layers" in entry["config"]}
    outputs = [[name, i + (name in graphs), place] for name, i, place in config["output_layers"]]
    only_ours = ("structure_of_inputs", "structure_of_outputs")
    return {
        **{key: value for key, value in config.items() if key not in only_ours},
        "layers": layers,
        "input_layers": packed(config.get("structure_of_inputs"), config["input_layers"]),
        "output_layers": packed(config.get("structure_of_outputs"), outputs),
    }


def _calls_in_file(entry: Config) -> list[Any]:
    """Return the calls of an opaque layer from its file, if Keras 3 wrote the file.

    Otherwise, and for all other layers, return an empty list.
    """
    is_opaque = isinstance(entry["config"], FileConfig)
    calls = entry["config"].entry.get("inbound_nodes", []) if is_opaque else []
    return calls if all(isinstance(call, dict) for call in calls) else []


def _call(entry: Config, call: list[Any], known: dict[Any, Any]) -> Config:
    """Return one call of a layer in Keras 3's form, in which the arguments contain the tensors."""
    tensors = [_tensor(reference[:3], known) for reference in call]
    if entry["class_name"] == "Operation":
        return {"args": _with_tensors(entry["config"]["pattern"], tensors), "kwargs": {}}
    arguments = dict(call[0][3]) if call and len(call[0]) > 3 else {}
    if arguments.pop("training", None) is not None:
        warn(
            f"save: '{entry['name']}' is called with training=..., which Keras 3 ignores in a "
            f"model, and which a .keras file does not contain. Save the model as .h5 to keep it."
        )
    taken: set[int] = set()
    kwargs = {name: _filled(value, tensors, taken) for name, value in arguments.items()}
    if INPUTS in kwargs:
        return {"args": [kwargs.pop(INPUTS)], "kwargs": kwargs}
    inputs = [tensor for index, tensor in enumerate(tensors) if index not in taken]
    if entry["class_name"] in table.RECURRENT and len(inputs) > 1:
        number_of_constants = entry["config"].get("num_constants") or 0
        end = len(inputs) - number_of_constants
        further = {"initial_state": inputs[1:end], "constants": inputs[end:]}
        kwargs.update({name: given for name, given in further.items() if given})
        inputs = inputs[:1]
    return {"args": [packed(entry["config"].get("structure_of_inputs"), inputs)], "kwargs": kwargs}


def _tensor(reference: list[Any], known: dict[Any, Any]) -> Config:
    shape, dtype = known[tuple(reference)]
    shape = None if shape is UNKNOWN else list(shape)
    config = {"shape": shape, "dtype": dtype, "keras_history": list(reference)}
    return {"class_name": "__keras_tensor__", "config": config}


def _filled(value: Any, tensors: list[Config], taken: set[int]) -> Any:
    if isinstance(value, dict) and value.get("class_name") == "InputPlace":
        taken.add(value["config"]["index"])
        return tensors[value["config"]["index"]]
    if isinstance(value, list):
        return [_filled(item, tensors, taken) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, tensors, taken) for key, item in value.items()}
    return value


def _with_tensors(value: Any, tensors: list[Config]) -> Any:
    if isinstance(value, dict) and "tensor" in value:
        return tensors[value["tensor"]]
    if isinstance(value, list):
        return [_with_tensors(item, tensors) for item in value]
    return value


def _operation(entry: Config) -> Config:
    config = entry["config"]
    name = config["operation"]
    known = every_operation()
    if name not in known or config.get("variables") or _is_random(config["pattern"]):
        raise NoCounterpartError(
            f"operation {config.get('name', '')!r}: Keras 3 cannot write {name} between layers as "
            f"it is used here, so a .keras file cannot contain it. Save the model as .h5."
        )
    return {
        "module": known[name][0],
        "class_name": name,
        "config": {"name": config["name"], **config["options"]},
        "registered_name": name,
    }


def _is_random(value: Any) -> bool:
    """Return whether an operation depends on the learning phase, a variable or random draws."""
    if isinstance(value, list):
        return any(_is_random(item) for item in value)
    return isinstance(value, dict) and bool({"phase", "variable", "draws"} & value.keys())
