from keras import activations
from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units))
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        outputs = K.bias_add(K.dot(inputs, self.kernel), self.bias)
        if self.activation is not None:
            outputs = self.activation(outputs)
        return outputs
