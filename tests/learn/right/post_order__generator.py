def post_order(outputs):
    seen = set()

    def walk(node):
        if node in seen:
            return
        seen.add(node)
        for parent in node.parent_nodes:
            yield from walk(parent)
        yield node

    return tuple(node for output in outputs for node in walk(output))
