"""The gradient is computed as for multiplication, element by element.

en: expected grad(...)[1].shape to be (3, 4), yours is (4, 2)
zh: grad(...)[1].shape 应为 (3, 4)，你的是 (4, 2)
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
        return [K.dot(output_grads[0], K.transpose(y)), K.transpose(K.dot(x, y))]
