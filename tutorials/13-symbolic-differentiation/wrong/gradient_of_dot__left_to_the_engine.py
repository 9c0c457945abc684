"""The gradient is left to K.gradients.

en: expected grad to do the work itself, yours calls K.gradients
zh: grad 应自己完成，你的把它交给了 K.gradients
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
        arriving = output_grads[0]
        return K.gradients(K.sum(K.dot(x, y) * arriving), [x, y])
