"""Looks at the last call of the layer, not at the call that made the tensor.

en: took_in(output 0 of call 0 of dense): expected number 1 to be 'output 2 of call 0 of reader', yours is 'output 1 of call 1 of reader'
zh: took_in(output 0 of call 0 of dense)：第 1 个应为 'output 2 of call 0 of reader'，你的是 'output 1 of call 1 of reader'
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    layer, _, _ = tensor._keras_history
    node = layer.inbound_nodes[-1]
    return [made_by(one) for one in node.input_tensors] if node.inbound_layers else []
