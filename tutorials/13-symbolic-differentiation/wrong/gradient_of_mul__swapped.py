"""Multiplies the gradient of each input by this input instead of the other one.

en: Mul: d loss / d input 1[1, 0]: finite differences give 10.5, your gradient gives -21 (maxdiff 31.5)
zh: Mul: d loss / d input 1[1, 0]：有限差分得 10.5，你的梯度得 -21（最大差 31.5）
"""

from kerascope.backend.graph import Op


class Mul(Op):
    def infer_shape(self, x, y):
        return x.shape

    def perform(self, x, y):
        return x * y

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [output_grads[0] * x, output_grads[0] * y]
