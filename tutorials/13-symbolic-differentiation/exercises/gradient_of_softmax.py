"""Write the gradient of softmax.

Each row of out is exp(x) divided by its sum, so every output of a row depends on every input of it:
d out[i] / d x[j] is out[i] * (1 - out[i]) for i = j, and -out[i] * out[j] otherwise. Summed over i
with the arriving gradient:

    d loss / d x[j]  =  out[j] * (arriving[j] - sum over i of arriving[i] * out[i])

With one unit in a row, out is 1. What is the gradient then? This is why the documents' own example
cannot learn.
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
        return [...]
