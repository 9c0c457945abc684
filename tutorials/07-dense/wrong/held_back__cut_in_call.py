"""The kernel is clipped in call, so the weight itself goes below zero.

en: expected the kernel to stay at 0 or above after 100 steps, yours is at -0.01 somewhere
zh: 训练 100 步之后 kernel 应不小于 0，你的有一处是 -0.01
"""

from keras import backend as K
from keras import regularizers
from keras.layers import Layer


class HeldDense(Layer):
    def __init__(self, units, penalty, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.penalty = penalty

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], self.units),
            initializer="ones",
            regularizer=regularizers.l2(self.penalty),
        )
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, K.relu(self.kernel)) + self.bias
