"""The rate is read when the pairs are made, so later changes have no effect.

en: expected w (lr = 0.5)[0, 0] to be 0, yours is 0.64
zh: w (lr = 0.5)[0, 0] 应为 0，你的是 0.64
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        rate = float(K.get_value(self.lr))
        gradients = K.gradients(loss, params)
        return [(p, p - rate * g) for p, g in zip(params, gradients, strict=True)]
