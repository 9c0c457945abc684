def made_by(tensor):
    history = tensor._keras_history
    numbers = (str(history.tensor_index), str(history.node_index), history.layer.name)
    return (
        " of ".join(" ".join(pair) for pair in zip(("output", "call"), numbers[:2]))
        + " of "
        + numbers[2]
    )


def tensor_at(layer, node_index, tensor_index):
    tensors = layer.inbound_nodes[node_index].output_tensors
    return next(one for one in tensors if one._keras_history.tensor_index == tensor_index)


def took_in(tensor):
    layer, node_index, _ = tensor._keras_history
    given = layer.inbound_nodes[node_index].input_tensors
    return [made_by(one) for one in given if one is not tensor]
