"""The activation is stored but never used.

en: expected SimpleDense(3, 'relu')(x)[0, 0] to be 0, yours is -1.375
zh: SimpleDense(3, 'relu')(x)[0, 0] 应为 0，你的是 -1.375
"""

from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activation

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight("kernel", shape, initializer="glorot_uniform")
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
