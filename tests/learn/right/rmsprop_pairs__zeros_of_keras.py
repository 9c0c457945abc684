from keras import backend as K


class RMSprop:
    def __init__(self, lr=0.001, rho=0.9, epsilon=1e-7):
        self.lr, self.rho, self.epsilon = K.variable(lr), rho, epsilon

    def pairs_of(self, p, g):
        a = K.zeros(K.int_shape(p))
        new_a = a + (1 - self.rho) * (g * g - a)
        yield a, new_a
        yield p, p - self.lr * g / (K.pow(new_a, 0.5) + self.epsilon)

    def get_updates(self, loss, params):
        found = []
        for p in params:
            found.extend(self.pairs_of(p, K.gradients(loss, [p])[0]))
        return found
