"""Takes the root of the old accumulator, which is 0 at the first call.

en: expected w after call 1, at [0, 0], to be 0.8, yours is -2e+06
zh: w（第 1 次调用之后），[0, 0] 处应为 0.8，你的是 -2e+06
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
            new_a = self.rho * a + (1 - self.rho) * K.square(g)
            new_p = p - self.lr * g / (K.sqrt(a) + self.epsilon)
            updates += [K.update(a, new_a), K.update(p, new_p)]
        return updates
