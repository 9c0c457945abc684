"""The arriving gradient is cut at 0, instead of being stopped where x is negative.

en: Relu: d loss / d input 0[1, 2]: finite differences give 0, your gradient gives 26 (maxdiff 26)
zh: Relu: d loss / d input 0[1, 2]：有限差分得 0，你的梯度得 26（最大差 26）
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
        return [K.relu(output_grads[0] * inputs[0])]
