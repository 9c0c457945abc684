"""The loop begins at the output.

en: run_internal_graph(...) stopped at line 15 with KeyError: dense_2/add; the dict has no such key: is it stored too late, or must `in` be asked first?
zh: run_internal_graph(...) 中途出错（第 15 行）：KeyError: dense_2/add；字典里没有这个键：是存得太晚，还是应当先用 in 查一查？
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    for depth in sorted(model.nodes_by_depth):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed = [tensor_map[x] for x in node.input_tensors]
            outputs = node.layer(computed[0] if len(computed) == 1 else computed)
            tensor_map[node.output_tensors[0]] = outputs
    return [tensor_map[tensor] for tensor in model.outputs]
