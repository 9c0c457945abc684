"""The squares are summed up without decay, as in Adagrad.

en: expected the accumulator of w after call 1, at [0, 0], to be 1, yours is 4
zh: w 的累加器（第 1 次调用之后），[0, 0] 处应为 1，你的是 4
"""

import numpy as np
from keras import backend as K


class RMSprop:
    def __init__(self, lr=0.001, rho=0.9, epsilon=1e-7):
        self.lr = lr
        self.rho = rho
        self.epsilon = epsilon

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        accumulators = [K.variable(np.zeros(K.int_shape(p)), name="a") for p in params]
        updates = []
        for p, g, a in zip(params, gradients, accumulators, strict=True):
            new_a = a + K.square(g)
            new_p = p - self.lr * g / (K.sqrt(new_a) + self.epsilon)
            updates += [K.update(a, new_a), K.update(p, new_p)]
        return updates
