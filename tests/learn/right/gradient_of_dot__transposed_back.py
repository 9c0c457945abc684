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
        of_x = K.transpose(K.dot(y, K.transpose(arriving)))
        of_y = K.transpose(K.dot(K.transpose(arriving), x))
        return (of_x, of_y)
