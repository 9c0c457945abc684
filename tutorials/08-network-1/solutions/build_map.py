def build_map(node, seen_nodes, depth=0):
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes:
        if (parent, depth + 1) not in seen_nodes:
            build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs):
    seen_nodes = set()
    for output in outputs:
        build_map(output, seen_nodes)
    return seen_nodes
