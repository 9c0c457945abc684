def placeholders_of(tensor):
    nodes = [tensor._keras_history.node]
    for node in nodes:
        for parent in node.parent_nodes:
            if parent not in nodes:
                nodes.append(parent)
    return [node.output_tensors[0] for node in nodes if node.is_input]
