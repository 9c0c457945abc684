def run_internal_graph(model, arrays, tensor_map):
    tensor_map.update(zip(model.inputs, arrays, strict=True))
    depths = sorted(model.nodes_by_depth)
    while depths:
        for node in model.nodes_by_depth[depths.pop()]:
            if not node.is_input:
                given = list(map(tensor_map.get, node.input_tensors))
                (key,) = node.output_tensors
                tensor_map.update({key: node.layer(given if len(given) > 1 else given[0])})
    return list(map(tensor_map.__getitem__, model.outputs))
