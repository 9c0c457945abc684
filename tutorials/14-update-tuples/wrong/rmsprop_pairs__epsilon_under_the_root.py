"""epsilon is added under the root.

en: expected w after call 1 (epsilon = 0.5 added to the root), at [0, 0], to be 0.866667, yours is 0.836701
zh: w（第 1 次调用之后）（epsilon = 0.5，加在根号之外），[0, 0] 处应为 0.866667，你的是 0.836701
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
            new_p = p - self.lr * g / K.sqrt(new_a + self.epsilon)
            updates += [K.update(a, new_a), K.update(p, new_p)]
        return updates
