"""The weights are changed when the pairs are made.

en: expected w after get_updates, at [0, 0], to be 1, yours is 0.8
zh: get_updates 之后的 w，[0, 0] 处应为 1，你的是 0.8
"""

from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        pairs = []
        for p, g in zip(params, K.gradients(loss, params), strict=True):
            new_value = p - self.lr * g
            K.set_value(p, K.eval(new_value))
            pairs.append((p, new_value))
        return pairs
