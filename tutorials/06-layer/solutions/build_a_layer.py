from keras.layers import Layer


class Affine(Layer):
    def build(self, input_shape):
        features = input_shape[-1]
        self.factor = self.add_weight("factor", (features,), initializer="ones")
        self.shift = self.add_weight("shift", (features,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.factor + self.shift
