from keras.layers import Layer

CURVES = {"square": lambda t: t * t, "cube": lambda t: t * t * t}


class Curve(Layer):
    def __init__(self, curve, **kwargs):
        super().__init__(**kwargs)
        self.curve = curve

    def call(self, inputs):
        return self.curve(inputs)

    def get_config(self):
        config = super().get_config()
        for word in CURVES:
            if CURVES[word] is self.curve:
                config["curve"] = word
        return config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        curve = CURVES[config.pop("curve")]
        return cls(curve, **config)
