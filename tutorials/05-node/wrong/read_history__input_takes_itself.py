"""Lists the tensor of an Input as its own input, because it is in its Node's input_tensors.

en: expected took_in(output 0 of call 0 of a) to be [], yours is ['output 0 of call 0 of a']
zh: took_in(output 0 of call 0 of a) 应为 []，你的是 ['output 0 of call 0 of a']
"""


def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    return [made_by(one) for one in tensor._keras_history.node.input_tensors]
