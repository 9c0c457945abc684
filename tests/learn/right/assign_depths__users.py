def assign_depths(nodes):
    users = {node: [one for one in nodes if node in one.parent_nodes] for node in nodes}
    depths = {}
    for place, node in enumerate(nodes):
        ways = [depths[user] + 1 for user in users[node]]
        layer = node.outbound_layer
        before = [depths[one] for one in nodes[:place] if one.outbound_layer is layer]
        depths[node] = max(ways + before, default=0)
    return depths
