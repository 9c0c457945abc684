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
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
