from keras.layers import Layer

CURVES = {"square": lambda t: t * t, "cube": lambda t: t * t * t}


class Curve(Layer):
    def __init__(self, curve, **kwargs):
        super().__init__(**kwargs)
        self.curve = curve
        self.word = next(word for word in CURVES if CURVES[word] == curve)

    def call(self, inputs):
        return CURVES[self.word](inputs)

    def get_config(self):
        power = {"square": 2, "cube": 3}[self.word]
        return {"power": power, "name": self.name, "frozen": not self.trainable}

    @classmethod
    def from_config(cls, config):
        word = {2: "square", 3: "cube"}[config["power"]]
        return cls(CURVES[word], name=config["name"], trainable=not config["frozen"])
