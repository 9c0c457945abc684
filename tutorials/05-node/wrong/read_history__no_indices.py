"""Looks only at the layers, as if each was called once and had one output.

en: took_in(output 0 of call 0 of join): expected number 1 to be 'output 0 of call 1 of dense', yours is 'output 0 of call 0 of dense'
zh: took_in(output 0 of call 0 of join)：第 1 个应为 'output 0 of call 1 of dense'，你的是 'output 0 of call 0 of dense'
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    layers = layer.inbound_nodes[node_index].inbound_layers
    return [made_by(tensor_at(one, 0, 0)) for one in layers]
