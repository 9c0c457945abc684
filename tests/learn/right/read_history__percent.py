def made_by(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    return "output %d of call %d of %s" % (tensor_index, node_index, layer.name)


def tensor_at(layer, node_index, tensor_index):
    for number, node in enumerate(layer.inbound_nodes):
        if number == node_index:
            return node.output_tensors[tensor_index]


def took_in(tensor):
    node = tensor._keras_history.node
    words = []
    for layer, call, place in zip(node.inbound_layers, node.node_indices, node.tensor_indices):
        words.append("output %d of call %d of %s" % (place, call, layer.name))
    return words
