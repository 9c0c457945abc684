"""The gradient is left to K.gradients.

en: expected grad to do the work itself, yours calls K.gradients
zh: grad 应自己完成，你的把它交给了 K.gradients
"""

import numpy as np
from keras import backend as K

from kerascope.backend.graph import Op


class Softmax(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def grad(self, inputs, outputs, output_grads):
        out = outputs[0]
        arriving = output_grads[0]
        return K.gradients(K.sum(K.softmax(inputs[0]) * arriving), [inputs[0]])
