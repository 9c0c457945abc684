from keras import activations, initializers
from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = int(units)
        self.word = activation
        self.activation = activations.get(activation or "linear")

    def build(self, input_shape):
        features = input_shape[-1]
        glorot = initializers.glorot_uniform()
        self.kernel = self.add_weight(
            name="kernel", shape=[features, self.units], initializer=glorot
        )
        self.bias = self.add_weight(name="bias", shape=[self.units], initializer="zeros")
        self.built = True

    def call(self, inputs):
        return self.activation(K.dot(inputs, self.kernel) + self.bias)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "activation": self.word}
