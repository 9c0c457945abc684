"""Only the limits and the name are passed on.

en: expected from_config(...).trainable to be False, yours is True
zh: from_config(...).trainable 应为 False，你的是 True
"""

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
        limits = {"low": self.limits.low, "high": self.limits.high}
        return {**super().get_config(), "limits": limits}

    @classmethod
    def from_config(cls, config):
        return cls(Range(**config["limits"]), name=config["name"])
