def post_order(outputs):
    finished = []

    def visit(node):
        if node in finished:
            return
        for parent in node.parent_nodes:
            visit(parent)
        finished.append(node)

    for output in outputs:
        visit(output)
    return finished
