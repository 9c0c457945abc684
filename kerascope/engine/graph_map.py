"""The map of a graph: from output tensors back to which Nodes there are, and how deep each lies.

`map_graph(inputs, outputs)` does three things, each a stage of its own:

1. `order_nodes`: a depth-first walk from the outputs through every Node's inputs; it finds all
   nodes and any cycle;
2. `assign_depths`: the depth of a node is the length of the longest path from it to an output; a
   layer is as deep as its deepest node, and a node that is reached later is lifted to its layer's
   depth;
3. `check_connected`: every tensor that a node needs can be computed from the inputs.

That is Keras 2's algorithm, and the one that models use. `flavour="1"` is Keras 1's, kept for
study: it finds depths while it walks, remembers `seen_nodes` as marks "id-depth", walks the same
node once for every depth at which it meets it, and finds no cycles (a depth is no protection
against them: on a cycle it only grows).

The walk is a loop over an explicit stack: the nodes on that stack *are* the `nodes_in_progress`,
and there is no limit of recursion. Lessons: chapters 8 and 9.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.errors import CycleError, DisconnectedGraphError
from kerascope.spellings import habits
from kerascope.stage import Stage


class NodeVisited(NamedTuple):
    """The walk reaches a node; `depth` is its depth so far, None where that is found later."""

    tensor: Tensor
    node: Node
    depth: int | None


class NodeSkipped(NamedTuple):
    """The walk meets a node that is finished already."""

    tensor: Tensor
    node: Node


class NodeFinished(NamedTuple):
    """All that a node needs has been visited."""

    node: Node


class DepthAssigned(NamedTuple):
    """A node's depth is final."""

    node: Node
    depth: int


@dataclass
class GraphMap:
    """What the walk found; complete, and never changed again, when `map_graph` returns it.

    Attributes
    ----------
    nodes_in_decreasing_depth : list of Node
        In the order in which the walk finished them: every node after those that it needs. (That is
        Keras's name; it is a post-order, not falling depth.)
    nodes_depths : dict of Node to int
    layers_depths : dict of Layer to int
    layer_indices : dict of Layer to int
        Order in which the walk met the layers.
    seen_nodes : list of str
        Marks "id-depth", one for each depth at which a node was met.
    visits : int
        How often the walk arrived at a node.
    flavour : {"1", "2"}
    """

    nodes_in_decreasing_depth: list[Node] = field(default_factory=list)
    nodes_depths: dict[Node, int] = field(default_factory=dict)
    layers_depths: dict[Layer, int] = field(default_factory=dict)
    layer_indices: dict[Layer, int] = field(default_factory=dict)
    seen_nodes: list[str] = field(default_factory=list)
    visits: int = 0
    flavour: str = "2"
    _finished: set[Node] = field(default_factory=set, repr=False)

    def _arrive(self, node: Node, depth: int) -> None:
        """Enter a node at which Keras 1's walk arrives, and its layer, each as deep as ever met."""
        layer = node.outbound_layer
        self.visits += 1
        self.nodes_depths[node] = max(depth, self.nodes_depths.get(node, 0))
        self.layers_depths[layer] = max(depth, self.layers_depths.get(layer, 0))
        self.layer_indices.setdefault(layer, len(self.layer_indices))

    def _finish(self, node: Node) -> None:
        """Enter a node that Keras 1's walk has left, the first time that it does."""
        if node not in self._finished:
            self._finished.add(node)
            self.nodes_in_decreasing_depth.append(node)

    @cached_property
    def network_nodes(self) -> list[str]:
        """The key of every node: `dense_1_ib-0`."""
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
        """All layers by falling depth, ties in the order of the walk."""
        return [layer for layers in self.layers_by_depth.values() for layer in layers]


def _grouped(depths: dict[Any, int]) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = {}
    for item, depth in depths.items():
        groups.setdefault(depth, []).append(item)
    return dict(sorted(groups.items(), reverse=True))


def map_graph(inputs: list[Tensor], outputs: list[Tensor], flavour: str | None = None) -> GraphMap:
    """Map the graph between `inputs` and `outputs`.

    Parameters
    ----------
    inputs, outputs : list of Tensor
        Tensors with a history.
    flavour : {"1", "2"}, optional
        Whose algorithm; by default that of `config.dialect`: Keras 2's, except in dialect "1.2".

    Returns
    -------
    GraphMap

    Raises
    ------
    CycleError
        A node depends on itself (flavour "2" only).
    DisconnectedGraphError
        An output needs a tensor that no input feeds.

    Notes
    -----
    Flavour "2" visits every edge once. Flavour "1" visits a node once for every depth, and on an
    unlucky tower of n blocks 2^n times.
    """
    return map_stage(inputs, outputs, flavour).run()


def map_stage(inputs: list[Tensor], outputs: list[Tensor], flavour: str | None = None) -> Stage:
    """Return the mapping as a stage, which starts one stage for each of its steps."""
    return Stage("map_graph", _map_events(inputs, outputs, flavour or habits().map_flavour))


def _map_events(
    inputs: list[Tensor], outputs: list[Tensor], flavour: str
) -> Generator[Any, Any, GraphMap]:
    graph_map = GraphMap(flavour=flavour)
    if flavour == "1":
        yield Stage("build_map", _build_map_of_graph(outputs, graph_map))
    else:
        yield Stage("build_map", _order_nodes(outputs, graph_map))
        yield Stage("depth_sort", _assign_depths(graph_map))
    yield Stage("check_graph", _check_connected(inputs, graph_map))
    return graph_map


# --- Keras 2 --------------------------------------------------------------------------------------


def _order_nodes(outputs: Iterable[Tensor], graph_map: GraphMap) -> Generator[Any, Any, None]:
    finished_nodes: set[Node] = set()
    nodes_in_progress: dict[
        Node, Iterator[Tensor]
    ] = {}  # the stack: node -> its inputs still to visit
    for output in outputs:
        tensor: Tensor | None = output
        while tensor is not None:
            layer, node_index, _ = tensor._keras_history
            node = layer.inbound_nodes[node_index]
            graph_map.visits += 1
            if node in nodes_in_progress:
                raise _cycle_error(tensor, layer, node, list(nodes_in_progress))
            if node in finished_nodes:
                yield NodeSkipped(tensor, node)
            else:
                graph_map.layer_indices.setdefault(layer, len(graph_map.layer_indices))
                nodes_in_progress[node] = iter(_traced_inputs(node))
                yield NodeVisited(tensor, node, None)
            tensor = None
            while nodes_in_progress and tensor is None:
                node, inputs = next(reversed(nodes_in_progress.items()))
                tensor = next(inputs, None)
                if tensor is None:
                    del nodes_in_progress[node]
                    finished_nodes.add(node)
                    graph_map.nodes_in_decreasing_depth.append(node)
                    yield NodeFinished(node)


def _traced_inputs(node: Node) -> list[Tensor]:
    """Return the inputs of a node that a layer made; an InputLayer's node has none."""
    return [x for x in node.input_tensors if x._keras_history is not None and not node.is_input]


def _cycle_error(tensor: Tensor, layer: Layer, node: Node, in_progress: list[Node]) -> CycleError:
    cycle = [*in_progress[in_progress.index(node) :], node]
    path = " <- ".join(n.name for n in cycle)
    return CycleError(
        f'The tensor {tensor} at layer "{layer.name}" is part of a cycle. {path}.',
        cycle=cycle,
        subject=layer,
    )


def _assign_depths(graph_map: GraphMap) -> Generator[Any, Any, None]:
    nodes_depths, layers_depths = graph_map.nodes_depths, graph_map.layers_depths
    for node in reversed(graph_map.nodes_in_decreasing_depth):
        depth = nodes_depths.setdefault(node, 0)
        previous_depth = layers_depths.get(node.outbound_layer, 0)
        depth = max(depth, previous_depth)  # lifted to its layer's depth
        layers_depths[node.outbound_layer] = depth
        nodes_depths[node] = depth
        for inbound_node in node.parent_nodes:
            nodes_depths[inbound_node] = max(depth + 1, nodes_depths.get(inbound_node, 0))
        yield DepthAssigned(node, depth)


# --- Keras 1 --------------------------------------------------------------------------------------


def make_node_marker(node: Node, depth: int) -> str:
    """Return the mark that Keras 1 leaves: "id-depth"."""
    return f"{id(node)}-{depth}"


def _build_map_of_graph(
    outputs: Iterable[Tensor], graph_map: GraphMap
) -> Generator[Any, Any, None]:
    marks: dict[str, None] = {}  # of all outputs, in the order of the walk
    for output in outputs:
        layer, node_index, _ = output._keras_history
        seen_nodes: set[str] = set()
        stack: list[tuple[Node, int, Iterator[Tensor]]] = []
        arrivals = [(output, layer.inbound_nodes[node_index], 0)]
        while arrivals or stack:
            if arrivals:
                tensor, node, depth = arrivals.pop()
                mark = make_node_marker(node, depth)
                seen_nodes.add(mark)
                marks[mark] = None
                graph_map._arrive(node, depth)
                current_depth = graph_map.layers_depths[node.outbound_layer]
                stack.append((node, current_depth, iter(_traced_inputs(node))))
                yield NodeVisited(tensor, node, depth)
            node, current_depth, inputs = stack[-1]
            x = next(inputs, None)
            if x is None:
                stack.pop()
                graph_map._finish(node)
                yield NodeFinished(node)
            elif make_node_marker(x._keras_history.node, current_depth + 1) in seen_nodes:
                yield NodeSkipped(x, x._keras_history.node)
            else:
                arrivals.append((x, x._keras_history.node, current_depth + 1))
    graph_map.seen_nodes += marks


# --- both -----------------------------------------------------------------------------------------


def _check_connected(inputs: Iterable[Tensor], graph_map: GraphMap) -> Generator[Any, Any, None]:
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
                    f'"{layer.name}". '
                    f"The following previous layers were accessed without issue: "
                    f"{layers_with_complete_input}. "
                    f"Pass every Input that the outputs depend on.",
                    subject=node,
                )
            computable_tensors.update(node.output_tensors)
            layers_with_complete_input.append(node.outbound_layer.name)
        yield nodes
