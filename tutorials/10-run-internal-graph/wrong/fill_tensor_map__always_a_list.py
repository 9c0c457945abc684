"""Every layer is called on a list, even with one input.

en: expected dense_1 to be called on one array, yours was called on a list of 1
zh: dense_1 应以一个数组来调用，你用的是含 1 项的列表
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed = [tensor_map[x] for x in node.input_tensors]
            tensor_map[node.output_tensors[0]] = node.layer(computed)
    return [tensor_map[tensor] for tensor in model.outputs]
