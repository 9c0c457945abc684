"""A parent is one deeper than the node, not than the node's layer.

en: expected visits_of_keras_1 of a diamond on a stalk to be 8, yours is 10
zh: visits_of_keras_1（带柄的菱形）应为 8，你的是 10
"""


def visits_of_keras_2(output):
    finished = set()

    def visit(node):
        if node in finished:
            return 1
        visits = 1 + sum(visit(parent) for parent in node.parent_nodes)
        finished.add(node)
        return visits

    return visit(output)


def visits_of_keras_1(output):
    seen_nodes, layer_depths = set(), {}

    def visit(node, depth):
        layer = node.outbound_layer
        seen_nodes.add((node, depth))
        layer_depths[layer] = max(depth, layer_depths.get(layer, 0))
        deeper = depth + 1
        visits = 1
        for parent in node.parent_nodes:
            if (parent, deeper) not in seen_nodes:
                visits += visit(parent, deeper)
        return visits

    return visit(output, 0)
