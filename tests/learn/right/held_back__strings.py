from keras import backend as K
from keras import constraints, regularizers
from keras.layers import Layer


class HeldDense(Layer):
    def __init__(self, units, penalty, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.penalty = penalty

    def build(self, input_shape):
        held = {"regularizer": regularizers.l2(self.penalty), "constraint": "non_neg"}
        shape = [input_shape[-1], self.units]
        self.kernel = self.add_weight("kernel", shape, initializer="ones", **held)
        self.bias = self.add_weight("bias", shape[1:], initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias
