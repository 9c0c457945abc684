"""Rows and columns of the kernel are exchanged.

en: expected the shapes of the weights to be [(4, 3), (3,)], yours is [(3, 4), (3,)]
zh: 权重的形状应为 [(4, 3), (3,)]，你的是 [(3, 4), (3,)]
"""

from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activation

    def build(self, input_shape):
        shape = (self.units, input_shape[-1])
        self.kernel = self.add_weight("kernel", shape, initializer="glorot_uniform")
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, K.transpose(self.kernel)) + self.bias
