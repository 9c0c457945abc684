def what_is_missing(inputs, outputs):
    frontier = {tensor._keras_history.node for tensor in outputs}
    reached = set()
    while frontier:
        reached |= frontier
        frontier = {parent for node in frontier for parent in node.parent_nodes} - reached
    sources = {node.output_tensors[0] for node in reached if len(node.parent_nodes) == 0}
    return sorted(sources - set(inputs), key=lambda tensor: tensor.name)
