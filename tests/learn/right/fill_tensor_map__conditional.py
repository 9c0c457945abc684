def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays):
        tensor_map[tensor] = array
    depths = list(model.nodes_by_depth)
    depths.sort(reverse=True)
    for depth in depths:
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            if len(node.input_tensors) > 1:
                inputs = [tensor_map[x] for x in node.input_tensors]
            else:
                inputs = tensor_map[node.input_tensors[0]]
            tensor_map[node.output_tensors[0]] = node.outbound_layer(inputs)
    return list(map(tensor_map.get, model.outputs))
