"""Walks only two inputs of a merge of three.

en: add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2))): expected a mark for (depth, layer) = [(1, 'x0')], there is none: [(0, 'add5'), (0, 'shared'), (1, 'dense2'), (1, 'dense3'), (1, 'shared'), (2, 'dense2'), (2, 'dense3'), (2, 'x2'), (3, 'dense2'), (3, 'x2'), (4, 'x2')]
zh: add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2)))：应有记号（深度，层）= [(1, 'x0')]，却没有：[(0, 'add5'), (0, 'shared'), (1, 'dense2'), (1, 'dense3'), (1, 'shared'), (2, 'dense2'), (2, 'dense3'), (2, 'x2'), (3, 'dense2'), (3, 'x2'), (4, 'x2')]
"""


def build_map(node, seen_nodes, depth=0):
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes[:2]:
        if (parent, depth + 1) not in seen_nodes:
            build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs):
    seen_nodes = set()
    for output in outputs:
        build_map(output, seen_nodes)
    return seen_nodes
