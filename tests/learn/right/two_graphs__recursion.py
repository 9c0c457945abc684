def calls(node, met):
    if node not in met:
        met[node] = list(node.parent_nodes)
        for parent in met[node]:
            calls(parent, met)
    return met


def edges(tensor, name):
    met = calls(tensor._keras_history.node, {})
    return {(name(parent), name(node)) for node, parents in met.items() for parent in parents}


def layer_edges(tensor):
    return edges(tensor, lambda node: node.outbound_layer.name)


def node_edges(tensor):
    return edges(tensor, lambda node: node.name)
