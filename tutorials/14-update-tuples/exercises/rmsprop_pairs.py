"""Write the update tuples of RMSprop.

For each parameter p with gradient g there is an accumulator a: a variable of the shape of p, all
zeros. RMSprop makes two pairs for it, (a, new_a) and (p, new_p):

    new_a = rho * a + (1 - rho) * g^2
    new_p = p - lr * g / (sqrt(new_a) + epsilon)

The first v that S4 looks at, (20, 64) and all zeros, is such an a. Fill in the two formulas.
K.square and K.sqrt work on tensors; nothing is computed here.
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
            new_a = ...
            new_p = ...
            updates += [K.update(a, new_a), K.update(p, new_p)]
        return updates
