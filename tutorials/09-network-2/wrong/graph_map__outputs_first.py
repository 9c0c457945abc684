"""nodes_by_depth begins with the outputs.

en: expected the depths in c(b(a(x))), the deepest first to be [3, 2, 1, 0], yours is [0, 1, 2, 3]
zh: c(b(a(x))) 的各个深度（从最深的开始）应为 [3, 2, 1, 0]，你的是 [0, 1, 2, 3]
"""

from collections import namedtuple

GraphMap = namedtuple("GraphMap", "nodes_depths nodes_by_depth layers")


def map_graph(inputs, outputs):
    nodes = order_nodes([x._keras_history for x in outputs])
    nodes_depths, layers_depths = assign_depths(nodes)
    for node in nodes:
        if node.is_input and node.output_tensors[0] not in inputs:
            raise ValueError(f"the outputs need the Input {node.outbound_layer.name!r}: pass it")
    nodes_by_depth = {}
    for depth in sorted(set(nodes_depths.values())):
        nodes_by_depth[depth] = [n for n, d in nodes_depths.items() if d == depth]
    layers = sorted(layers_depths, key=layers_depths.get, reverse=True)
    return GraphMap(nodes_depths, nodes_by_depth, layers)


def order_nodes(histories):
    """Return all nodes that the outputs need, each after its parents."""
    ordered = []

    def visit(node, path):
        if node in path:
            raise ValueError(f"a cycle at {node.outbound_layer.name!r}")
        if node not in ordered:
            for parent in node.parent_nodes:
                visit(parent, [*path, node])
            ordered.append(node)

    for layer, node_index, _ in histories:
        visit(layer.inbound_nodes[node_index], path=[])
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
