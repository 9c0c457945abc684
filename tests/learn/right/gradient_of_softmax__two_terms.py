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
        product = output_grads[0] * outputs[0]
        total = K.sum(product, axis=-1, keepdims=True)
        return [product - total * outputs[0]]
