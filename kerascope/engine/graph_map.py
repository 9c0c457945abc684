"""The map of a graph: which Nodes the outputs depend on, and the depth of each.

`map_graph(inputs, outputs)` does three things, each as a separate stage:

1. `_order_nodes`: a depth-first walk from the outputs through each Node's inputs; it finds all
   nodes, and raises if there is a cycle;
2. `_assign_depths`: goes through these nodes backwards, from the outputs to the inputs. The depth
   of a node is the length of the longest path from it to an output. If another node of the same
   layer was visited before and is deeper, the node gets that depth. A layer is as deep as its
   deepest node;
3. `_check_connected`: checks that every tensor that a node needs can be computed from the inputs.

This is Keras 2's algorithm. `flavour="1"` is the algorithm of Keras 1, the default only for scripts
of Keras 1.2: see `keras1/graph_map.py`.

The walk is a loop with an explicit stack, so a graph of any depth can be walked. The nodes on
that stack *are* the `nodes_in_progress`.

Keras calls it `Container.__init__` (1.x), `_map_graph_network` (2.x) and `map_graph` in
`ops/function.py` (3). Lessons: chapters 8 and 9.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from kerascope.backend.graph import Tensor
from kerascope.engine import rules
from kerascope.engine.base_layer import Layer
from kerascope.engine.keras1.graph_map import build_map_of_graph
from kerascope.engine.node import Node, NodeFinished, NodeSkipped, NodeVisited
from kerascope.errors import CycleError, DisconnectedGraphError
from kerascope.stage import Stage

__all__ = [
    "DepthAssigned",
    "GraphMap",
    "NodeFinished",
    "NodeSkipped",
    "NodeVisited",
    "map_graph",
    "map_stage",
]

_Item = TypeVar("_Item")
Depths = tuple[dict[Node, int], dict[Layer, int]]


class DepthAssigned(NamedTuple):
    """Event: a node received its final depth."""

    node: Node
    depth: int


@dataclass
class GraphMap:
    """The nodes and layers of a graph, and their depths. `map_graph` returns it complete.

    Attributes
    ----------
    nodes_in_decreasing_depth : list of Node
        The nodes in the order in which the walk finished them, each after the nodes that it needs.
        (The name is that of Keras. The order is a post-order, in which depth need not decrease.)
    nodes_depths : dict of Node to int
    layers_depths : dict of Layer to int
    layer_indices : dict of Layer to int
        Position of each layer in the order in which the walk reached the layers.
    visits : int
        Number of times the walk reached a node.
    seen_nodes : list of str
        Keras 1's strings "id-depth", one for each depth at which a node was reached. Empty if the
        flavour is "2".
    flavour : {"1", "2"}
        The Keras whose algorithm made the map.

    Examples
    --------
    >>> from kerascope.layers import Add, Dense, Input
    >>> x = Input((3,), name="x")
    >>> y = Add(name="sum")([x, Dense(3, name="dense")(x)])
    >>> graph_map = map_graph([x], [y])
    >>> [(layer.name, graph_map.layers_depths[layer]) for layer in graph_map.layers]
    [('x', 2), ('dense', 1), ('sum', 0)]
    """

    nodes_in_decreasing_depth: list[Node] = field(default_factory=list)
    nodes_depths: dict[Node, int] = field(default_factory=dict)
    layers_depths: dict[Layer, int] = field(default_factory=dict)
    layer_indices: dict[Layer, int] = field(default_factory=dict)
    visits: int = 0
    seen_nodes: list[str] = field(default_factory=list)
    flavour: str = "2"

    @cached_property
    def network_nodes(self) -> list[str]:
        """The names of all nodes, such as `dense_1_ib-0`."""
        return [node.name for node in self.nodes_in_decreasing_depth]

    @cached_property
    def nodes_by_depth(self) -> dict[int, list[Node]]:
        """Nodes grouped by depth, deepest first."""
        return _grouped(self.nodes_depths)

    @cached_property
    def layers_by_depth(self) -> dict[int, list[Layer]]:
        """Layers grouped by depth, deepest first; within a depth in the order of the walk."""
        grouped = _grouped(self.layers_depths)
        for layers in grouped.values():
            layers.sort(key=self.layer_indices.__getitem__)
        return grouped

    @cached_property
    def layers(self) -> list[Layer]:
        """All layers by decreasing depth; layers of equal depth are in the order of the walk."""
        return [layer for layers in self.layers_by_depth.values() for layer in layers]


def _grouped(depths: dict[_Item, int]) -> dict[int, list[_Item]]:
    groups: dict[int, list[_Item]] = {}
    for item, depth in depths.items():
        groups.setdefault(depth, []).append(item)
    return dict(sorted(groups.items(), reverse=True))


def map_graph(
    inputs: list[Tensor],
    outputs: list[Tensor],
    flavour: str | None = None,
    network: Any = None,
) -> GraphMap:
    """Map the graph between `inputs` and `outputs`.

    Parameters
    ----------
    inputs, outputs : list of Tensor
        Tensors with a history.
    flavour : {"1", "2"}, optional
        The algorithm of Keras 1 or of Keras 2. Default "1" for scripts of Keras 1.2, otherwise "2".
    network : Network, optional
        The network that is being made; observers receive it as the subject.

    Returns
    -------
    GraphMap

    Raises
    ------
    CycleError
        A node depends on itself (flavour "2" only).
    DisconnectedGraphError
        An output depends on a tensor that cannot be computed from the inputs.

    Notes
    -----
    Flavour "2" follows every input of a node once. Flavour "1" visits a node once for every depth
    at which it is reached, which means about n^2 visits for n residual blocks.
    """
    return map_stage(inputs, outputs, flavour, network).run()


def map_stage(
    inputs: list[Tensor],
    outputs: list[Tensor],
    flavour: str | None = None,
    network: Any = None,
) -> Stage:
    """Return `map_graph` as a stage, which starts one stage for each of its three steps.

    The subject of the stage is the network that is being made, if there is one.
    """
    events = _map_events(inputs, outputs, flavour or rules.map_flavour())
    return Stage("map_graph", events, network)


def _map_events(
    inputs: list[Tensor], outputs: list[Tensor], flavour: str
) -> Generator[Any, Any, GraphMap]:
    if flavour == "1":
        marks: dict[str, None] = {}
        found = yield Stage("build_map", build_map_of_graph(outputs, marks))
        graph_map = GraphMap(**found, seen_nodes=list(marks), flavour=flavour)
    else:
        graph_map = yield Stage("build_map", _order_nodes(outputs))
        depths = yield Stage("depth_sort", _assign_depths(graph_map))
        graph_map.nodes_depths, graph_map.layers_depths = depths
    yield Stage("check_graph", _check_connected(inputs, graph_map))
    return graph_map


def _order_nodes(outputs: Iterable[Tensor]) -> Generator[Any, Any, GraphMap]:
    """Walk from the outputs to the inputs; list each node after the nodes that it needs.

    A node that is reached again while its inputs are being visited depends on itself, which is a
    cycle. Calls of layers never make a cycle. A script can make one by changing `input_tensors` or
    `_keras_history`.
    """
    wanted = iter(outputs)
    nodes_in_progress: dict[Node, Iterator[Tensor]] = {}  # the stack: node -> inputs still to visit
    finished_nodes: set[Node] = set()
    graph_map = GraphMap()
    nodes_in_decreasing_depth = graph_map.nodes_in_decreasing_depth
    layer_indices = graph_map.layer_indices
    while True:
        inputs = next(reversed(nodes_in_progress.values()), wanted)
        tensor = next(inputs, None)
        if tensor is None:  # the last node's inputs are finished
            if not nodes_in_progress:
                return graph_map
            node, _ = nodes_in_progress.popitem()
            finished_nodes.add(node)
            nodes_in_decreasing_depth.append(node)
            yield NodeFinished(node)
            continue
        layer, node_index, _ = tensor._keras_history
        node = layer.inbound_nodes[node_index]
        graph_map.visits += 1
        if node in nodes_in_progress:
            raise _cycle_error(tensor, layer, node, list(nodes_in_progress))
        if node in finished_nodes:
            yield NodeSkipped(tensor, node)
        else:
            layer_indices.setdefault(layer, len(layer_indices))
            nodes_in_progress[node] = iter(node.traced_inputs)
            yield NodeVisited(tensor, node, None)


def _cycle_error(tensor: Tensor, layer: Layer, node: Node, in_progress: list[Node]) -> CycleError:
    cycle = [*in_progress[in_progress.index(node) :], node]
    path = " <- ".join(n.name for n in cycle)
    return CycleError(
        f'The tensor {tensor} at layer "{layer.name}" is part of a cycle. {path}.',
        cycle=cycle,
        subject=layer,
    )


def _assign_depths(graph_map: GraphMap) -> Generator[Any, Any, Depths]:
    """Return the depth of each node and layer, going from the outputs to the inputs."""
    nodes_depths: dict[Node, int] = {}
    layers_depths: dict[Layer, int] = {}
    for node in reversed(graph_map.nodes_in_decreasing_depth):
        depth = nodes_depths.setdefault(node, 0)
        previous_depth = layers_depths.get(node.outbound_layer, 0)
        depth = max(depth, previous_depth)  # at least that of an earlier node of the layer
        layers_depths[node.outbound_layer] = depth
        nodes_depths[node] = depth
        for inbound_node in node.parent_nodes:
            nodes_depths[inbound_node] = max(depth + 1, nodes_depths.get(inbound_node, 0))
        yield DepthAssigned(node, depth)
    return nodes_depths, layers_depths


def _check_connected(inputs: Iterable[Tensor], graph_map: GraphMap) -> Generator[Any, Any, None]:
    """Raise if a node needs a tensor that neither an input nor an earlier node provides."""
    computable_tensors = set(inputs)
    layers_with_complete_input: list[str] = []
    for nodes in graph_map.nodes_by_depth.values():
        for node in nodes:
            needed = [x for x in node.input_tensors if x._keras_history is not None]
            missing = [x for x in needed if x not in computable_tensors]
            if missing:
                layer = node.outbound_layer
                raise DisconnectedGraphError(
                    f"Graph disconnected: cannot obtain value for tensor {missing[0]} at layer "
                    f'"{layer.name}". The following previous layers were accessed without issue: '
                    f"{layers_with_complete_input}. Pass every Input that the outputs depend on.",
                    subject=node,
                )
            computable_tensors.update(node.output_tensors)
            layers_with_complete_input.append(node.outbound_layer.name)
        yield nodes  # the event: all nodes of this depth can be computed
