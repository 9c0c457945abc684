import copy

from keras.layers import Layer


class Range:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def words(self):
        return dict(low=self.low, high=self.high)

    @classmethod
    def of(cls, words):
        return cls(**words)


class Scaled(Layer):
    def __init__(self, limits, **kwargs):
        super().__init__(**kwargs)
        self.limits = limits

    def call(self, inputs):
        return (inputs - self.limits.low) / (self.limits.high - self.limits.low)

    def get_config(self):
        return dict(super().get_config(), limits=self.limits.words())

    @classmethod
    def from_config(cls, config):
        own = copy.deepcopy(config)
        own["limits"] = Range.of(own["limits"])
        return cls(**own)
