from collections import defaultdict


def assign_depths(nodes):
    depths, layers = defaultdict(int), defaultdict(int)
    for node in nodes:
        layers[node.outbound_layer] = max(layers[node.outbound_layer], depths[node])
        depths[node] = layers[node.outbound_layer]
        for parent in node.parent_nodes:
            depths[parent] = max(depths[parent], 1 + depths[node])
    return dict(depths)
