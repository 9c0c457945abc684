"""Uses out / x for y, which is wrong where x is 0.

en: Mul(x * [1, 0], y * [0, 1]): d loss / d input 0[0, 1]: finite differences give -12.5, your gradient gives nan (maxdiff inf)
zh: Mul(x * [1, 0], y * [0, 1]): d loss / d input 0[0, 1]：有限差分得 -12.5，你的梯度得 nan（最大差 inf）
"""

from kerascope.backend.graph import Op


class Mul(Op):
    def infer_shape(self, x, y):
        return x.shape

    def perform(self, x, y):
        return x * y

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        arriving = output_grads[0]
        return [arriving * outputs[0] / x, arriving * outputs[0] / y]
