"""The arriving gradient is also cut off below 0.

en: Relu(-x): d loss / d input 0[1, 2]: finite differences give -6.5, your gradient gives 0 (maxdiff 6.5)
zh: Relu(-x): d loss / d input 0[1, 2]：有限差分得 -6.5，你的梯度得 0（最大差 6.5）
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
        arriving = output_grads[0]
        return [K.relu(arriving) * K.cast(K.greater(x, 0), x.dtype)]
