WORDS = "output {0.tensor_index} of call {0.node_index} of {0.layer.name}"


def made_by(tensor):
    return WORDS.format(tensor._keras_history)


def tensor_at(layer, node_index, tensor_index):
    found = layer.get_output_at(node_index)
    return found[tensor_index] if isinstance(found, list) else found


def took_in(tensor):
    node = tensor._keras_history.node
    if node.is_input:
        return []
    return list(map(made_by, node.input_tensors))
