"""The arriving gradient passes everywhere.

en: Relu: d loss / d input 0[1, 2]: finite differences give 0, your gradient gives -6.5 (maxdiff 6.5)
zh: Relu: d loss / d input 0[1, 2]：有限差分得 0，你的梯度得 -6.5（最大差 6.5）
"""

import numpy as np

from kerascope.backend.graph import Op


class Relu(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.maximum(x, 0)

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0]]
