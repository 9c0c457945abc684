"""Assumes that each output depends on its own input only.

en: Softmax: d loss / d input 0[1, 1]: finite differences give 2.60197, your gradient gives 1.36301 (maxdiff 1.23897)
zh: Softmax: d loss / d input 0[1, 1]：有限差分得 2.60197，你的梯度得 1.36301（最大差 1.23897）
"""

import numpy as np

from kerascope.backend.graph import Op


class Softmax(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def grad(self, inputs, outputs, output_grads):
        out = outputs[0]
        return [output_grads[0] * out * (1 - out)]
