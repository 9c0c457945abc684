import numpy as np
from keras import backend as K

from kerascope.backend.graph import Op


class Relu(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.where(x > 0, x, 0)

    def grad(self, inputs, outputs, output_grads):
        (x,), (arriving,) = inputs, output_grads
        return [K.switch(K.greater(x, 0), arriving, K.zeros_like(arriving))]
