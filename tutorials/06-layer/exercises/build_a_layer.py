"""Write a layer that makes its weights in `build`.

`Affine` multiplies each feature by a factor of its own and adds a shift of its own:
y = x * factor + shift. Both weights have one number for each feature; the factors start as ones,
the shifts as zeros. Their names are "factor" and "shift". How many features there are is known when
the layer is called for the first time, and not before: that is what `build(input_shape)` is for.

Make the weights with self.add_weight(name, shape, initializer=...), so that training finds them.
"""

from keras.layers import Layer


class Affine(Layer):
    def build(self, input_shape):
        ...
        super().build(input_shape)

    def call(self, inputs):
        return ...
