"""The map of a graph: which Nodes the outputs need, and the depth of each."""

from collections import defaultdict
from dataclasses import dataclass


@dataclass
class GraphMap:
    nodes_depths: dict
    layers_depths: dict

    @property
    def nodes_by_depth(self):
        found = defaultdict(list)
        for node, depth in sorted(self.nodes_depths.items(), key=lambda item: -item[1]):
            found[depth].append(node)
        return dict(found)

    @property
    def layers(self):
        return sorted(self.layers_depths, key=lambda layer: -self.layers_depths[layer])


def map_graph(inputs, outputs):
    nodes = order_nodes([x._keras_history for x in outputs])
    needed = {node.output_tensors[0]: node for node in nodes if node.is_input}
    missing = [node.outbound_layer.name for x, node in needed.items() if x not in inputs]
    if missing:
        raise ValueError("missing inputs: " + ", ".join(missing))
    return GraphMap(*assign_depths(nodes))


def order_nodes(histories):
    """Return all nodes that the outputs need, each after its parents."""
    ordered, in_progress = [], []

    def visit(node):
        if node in in_progress:
            raise ValueError(f"a cycle at {node.outbound_layer.name!r}")
        if node in ordered:
            return
        in_progress.append(node)
        for parent in node.parent_nodes:
            visit(parent)
        in_progress.pop()
        ordered.append(node)

    for layer, node_index, _ in histories:
        visit(layer.inbound_nodes[node_index])
    return ordered


def assign_depths(nodes):
    """Return the depth of each node and of each layer, from the outputs to the inputs."""
    nodes_depths, layers_depths = {}, {}
    for node in reversed(nodes):
        layer = node.outbound_layer
        depth = max(nodes_depths.get(node, 0), layers_depths.get(layer, 0))
        nodes_depths[node] = layers_depths[layer] = depth
        for parent in node.parent_nodes:
            nodes_depths[parent] = max(depth + 1, nodes_depths.get(parent, 0))
    return nodes_depths, layers_depths
