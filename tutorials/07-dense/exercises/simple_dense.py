"""Write Dense.

A Dense layer computes activation(inputs . kernel + bias). Its kernel has one row for each input
feature and one column for each unit, its bias one number for each unit.

Write `SimpleDense(units, activation)` as the documents do, with add_weight(name, shape,
initializer=...): first "kernel", glorot_uniform, then "bias", zeros. activation is a name or None,
and activations.get turns it into a function. The layer must work in a model, and
SimpleDense.from_config(layer.get_config()) must make the same layer again.
"""

from keras import activations
from keras import backend as K
from keras.layers import Layer


class SimpleDense(Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = ...

    def build(self, input_shape):
        ...
        super().build(input_shape)

    def call(self, inputs):
        return ...
