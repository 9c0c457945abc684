"""Keras 1's algorithm for the map of a graph, kept for study: `map_graph(..., flavour="1")`.

The algorithm computes depths during the walk and stores each visit in `seen_nodes` as a string
"id-depth". A node that is reached at several depths is walked once for each depth. Cycles are not
detected. The depth grows with each round, so the strings always differ, and the walk does not end.
Lesson: chapter 8.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kerascope.backend.graph import Tensor
from kerascope.engine.node import Node, NodeFinished, NodeSkipped, NodeVisited

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


def make_node_marker(node: Node, depth: int) -> str:
    """Return the string "id-depth" by which Keras 1 stores a visit of a node."""
    return f"{id(node)}-{depth}"


def build_map_of_graph(
    outputs: Iterable[Tensor], marks: dict[str, None]
) -> Generator[Any, Any, dict[str, Any]]:
    """Walk from the outputs, add each visit to `marks`, and return the fields of a `GraphMap`.

    The depth of a node or a layer is the greatest depth at which it was reached.
    """
    nodes_in_decreasing_depth: list[Node] = []
    finished_nodes: set[Node] = set()
    nodes_depths: dict[Node, int] = {}
    layers_depths: dict[Layer, int] = {}
    layer_indices: dict[Layer, int] = {}
    visits = 0
    for output in outputs:
        layer, node_index, _ = output._keras_history
        seen_nodes: set[str] = set()
        stack: list[tuple[Node, int, Iterator[Tensor]]] = []
        arrivals = [(output, layer.inbound_nodes[node_index], 0)]
        while arrivals or stack:
            if arrivals:
                tensor, node, depth = arrivals.pop()
                layer = node.outbound_layer
                mark = make_node_marker(node, depth)
                seen_nodes.add(mark)
                marks[mark] = None
                visits += 1
                nodes_depths[node] = max(depth, nodes_depths.get(node, 0))
                current_depth = max(depth, layers_depths.get(layer, 0))
                layers_depths[layer] = current_depth
                layer_indices.setdefault(layer, len(layer_indices))
                stack.append((node, current_depth, iter(node.traced_inputs)))
                yield NodeVisited(tensor, node, depth)
            node, current_depth, inputs = stack[-1]
            layer = node.outbound_layer
            x = next(inputs, None)
            if x is None:
                stack.pop()
                if node not in finished_nodes:
                    finished_nodes.add(node)
                    nodes_in_decreasing_depth.append(node)
                yield NodeFinished(node)
            elif make_node_marker(x._keras_history.node, current_depth + 1) in seen_nodes:
                yield NodeSkipped(x, x._keras_history.node)
            else:
                arrivals.append((x, x._keras_history.node, current_depth + 1))
    return {
        "nodes_in_decreasing_depth": nodes_in_decreasing_depth,
        "nodes_depths": nodes_depths,
        "layers_depths": layers_depths,
        "layer_indices": layer_indices,
        "visits": visits,
    }
