"""All features have the same factor and the same shift.

en: expected the shapes of the weights to be [(3,), (3,)], yours is [(1,), (1,)]
zh: 权重的形状应为 [(3,), (3,)]，你的是 [(1,), (1,)]
"""

from keras.layers import Layer


class Affine(Layer):
    def build(self, input_shape):
        self.factor = self.add_weight("factor", (1,), initializer="ones")
        self.shift = self.add_weight("shift", (1,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.factor + self.shift
