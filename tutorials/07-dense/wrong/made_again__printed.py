"""The configuration is printed, not returned.

en: expected Curve(CURVES['square']).get_config() to be a dict, yours is NoneType; get_config(...) printed {'name': 'my_square', 'trainable': True,... but returned nothing: `return` hands an answer back, `print` only shows it
zh: Curve(CURVES['square']).get_config() 应是字典，你的是 NoneType；get_config(...) 打印了 {'name': 'my_square', 'trainable': True,...，却没有返回值：`return` 才把答案交出去，`print` 只是显示它
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
        print({**super().get_config(), "curve": word})

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "curve": CURVES[config["curve"]]})
