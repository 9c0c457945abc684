"""Find the placeholders that a tensor depends on.

The documents walk from dense_3 back to input_1, always through inbound_layers[0]. With several
inputs that is not enough.

Write `placeholders_of(tensor)`: the tensors of all Inputs on which `tensor` depends, each once. The
order does not matter. tensor._keras_history.node is the call that made a tensor, its
input_tensors are the inputs of that call; node.is_input is true where the walk ends.
"""


def placeholders_of(tensor):
    return ...
