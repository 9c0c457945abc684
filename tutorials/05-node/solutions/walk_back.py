def calls_needed(tensor):
    names, visited = [], set()

    def visit(node):
        if node in visited:
            return
        visited.add(node)
        for parent in node.parent_nodes:
            visit(parent)
        names.append(node.name)

    visit(tensor._keras_history.node)
    return names
