"""The name of a call in every picture, table and export.

A layer that is called once in a model gives its call its own name: `dense_1`. The calls of a layer
that is called several times are counted from 0: `shared@0`, `shared@1`. Only calls inside the model
count, in the order in which they were made. Inside an expanded nested model the names of the calls
around stand in front: `encoder@1/dense_1`. Should two calls come to the same name (a layer may
itself be named "shared@0"), the later one gets a `~2` behind it.

Ids never hold `id()`, so that the same script gives the same ids at every run.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, NamedTuple, Protocol

from kerascope.backend.graph import Tensor
from kerascope.engine.graph_map import GraphMap
from kerascope.engine.node import Node
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

# What XML 1.0 cannot hold: GraphML and SVG could not be read again. (Compiled at its first use.)
_NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class HasGraph(Protocol):
    """What has calls to be named: a network."""

    inputs: list[Tensor]

    @property
    def graph_map(self) -> GraphMap:
        """What the walk from the outputs to the inputs finds."""


class CallInModel(NamedTuple):
    """One call in a model.

    Attributes
    ----------
    node : Node
    id : str
    depth : int
        Longest path from it to an output.
    call, calls : int
        It is call number `call`, from 0, of `calls` of its layer in the model.
    """

    node: Node
    id: str
    depth: int
    call: int
    calls: int


def calls_in(model: HasGraph) -> list[CallInModel]:
    """Return every call in a model's graph, deepest first, ties in the order of the walk."""
    depths = depths_of_calls(model)
    numbers: dict[Node, tuple[str, int, int]] = {}
    for name, nodes in _by_layer(depths).items():
        count = len(nodes)
        for call, node in enumerate(nodes):
            numbers[node] = (name if count == 1 else f"{name}@{call}", call, count)
    taken: dict[str, None] = {}
    found = []
    for node, depth in depths.items():
        wanted, call, count = numbers[node]
        name = free_id(wanted, taken)
        taken[name] = None
        found.append(CallInModel(node, name, depth, call, count))
    return found


def find_call(model: Any, node_id: str) -> Node:
    """Return one call by its id, also one inside a nested model.

    Raises
    ------
    ArgumentError
        There is none; a near miss is suggested.
    """
    ids: dict[str, Node] = {call.id: call.node for call in calls_in(model)}
    if node_id in ids:
        return ids[node_id]
    hint = did_you_mean(str(node_id), ids)
    for outer, node in ids.items():
        if not str(node_id).startswith(f"{outer}/"):
            continue
        rest = str(node_id).removeprefix(f"{outer}/")
        for path, network in _networks_inside(node.outbound_layer).items():
            if rest.startswith(path):
                return find_call(network, rest.removeprefix(path))
        hint = f"What {node.outbound_layer.label} calls inside makes no node. "
    raise ArgumentError(
        f"{model.label}: there is no call {node_id!r}. {hint}Calls: {', '.join(ids)}.",
        subject=model,
    )


def _networks_inside(layer: Any) -> dict[str, Any]:
    """Return the networks with a graph in a layer, by the path to the ids of their calls.

    The path is empty for the layer itself, and has the names of the layers around it in a wrapper.
    """
    if hasattr(type(layer), "graph_map"):
        return {"": layer} if layer.outputs else {}
    return {
        f"{wrapped.name}/{path}": network
        for wrapped in getattr(layer, "wrapped", [])
        for path, network in _networks_inside(wrapped).items()
    }


def depths_of_calls(model: HasGraph) -> dict[Node, int]:
    """Return the depth of every call in a model, deepest first, ties in the order of the walk.

    The walk goes from the outputs and so does not meet an input that no output needs. It is fed all
    the same, and is drawn beside the deepest calls.
    """
    depths = model.graph_map.nodes_depths
    deepest = max(depths.values())
    inputs = [x._keras_history.node for x in model.inputs]
    unused = {node: deepest for node in inputs if node not in depths}
    found = {node: depths[node] for node in model.graph_map.nodes_in_decreasing_depth}
    return dict(sorted({**found, **unused}.items(), key=lambda item: -item[1]))


def _by_layer(depths: Mapping[Node, int]) -> dict[str, list[Node]]:
    """Return calls by their layer's name, in the order in which they were made."""
    calls: dict[str, list[Node]] = {}
    for node in depths:
        calls.setdefault(node.outbound_layer.name, []).append(node)
    for nodes in calls.values():
        nodes.sort(key=lambda node: node.node_index)
    return calls


def call_ids(model: HasGraph) -> dict[Node, str]:
    """Return the id of every call in a model's graph.

    Examples
    --------
    >>> from kerascope.engine.base_layer import Layer
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.engine.model import Model
    >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
    >>> model = Model(x, shared(Layer(name="between")(shared(x))))
    >>> list(call_ids(model).values())
    ['x', 'shared@0', 'between', 'shared@1']
    """
    return {call.node: call.id for call in calls_in(model)}


def layer_of(node_name: str) -> str:
    """Return the layer of a node, by the key of the node (`Node.name`).

    Examples
    --------
    >>> layer_of("dense_1_ib-0"), layer_of("dense_1")
    ('dense_1', 'dense_1')
    """
    return re.sub(r"_ib-\d+$", "", node_name)


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, with a number behind it if it is taken.

    Examples
    --------
    >>> free_id("a", {"a", "a~2"})
    'a~3'
    """
    wanted = clean(wanted)
    candidate, number = wanted, 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}~{number}"
    return candidate


def clean(text: str) -> str:
    """Return text with every character that no XML file can hold replaced.

    Examples
    --------
    >>> clean("a<b & ü") == "a<b & ü", clean("bell" + chr(7)) == "bell" + chr(0xFFFD)
    (True, True)
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_NOT_IN_XML, "\ufffd", text)
