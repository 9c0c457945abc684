"""A tensor that was passed twice is reported once.

en: took_in(output 0 of call 0 of twice): expected number 2 to be 'output 0 of call 0 of a', yours has none
zh: took_in(output 0 of call 0 of twice)：第 2 个应为 'output 0 of call 0 of a'，你的没有
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    node = layer.inbound_nodes[node_index]
    return (
        [made_by(one) for one in dict.fromkeys(node.input_tensors)] if node.inbound_layers else []
    )
