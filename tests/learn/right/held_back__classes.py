from keras import backend as K
from keras.constraints import NonNeg
from keras.initializers import Ones, Zeros
from keras.layers import Layer
from keras.regularizers import L1L2


class HeldDense(Layer):
    def __init__(self, units, penalty, **kwargs):
        super().__init__(**kwargs)
        self.units, self.penalty = units, penalty

    def build(self, input_shape):
        columns = input_shape[-1]
        self.kernel = self.add_weight(
            "kernel", (columns, self.units), initializer=Ones(),
            regularizer=L1L2(l2=self.penalty), constraint=NonNeg(),
        )  # fmt: skip
        self.bias = self.add_weight("bias", (self.units,), initializer=Zeros())
        self.built = True

    def call(self, inputs):
        return self.bias + K.dot(inputs, self.kernel)
