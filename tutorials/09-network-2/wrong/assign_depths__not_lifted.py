"""Calls of a shared layer stay where they are, as in Keras 1.

en: expected the depth of s_ib-0 in add(s(x), e(s(d(x)))) to be 2, yours is 1
zh: add(s(x), e(s(d(x)))) 中 s_ib-0 的深度应为 2，你的是 1
"""


def assign_depths(nodes):
    depths = {}
    for node in nodes:
        depth = depths.setdefault(node, 0)
        for parent in node.parent_nodes:
            depths[parent] = max(depths.get(parent, 0), depth + 1)
    return depths
