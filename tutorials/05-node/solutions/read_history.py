def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return f"output {tensor_index} of call {node_index} of {layer.name}"


def tensor_at(layer, node_index, tensor_index):
    return layer.inbound_nodes[node_index].output_tensors[tensor_index]


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    node = layer.inbound_nodes[node_index]
    return [made_by(one) for one in node.input_tensors] if node.inbound_layers else []
