"""A frozen layer is not frozen when it is made again.

en: expected trainable of a frozen layer made again to be False, yours is True
zh: 冻结的层再造之后的 trainable 应为 False，你的是 True
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
        return {**super().get_config(), "curve": word}

    @classmethod
    def from_config(cls, config):
        return cls(CURVES[config["curve"]], name=config["name"])
