from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def step(self, p, loss):
        (g,) = K.gradients(loss, [p])
        return p + (-self.lr) * g

    def get_updates(self, loss, params):
        new_values = [self.step(p, loss) for p in params]
        return list(zip(params, new_values))
