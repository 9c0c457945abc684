def assign_depths(nodes):
    depths, layer_depths = {}, {}
    for node in nodes:
        layer = node.outbound_layer
        depth = max(depths.setdefault(node, 0), layer_depths.setdefault(layer, 0))
        layer_depths[layer] = depths[node] = depth
        for parent in node.parent_nodes:
            if depths.get(parent, -1) <= depth:
                depths[parent] = depth + 1
    return depths
