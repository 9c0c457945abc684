def walk(node, visited):
    if node in visited:
        return []
    visited.append(node)
    layers = [node.outbound_layer]
    for parent in node.parent_nodes:
        layers += walk(parent, visited)
    return layers


def order_of_meeting(outputs):
    visited, layers = [], []
    for output in outputs:
        layers += walk(output, visited)
    return [layer for place, layer in enumerate(layers) if layer not in layers[:place]]


def layers_in_order(depths, met):
    by_depth = {}
    for layer in met:
        by_depth.setdefault(depths[layer], []).append(layer)
    ordered = []
    for depth in range(max(by_depth), -1, -1):
        ordered.extend(by_depth.get(depth, []))
    return ordered
