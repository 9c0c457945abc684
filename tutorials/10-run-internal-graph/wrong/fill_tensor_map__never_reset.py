"""The list of computed arrays is never emptied, as in the excerpt at S4:325.

en: run_internal_graph(...) stopped at line 17 with ArgumentError: Dense 'dense_2': inputs: expected 1, got 2.
zh: run_internal_graph(...) 中途出错（第 17 行）：ArgumentError: Dense 'dense_2': inputs: expected 1, got 2.
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    computed = []
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed += [tensor_map[x] for x in node.input_tensors]
            outputs = node.layer(computed[0] if len(computed) == 1 else computed)
            tensor_map[node.output_tensors[0]] = outputs
    return [tensor_map[tensor] for tensor in model.outputs]
