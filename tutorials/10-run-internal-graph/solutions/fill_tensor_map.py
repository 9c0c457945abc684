def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed = [tensor_map[x] for x in node.input_tensors]
            outputs = node.layer(computed[0] if len(computed) == 1 else computed)
            tensor_map[node.output_tensors[0]] = outputs
    return [tensor_map[tensor] for tensor in model.outputs]
