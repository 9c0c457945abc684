"""The configuration contains only the key, so the layer gets a new name.

en: expected the name of the layer made again to be 'my_square', yours is 'curve_1'
zh: 再造出的层的名字应为 'my_square'，你的是 'curve_1'
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
        (word,) = [word for word, curve in CURVES.items() if curve is self.curve]
        return {"curve": word}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "curve": CURVES[config["curve"]]})
