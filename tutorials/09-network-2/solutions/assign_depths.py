def assign_depths(nodes):
    depths, layer_depths = {}, {}
    for node in nodes:
        layer = node.outbound_layer
        depth = max(depths.get(node, 0), layer_depths.get(layer, 0))
        layer_depths[layer] = depth
        depths[node] = depth
        for parent in node.parent_nodes:
            depths[parent] = max(depths.get(parent, 0), depth + 1)
    return depths
