"""The outputs are stored under the nodes, as S4 explains the map.

en: expected the keys of tensor_map to be tensors of the model, yours are Node
zh: tensor_map 的键应是模型的张量，你的是 Node
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor._keras_history.node] = array
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            computed = [tensor_map[parent] for parent in node.parent_nodes]
            outputs = node.layer(computed[0] if len(computed) == 1 else computed)
            tensor_map[node] = outputs
    return [outputs]
