from collections import defaultdict


def visits_of_keras_2(output):
    finished = set()

    def visit(node):
        visits = 1
        if node not in finished:
            for parent in node.parent_nodes:
                visits += visit(parent)
            finished.add(node)
        return visits

    return visit(output)


def visits_of_keras_1(output):
    seen_nodes, layer_depths = [], defaultdict(int)

    def visit(node, depth):
        layer = node.outbound_layer
        seen_nodes.append((node, depth))
        layer_depths[layer] = max(depth, layer_depths[layer])
        deeper, visits = layer_depths[layer] + 1, 1
        for parent in node.parent_nodes:
            visits += 0 if (parent, deeper) in seen_nodes else visit(parent, deeper)
        return visits

    return visit(output, 0)
