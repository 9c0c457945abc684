"""Handles only as many parameters as the example has.

en: expected get_updates(loss, [p3, p2, p1]) to have 3 items, yours has 2
zh: get_updates(loss, [p3, p2, p1]) 应有 3 项，你的有 2 项
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        steps = list(zip(params, gradients, strict=True))
        return [(p, p - self.lr * g) for p, g in steps[:2]]
