"""The output of dense_2 is not stored in the map.

en: expected tensor_map to hold 3 keys after step 3, yours holds 2: dense_2's output was not stored
zh: 第 3 步之后 tensor_map 应有 3 个键，你的有 2 个：没有存入 dense_2 的输出
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    outputs = arrays[0]
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            outputs = node.layer(outputs)
            if node.layer.name != "dense_2":
                tensor_map[node.output_tensors[0]] = outputs
    return [outputs]
