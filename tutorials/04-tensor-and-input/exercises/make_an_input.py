"""Make an Input without Input().

Input(shape=(784,), name="pixels") gives a tensor. It is a placeholder that comes from a
layer: an InputLayer, which was never called on anything and still has one Node.

Write `make_input(shape, name)`: the same as Input(shape=shape, name=name), from an InputLayer. Do
not call Input. The documents' names for what you need: batch_input_shape, inbound_nodes,
output_tensors.
"""

from keras.layers import InputLayer


def make_input(shape, name):
    return ...
