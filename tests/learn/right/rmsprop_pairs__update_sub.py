import numpy as np
from keras import backend as K


class RMSprop:
    def __init__(self, lr=0.001, rho=0.9, epsilon=1e-7):
        self.lr = lr
        self.rho = rho
        self.epsilon = epsilon

    def get_updates(self, loss, params):
        updates = []
        for p, g in zip(params, K.gradients(loss, params), strict=True):
            a = K.variable(np.zeros(K.int_shape(p)))
            new_a = K.sum(K.stack([self.rho * a, (1 - self.rho) * K.square(g)]), axis=0)
            updates.append(K.update(a, new_a))
            updates.append(K.update_sub(p, self.lr * g / (self.epsilon + K.sqrt(new_a))))
        return tuple(updates)
