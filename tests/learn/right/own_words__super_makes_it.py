from keras.layers import Layer


class Range:
    def __init__(self, low, high):
        self.low, self.high = low, high


class Scaled(Layer):
    def __init__(self, limits, **kwargs):
        super().__init__(**kwargs)
        self.limits = limits

    def call(self, inputs):
        width = self.limits.high - self.limits.low
        return (inputs - self.limits.low) / width

    def get_config(self):
        names = ("low", "high")
        words = {name: getattr(self.limits, name) for name in names}
        return {"limits": words} | super().get_config() | {"limits": words}

    @classmethod
    def from_config(cls, config):
        return super().from_config({**config, "limits": Range(*config["limits"].values())})
