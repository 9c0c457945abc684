"""The weights are variables that are not registered with the layer.

en: expected len(layer.weights) after one call to be 2, yours is 0: only add_weight registers a weight with the layer
zh: 一次调用之后的 len(layer.weights) 应为 2，你的是 0：只有 add_weight 会登记权重
"""

import numpy as np
from keras import backend as K
from keras.layers import Layer


class Affine(Layer):
    def build(self, input_shape):
        self.parts = {
            "factor": K.variable(np.ones(input_shape[-1])),
            "shift": K.variable(np.zeros(input_shape[-1])),
        }
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.parts["factor"] + self.parts["shift"]
