"""Write a layer that can be made again.

`Curve(CURVES["cube"])` applies a function to its input. A function without a name cannot be written
into a configuration; its key in CURVES can.

Write get_config, which returns words and numbers only (JSON can hold them), and from_config, which
makes the same layer from them: with the same function, name and `trainable`. Then a model with such
a layer can be copied and saved. super().get_config() contains the name and `trainable`, but not
the function.
"""

from keras.layers import Layer

CURVES = {"square": lambda t: t * t, "cube": lambda t: t * t * t}


class Curve(Layer):
    def __init__(self, curve, **kwargs):
        super().__init__(**kwargs)
        self.curve = curve

    def call(self, inputs):
        return self.curve(inputs)

    def get_config(self):
        return ...

    @classmethod
    def from_config(cls, config):
        return ...
