"""An Input that is missing is not noticed.

en: expected a ValueError with the name 'x0', if this Input of dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) is not among the inputs; yours raises none
zh: dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) 的 Input 'x0' 不在 inputs 里时，应抛出含有这个名字的 ValueError；你的没有抛出
"""

from collections import namedtuple

GraphMap = namedtuple("GraphMap", "nodes_depths nodes_by_depth layers")


def map_graph(inputs, outputs):
    nodes = order_nodes([x._keras_history for x in outputs])
    nodes_depths, layers_depths = assign_depths(nodes)
    nodes_by_depth = {}
    for depth in sorted(set(nodes_depths.values()), reverse=True):
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
