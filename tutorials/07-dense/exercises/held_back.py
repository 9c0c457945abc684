"""Hold weights back.

add_weight takes a regularizer and a constraint. The regularizer makes a penalty from the weight,
which is a part of the loss. The constraint is applied by the optimizer, to each new value.

Write build for `HeldDense(units, penalty)`. "kernel" has a row for each column of the input and a
column for each unit; it starts as ones, costs `penalty` times the sum of its squares, and never
goes below zero. "bias" starts as zeros and is free: it costs nothing and can have any value.
"""

from keras import backend as K
from keras import constraints, regularizers
from keras.layers import Layer


class HeldDense(Layer):
    def __init__(self, units, penalty, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.penalty = penalty

    def build(self, input_shape):
        self.kernel = ...
        self.bias = ...
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
