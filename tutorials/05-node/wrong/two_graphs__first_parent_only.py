"""Only the first parent of each node is followed.

en: expected layer_edges(add) to hold [('b', 'add')], yours does not: [('a', 'd'), ('d', 'add')]
zh: layer_edges(add) 中应有 [('b', 'add')]，你的没有：[('a', 'd'), ('d', 'add')]
"""


def edges(tensor, name_of):
    found, node = set(), tensor._keras_history.node
    while node.parent_nodes:
        parent = node.parent_nodes[0]
        found.add((name_of(parent), name_of(node)))
        node = parent
    return found


def layer_edges(tensor):
    return edges(tensor, lambda node: node.outbound_layer.name)


def node_edges(tensor):
    return edges(tensor, lambda node: node.name)
