"""The map of a graph: which Nodes the outputs need, and the depth of each."""

from collections import defaultdict


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
    state = {}

    def walk(node):
        if state.get(node) == "open":
            raise ValueError("cycle")
        if node in state:
            return
        state[node] = "open"
        for parent in node.parent_nodes:
            yield from walk(parent)
        state[node] = "done"
        yield node

    return [n for history in histories for n in walk(history[0].inbound_nodes[history[1]])]


def assign_depths(nodes):
    """Return the depth of each node and of each layer, from the outputs to the inputs."""
    of_nodes = defaultdict(int)
    of_layers = defaultdict(int)
    for node in nodes[::-1]:
        of_layers[node.outbound_layer] = max(of_layers[node.outbound_layer], of_nodes[node])
        of_nodes[node] = of_layers[node.outbound_layer]
        for parent in node.parent_nodes:
            of_nodes[parent] = max(of_nodes[parent], of_nodes[node] + 1)
    return dict(of_nodes), dict(of_layers)
