from keras import backend as K


class GradientDescent:
    def __init__(self, lr=0.01):
        self.lr = K.variable(lr)

    def get_updates(self, loss, params):
        gradients = K.gradients(loss, params)
        updates = []
        for p, g in zip(params, gradients):
            updates.append(K.update(p, p - self.lr * g))
        return updates
