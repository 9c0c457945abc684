"""The shapes fit, but the output is used instead of the arriving gradient.

en: Dot: d loss / d input 0[0, 1]: finite differences give 1.09021, your gradient gives -11.9994 (maxdiff 13.0896)
zh: Dot: d loss / d input 0[0, 1]：有限差分得 1.09021，你的梯度得 -11.9994（最大差 13.0896）
"""

import numpy as np
from keras import backend as K

from kerascope.backend.graph import Op


class Dot(Op):
    def infer_shape(self, x, y):
        return (x.shape[0], y.shape[1])

    def perform(self, x, y):
        return np.dot(x, y)

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [K.dot(outputs[0], K.transpose(y)), K.dot(K.transpose(x), outputs[0])]
