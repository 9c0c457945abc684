"""The kernel starts as random_uniform, which stays below the limit.

en: expected a kernel of (40, 50) to begin as glorot_uniform, drawn evenly from within sqrt(6 / (40 + 50)) = 0.258, yours is not
zh: (40, 50) 的 kernel 应以 glorot_uniform 初始化，均匀取自 sqrt(6 / (40 + 50)) = 0.258 以内，你的不是
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
        self.kernel = self.add_weight("kernel", shape, initializer="random_uniform")
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        outputs = K.dot(inputs, self.kernel) + self.bias
        return outputs if self.activation is None else self.activation(outputs)
