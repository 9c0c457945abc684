from keras.layers import Layer


class Affine(Layer):
    def build(self, input_shape):
        shape = tuple(input_shape)[-1:]
        self.shift = self.add_weight(name="shift", shape=shape, initializer="zeros")
        self.factor = self.add_weight(name="factor", shape=shape, initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return self.shift + self.factor * inputs
