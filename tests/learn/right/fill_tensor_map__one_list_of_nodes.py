def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    by_depth = sorted(model.nodes_by_depth.items(), key=lambda pair: pair[0])
    nodes = [node for _, row in by_depth[::-1] for node in row if not node.is_input]
    for node in nodes:
        first, *others = [tensor_map[x] for x in node.input_tensors]
        (output,) = node.output_tensors
        tensor_map[output] = node.layer([first, *others] if others else first)
    return tuple(tensor_map[tensor] for tensor in model.outputs)
