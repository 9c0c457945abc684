"""The bias starts at one.

en: expected the bias at the beginning, at [0], to be 0, yours is 1
zh: bias 的初值，[0] 处应为 0，你的是 1
"""

from keras import activations
from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight("kernel", shape, initializer="glorot_uniform")
        self.bias = self.add_weight("bias", (self.units,), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        outputs = K.dot(inputs, self.kernel) + self.bias
        return outputs if self.activation is None else self.activation(outputs)
