def node_edges(tensor):
    edges, frontier, done = set(), {tensor._keras_history.node}, set()
    while frontier:
        done |= frontier
        pairs = {(parent, node) for node in frontier for parent in node.parent_nodes}
        edges |= {(parent.name, node.name) for parent, node in pairs}
        frontier = {parent for parent, _ in pairs} - done
    return edges


def layer_edges(tensor):
    def layer(name):
        return name.rpartition("_ib-")[0]

    return {(layer(start), layer(end)) for start, end in node_edges(tensor)}
