"""The shortest path to an output decides the depth, not the longest path.

en: expected the depth of x_ib-0 in add(x, c(b(a(x)))) to be 4, yours is 1
zh: add(x, c(b(a(x)))) 中 x_ib-0 的深度应为 4，你的是 1
"""


def assign_depths(nodes):
    depths, layer_depths = {}, {}
    for node in nodes:
        layer = node.outbound_layer
        depth = max(depths.get(node, 0), layer_depths.get(layer, 0))
        layer_depths[layer] = depth
        depths[node] = depth
        for parent in node.parent_nodes:
            depths[parent] = min(depths.get(parent, depth + 1), depth + 1)
    return depths
