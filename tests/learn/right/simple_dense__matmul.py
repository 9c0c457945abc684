from keras import activations
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        self.units = units
        self.activation = activations.get(activation)
        super().__init__(**kwargs)

    def build(self, input_shape):
        *_, size = input_shape
        names = {"kernel": ((size, self.units), "glorot_uniform"), "bias": ((self.units,), "zeros")}
        for name, (shape, initializer) in names.items():
            setattr(self, name, self.add_weight(name, shape, initializer=initializer))
        super().build(input_shape)

    def call(self, inputs):
        return self.activation(inputs @ self.kernel + self.bias)
