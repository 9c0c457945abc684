"""Read the addresses of tensors.

tensor._keras_history is (layer, node_index, tensor_index). Write three functions:

`made_by(tensor)`: its address in words: "output 0 of call 1 of lstm_1".
`tensor_at(layer, node_index, tensor_index)`: the tensor that has this address.
`took_in(tensor)`: the addresses in words of all inputs of the call that made `tensor`, in their
order; an empty list for the tensor of an Input.
"""


def made_by(tensor):
    return ...


def tensor_at(layer, node_index, tensor_index):
    return ...


def took_in(tensor):
    return ...
