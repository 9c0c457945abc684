def run_internal_graph(model, arrays, tensor_map):
    tensor_map |= dict(zip(model.inputs, arrays, strict=True))
    for _, nodes in sorted(model.nodes_by_depth.items(), reverse=True):
        for node in nodes:
            if node.is_input:
                continue
            first, *others = (tensor_map[x] for x in node.input_tensors)
            tensor_map |= {
                node.output_tensors[0]: node.layer([first, *others] if others else first)
            }
    return [tensor_map[tensor] for tensor in model.outputs]
