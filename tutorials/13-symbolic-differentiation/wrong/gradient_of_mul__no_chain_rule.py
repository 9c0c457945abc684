"""The arriving gradient is forgotten.

en: Mul: d loss / d input 0[1, 1]: finite differences give -31.5, your gradient gives 7 (maxdiff 38.5)
zh: Mul: d loss / d input 0[1, 1]：有限差分得 -31.5，你的梯度得 7（最大差 38.5）
"""

from kerascope.backend.graph import Op


class Mul(Op):
    def infer_shape(self, x, y):
        return x.shape

    def perform(self, x, y):
        return x * y

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [y, x]
