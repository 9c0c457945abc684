def order_of_meeting(outputs):
    met, visited = [], set()
    waiting = list(reversed(outputs))
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        if not any(node.outbound_layer is layer for layer in met):
            met.append(node.outbound_layer)
        waiting.extend(reversed(node.parent_nodes))
    return met


def layers_in_order(depths, met):
    return [
        one for depth in sorted(set(depths.values()))[::-1] for one in met if depths[one] == depth
    ]
