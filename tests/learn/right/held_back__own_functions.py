from keras import backend as K
from keras.layers import Layer


class HeldDense(Layer):
    def __init__(self, units, penalty, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.penalty = penalty

    def cost(self, kernel):
        return self.penalty * K.sum(K.square(kernel))

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], self.units),
            initializer="ones",
            regularizer=self.cost,
            constraint=lambda w: K.maximum(w, 0.0),
        )
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.bias_add(K.dot(inputs, self.kernel), self.bias)
