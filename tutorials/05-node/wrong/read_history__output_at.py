"""Indexes the result of get_output_at. It is a single tensor, so this takes its first row.

en: expected tensor_at(a, 0, 0) to be output 0 of call 0 of a, yours is get_item
zh: tensor_at(a, 0, 0) 应为 output 0 of call 0 of a，你的是 get_item
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.get_output_at(node_index)[tensor_index]


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    node = layer.inbound_nodes[node_index]
    return [made_by(one) for one in node.input_tensors] if node.inbound_layers else []
