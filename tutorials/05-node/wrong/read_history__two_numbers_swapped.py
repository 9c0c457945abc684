"""Assumes that tensor_index counts the calls, as S3 says.

en: expected made_by(tensor) to be 'output 1 of call 0 of reader', yours is 'output 0 of call 1 of reader'
zh: made_by(tensor) 应为 'output 1 of call 0 of reader'，你的是 'output 0 of call 1 of reader'
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {node_index} of call {tensor_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    node = layer.inbound_nodes[node_index]
    return [made_by(one) for one in node.input_tensors] if node.inbound_layers else []
