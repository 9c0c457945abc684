"""The configuration of a graph network: its layers and the connections of their calls.

`config_of_graph` writes Keras 2's form. The entry of a layer contains its own configuration and the
inputs of each of its calls, as `[layer name, node index, tensor index, arguments]`. Node indices
count only the calls that belong to this network.

`network_from_config` makes the layers again and repeats their calls, each as soon as its inputs
exist (`_repeat_calls`). In Keras these are `Network.get_config` and `Network.from_config`. Lesson:
chapter 18.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from kerascope.engine.arguments import packed, restored_places
from kerascope.engine.base_layer import Layer
from kerascope.engine.binding import Call
from kerascope.engine.builders import call_layer, make_layer, mask_rules
from kerascope.engine.layer_type import serialized
from kerascope.engine.node import KerasHistory, Node
from kerascope.errors import ArgumentError, ConfigError
from kerascope.registry import custom_object_scope

NodeIndices = dict[tuple[str, int], int]


def config_of_graph(network: Any) -> dict[str, Any]:
    """Return the configuration of a graph network as plain data for JSON."""
    input_layers = [x._keras_history.layer for x in network.inputs]
    layers = list(dict.fromkeys([*network.layers, *input_layers]))  # including unused inputs
    indices = _indices_inside(network, layers)
    structures = {
        "structure_of_inputs": network._input_structure,
        "structure_of_outputs": network._output_structure,
    }
    return {
        **{key: value for key, value in structures.items() if value is not None},
        "name": network.name,
        "trainable": network.trainable,
        "layers": [_layer_entry(layer, indices) for layer in layers],
        "input_layers": [_reference(x._keras_history, indices) for x in network.inputs],
        "output_layers": [_reference(x._keras_history, indices) for x in network.outputs],
    }


def _indices_inside(network: Any, layers: list[Layer]) -> NodeIndices:
    """Return, for each call, its index among the calls of its layer inside the network."""
    inside = set(network.network_nodes)
    indices: NodeIndices = {}
    for layer in layers:
        kept = [n for n in layer.inbound_nodes if n.name in inside or n.is_input]
        first = 1 if _is_network(layer) else 0
        indices.update({(layer.name, node.node_index): i for i, node in enumerate(kept, first)})
    return indices


def _is_network(layer: Layer) -> bool:
    return any(node.begins and not node.is_input for node in layer.inbound_nodes)


def _layer_entry(layer: Layer, indices: NodeIndices) -> dict[str, Any]:
    return {
        "name": layer.name,
        "class_name": type(layer).__name__,
        "config": layer.get_config(),
        **mask_rules(layer),
        "inbound_nodes": [
            _call_entry(node, indices)
            for node in layer.inbound_nodes
            if (layer.name, node.node_index) in indices and not node.is_input
        ],
    }


def _call_entry(node: Node, indices: NodeIndices) -> list[Any]:
    arguments = serialized(node.arguments, f"{node.outbound_layer.label}: call {node.node_index}")
    entry = []
    for history in node.histories:
        if history is None:
            raise ConfigError(
                f"{node.outbound_layer.label}: a configuration cannot contain a call on a tensor "
                f"that no layer made. Wrap the tensor in Input(tensor=...)."
            )
        entry.append([*_reference(history, indices), arguments])
    return entry


def _reference(history: KerasHistory, indices: NodeIndices) -> list[Any]:
    layer, node_index, tensor_index = history
    return [layer.name, indices[layer.name, node_index], tensor_index]


def check_names(names: Iterable[str], kind: type[ArgumentError | ConfigError]) -> None:
    """Raise an error of the class `kind` if two layers of a network have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise kind(
                f'The name "{name}" is used {count} times in the model. All layer names should be '
                "unique."
            )


def network_from_config(
    cls: type, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
) -> Any:
    """Make a network from a configuration that `config_of_graph` returned.

    Raises
    ------
    ConfigError
        The configuration contains references to calls that do not exist.
    UnknownNameError
        The configuration contains an unknown layer class. Pass the class in `custom_objects`.
    """
    if "layers" in config and "input_layers" not in config:
        raise ConfigError(
            f"{cls.__name__}: expected the configuration of a graph, got a list of layers without "
            f"calls. Use Sequential.from_config."
        )
    if "layers" not in config:
        raise ConfigError(
            f"{cls.__name__}: expected a configuration with layers, got none. Give the class its "
            f"own from_config; or make the model in code, call it once, and load its weights: "
            f"model.load_weights(path)."
        )
    config = counted_from_zero(config)
    check_names((entry["name"] for entry in config["layers"]), ConfigError)
    with custom_object_scope(custom_objects or {}):
        layers = {entry["name"]: make_layer(entry) for entry in config["layers"]}
    waiting = [
        (entry["name"], call) for entry in config["layers"] for call in entry["inbound_nodes"]
    ]
    _repeat_calls(layers, _in_order(waiting))
    inputs = [_tensor(layers, reference) for reference in config["input_layers"]]
    outputs = [_tensor(layers, reference) for reference in config["output_layers"]]
    network = cls(
        inputs=packed(config.get("structure_of_inputs"), inputs),
        outputs=packed(config.get("structure_of_outputs"), outputs),
        name=config.get("name"),
    )
    if not config.get("trainable", True):
        network.trainable = False
    return network


def counted_from_zero(config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration in which the calls of nested networks are counted from 0.

    If a file contains no reference to call 0 of a nested network, it counts the calls of this
    network from 1. (A graph uses each of its calls, so a reference to the first call exists.)
    """
    entries, outputs = config["layers"], config["output_layers"]
    nested = {entry["name"] for entry in entries if _holds_layers(entry.get("config"))}
    used = [*outputs, *(x for entry in entries for call in entry["inbound_nodes"] for x in call)]
    first: dict[str, int] = {}
    for name, index, *_ in used:
        if name in nested:
            first[name] = min(index, first.get(name, index))
    from_one = {name for name, index in first.items() if index > 0}

    def moved(references: list[Any]) -> list[Any]:
        return [
            [name, index - (name in from_one), *further] for name, index, *further in references
        ]

    if not from_one:
        return config
    calls = [[moved(call) for call in entry["inbound_nodes"]] for entry in entries]
    layers = [{**entry, "inbound_nodes": c} for entry, c in zip(entries, calls, strict=True)]
    return {**config, "layers": layers, "output_layers": moved(outputs)}


def _holds_layers(config: Any) -> bool:
    return isinstance(config, list) or (isinstance(config, dict) and "layers" in config)


def _in_order(waiting: list[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """Return the calls in an order in which each follows the calls that it depends on.

    The order changes only where this is necessary.

    In most files the calls are sorted already. In a malicious file they may be unsorted, and
    without sorting, `_repeat_calls` would try each call many times.
    """
    counts: dict[str, int] = {}
    numbers = {}
    for number, (name, _) in enumerate(waiting):
        index = counts[name] = counts.get(name, -1) + 1
        numbers[name, index] = number
    before: list[set[int]] = []
    after: list[list[int]] = [[] for _ in waiting]
    for (name, index), number in numbers.items():
        own = [(name, index - 1), *((x[0], x[1]) for x in waiting[number][1])]
        before.append({numbers[key] for key in own if key in numbers})
        for other in before[number]:
            after[other].append(number)
    left = [len(needed) for needed in before]
    ready = [number for number, needed in enumerate(left) if not needed]
    order = []
    while ready:
        order.append(number := heappop(ready))
        for other in after[number]:
            left[other] -= 1
            if not left[other]:
                heappush(ready, other)
    return [waiting[number] for number in dict.fromkeys([*order, *range(len(waiting))])]


def _repeat_calls(layers: dict[str, Layer], waiting: list[tuple[str, list[Any]]]) -> None:
    """Repeat the calls of the layers, each when its inputs and the layer's earlier calls exist."""
    while waiting:
        still_waiting = []
        blocked: set[str] = set()
        for name, call in waiting:
            if name in blocked or not all(_exists(layers, reference) for reference in call):
                blocked.add(name)
                still_waiting.append((name, call))
                continue
            arguments = dict(call[0][3]) if call and len(call[0]) > 3 else {}
            arguments = {key: restored_places(value) for key, value in arguments.items()}
            again = Call([_tensor(layers, reference) for reference in call], arguments)
            call_layer(layers, name, again)
        if len(still_waiting) == len(waiting):
            raise ConfigError(
                f"network configuration: no call in it makes the inputs of {sorted(blocked)}."
            )
        waiting = still_waiting


def _exists(layers: dict[str, Layer], reference: list[Any]) -> bool:
    name, node_index, *_ = reference
    return name in layers and 0 <= node_index < len(_calls(layers[name]))


def _calls(layer: Layer) -> list[Node]:
    """Return the Nodes of a layer's calls.

    The first Node of a network is left out, because it represents the network's own graph.
    """
    return [node for node in layer.inbound_nodes if node.is_input or not node.begins]


def _tensor(layers: dict[str, Layer], reference: list[Any]) -> Any:
    name, node_index, tensor_index, *_ = reference
    return _calls(layers[name])[node_index].output_tensors[tensor_index]
