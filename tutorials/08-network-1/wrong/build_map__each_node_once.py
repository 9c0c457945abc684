"""A node is visited only once, whatever its depth.

en: add(c(a(x)), b(x)): expected a mark for (depth, layer) = [(2, 'x')], there is none: [(0, 'add'), (1, 'b'), (1, 'c'), (2, 'a'), (3, 'x')]
zh: add(c(a(x)), b(x))：应有记号（深度，层）= [(2, 'x')]，却没有：[(0, 'add'), (1, 'b'), (1, 'c'), (2, 'a'), (3, 'x')]
"""


def build_map(node, seen_nodes, depth=0):
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes:
        if parent not in {node for node, _ in seen_nodes}:
            build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs):
    seen_nodes = set()
    for output in outputs:
        build_map(output, seen_nodes)
    return seen_nodes
