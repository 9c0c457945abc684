"""Calls the method `call` instead of the layer.

en: expected each layer to be called, layer(x), yours calls none (its .call is only a part of that)
zh: 应调用各层，layer(x)，你的一个也没有调用（.call 只是其中的一部分）
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed = [tensor_map[x] for x in node.input_tensors]
            outputs = node.layer.call(computed[0] if len(computed) == 1 else computed)
            tensor_map[node.output_tensors[0]] = outputs
    return [tensor_map[tensor] for tensor in model.outputs]
