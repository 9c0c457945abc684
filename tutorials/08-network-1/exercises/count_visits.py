"""Count the visits of both algorithms.

Both begin with one visit to the node of the output and go back through node.parent_nodes.

Keras 2: a visit to a finished node ends at once, but it is a visit.

Keras 1: a visit leaves the mark (node, depth), and layer_depths holds the greatest depth at which
each layer was met so far. A parent is one deeper than that depth of the node's *layer*; if its
mark exists already, the walk does not go there, and nothing is counted.

Replace each `...`. Then try both on add([h, S(h)]), many times with one layer S.
"""


def visits_of_keras_2(output):
    finished = set()

    def visit(node):
        if ...:
            return 1
        visits = 1 + sum(visit(parent) for parent in node.parent_nodes)
        ...
        return visits

    return visit(output)


def visits_of_keras_1(output):
    seen_nodes, layer_depths = set(), {}

    def visit(node, depth):
        layer = node.outbound_layer
        seen_nodes.add((node, depth))
        layer_depths[layer] = ...
        visits = 1
        for parent in node.parent_nodes:
            deeper = ...
            if ...:
                visits += visit(parent, deeper)
        return visits

    return visit(output, 0)
