from keras import backend as K

from kerascope.backend.graph import Op


class Mul(Op):
    def infer_shape(self, x, y):
        return y.shape

    def perform(self, x, y):
        return y * x

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return inputs[1] * output_grads[0], inputs[0] * output_grads[0]
