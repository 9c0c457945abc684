"""The arriving gradient also passes where x is 0.

en: expected the gradient at 0, at [0], to be 0, yours is 1
zh: 在 0 处的梯度，[0] 处应为 0，你的是 1
"""

import numpy as np
from keras import backend as K

from kerascope.backend.graph import Op


class Relu(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.maximum(x, 0)

    def grad(self, inputs, outputs, output_grads):
        x = inputs[0]
        return [output_grads[0] * K.cast(K.greater_equal(x, 0), x.dtype)]
