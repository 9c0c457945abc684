"""The limits are rounded to whole numbers.

en: expected from_config(...)(x) of Range(-0.5, 0.75), at [0, 0], to be -0.4, yours is -inf
zh: Range(-0.5, 0.75) 的 from_config(...)(x)，[0, 0] 处应为 -0.4，你的是 -inf
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
        return cls(
            **{
                **config,
                "limits": Range(int(config["limits"]["low"]), int(config["limits"]["high"])),
            }
        )
