"""The map of a graph: which Nodes the outputs need, and the depth of each."""


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
    for node in nodes:
        if node.is_input and node.output_tensors[0] not in inputs:
            raise ValueError(f"the outputs need the Input {node.outbound_layer.name!r}: pass it")
    layers = sorted(layers_depths, key=layers_depths.get, reverse=True)
    return GraphMap(nodes_depths, layers)


def order_nodes(histories):
    """Return all nodes that the outputs need, each after its parents."""
    finished = []
    stack = [("visit", layer.inbound_nodes[n]) for layer, n, _ in reversed(histories)]
    open_nodes = set()
    while stack:
        what, node = stack.pop()
        if what == "finish":
            open_nodes.remove(node)
            finished.append(node)
        elif node in open_nodes:
            raise ValueError("this graph has a cycle")
        elif node not in finished:
            open_nodes.add(node)
            stack.append(("finish", node))
            stack.extend(("visit", parent) for parent in reversed(node.parent_nodes))
    return finished


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
