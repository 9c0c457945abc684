def build_map(node, seen_nodes, depth=0):
    waiting = [(node, depth)]
    while waiting:
        mark = waiting.pop()
        if mark not in seen_nodes:
            seen_nodes.add(mark)
            one, at = mark
            waiting.extend((parent, at + 1) for parent in one.parent_nodes)
    return seen_nodes


def marks_of(outputs):
    return set().union(*(build_map(output, set()) for output in outputs))
