"""The weights go up the gradient instead of down.

en: expected w[0, 0] to be 0.8, yours is 1.2
zh: w[0, 0] 应为 0.8，你的是 1.2
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        return [(p, p + self.lr * g) for p, g in zip(params, gradients, strict=True)]
