"""A layer that was met before is not visited again, so the first call of S is lost.

en: expected node_edges(S(D(S(x)))) to hold [('x_ib-0', 's_ib-0')], yours does not: [('d_ib-0', 's_ib-1'), ('s_ib-0', 'd_ib-0')]
zh: node_edges(S(D(S(x)))) 中应有 [('x_ib-0', 's_ib-0')]，你的没有：[('d_ib-0', 's_ib-1'), ('s_ib-0', 'd_ib-0')]
"""


def edges(tensor, name_of):
    found, seen, waiting = set(), set(), [tensor._keras_history.node]
    while waiting:
        node = waiting.pop()
        if node.outbound_layer in seen:
            continue
        seen.add(node.outbound_layer)
        for parent in node.parent_nodes:
            found.add((name_of(parent), name_of(node)))
            waiting.append(parent)
    return found


def layer_edges(tensor):
    return edges(tensor, lambda node: node.outbound_layer.name)


def node_edges(tensor):
    return edges(tensor, lambda node: node.name)
