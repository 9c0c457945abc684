def both(tensor):
    waiting, seen, layers, nodes = [tensor._keras_history.node], set(), [], []
    while waiting:
        node = waiting.pop(0)
        if node in seen:
            continue
        seen.add(node)
        for parent in node.parent_nodes:
            layers.append((parent.outbound_layer.name, node.outbound_layer.name))
            nodes.append((parent.name, node.name))
            waiting.append(parent)
    return list(set(layers)), list(set(nodes))


def layer_edges(tensor):
    return both(tensor)[0]


def node_edges(tensor):
    return both(tensor)[1]
