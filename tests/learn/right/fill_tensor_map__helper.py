def computed_by(node, tensor_map):
    inputs = [tensor_map[x] for x in node.input_tensors]
    if len(inputs) == 1:
        (inputs,) = inputs
    return node.layer(inputs)


def run_internal_graph(model, arrays, tensor_map):
    for place in range(len(arrays)):
        tensor_map[model.inputs[place]] = arrays[place]
    for depth in reversed(range(max(model.nodes_by_depth) + 1)):
        for node in model.nodes_by_depth.get(depth, []):
            if not node.is_input:
                tensor_map[node.output_tensors[0]] = computed_by(node, tensor_map)
    outputs = []
    for tensor in model.outputs:
        outputs.append(tensor_map[tensor])
    return outputs
