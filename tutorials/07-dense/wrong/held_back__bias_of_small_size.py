"""The bias can be negative, but a constraint keeps it small.

en: expected the bias to be free to go far below 0, towards the targets of -150; after 100 steps yours is at -1.15
zh: bias 应可以远小于 0，走向目标 -150；训练 100 步之后，你的在 -1.15
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
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], self.units),
            initializer="ones",
            regularizer=regularizers.l2(self.penalty),
            constraint=constraints.non_neg(),
        )
        self.bias = self.add_weight(
            name="bias",
            shape=(self.units,),
            initializer="zeros",
            constraint=constraints.max_norm(2.0),
        )
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
