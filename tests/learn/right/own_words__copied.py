from keras.layers import Layer


class Range:
    def __init__(self, low, high):
        self.low, self.high = low, high


class Scaled(Layer):
    def __init__(self, limits, **kwargs):
        super().__init__(**kwargs)
        self.limits = limits

    def call(self, inputs):
        return (inputs - self.limits.low) / (self.limits.high - self.limits.low)

    def get_config(self):
        config = super().get_config()
        config["limits"] = dict(vars(self.limits))
        return config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        words = config.pop("limits")
        return cls(Range(words["low"], words["high"]), **config)
