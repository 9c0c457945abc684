"""The ids of calls in pictures, tables and exports.

If a layer is called once in a model, the id of the call is the layer's name: `dense_1`. The calls
of a layer that is called several times are counted from 0: `shared@0`, `shared@1`. Only calls
inside the model count, in the order in which they were made. Inside an expanded nested model, the
ids of the enclosing calls come first: `encoder@1/dense_1`. If two calls would have the same id (a
layer may be named "shared@0"), the id of the later call ends in `~2`.

Ids do not depend on `id()`, so the same script gives the same ids in each run.
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

# Characters that XML 1.0 (GraphML and SVG) cannot contain. (Compiled at its first use.)
_NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class HasGraph(Protocol):
    """An object with a graph of calls, such as a network."""

    inputs: list[Tensor]

    @property
    def graph_map(self) -> GraphMap:
        """The nodes and layers of the graph."""


class CallInModel(NamedTuple):
    """One call of a layer in a model's graph, with its id and depth.

    Attributes
    ----------
    node : Node
    id : str
        The id of the call, such as "shared@1".
    depth : int
        Length of the longest path from the call to an output.
    call, calls : int
        The index of the call among the calls of its layer in the model, and their number.
    """

    node: Node
    id: str
    depth: int
    call: int
    calls: int


def calls_in(model: HasGraph) -> list[CallInModel]:
    """Return all calls in a model's graph, deepest first; at equal depth as in the graph map."""
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
    """Return the call with an id, which may belong to a call inside a nested model.

    Raises
    ------
    ArgumentError
        No call has this id. The message suggests a similar id.
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
        hint = f"Calls inside {node.outbound_layer.label} have no nodes. "
    raise ArgumentError(
        f"{model.label}: there is no call {node_id!r}. {hint}Use one of: {', '.join(ids)}.",
        subject=model,
    )


def _networks_inside(layer: Any) -> dict[str, Any]:
    """Return the networks with a graph inside a layer, by the prefix of their calls' ids.

    If the layer itself is a network, the prefix is empty. For a network inside a wrapper, it
    contains the names of the wrapped layers, as in `encoder/`.
    """
    if hasattr(type(layer), "graph_map"):
        return {"": layer} if layer.outputs else {}
    return {
        f"{wrapped.name}/{path}": network
        for wrapped in getattr(layer, "wrapped", [])
        for path, network in _networks_inside(wrapped).items()
    }


def depths_of_calls(model: HasGraph) -> dict[Node, int]:
    """Return the depth of each call in a model, deepest first; at equal depth as in the graph map.

    The walk that makes the graph map starts at the outputs, so it does not reach an input that no
    output needs. Such an input still receives data, and it is given the greatest depth of the
    model.
    """
    depths = model.graph_map.nodes_depths
    deepest = max(depths.values())
    inputs = [x._keras_history.node for x in model.inputs]
    unused = {node: deepest for node in inputs if node not in depths}
    found = {node: depths[node] for node in model.graph_map.nodes_in_decreasing_depth}
    return dict(sorted({**found, **unused}.items(), key=lambda item: -item[1]))


def _by_layer(depths: Mapping[Node, int]) -> dict[str, list[Node]]:
    """Group calls by their layer's name, in the order in which they were made."""
    calls: dict[str, list[Node]] = {}
    for node in depths:
        calls.setdefault(node.outbound_layer.name, []).append(node)
    for nodes in calls.values():
        nodes.sort(key=lambda node: node.node_index)
    return calls


def call_ids(model: HasGraph) -> dict[Node, str]:
    """Return the id of each call in a model's graph.

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
    """Return the name of a layer, taken from the name of its node (`Node.name`).

    Examples
    --------
    >>> layer_of("dense_1_ib-0"), layer_of("dense_1")
    ('dense_1', 'dense_1')
    """
    return re.sub(r"_ib-\d+$", "", node_name)


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return the id `wanted`, with a number at its end if another call has this id.

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
    """Return the text with U+FFFD in place of each character that XML cannot contain.

    Examples
    --------
    >>> clean("a<b & ü") == "a<b & ü", clean("bell" + chr(7)) == "bell" + chr(0xFFFD)
    (True, True)
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_NOT_IN_XML, "\ufffd", text)
