def what_is_missing(inputs, outputs):
    missing, visited = [], set()

    def visit(node):
        if node in visited:
            return
        visited.add(node)
        if not node.parent_nodes:
            (tensor,) = node.output_tensors
            if not any(tensor is one for one in inputs):
                missing.append(tensor)
        for parent in node.parent_nodes:
            visit(parent)

    for tensor in outputs:
        visit(tensor._keras_history.node)
    return missing
