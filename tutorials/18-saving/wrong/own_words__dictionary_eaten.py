"""The dictionary in the argument is changed.

en: expected the dictionary after from_config to be {'name': 'scaled', 'trainable': False, 'dtype': 'float32', 'limits': {'low': 2.0, 'high..., yours is {'name': 'scaled', 'trainable': False, 'dtype': 'float32'}
zh: from_config 之后的字典应为 {'name': 'scaled', 'trainable': False, 'dtype': 'float32', 'limits': {'low': 2.0, 'high...，你的是 {'name': 'scaled', 'trainable': False, 'dtype': 'float32'}
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
        limits = config.pop("limits")
        return cls(Range(**limits), **config)
