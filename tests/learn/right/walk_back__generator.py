def calls_needed(tensor):
    seen = set()

    def walk(node):
        if node not in seen:
            seen.add(node)
            for parent in reversed(node.parent_nodes):
                yield from walk(parent)
            yield node.name

    return tuple(walk(tensor._keras_history.node))
