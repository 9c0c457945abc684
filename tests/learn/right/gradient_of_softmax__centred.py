import numpy as np
from keras import backend as K

from kerascope.backend.graph import Op


class Softmax(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        shifted = x - x.max(axis=-1, keepdims=True)
        return np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)

    def grad(self, inputs, outputs, output_grads):
        out = outputs[0]
        mean = K.sum(out * output_grads[0], axis=-1, keepdims=True)
        centred = output_grads[0] - mean
        return tuple([centred * out])
