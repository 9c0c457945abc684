"""The settings of every layer are left out.

en: expected get_config()["name"] to be 'scaled', yours is None
zh: get_config()["name"] 应为 'scaled'，你的是 None
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
        return {"limits": limits}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "limits": Range(**config["limits"])})
