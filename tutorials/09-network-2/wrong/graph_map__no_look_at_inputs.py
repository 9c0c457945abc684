"""An Input that is missing is not noticed.

en: expected a ValueError with the name 'x0', if this Input of dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) is not among the inputs; yours raises none
zh: dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) 的 Input 'x0' 不在 inputs 里时，应抛出含有这个名字的 ValueError；你的没有抛出
"""


class GraphMap:
    """The nodes and the layers of a graph, the deepest first."""

    def __init__(self, nodes_depths, layers):
        self.nodes_depths = nodes_depths
        self.layers = layers
        self.nodes_by_depth = {}
        for depth in sorted(set(nodes_depths.values()), reverse=True):
            self.nodes_by_depth[depth] = [n for n, d in nodes_depths.items() if d == depth]


def map_graph(inputs, outputs):
    nodes = order_nodes([x._keras_history for x in outputs])
    nodes_depths, layers_depths = assign_depths(nodes)
    layers = sorted(layers_depths, key=layers_depths.get, reverse=True)
    return GraphMap(nodes_depths, layers)


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
