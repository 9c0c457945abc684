def build_map(node, seen_nodes, depth=0):
    if (node, depth) in seen_nodes:
        return
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes:
        build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs):
    marks = set()
    for output in outputs:
        build_map(output, marks, 0)
    return marks
