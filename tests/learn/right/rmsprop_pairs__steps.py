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
            new_a = (1.0 - self.rho) * g**2 + a * self.rho
            root = K.sqrt(new_a) + self.epsilon
            step = self.lr * (g / root)
            new_p = p - step
            updates += [(a, new_a), (p, new_p)]
        return updates
