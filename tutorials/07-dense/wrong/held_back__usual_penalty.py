"""Always uses the default penalty.

en: expected the penalty with penalty=0.5 to be 12, yours is 0.24
zh: penalty=0.5 时的惩罚应为 12，你的是 0.24
"""

from keras import backend as K
from keras import constraints
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
            regularizer="l2",
            constraint=constraints.non_neg(),
        )
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
