def order_of_meeting(outputs):
    met, visited = [], set()

    def visit(node):
        if node in visited:
            return
        visited.add(node)
        if node.outbound_layer not in met:
            met.append(node.outbound_layer)
        for parent in node.parent_nodes:
            visit(parent)

    for output in outputs:
        visit(output)
    return met


def layers_in_order(depths, met):
    return sorted(met, key=lambda layer: -depths[layer])
