"""Compares layers instead of nodes.

en: expected the cycle in s(d(s(x))) to be [], yours is ['d_ib-1', 's_ib-1']
zh: s(d(s(x))) 中的环应为 []，你的是 ['d_ib-1', 's_ib-1']
"""


def find_cycle(node, path=()):
    layers = [one.outbound_layer for one in path]
    if node.outbound_layer in layers:
        return set(path[layers.index(node.outbound_layer) :])
    for parent in node.parent_nodes:
        cycle = find_cycle(parent, (*path, node))
        if cycle:
            return cycle
    return set()
