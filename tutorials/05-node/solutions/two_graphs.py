def nodes_of(tensor):
    found, waiting = [], [tensor._keras_history.node]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.append(node)
            waiting.extend(node.parent_nodes)
    return found


def layer_edges(tensor):
    return {
        (parent.outbound_layer.name, node.outbound_layer.name)
        for node in nodes_of(tensor)
        for parent in node.parent_nodes
    }


def node_edges(tensor):
    return {(parent.name, node.name) for node in nodes_of(tensor) for parent in node.parent_nodes}
