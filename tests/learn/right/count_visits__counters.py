def visits_of_keras_2(output):
    finished, count = [], [0]

    def visit(node):
        count[0] += 1
        if node not in finished:
            for parent in node.parent_nodes:
                visit(parent)
            finished.append(node)

    visit(output)
    return count[0]


def visits_of_keras_1(output):
    seen_nodes, layer_depths, count = set(), {}, [0]

    def visit(node, depth):
        count[0] += 1
        seen_nodes.add((node, depth))
        layer = node.outbound_layer
        if depth > layer_depths.setdefault(layer, depth):
            layer_depths[layer] = depth
        for parent in node.parent_nodes:
            deeper = 1 + layer_depths[layer]
            if (parent, deeper) not in seen_nodes:
                visit(parent, deeper)

    visit(output, 0)
    return count[0]
