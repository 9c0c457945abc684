"""The calls are named after their layers.

en: expected node_edges(S(D(S(x)))) to hold [('d_ib-0', 's_ib-1')], yours does not: [('d', 's'), ('s', 'd'), ('x', 's')]
zh: node_edges(S(D(S(x)))) 中应有 [('d_ib-0', 's_ib-1')]，你的没有：[('d', 's'), ('s', 'd'), ('x', 's')]
"""


def layer_edges(tensor):
    edges, waiting = set(), [tensor._keras_history.node]
    while waiting:
        node = waiting.pop()
        for parent in node.parent_nodes:
            edges.add((parent.outbound_layer.name, node.outbound_layer.name))
            waiting.append(parent)
    return edges


def node_edges(tensor):
    return layer_edges(tensor)
