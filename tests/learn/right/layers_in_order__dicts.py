def order_of_meeting(outputs):
    met, visited = {}, set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            met.setdefault(node.outbound_layer)
            for parent in node.parent_nodes:
                visit(parent)

    for output in outputs:
        visit(output)
    return list(met)


def layers_in_order(depths, met):
    places = {layer: place for place, layer in enumerate(met)}
    return sorted(depths, key=lambda layer: (-depths[layer], places[layer]))
