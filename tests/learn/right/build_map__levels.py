def build_map(node, seen_nodes, depth=0):
    level = {node}
    while level:
        seen_nodes |= {(one, depth) for one in level}
        depth += 1
        above = {parent for one in level for parent in one.parent_nodes}
        level = {parent for parent in above if (parent, depth) not in seen_nodes}


def marks_of(outputs):
    seen_nodes = set()
    [build_map(output, seen_nodes) for output in outputs]
    return frozenset(seen_nodes)
