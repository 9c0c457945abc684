from keras import initializers
from keras.layers import Layer


class Affine(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factor = self.shift = None

    def build(self, input_shape):
        *_, features = input_shape
        self.factor = self.add_weight("factor", [features], initializer=initializers.Ones())
        self.shift = self.add_weight("shift", [features], initializer=initializers.Zeros())
        super().build(input_shape)

    def call(self, inputs):
        outputs = inputs * self.factor
        outputs += self.shift
        return outputs
